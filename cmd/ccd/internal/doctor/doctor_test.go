package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
	"ccd/packaging"
	"ccd/watcher"
)

// soundFacts returns the facts of an installed, sandboxed, running daemon that has archived one transcript. Nothing is wrong;
// each test case spoils one thing.
func soundFacts(t *testing.T) *facts {
	t.Helper()
	home := t.TempDir()
	root := watcher.Root{Agent: "claude-code", Path: filepath.Join(home, ".claude", "projects")}
	path := filepath.Join(root.Path, "-p", "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl")
	write(t, path, 0o600)
	now := time.Now()
	d := Doctor{Env: account.Env{Vars: []string{"HOME=" + home, "USERPROFILE=" + home}}, Version: "v1"}
	p, err := d.Env.Place(true)
	testkit.Must(t, err)
	p.Roots = []watcher.Root{root}
	write(t, filepath.Join(p.StateDir, "archive.db"), 0o600)
	testkit.Must(t, os.Chmod(p.StateDir, 0o700))
	info, err := os.Stat(path)
	testkit.Must(t, err)
	found := watcher.Found{Path: path, Root: root, Size: info.Size(), ModTime: info.ModTime()}
	e := &reader.Entry{Session: archive.Session{Session: transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "c0ffee00"}, Path: path}}}
	e.Kept.Source = daemon.Stat{Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	e.Kept.First, e.Kept.Last = now.Add(-time.Hour), now.Add(-time.Minute)
	f := &facts{
		doctor: d, sessions: []*reader.Entry{e}, scans: []scan{{Root: root, found: []watcher.Found{found}}},
		Facts: Facts{
			Place: p, Version: "v1", Now: now, Size: archive.Size{File: 16 << 20, Raw: 40 << 20}, Free: 100 << 30, Running: true,
			Run: daemon.RunInfo{Pid: os.Getpid(), Version: "v1", Start: now.Add(-time.Hour), LastPass: now.Add(-time.Minute)},
		},
	}
	f.Manager, err = p.Service(packaging.Options{})
	testkit.Must(t, err)
	f.Service = packaging.State{Installed: true, Enabled: true, Active: true, Pid: os.Getpid(), Sandboxed: true, Detail: "active (running)"}
	return f
}

func write(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(t, os.WriteFile(path, []byte("---\nccd: 1\n---\n"), mode))
	testkit.Must(t, os.Chmod(path, mode))
}

const day = 24 * time.Hour

// TestDoctorFindsWhatIsWrong tests that each check finds nothing on a sound setup, and the one fault on a spoilt setup.
func TestDoctorFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		look  func(context.Context, *facts) []Finding
		spoil func(t *testing.T, s *facts)
		state string
		want  string // in detail or fix
	}{
		{"root hangs", checkRoots, func(_ *testing.T, s *facts) { s.scans[0].err = disk.SlowError{After: disk.Patience} }, "wrong", "does not respond"},
		{"root is a file", checkRoots, func(_ *testing.T, s *facts) { s.scans[0].err = errNoDirectory }, "wrong", "is not a directory"},
		{"no root", checkRoots, func(_ *testing.T, s *facts) { s.scans[0].err = fs.ErrNotExist }, "note", "no transcripts found"},
		{"directory unreadable", checkRoots, func(_ *testing.T, s *facts) { s.scans[0].problems = []error{errors.New("scan /p: no")} }, "wrong", "chmod -R u+rX"},
		{"state is a file", checkState, func(t *testing.T, s *facts) {
			s.StateDir = filepath.Join(t.TempDir(), "f")
			write(t, s.StateDir, 0o600)
		}, "wrong", "is not a directory"},
		{"archive damaged", now(Facts.archive), func(_ *testing.T, s *facts) {
			s.Damage = []error{&archive.DamageError{Path: "/a", Err: errors.New("hash mismatch")}}
		}, "wrong", "hash mismatch"},
		{"archive unreadable", now(Facts.archive), func(_ *testing.T, s *facts) { s.Unread = archive.ErrNewer }, "wrong", "another version of ccd"},
		{"archive locked", now(Facts.archive), func(_ *testing.T, s *facts) { s.Unread = &archive.LockedError{} }, "wrong", "lsof"},
		{"archive hangs", now(Facts.archive), func(_ *testing.T, s *facts) { s.Unread = disk.SlowError{After: disk.Patience} }, "wrong", "disk"},
		{"service failed", now(Facts.service), func(_ *testing.T, s *facts) { s.Service.Detail = "failed (failed), exit-code" }, "wrong", "exit-code"},
		{"service unknown", now(Facts.service), func(_ *testing.T, s *facts) { s.Unasked = errors.New("no home") }, "note", "no home"},
		{"service not installed", now(Facts.service), func(_ *testing.T, s *facts) { s.Service = packaging.State{} }, "note", "ccd setup"},
		{"service not enabled", now(Facts.service), func(_ *testing.T, s *facts) { s.Service.Enabled = false }, "note", "not enabled"},
		{"manager silent", now(Facts.service), func(_ *testing.T, s *facts) {
			s.Service.Silent = errors.New("systemctl --user does not answer: no bus")
		}, "note", "loginctl enable-linger"},
		{"unit drifted", checkDrift, func(_ *testing.T, s *facts) { s.Service.Drift = []string{"/u/ccd.service"} }, "wrong", "/u/ccd.service"},
		{"unit not reread", checkDrift, func(_ *testing.T, s *facts) { s.Service.Stale = true }, "wrong", "has not read"},
		{"ends at logout", checkDrift, func(_ *testing.T, s *facts) { s.Service.Installed, s.Service.EndsAtLogout = true, true }, "note", "loginctl enable-linger"},
		{"no daemon", now(Facts.daemon), func(_ *testing.T, s *facts) { s.Running, s.Service = false, packaging.State{} }, "note", "not running"},
		{"summarizer missing", now(Facts.Summarizer), func(_ *testing.T, s *facts) {
			s.Config.Summarizer.Command = []string{"no-such-command-of-ccd"}
		}, "wrong", "full path"},
		{"summarizer confined", now(Facts.Summarizer), func(_ *testing.T, s *facts) {
			s.Config.Summarizer.Command, s.Service.BlocksCommands = []string{os.Args[0]}, true
		}, "wrong", "ccd service install"},
		{"lag", checkBehind, func(_ *testing.T, s *facts) { s.scans[0].found[0].ModTime = s.Now.Add(-time.Hour) }, "note", "1 file is not fully archived"},
		{"behind without a daemon", checkBehind, func(_ *testing.T, s *facts) {
			s.Running, s.sessions = false, nil
		}, "note", "no daemon is running"},
		{"purged unarchived", checkPurge, func(_ *testing.T, s *facts) { s.scans[0].found[0].ModTime = s.Now.Add(-28 * day) }, "wrong", "1 of them is not fully archived and may be removed soon"},
		{"no period", checkPurge, func(t *testing.T, s *facts) { s.settings(t, `{"cleanupPeriodDays": 0}`) }, "wrong", "keeps no transcripts"},
		{"settings torn", checkPurge, func(t *testing.T, s *facts) { s.settings(t, `{"cleanup`) }, "note", "cannot read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := soundFacts(t)
			if all := c.look(context.Background(), s); Worst(all) != "ok" {
				t.Fatalf("on a sound setup: %+v", all)
			}
			c.spoil(t, s)
			all := c.look(context.Background(), s)
			if Worst(all) != c.state || !tells(all, c.state, c.want) {
				t.Errorf("want %s with %q, got %+v", c.state, c.want, all)
			}
			for _, f := range all {
				if f.State == "wrong" && f.Fix == "" {
					t.Errorf("finding without a fix: %+v", f)
				}
			}
		})
	}
}

func now(look func(Facts) []Finding) func(context.Context, *facts) []Finding {
	return func(_ context.Context, f *facts) []Finding { return look(f.Facts) }
}

func tells(all []Finding, state, want string) bool {
	for _, f := range all {
		if f.State == state && strings.Contains(f.Detail+" "+f.Fix, want) {
			return true
		}
	}
	return false
}

func (f *facts) settings(t *testing.T, text string) {
	t.Helper()
	testkit.Put(t, filepath.Join(f.Home, ".claude", "settings.json"), text)
}

// TestPurgePeriods tests files that no purge endangers: new ones, archived ones and another agent's.
func TestPurgePeriods(t *testing.T) {
	s := soundFacts(t)
	s.scans[0].found[0].ModTime = s.Now.Add(-time.Minute) // it grew a minute ago and is not fully archived
	s.settings(t, `{"cleanupPeriodDays": 1}`)
	wantOK := func(what string) {
		t.Helper()
		if all := checkPurge(t.Context(), s); Worst(all) != "ok" {
			t.Errorf("%s: %+v", what, all)
		}
	}
	wantOK("a file that just grew")
	s.scans[0].found[0].ModTime = s.Now.Add(-29 * day)
	s.settings(t, `{"cleanupPeriodDays": 365}`)
	wantOK("a year")
	s.scans[0].found[0].Root.Agent = "codex"
	s.settings(t, `{"cleanupPeriodDays": 30}`)
	wantOK("codex removes nothing")
}

func TestLimit(t *testing.T) {
	const mib = 1 << 20
	s := soundFacts(t)
	for _, c := range []struct {
		size  archive.Size
		limit int64
		want  string
	}{
		{archive.Size{File: 100 * mib}, 0, "ok"},
		{archive.Size{File: 100 * mib}, 200 * mib, "ok"},
		{archive.Size{File: 90 * mib}, 110 * mib, "note"},
		{archive.Size{File: 100 * mib}, 110 * mib, "wrong"},
		{archive.Size{File: 100 * mib, Free: 50 * mib}, 110 * mib, "ok"},
		{archive.Size{File: mib}, 3 * mib, "ok"},
		{archive.Size{File: 2 * mib}, 3 * mib, "wrong"},
	} {
		s.Config.Archive.MaxSize, s.Size = config.Bytes(c.limit), c.size
		if f := s.limit(); f.State != c.want {
			t.Errorf("%+v, limit %d: %+v", c.size, c.limit, f)
		}
	}
}

// TestProblems: all that is wrong is told, also by status, and nothing of a daemon that nobody installed.
func TestProblems(t *testing.T) {
	for want, spoil := range map[string]func(l *Facts){
		"":                             func(*Facts) {},
		" ":                            func(l *Facts) { l.Running, l.Service = false, packaging.State{} },
		"not running":                  func(l *Facts) { l.Running = false },
		"read run state":               func(l *Facts) { l.RunErr = errors.New("read run state: eof") },
		"settings differ":              func(l *Facts) { l.Service.Places, l.Running = []string{"XDG_STATE_HOME=/x"}, false },
		"no scan for":                  func(l *Facts) { l.Run.LastPass = l.Now.Add(-time.Hour) },
		"the daemon is v0, this is v1": func(l *Facts) { l.Run.Version = "v0" },
		"0 B free, below archive.min":  func(l *Facts) { l.Config.Archive.MinFree, l.Free = 1<<50, 0 },
		"no space left":                func(l *Facts) { l.Config.Archive.MinFree, l.Free = 0, 0 },
		"cannot grow":                  func(l *Facts) { l.Config.Archive.MaxSize = 17 << 20 },
		"30 files could not":           func(l *Facts) { l.Run.Failing = 30 },
		"cannot read 1 path":           func(l *Facts) { l.Run.Watch.Unreadable = map[string]string{"/p": "no"} },
		"what it does is unknown":      func(l *Facts) { l.Run.Stale, l.Run.Version = true, "" },
		"was removed":                  func(l *Facts) { l.Run.Sessions, l.ArchivePath = 2, "/nowhere/archive.db" },
		"waiting for":                  func(l *Facts) { l.Run.Locked = "x" },
		"different configuration":      func(l *Facts) { l.Run.Config = "/elsewhere" },
		"not a configuration":          func(l *Facts) { l.Wrong = errors.New("not a configuration") },
		"polled, not watched": func(l *Facts) {
			one := watcher.RootHealth{Present: true, Polled: true, Why: "watch limit reached: x"}
			l.Run.Watch.Roots = []watcher.RootHealth{one, one}
		},
		"of another version": func(l *Facts) { l.Unread = fmt.Errorf("of another version: %w", archive.ErrNewer) },
	} {
		s := soundFacts(t)
		spoil(&s.Facts)
		all := Problems(s.Findings())
		if want = strings.TrimSpace(want); want == "" && len(all) > 0 || want != "" && (len(all) != 1 || !strings.Contains(all[0].Detail, want)) {
			t.Errorf("want %q, got %+v", want, all)
		}
		for _, f := range all {
			if f.Fix == "" {
				t.Errorf("finding without a fix: %+v", f)
			}
		}
	}
}
