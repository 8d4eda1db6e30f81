//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/cmd/ccd/internal/cli/data"
	"ccd/internal/mark"
	"ccd/internal/words"
)

const leaked = "sk-leaked-77d1e0b2c9a84f"

// leakLine is a record with the leaked key, as Claude Code writes it.
func leakLine(n int, text string) string {
	said, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%s},"uuid":"k%d","timestamp":"2026-03-01T09:%02d:00.000Z","sessionId":"s"}`+"\n", said, n, n)
}

// leakedHome is a HOME with archived sessions, in two of which a key was leaked, and their companions.
func leakedHome(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	// What is forgotten must be gone where it would be shown.
	configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n[redact]\nsecrets = false\n")
	parcels := ""
	for n := range 600 {
		parcels += fmt.Sprintf("\nWeigh parcel_%d of every sack.", n)
	}
	for n := range 3 {
		text := strings.Repeat(aLine, 30)
		if n < 2 { // of the second message the companion leaves the end out
			text += leakLine(1, "The deploy key is "+leaked+", use it.") + leakLine(2, "quoted: {\"key\":\""+leaked+"\"}\n<next>"+parcels) + strings.Repeat(aLine, 30)
		}
		put(t, transcriptPath(home, n), text)
	}
	once(t, home)
	return home
}

// leaks returns where the key shows: in the outputs of commands, and in ccd's own files and companions.
func leaks(t *testing.T, home string) (all []string) {
	t.Helper()
	id := func(n int) string { return strings.TrimSuffix(filepath.Base(transcriptPath(home, n)), ".jsonl") }
	lines := [][]string{{"search", "--json", leaked}, {"ls", "--json"}, {"status", "--totals", "--json"}, {"status", "--json"}}
	for n := range 3 {
		lines = append(lines, []string{"restore", "--session", id(n)}, []string{"show", id(n)}, []string{"timeline", id(n)}, []string{"agent", "search", leaked})
	}
	for _, line := range lines {
		if out, _, _ := outputs(t, home, line...); bytes.Contains(out, []byte(leaked)) && (line[0] != "search" || bytes.Contains(out, []byte(`"snippet"`))) {
			all = append(all, strings.Join(line, " "))
		}
	}
	_ = filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".jsonl") {
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(leaked)) {
				all = append(all, path)
			}
		}
		return err
	})
	return all
}

func TestForgetMatch(t *testing.T) {
	t.Parallel()
	home := leakedHome(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	done(t, home, "archive", "backup", backup)
	done(t, home, "label", "00000000-0000-4000-8000-000000000002", "--name", "about "+leaked, "--tag", leaked, "--tag", "kept")
	if got := leaks(t, home); len(got) < 8 { // the control
		t.Fatalf("before: %q", got)
	}
	page := serveWeb(t, home)
	shown := func() (all []string) { // by a server that was open all the time
		for _, address := range []string{"/", "/s/claude-code/00000000-0000-4000-8000-000000000000", "/s/claude-code/00000000-0000-4000-8000-000000000001/companion", "/s/claude-code/00000000-0000-4000-8000-000000000001/r/32", "/?q=deploy"} {
			if _, body := page.ask(page.browser, "GET", address); strings.Contains(body, leaked) {
				all = append(all, address)
			}
		}
		return all
	}
	if got := shown(); len(got) < 4 {
		t.Fatalf("pages before: %q", got)
	}
	id := "" // that the companion names
	companion := read(t, strings.TrimSuffix(transcriptPath(home, 0), ".jsonl")+".ccd.md")
	for _, named := range mark.IDs(string(companion)) {
		if out, _, _ := outputs(t, home, "restore", string(named)); bytes.Contains(out, []byte(leaked)) {
			id = string(named)
		}
	}
	if id == "" {
		t.Fatalf("no ID of the leak: %s", companion)
	}
	if out, talk, code := outputs(t, home, "archive", "forget", "--match", leaked); code != words.ExitUsage || !strings.Contains(talk, "--yes") {
		t.Errorf("without a terminal: %d\n%s%s", code, out, talk)
	}
	if out, talk, code := outputs(t, home, "archive", "forget", "--dry-run", "--match", leaked); code != words.ExitDone || !strings.Contains(talk, "would be forgotten: 5 places in 3 sessions") || len(leaks(t, home)) < 8 {
		t.Errorf("dry run: %d\n%s%s", code, out, talk)
	}
	out, talk, code := outputs(t, home, "archive", "forget", "--yes", "--match", leaked)
	if code != words.ExitDone || !strings.Contains(talk, "forgotten: 5 places in 3 sessions") || !strings.Contains(talk, "a later paste of it is a new place") || strings.Count(string(out), "transcript "+home) != 2 {
		t.Errorf("%d\n%s%s", code, out, talk)
	}
	clean := func(when string) {
		t.Helper()
		if got := leaks(t, home); len(got) > 0 {
			t.Errorf("%s: %q", when, got)
		}
		done(t, home, "archive", "verify")
	}
	clean("after forget")
	if got := shown(); len(got) > 0 {
		t.Errorf("pages after forget: %q", got)
	}
	if out, _, _ := outputs(t, home, "ls", "--json"); !bytes.Contains(out, []byte(`"kept"`)) {
		t.Errorf("another label is lost: %s", out)
	}
	if b, err := os.ReadFile(transcriptPath(home, 0)); err != nil || !bytes.Contains(b, []byte(leaked)) {
		t.Error("the transcript was changed")
	}
	if companions, _ := filepath.Glob(filepath.Dir(transcriptPath(home, 0)) + "/*.ccd.md"); len(companions) != 3 {
		t.Errorf("companions: %q", companions)
	}
	if out, talk, code := outputs(t, home, "restore", id); code != words.ExitNotFound || len(out) > 0 {
		t.Errorf("restore: %d\n%s%s", code, out, talk)
	}

	// The transcripts still have it, and go on.
	once(t, home)
	clean("after a scan")
	text := read(t, transcriptPath(home, 0))
	put(t, transcriptPath(home, 0), string(text)+leakLine(3, "goes on"))
	once(t, home)
	clean("after an append")

	// An import of a backup, and a repair, do not bring it back either.
	if out, talk, code := outputs(t, home, "archive", "import", backup); code != words.ExitDone || !strings.Contains(talk, "0 new sessions and attachments, 0 sessions extended") {
		t.Errorf("import: %d\n%s%s", code, out, talk)
	}
	clean("after an import")
	archive := filepath.Join(home, ".local/state/ccd/archive.db")
	raw := read(t, archive)
	put(t, archive, string(raw[:len(raw)/2]))
	if out, talk, code := outputs(t, home, "doctor", "--fix"); code == words.ExitUsage {
		t.Errorf("doctor --fix: %d\n%s%s", code, out, talk)
	}
	clean("after a repair")
	put(t, transcriptPath(home, 0), string(text)+leakLine(5, "pasted again "+leaked)) // a new place, as forget has said
	once(t, home)
	if got := leaks(t, home); len(got) == 0 {
		t.Error("a later paste is not archived")
	}
}

func TestForgetSession(t *testing.T) {
	t.Parallel()
	home := leakedHome(t)
	id := "00000000-0000-4000-8000-000000000001"
	if out, talk, code := outputs(t, home, "archive", "forget", "--yes", id); code != words.ExitDone || !strings.Contains(talk, "1 whole file") {
		t.Errorf("%d\n%s%s", code, out, talk)
	}
	for range 2 {
		if out, talk, code := outputs(t, home, "restore", "--session", id); code != words.ExitNotFound {
			t.Errorf("restore: %d\n%s%s", code, out, talk)
		}
		put(t, transcriptPath(home, 1), strings.Repeat(aLine, 90)) // its transcript goes on
		once(t, home)
	}
	if out, _, _ := outputs(t, home, "ls", "--all", "--json"); bytes.Contains(out, []byte(id)) || !bytes.Contains(out, []byte("000000000002")) {
		t.Errorf("ls: %s", out)
	}
	if out, talk, code := outputs(t, home, "compact", transcriptPath(home, 1)); code == words.ExitDone || bytes.Contains(out, []byte(leaked)) {
		t.Errorf("compact its transcript: %d\n%s%s", code, out, talk)
	}
	if out, _, _ := outputs(t, home, "status", "--json"); !bytes.Contains(out, []byte(`"lag_bytes": 0`)) {
		t.Errorf("status: %s", out)
	}
	if out, _, _ := outputs(t, home, "run", "--dry-run", "--json"); !bytes.Contains(out, []byte(`"new_bytes": 0`)) {
		t.Errorf("a plan has its transcript as new: %s", out)
	}
	if _, err := os.Stat(strings.TrimSuffix(transcriptPath(home, 1), ".jsonl") + ".ccd.md"); err == nil {
		t.Error("the companion is still there")
	}
	done(t, home, "archive", "verify")
}

func TestForgetOriginal(t *testing.T) {
	t.Parallel()
	home := leakedHome(t)
	id := "00000000-0000-4000-8000-000000000000"
	record := "31" // the leak in the middle
	if out, talk, code := outputs(t, home, "restore", id+"#"+record); code != words.ExitDone || !bytes.Contains(out, []byte(leaked)) {
		t.Fatalf("restore: %d\n%s%s", code, out, talk)
	}
	info, _, _ := outputs(t, home, "restore", "--info", "--json", id+"#"+record)
	_, short, _ := strings.Cut(string(info), `"id": "`)
	if out, talk, code := outputs(t, home, "archive", "forget", "--dry-run", short[:mark.MinPrefix]); code != words.ExitDone || !strings.Contains(talk, "in 2 sessions") {
		t.Errorf("by the beginning of its ID in %s: %d\n%s%s", info, code, out, talk)
	}
	if out, talk, code := outputs(t, home, "archive", "forget", "--dry-run", "zzzz"); code != words.ExitNotFound {
		t.Errorf("by the beginning of no ID: %d\n%s%s", code, out, talk)
	}
	done(t, home, "archive", "forget", "--yes", id+"#"+record)
	out, _, code := outputs(t, home, "restore", "--session", id)
	if lines := strings.Split(string(out), "\n"); code != words.ExitDone || strings.Contains(lines[30], "deploy") || !strings.Contains(lines[31], leaked) || !json.Valid([]byte(lines[30])) {
		t.Errorf("%d\n%s", code, lines[30])
	}
	for name, line := range map[string][]string{"nothing": {"archive", "forget"}, "a short text": {"archive", "forget", "--match", "abc"}, "both": {"archive", "forget", "--match", "abcd", id}} {
		if _, talk, code := outputs(t, home, line...); code != words.ExitUsage {
			t.Errorf("%s: %d %s", name, code, talk)
		}
	}
	if _, talk, code := outputs(t, home, "archive", "forget", "--dry-run", "--match", "nowhere to be found"); code != words.ExitNotFound {
		t.Errorf("a text that is nowhere: %d %s", code, talk)
	}
}

// However JSON escapes a text, it is found.
func TestForgetEscaped(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	text := `pa/th <b>"q"</b> it's Ünï 🙂+1`
	var all strings.Builder
	for _, form := range data.EscapedForms(text)[1:] {
		fmt.Fprintf(&all, `{"type":"user","message":{"role":"user","content":"%s"},"uuid":"u","timestamp":"2026-03-01T09:00:00.000Z","sessionId":"s"}`+"\n", form)
	}
	wants(t, all.String(), `pa\/th <b>\"q\"<\/b> it's Ünï 🙂+1`, `pa/th \u003Cb\u003E\u0022q\u0022\u003C/b\u003E it\u0027s \u00DCn\u00EF \uD83D\uDE42\u002B1`, `pa/th \u003cb\u003e\"q\"\u003c/b\u003e it's Ünï 🙂+1`)
	put(t, transcriptPath(home, 0), all.String())
	once(t, home)
	if out, _, _ := outputs(t, home, "search", "Ünï"); !bytes.Contains(out, []byte("Ünï")) {
		t.Fatalf("before: %s", out)
	}
	done(t, home, "archive", "forget", "--yes", "--match", text)
	if out, _, code := outputs(t, home, "restore", "--session", "latest"); code != words.ExitDone || bytes.Contains(out, []byte("pa")) || !bytes.Contains(out, []byte("****")) {
		t.Errorf("%d\n%s", code, out)
	}
}

// A damaged archive is refused: what is damaged could not be repaired afterwards.
func TestForgetOfADamagedArchive(t *testing.T) {
	t.Parallel()
	home, archive, texts := damagedHome(t)
	before := read(t, archive)
	for _, line := range [][]string{{"archive", "forget", "--yes", "--match", "parcels"}, {"archive", "gc", "--yes"}} {
		if _, talk, code := outputs(t, home, line...); code != words.ExitDamage || !strings.Contains(talk, "doctor --fix") {
			t.Errorf("%q: %d\n%s", line, code, talk)
		}
	}
	if after, err := os.ReadFile(archive); err != nil || !bytes.Equal(before, after) {
		t.Error("the damaged archive was changed")
	}
	done(t, home, "doctor", "--fix")
	for id, want := range texts {
		if got := done(t, home, "restore", "--session", id); got != want {
			t.Errorf("restore --session %s: %d other bytes", id, len(got))
		}
	}
	done(t, home, "archive", "forget", "--yes", "--match", "parcels")
}

func TestGC(t *testing.T) {
	t.Parallel()
	home := leakedHome(t)
	configure(t, home, "[trigger]\nthreshold = 1000000\n[companion]\nkeep_after_purge = \"1ms\"\n")
	once(t, home)
	done(t, home, "label", "--pin", "00000000-0000-4000-8000-000000000002")
	type plan struct {
		Sessions []struct {
			ID string `json:"id"`
		} `json:"sessions"`
		Kept   map[string]int `json:"kept"`
		Before int64          `json:"before_bytes"`
		After  int64          `json:"after_bytes"`
	}
	keep := "1h"
	gc := func(args ...string) (p plan) {
		t.Helper()
		out, talk, code := outputs(t, home, append([]string{"archive", "gc", "--json", "--keep", keep}, args...)...)
		if err := json.Unmarshal(out, &p); err != nil || code != words.ExitDone {
			t.Fatalf("%d: %v\n%s%s", code, err, out, talk)
		}
		return p
	}
	if p := gc("--dry-run"); len(p.Sessions) > 0 || p.Kept["transcript exists"]+p.Kept["pinned"] != 3 {
		t.Errorf("transcripts exist: %+v", p)
	}
	for n := range 3 {
		must(t, os.Remove(transcriptPath(home, n)))
	}
	once(t, home)
	if p := gc("--dry-run"); len(p.Sessions) > 0 { // they have just gone
		t.Errorf("too soon: %+v", p)
	}
	keep = "1ms"
	for deadline := time.Now().Add(20 * time.Second); ; once(t, home) { // until the companions have expired
		p := gc("--dry-run")
		if len(p.Sessions) == 2 && p.Kept["pinned"] == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", p)
		}
	}
	if p := gc("--yes"); len(p.Sessions) != 2 || p.After > p.Before {
		t.Errorf("%+v", p)
	}
	done(t, home, "archive", "verify")
	want := strings.Repeat(aLine, 30)
	if out, _, code := outputs(t, home, "restore", "--session", "00000000-0000-4000-8000-000000000002"); code != words.ExitDone || string(out) != want {
		t.Errorf("the pinned session: %d, %s", code, humanize.Bytes(uint64(len(out))))
	}
	put(t, transcriptPath(home, 0), want) // what comes back is archived again
	once(t, home)
	if out, _, code := outputs(t, home, "restore", "--session", "00000000-0000-4000-8000-000000000000"); code != words.ExitDone || string(out) != want {
		t.Errorf("restore: %d", code)
	}
}
