//go:build unix

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/words"
)

// damagedHome returns a HOME with three archived sessions and a damaged archive, and the sessions' texts by ID.
func damagedHome(t *testing.T) (home, archive string, texts map[string]string) {
	t.Helper()
	home, texts = t.TempDir(), map[string]string{}
	for n := range 3 {
		text := strings.Repeat(aLine, 1+n*400)
		put(t, transcriptPath(home, n), text)
		texts[strings.TrimSuffix(filepath.Base(transcriptPath(home, n)), ".jsonl")] = text
	}
	once(t, home)
	archive = filepath.Join(home, ".local/state/ccd/archive.db")
	raw := read(t, archive)
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		for range 8 {
			raw[8192+r.IntN(len(raw)-8192)] ^= 1 << r.IntN(8)
		}
		put(t, archive, string(raw))
		if _, _, code := outputs(t, home, "archive", "verify"); code == words.ExitDamage {
			return home, archive, texts
		}
	}
	t.Fatal("verify sees no damage: the test sees nothing")
	return home, archive, texts
}

func exactSessions(t *testing.T, home string, texts map[string]string) (n int) {
	t.Helper()
	for id, want := range texts {
		out, _, code := outputs(t, home, "restore", "--session", id)
		if code == words.ExitDone && string(out) == want {
			n++
		} else if code == words.ExitDone {
			t.Errorf("restore --session %s: %d other bytes", id, len(out))
		}
	}
	return n
}

func TestDoctorRepairsTheArchive(t *testing.T) {
	t.Parallel()
	home, archive, texts := damagedHome(t)
	damaged := read(t, archive)
	if out, talk, code := outputs(t, home, "doctor", "--fix"); code != words.ExitDone || !strings.Contains(talk, "fixed: archive: ") {
		t.Errorf("doctor --fix: %d\n%s%s", code, out, talk)
	}
	done(t, home, "archive", "verify")
	if n := exactSessions(t, home, texts); n != len(texts) {
		t.Errorf("%d of %d sessions are exact", n, len(texts))
	}
	aside, err := filepath.Glob(archive + ".damaged-*")
	if err != nil || len(aside) != 1 {
		t.Fatalf("set aside: %q, %v", aside, err)
	}
	if kept, err := os.ReadFile(aside[0]); err != nil || !bytes.Equal(kept, damaged) {
		t.Errorf("the damaged file was not kept as it was: %v", err)
	}
}

// What a damaged file still has comes into another archive by import.
func TestImportOfADamagedFile(t *testing.T) {
	t.Parallel()
	_, archive, texts := damagedHome(t)
	before := read(t, archive)
	other := t.TempDir()
	put(t, transcriptPath(other, 7), aLine)
	_, _, _ = outputs(t, other, "run", "--once")
	if out, talk, code := outputs(t, other, "archive", "import", archive); code != words.ExitDamage && code != words.ExitDone || code == words.ExitDamage && !strings.Contains(string(out), "missing in FILE: ") {
		t.Errorf("import: %d\n%s%s", code, out, talk)
	}
	if after, err := os.ReadFile(archive); err != nil || !bytes.Equal(before, after) {
		t.Error("import changed the file")
	}
	if n := exactSessions(t, other, texts); n == 0 {
		t.Errorf("%d of %d sessions are exact", n, len(texts))
	}
	if _, talk, code := outputs(t, other, "archive", "import", archive); code == words.ExitUsage || !strings.Contains(talk, "0 new sessions") {
		t.Errorf("import again: %d\n%s", code, talk)
	}
}
