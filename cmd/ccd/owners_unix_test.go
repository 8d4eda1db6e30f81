//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
	"ccd/watcher"
)

// TestHardLinksAreArchived: backup programs create hard links.
func TestHardLinksAreArchived(t *testing.T) {
	home, dir := rooted(t)
	const id = "11111111-2222-4333-8444-555555555555"
	content := claudeSession("claude-sonnet-4-5", "150000", nil)
	put(t, filepath.Join(home, "backup.jsonl"), content)
	if err := os.Link(filepath.Join(home, "backup.jsonl"), filepath.Join(dir, id+".jsonl")); err != nil {
		t.Skip("NOTICE: no hard links here:", err)
	}
	once(t, home)
	if code, out, _ := ccdIn(home, "", "restore", "--session", id); code != words.ExitDone || out != content {
		t.Errorf("restore: exit %d, %d bytes of %d", code, len(out), len(content))
	}
	if _, out, _ := ccdIn(home, "", "doctor"); !strings.Contains(out, "1 file, 1 with hard links") {
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
	content := claudeSession("claude-sonnet-4-5", "150000", nil)
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
