//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
	"ccd/watcher"
)

// TestNamesThatAreNotUTF8: a transcript's name may have any bytes. Names that differ only in bytes that are not UTF-8,
// and one that looks like an escaped name, are different sessions everywhere.
func TestNamesThatAreNotUTF8(t *testing.T) {
	home, dir := rooted(t)
	dir += "\xff"
	shown := map[string]string{"mill\xff": `mill\xff`, "mill\xfe": `mill\xfe`, `mill\xff`: `mill\x5cxff`}
	content := map[string]string{}
	for name, as := range shown {
		content[name] = strings.ReplaceAll(claudeSession(150000), "Mill the rye.", "This is "+strings.ReplaceAll(as, `\`, `\\`)+".")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Skip("NOTICE: this file system takes UTF-8 only:", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(content[name]), 0o600); err != nil {
			t.Skip("NOTICE: this file system takes UTF-8 only:", err)
		}
	}
	for range 2 { // the second run finds nothing to do
		once(t, home)
	}
	for _, args := range [][]string{{"ls", "--json"}, {"status", "--totals", "--json"}, {"status", "--json"}, {"search", "--json", "sack"}, {"ls"}, {"status"}} {
		if out := done(t, home, args...); !utf8.ValidString(out) || strings.Contains(out, "\ufffd") {
			t.Errorf("%q: not UTF-8, or a name was changed:\n%q", args, out)
		}
	}
	var all []status.Session
	if err := json.Unmarshal([]byte(done(t, home, "ls", "--json")), &all); err != nil || len(all) != len(shown) {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	for name, as := range shown {
		id := `-src-mill\xff/` + as
		file, companion := filepath.Join(dir, name+".jsonl"), filepath.Join(dir, name+".ccd.md")
		for _, arg := range []string{id, file, as} {
			if arg == as && name != "mill\xfe" {
				continue // a prefix or path suffix of several sessions
			}
			if got := done(t, home, "restore", "--session", arg); got != content[name] {
				t.Errorf("restore --session %q gives another session", arg)
			}
		}
		if got := done(t, home, "show", "--path", "--", id); got != companion+"\n" {
			t.Errorf("path %q: %q", id, got)
		}
		front, err := os.ReadFile(companion)
		if err != nil || !utf8.Valid(front) || !strings.Contains(string(front), "This is ") {
			t.Fatalf("companion of %q: %v, %q", id, err, front)
		}
		// The front matter quotes names as JSON does.
		quoted, err := json.Marshal("projects/" + id + ".jsonl")
		if err != nil || !strings.Contains(string(front), "\nsource: "+string(quoted)+"\n") {
			t.Errorf("front matter of %q: %v\n%s", id, err, front[:700])
		}
		if got := done(t, home, "show", "--", id); got != string(front) {
			t.Errorf("show %q differs from the companion", id)
		}
		must(t, os.Remove(file))
	}
	once(t, home) // all of them are gone now
	done(t, home, "archive", "verify")
	for name, as := range shown {
		if got := done(t, home, "restore", "--session", `-src-mill\xff/`+as); got != content[name] {
			t.Errorf("restore of %q, whose file is gone, gives something else", as)
		}
		if got := done(t, home, "show", "--", `-src-mill\xff/`+as); !strings.Contains(got, "session: ") {
			t.Errorf("show of %q, whose file is gone: %q", as, got)
		}
	}
}

// TestLongestName: a transcript with the longest possible name gets a companion, which outlives the transcript.
func TestLongestName(t *testing.T) {
	home, dir := rooted(t)
	names := []string{strings.Repeat("m", 249), strings.Repeat("m", 248) + "n", strings.Repeat("\u00e4", 124) + "o", strings.Repeat("p", 248)}
	for _, name := range names {
		put(t, filepath.Join(dir, name+".jsonl"), claudeSession(150000))
	}
	found := map[string]bool{}
	for range 2 {
		once(t, home)
		if code, out, said := ccdIn(home, "", "status"); code != words.ExitDone {
			t.Errorf("status: exit %d, %s%s", code, out, said)
		}
		for _, name := range names {
			code, out, said := ccdIn(home, "", "show", "--path", filepath.Join(dir, name+".jsonl"))
			at := strings.TrimSuffix(out, "\n")
			if text, err := os.ReadFile(at); code != words.ExitDone || err != nil || !strings.Contains(string(text), name) || !utf8.ValidString(out) {
				t.Errorf("path: exit %d, %v, %s", code, err, said)
			}
			found[at] = true
			if len(filepath.Base(at)) > 255 || name == names[3] && filepath.Base(at) != name+".ccd.md" {
				t.Errorf("companion %q", at)
			}
			must(t, os.RemoveAll(filepath.Join(dir, name+".jsonl")))
		}
	}
	if len(found) != 2*len(names) {
		t.Errorf("%d companions, want %d", len(found), 2*len(names))
	}
}

// TestControlCharactersInANameAreReported: a file that is skipped for its name is never reported as archived.
func TestControlCharactersInANameAreReported(t *testing.T) {
	home, dir := rooted(t)
	put(t, filepath.Join(dir, "good.jsonl"), claudeSession(20000))
	doctor := func() string {
		_, out, _ := ccdIn(home, "", "doctor")
		return out
	}
	if code, _, said := ccdIn(home, "", "run", "--once", "-q"); code != words.ExitDone || !strings.Contains(doctor(), "all transcripts are archived") {
		t.Fatalf("control: exit %d, %s", code, said)
	}
	put(t, filepath.Join(dir, "bad\x1bname.jsonl"), claudeSession(20000))
	put(t, filepath.Join(dir+"\n", "in.jsonl"), claudeSession(20000))
	code, _, said := ccdIn(home, "", "run", "--once")
	if code != words.ExitFailed || !strings.Contains(said, `x1bname.jsonl`) || !strings.Contains(said, `-src-mill\n`) {
		t.Errorf("run --once: exit %d, %s", code, said)
	}
	code, out, _ := ccdIn(home, "", "status")
	if code != words.ExitFailed || !strings.Contains(out, `x1bname.jsonl`) || strings.Contains(out, "\x1b") {
		t.Errorf("status: exit %d, %q", code, out)
	}
	if out := doctor(); strings.Contains(out, "all transcripts are archived") || !strings.Contains(out, `x1bname.jsonl`) || !strings.Contains(out, "2 paths not archived") {
		t.Errorf("doctor: %q", out)
	}
	c := spawn(t, home, "run")
	if s := statusWhen(t, c, func(s status.Report) bool { return s.Unreadable == 2 }); len(s.Degraded) == 0 || s.Sessions != 1 {
		t.Errorf("status: degraded %q, %d sessions", s.Degraded, s.Sessions)
	}
}

// TestHardLinksAreArchived: backup programs create hard links.
func TestHardLinksAreArchived(t *testing.T) {
	home, dir := rooted(t)
	const id = "11111111-2222-4333-8444-555555555555"
	content := claudeSession(150000)
	put(t, filepath.Join(home, "backup.jsonl"), content)
	if err := os.Link(filepath.Join(home, "backup.jsonl"), filepath.Join(dir, id+".jsonl")); err != nil {
		t.Skip("NOTICE: no hard links here:", err)
	}
	once(t, home)
	if code, out, _ := ccdIn(home, "", "restore", "--session", id); code != words.ExitDone || out != content {
		t.Errorf("restore: exit %d, %d bytes of %d", code, len(out), len(content))
	}
	if _, out, _ := ccdIn(home, "", "doctor"); !strings.Contains(out, "1 file") {
		t.Errorf("doctor does not tell of it:\n%s", out)
	}
	c := spawn(t, home, "run")
	report := statusWhen(t, c, func(s status.Report) bool { return s.Linked == 1 })
	if report.Unreadable != 0 || report.Failing != 0 {
		t.Errorf("status: %+v", report)
	}
}

// TestFilesOfOtherUsersAreRefused: a file below a root that belongs neither to the root's owner nor to this user is not
// read, and ccd reports that.
func TestFilesOfOtherUsersAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOTICE: only root can give files to other users")
	}
	home, dir := rooted(t)
	const ours, rootOwners, strangers = "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555", "33333333-2222-4333-8444-555555555555"
	content := claudeSession(150000)
	path := func(id string) string { return filepath.Join(dir, id+".jsonl") }
	for _, id := range []string{ours, rootOwners, strangers} {
		put(t, path(id), content)
	}
	for name, uid := range map[string]int{path(rootOwners): 4321, path(strangers): 4322, filepath.Dir(dir): 4321} {
		must(t, os.Chown(name, uid, -1))
	}
	code, _, said := ccdIn(home, "", "run", "--once")
	if code != words.ExitFailed || strings.Count(said, strangers) != 1 || !strings.Contains(said, watcher.ErrOwner.Error()+" (uid 4322)") {
		t.Errorf("run --once: exit %d, %s", code, said)
	}
	for _, id := range []string{ours, rootOwners} {
		if code, out, said := ccdIn(home, "", "restore", "--session", id); code != words.ExitDone || out != content {
			t.Errorf("restore %s: exit %d, %s", id, code, said)
		}
	}
	if code, out, _ := ccdIn(home, "", "restore", "--session", strangers); code != words.ExitNotFound || out != "" {
		t.Errorf("restore of the stranger's: exit %d, %d bytes", code, len(out))
	}
	if code, _, said := ccdIn(home, "", "compact", path(strangers)); code != words.ExitFailed || !strings.Contains(said, watcher.ErrOwner.Error()) {
		t.Errorf("compact: exit %d, %s", code, said)
	}
	if _, out, _ := ccdIn(home, "", "doctor"); !strings.Contains(out, strangers) || !strings.Contains(out, "not archived") {
		t.Errorf("doctor does not tell of it:\n%s", out)
	}
	c := spawn(t, home, "run")
	report := statusWhen(t, c, func(s status.Report) bool { return s.Unreadable == 1 })
	if len(report.Degraded) == 0 || report.Sessions != 2 {
		t.Errorf("status: degraded %q, %d sessions", report.Degraded, report.Sessions)
	}
	must(t, c.Process.Kill())
	if err := c.Wait(); err == nil || strings.Count(c.stderr.String(), strangers) != 1 {
		t.Errorf("log: %v, %s", err, c.stderr.String())
	}
}

func rooted(t *testing.T) (home, project string) {
	t.Helper()
	home = t.TempDir()
	project = filepath.Join(home, ".claude", "projects", "-src-mill")
	must(t, os.MkdirAll(project, 0o700))
	return home, project
}

// statusWhen waits until so accepts the status of a daemon.
func statusWhen(t *testing.T, c *child, so func(status.Report) bool) (report status.Report) {
	t.Helper()
	testkit.Eventually(t, "status", func() bool {
		_, out, _ := ccdIn(c.home, "", "status", "--json")
		report = status.Report{}
		return json.Unmarshal([]byte(out), &report) == nil && so(report)
	})
	return report
}

// A FIFO in place of one of ccd's own files blocks no command. os.Open would wait forever.
func TestFIFOsDoNotBlock(t *testing.T) {
	for _, name := range []string{
		".config/ccd/config.toml", ".local/state/ccd/run.json", ".local/state/ccd/run.lock",
		".local/state/ccd/archive.lock",
	} {
		home := t.TempDir()
		put(t, transcriptPath(home, 1), aLine)
		once(t, home)
		path := filepath.Join(home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		_ = os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip("no FIFOs here:", err)
		}
		for _, command := range [][]string{{"ls"}, {"status"}, {"status", "--totals"}, {"run", "--once"}} {
			ccdIn(home, "", command...) // it must only return
		}
	}
}
