//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
	"ccd/internal/words"
)

// lostHome has sessions of several sizes, some of which were archived in parts.
var lostHome = &fixture{make: func(t *testing.T, home string) {
	configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n")
	for part := range 3 {
		for n := range 6 {
			put(t, transcriptPath(home, n), lostText(n)[:len(lostText(n))*(part+1)/3])
		}
		once(t, home)
	}
}}

// lostText returns a transcript of 1 KB to 100 KB, with lines that do not compress well.
func lostText(n int) string {
	r := rand.New(rand.NewPCG(uint64(n), 44))
	var b strings.Builder
	for i := 0; i < 1+n*n*n*n || b.Len() < 1<<10; i++ {
		fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":"Weigh parcel %x%x."},"uuid":"u%d","timestamp":"2026-03-01T09:00:00.000Z","sessionId":"s%d"}`+"\n", r.Uint64(), r.Uint64(), i, n)
	}
	return b.String()
}

// withoutSources returns the home after all transcripts are gone, and the archive's bytes.
func withoutSources(t *testing.T) (home string, sound []byte) {
	home = lostHome.copy(t)
	must(t, os.RemoveAll(filepath.Dir(transcriptPath(home, 0))))
	once(t, home)
	sound = read(t, filepath.Join(stateOf(t, home), "archive.db"))
	return home, sound
}

// A damaged archive whose transcripts are gone is repaired by each of the ways that there are. Each session is then restored exactly,
// or it is lost, and all commands tell. The control: before, each of both is met.
func TestLossIsTold(t *testing.T) {
	home, sound := withoutSources(t)
	path := filepath.Join(stateOf(t, home), "archive.db")
	tips := read(t, path+".tips")
	doors := map[string]func() string{
		"run --once":   func() string { _, talk, _ := outputs(t, home, "run", "--once"); return talk },
		"doctor --fix": func() string { _, talk, _ := outputs(t, home, "doctor", "--fix"); return talk },
		"import": func() string {
			backup := filepath.Join(t.TempDir(), "backup.db")
			must(t, os.Rename(path, backup))
			must(t, os.Remove(path+".tips"))
			_, talk, _ := outputs(t, home, "archive", "import", backup)
			return talk
		},
	}
	r := rand.New(rand.NewPCG(44, 1))
	exact, lost := 0, 0
	for i := range testkit.Cases(t, 9, 300) {
		bad, what := damageOf(r, sound, i)
		door := []string{"run --once", "doctor --fix", "import"}[i%3]
		what += ", " + door
		old, _ := filepath.Glob(path + ".damaged-*")
		for _, p := range old {
			must(t, os.Remove(p))
		}
		put(t, path, string(bad))
		put(t, path+".tips", string(tips))
		talk := doors[door]()
		if out, _, _ := outputs(t, home, "archive", "verify"); strings.Contains(string(out), "damaged: ") && !strings.Contains(string(out), "lost") {
			talk += doors["doctor --fix"]() // of a block that run --once had no reason to read
		}
		missing := 0
		for n := range 6 {
			id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
			out, said, code := outputs(t, home, "restore", "--session", id)
			switch {
			case code == words.ExitDone && string(out) == lostText(n):
				exact++
			case code == words.ExitDone:
				t.Errorf("%s: session %d has %d bytes of %d, and exit 0; %s", what, n, len(out), len(lostText(n)), talk)
			case code != words.ExitDamage && door != "import": // an import into an empty home may have no name
				t.Errorf("%s: session %d: exit %d: %s", what, n, code, said)
			default:
				missing++
			}
		}
		if lost += missing; missing == 0 || door == "import" {
			continue
		}
		for _, line := range []string{"archive verify", "ls --everywhere --all", "status", "doctor"} {
			if out, said, code := outputs(t, home, strings.Fields(line)...); code == words.ExitDone || !strings.Contains(string(out)+said, "lost") {
				t.Errorf("%s: %d sessions are lost, %s does not tell: exit %d\n%.600s%.600s", what, missing, line, code, out, said)
			} else if strings.Contains(string(out), "\tempty\n") {
				t.Errorf("%s: a lost session is called empty: %s", what, out)
			}
		}
	}
	t.Logf("%d sessions exact, %d lost and told", exact, lost)
	if exact == 0 || lost == 0 {
		t.Error("the test sees nothing")
	}
}

// damageOf truncates a file, zeroes a page or a run of pages, the kinds in turn.
func damageOf(r *rand.Rand, sound []byte, i int) (bad []byte, what string) {
	const page = 4096
	switch i % 4 {
	case 0, 1:
		n := r.IntN(len(sound))
		return slices.Clone(sound[:n]), fmt.Sprintf("cut to %d of %d bytes", n, len(sound))
	case 2:
		at := r.IntN(len(sound)/page) * page
		bad = bytes.Clone(sound)
		clear(bad[at : at+page])
		return bad, fmt.Sprintf("page %d zeroed", at/page)
	}
	at, n := r.IntN(len(sound)/page)*page, (1+r.IntN(12))*page
	bad = bytes.Clone(sound)
	clear(bad[at:min(len(bad), at+n)])
	return bad, fmt.Sprintf("%d pages from %d zeroed", n/page, at/page)
}

// An older copy in the archive's place lacks what was archived since: that comes from the transcripts, or is lost, and told.
func TestOlderCopyIsTold(t *testing.T) {
	for _, gone := range []bool{false, true} {
		home := t.TempDir()
		path := filepath.Join(stateOf(t, home), "archive.db")
		for n := range 3 {
			put(t, transcriptPath(home, n), lostText(2)[:len(lostText(2))/2])
		}
		once(t, home)
		older := read(t, path)
		for n := 1; n <= 3; n++ { // 0 does not grow, 3 is new
			put(t, transcriptPath(home, n), lostText(2))
		}
		once(t, home)
		put(t, path, string(older))
		if out, _, code := outputs(t, home, "archive", "verify"); code != words.ExitDamage {
			t.Errorf("verify: exit %d: %s", code, out)
		}
		if gone {
			must(t, os.RemoveAll(filepath.Dir(transcriptPath(home, 0))))
		}
		_, said, _ := outputs(t, home, "run", "--once")
		for n := range 4 {
			want, code := words.ExitDone, 0
			if gone && n > 0 {
				want = words.ExitDamage
			}
			if _, _, code = outputs(t, home, "restore", "--session", id(transcriptPath(home, n))); code != want {
				t.Errorf("transcripts gone %t, session %d: exit %d, want %d: %s", gone, n, code, want, said)
			}
		}
	}
}

// What is lost is whole again when its bytes come: from transcripts, from an intact backup, and from a backup with a bad block
// together with what is here. None becomes a second session.
func TestLostBytesComeBack(t *testing.T) {
	home, sound := withoutSources(t)
	path := filepath.Join(stateOf(t, home), "archive.db")
	backup := filepath.Join(t.TempDir(), "backup.db")
	half := sound
	for lost := ""; !strings.Contains(lost, "lost") && len(half) > 8<<10; { // where the blocks stand differs
		half = half[:len(half)*3/4]
		put(t, path, string(half))
		outputs(t, home, "run", "--once")
		out, _, _ := outputs(t, home, "archive", "verify")
		lost = string(out)
	}
	tips := read(t, path+".tips")
	flipped := bytes.Clone(sound)
	blocks := bytes.Index(sound, []byte("\xcc\xcda\x05B"))
	flipped[blocks+120] ^= 1
	transcripts := func() {
		for n := range 6 {
			put(t, transcriptPath(home, n), lostText(n))
		}
		once(t, home)
	}
	for what, by := range map[string]func(){
		"transcripts":      transcripts,
		"an intact backup": func() { put(t, backup, string(sound)); outputs(t, home, "archive", "import", backup) },
		"a backup with a bad block, then transcripts": func() {
			put(t, backup, string(flipped))
			outputs(t, home, "archive", "import", backup)
			transcripts()
		},
		"transcripts after an import into nothing": func() {
			must(t, os.Remove(path))
			put(t, backup, string(half))
			outputs(t, home, "archive", "import", backup)
			transcripts()
		},
	} {
		must(t, os.RemoveAll(filepath.Dir(transcriptPath(home, 0))))
		put(t, path, string(half))
		put(t, path+".tips", string(tips))
		outputs(t, home, "run", "--once")
		if out, _, code := outputs(t, home, "archive", "verify"); code != words.ExitDamage || !strings.Contains(string(out), "lost") {
			t.Errorf("%s: nothing was lost: the test sees nothing", what)
		}
		by()
		done(t, home, "archive", "verify")
		for n := range 6 {
			id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
			if out, said, code := outputs(t, home, "restore", "--session", id); code != words.ExitDone || string(out) != lostText(n) {
				t.Errorf("%s: session %d: exit %d: %s", what, n, code, said)
			}
		}
		if out, _, _ := outputs(t, home, "ls", "--all", "--everywhere"); strings.Contains(string(out), "~0") && strings.Contains(string(out), "0005~") {
			t.Errorf("%s: a second session:\n%s", what, out)
		}
	}
}

// A backup that is killed leaves a copy of the archive, which a later one into that directory removes. An import makes none.
func TestKilledBackupIsRemoved(t *testing.T) {
	home, _ := withoutSources(t)
	elsewhere := t.TempDir()
	left := filepath.Join(elsewhere, ".ccd-0123456789abcdef.tmp")
	put(t, left, "an archive")
	must(t, os.Chtimes(left, time.Time{}, time.Now().Add(-2*time.Hour)))
	done(t, home, "archive", "backup", filepath.Join(elsewhere, "new.db"))
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
