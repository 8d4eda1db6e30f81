package main

import (
	"bytes"
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
	"ccd/daemon"
	"ccd/internal/transcript"
	"ccd/packaging"
	"ccd/watcher"
)

// soundSurroundings are those of an installed, sandboxed, running daemon that has archived one transcript; nothing is
// amiss. Each case of a table spoils them in one way.
func soundSurroundings(t *testing.T) *surroundings {
	t.Helper()
	home := t.TempDir()
	root := filepath.Join(home, ".claude", "projects")
	path := filepath.Join(root, "-p", "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl")
	write(t, path, 0o600)
	now := time.Now()
	var err, out bytes.Buffer
	a := &app{std: std{strings.NewReader(""), &out, &err}, env: []string{"HOME=" + home, "USERPROFILE=" + home}}
	l, lerr := a.locate(true)
	if lerr != nil {
		t.Fatal(lerr)
	}
	l.roots = []watcher.Root{{Agent: "claude-code", Path: root}}
	write(t, filepath.Join(l.stateDir, "archive.db"), 0o600)
	if err := os.Chmod(l.stateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	info, serr := os.Stat(path)
	if serr != nil {
		t.Fatal(serr)
	}
	found := watcher.Found{Path: path, Root: l.roots[0], Size: info.Size(), ModTime: info.ModTime()}
	e := entry{Session: archive.Session{Session: transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "c0ffee00"}, Path: path}}}
	e.state.Source = daemon.Stat{Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	e.state.First, e.state.Last = now.Add(-time.Hour), now.Add(-time.Minute)
	s := &surroundings{
		a: a, l: l, now: now, running: true, sessions: []entry{e},
		scans:  []rootScan{{Root: l.roots[0], found: []watcher.Found{found}}},
		run:    daemon.RunInfo{Pid: os.Getpid(), Version: version().Version, Start: now.Add(-time.Hour), LastPass: now.Add(-time.Minute)},
		size:   archive.Size{File: 16 << 20, Raw: 40 << 20},
		sample: archive.Sampled{Whole: true},
	}
	s.service.state = packaging.State{Installed: true, Enabled: true, Active: true, Pid: os.Getpid(), Sandboxed: true, Detail: "active (running)"}
	s.walkTrees()
	return s
}

func (s *surroundings) walkTrees() {
	s.trees = nil
	for _, t := range s.l.trees() {
		s.trees = append(s.trees, t.walk(context.Background()))
	}
}

func write(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("---\nccd: 1\n---\n"), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

const day = 24 * time.Hour

// TestDoctorTellsWhatIsWrong holds that each check is silent or content in sound surroundings, and tells of the one thing
// that is amiss in spoilt ones.
func TestDoctorTellsWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		look  func(context.Context, *surroundings) []finding
		spoil func(t *testing.T, s *surroundings)
		state string
		want  string // in detail or mend
	}{
		{"root hangs", checkRoots, func(_ *testing.T, s *surroundings) { s.scans[0].err = slowError{checkLimit} }, "wrong", "its file system hangs"},
		{"root is a file", checkRoots, func(_ *testing.T, s *surroundings) { s.scans[0].err = errNoDirectory }, "wrong", "is not a directory"},
		{"root unreadable", checkRoots, func(_ *testing.T, s *surroundings) { s.scans[0].err = fs.ErrPermission }, "wrong", "chmod u+rx"},
		{"no root", checkRoots, func(_ *testing.T, s *surroundings) { s.scans[0].err = fs.ErrNotExist }, "note", "no agent has left"},
		{"directory unreadable", checkRoots, func(_ *testing.T, s *surroundings) { s.scans[0].problems = []error{errors.New("scan /p: no")} }, "wrong", "chmod -R u+rX"},
		{"state is a file", checkStateDir, func(t *testing.T, s *surroundings) {
			s.l.stateDir = filepath.Join(t.TempDir(), "f")
			write(t, s.l.stateDir, 0o600)
		}, "wrong", "is not a directory"},
		{"archive damaged", checkArchive, func(_ *testing.T, s *surroundings) {
			s.sample.Damage = []*archive.DamageError{{Path: "/a", Err: errors.New("hash mismatch")}}
		}, "wrong", "hash mismatch"},
		{"archive unreadable", checkArchive, func(_ *testing.T, s *surroundings) { s.readErr = archive.ErrNewer }, "wrong", "newer ccd"},
		{"archive full", checkArchive, func(_ *testing.T, s *surroundings) { s.l.config.Archive.MaxSize = 17 << 20 }, "wrong", "no room to grow"},
		{"archive nearly full", checkArchive, func(_ *testing.T, s *surroundings) {
			s.l.config.Archive.MaxSize, s.size.File = 100<<20, 84<<20
		}, "note", "over 80 %"},
		{"archive locked", checkLock, func(_ *testing.T, s *surroundings) { s.slow, s.readErr = true, &archive.LockedError{} }, "wrong", "lsof"},
		{"archive hangs", checkLock, func(_ *testing.T, s *surroundings) { s.slow = true }, "wrong", "disk"},
		{"disk full", checkSpace, func(_ *testing.T, s *surroundings) { s.l.config.Archive.MinFree = 1 << 60 }, "wrong", "below archive.min_free"},
		{"backup", checkBackups, func(t *testing.T, s *surroundings) { write(t, s.l.archivePath+".schema1.bak", 0o600) }, "note", "rm "},
		{"service failed", checkService, func(_ *testing.T, s *surroundings) { s.service.state.Detail = "failed (failed), exit-code" }, "wrong", "exit-code"},
		{"service unknown", checkService, func(_ *testing.T, s *surroundings) { s.service.err = errors.New("no home") }, "note", "no home"},
		{"service not installed", checkService, func(_ *testing.T, s *surroundings) { s.service.state = packaging.State{} }, "note", "ccd install"},
		{"service not enabled", checkService, func(_ *testing.T, s *surroundings) { s.service.state.Enabled = false }, "note", "not enabled"},
		{"manager silent", checkService, func(_ *testing.T, s *surroundings) {
			s.service.state.Detail = "systemctl --user does not answer: no bus"
		}, "note", "ccd install --linger"},
		{"unit of another shell", checkDrift, func(_ *testing.T, s *surroundings) {
			s.service.drift, s.service.differs = []string{"/u/ccd.service"}, []string{"--config /c"}
		}, "wrong", "--config /c"},
		{"unit drifted", checkDrift, func(_ *testing.T, s *surroundings) { s.service.drift = []string{"/u/ccd.service"} }, "wrong", "/u/ccd.service"},
		{"unit unreadable", checkDrift, func(_ *testing.T, s *surroundings) { s.service.drifted = errors.New("read service: no") }, "note", "read service"},
		{"unit not reread", checkDrift, func(_ *testing.T, s *surroundings) { s.service.state.Stale = true }, "wrong", "has not read"},
		{"ends at logout", checkLinger, func(_ *testing.T, s *surroundings) { s.service.state.Ends = true }, "note", "ccd install --linger"},
		{"daemon down", checkDaemon, func(_ *testing.T, s *surroundings) { s.running = false }, "wrong", "ccd start"},
		{"machine's daemon down", checkDaemon, func(_ *testing.T, s *surroundings) { s.running, s.service.machine = false, true }, "wrong", "ccd start --system"},
		{"no daemon", checkDaemon, func(_ *testing.T, s *surroundings) { s.running, s.service.state = false, packaging.State{} }, "note", "not running"},
		{"run.json torn", checkDaemon, func(_ *testing.T, s *surroundings) { s.runErr = errors.New("read run state: eof") }, "wrong", "run.json"},
		{"daemon hangs", checkDaemon, func(_ *testing.T, s *surroundings) { s.run.LastPass = s.now.Add(-10 * time.Minute) }, "wrong", "no scan has ended for 10m"},
		{"reload refused", checkDaemon, func(_ *testing.T, s *surroundings) { s.run.Reload = &daemon.Reload{Error: "line 3: no key"} }, "wrong", "line 3"},
		{"reload half done", checkDaemon, func(_ *testing.T, s *surroundings) { s.run.Reload = &daemon.Reload{Note: "a root is new"} }, "note", "ccd install"},
		{"more fails than is listed", checkErrors, func(_ *testing.T, s *surroundings) { s.run.Failing = 40 }, "wrong", "35 more"},
		{"daemon of another version", checkDaemon, func(_ *testing.T, s *surroundings) { s.run.Version = "v0.0.1" }, "note", "the daemon is v0.0.1"},
		{"last errors", checkErrors, func(_ *testing.T, s *surroundings) {
			for i := range 7 {
				s.run.Errors = append(s.run.Errors, daemon.Failure{Path: fmt.Sprint("/t", i), Error: "no space"})
			}
		}, "wrong", "2 more"},
		{"directories unreadable to it", checkErrors, func(_ *testing.T, s *surroundings) { s.run.Watch.Unreadable = map[string]string{"/p": "no"} }, "note", "cannot read 1 directories or files"},
		{"summarizer gone", checkSummarizer, func(_ *testing.T, s *surroundings) {
			s.l.config.Summarizer.Command = []string{"no-such-command-of-ccd"}
		}, "wrong", "whole path"},
		{"summarizer confined", checkSummarizer, func(_ *testing.T, s *surroundings) {
			s.l.config.Summarizer.Command, s.service.state.Confined = []string{os.Args[0]}, true
		}, "wrong", "ccd install"},
		{"behind", checkBehind, func(_ *testing.T, s *surroundings) { s.scans[0].found[0].ModTime = s.now.Add(-time.Hour) }, "note", "1 file is not fully archived"},
		{"behind without a daemon", checkBehind, func(_ *testing.T, s *surroundings) {
			s.running, s.sessions = false, nil
		}, "note", "no daemon runs"},
		{"purged unarchived", checkPurge, func(_ *testing.T, s *surroundings) { s.scans[0].found[0].ModTime = s.now.Add(-28 * day) }, "wrong", "1 of them is not fully archived"},
		{"purged at the next start", checkPurge, func(_ *testing.T, s *surroundings) { s.scans[0].found[0].ModTime = s.now.Add(-40 * day) }, "wrong", "at its next start"},
		{"short period, no daemon", checkPurge, func(t *testing.T, s *surroundings) { s.settings(t, `{"cleanupPeriodDays": 2}`); s.running = false }, "note", "after 2 days, and no daemon"},
		{"no period", checkPurge, func(t *testing.T, s *surroundings) { s.settings(t, `{"cleanupPeriodDays": 0}`) }, "wrong", "keeps no transcripts"},
		{"settings torn", checkPurge, func(t *testing.T, s *surroundings) { s.settings(t, `{"cleanup`) }, "note", "cannot be read"},
		{"file of tomorrow", checkClock, func(_ *testing.T, s *surroundings) { s.scans[0].found[0].ModTime = s.now.Add(day) }, "note", "1 file and 0 sessions"},
		{"record of tomorrow", checkClock, func(_ *testing.T, s *surroundings) { s.sessions[0].state.Last = s.now.Add(day) }, "note", "0 files and 1 session"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := soundSurroundings(t)
			if all := c.look(context.Background(), s); worst(all) != "ok" {
				t.Fatalf("in sound surroundings: %+v", all)
			}
			c.spoil(t, s)
			all := c.look(context.Background(), s)
			if worst(all) != c.state || !tells(all, c.state, c.want) {
				t.Errorf("want %s with %q, got %+v", c.state, c.want, all)
			}
			for _, f := range all {
				if f.State == "wrong" && f.Mend == "" {
					t.Errorf("says not what to do: %+v", f)
				}
			}
		})
	}
}

func tells(all []finding, state, want string) bool {
	for _, f := range all {
		if f.State == state && strings.Contains(f.Detail+" "+f.Mend, want) {
			return true
		}
	}
	return false
}

func (s *surroundings) settings(t *testing.T, text string) {
	t.Helper()
	dir, err := s.a.home()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ".claude", "settings.json"), []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPurgePeriods holds where a short period is no danger: what is new, archived, or another agent's.
func TestPurgePeriods(t *testing.T) {
	s := soundSurroundings(t)
	s.scans[0].found[0].ModTime = s.now.Add(-time.Minute) // it grew a minute ago, and is not archived as it stands
	if f := s.purge(1, "%s"); f.State != "ok" {
		t.Errorf("a file that just grew: %+v", f)
	}
	s.scans[0].found[0].ModTime = s.now.Add(-29 * day)
	if f := s.purge(365, "%s"); f.State != "ok" {
		t.Errorf("a year: %+v", f)
	}
	s.scans[0].found[0].Root.Agent = "codex"
	if f := s.purge(30, "%s"); f.State != "ok" {
		t.Errorf("codex removes nothing: %+v", f)
	}
}

func TestSpaceForGrowth(t *testing.T) {
	s := soundSurroundings(t)
	s.l.config.Archive.MinFree = 1 << 30
	if f := s.space(100 << 30); f.State != "ok" {
		t.Errorf("%+v", f)
	}
	if f := s.space(1 << 29); f.State != "wrong" {
		t.Errorf("%+v", f)
	}
	s.sessions[0].Generations = []archive.Generation{{N: 1, Tip: transcript.Cursor{Offset: 70 << 30}}}
	if f := s.space(9 << 30); f.State != "note" || !strings.Contains(f.Detail, "enough for about 2 days") {
		t.Errorf("it grows 4 GiB a day: %+v", f)
	}
	s.sessions[0].Generations = nil
	s.scans[0].found[0].Size = 30 << 30
	if f := s.space(9 << 30); f.State != "note" || !strings.Contains(f.Detail, "not archived yet will need about 12 GiB") {
		t.Errorf("a first pass: %+v", f)
	}
}

func TestWatchLimits(t *testing.T) {
	for _, c := range []struct {
		name                   string
		dirs, limit, instances int
		others                 watchUse
		state, want            string
	}{
		{"enough", 100, 8192, 128, watchUse{3, 50}, "ok", "other programs use 50"},
		{"too many directories", 5000, 8192, 128, watchUse{}, "note", "max_user_watches"},
		{"others use them", 1000, 8192, 128, watchUse{4, 8000}, "note", "other programs use 8000"},
		{"few instances", 10, 8192, 8, watchUse{}, "note", "max_user_instances"},
		{"all instances used", 10, 8192, 128, watchUse{128, 128}, "note", "others use 128"},
		{"instances unknown", 10, 8192, -1, watchUse{}, "ok", ""},
	} {
		if f := watchLimits(c.dirs, c.limit, c.instances, c.others); f.State != c.state || !strings.Contains(f.Detail+f.Mend, c.want) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

func TestClockBeforeTheBuild(t *testing.T) {
	s := soundSurroundings(t)
	if f := s.clock(s.now.Add(-day)); f.State != "ok" {
		t.Errorf("%+v", f)
	}
	if f := s.clock(s.now.Add(day)); f.State != "wrong" {
		t.Errorf("%+v", f)
	}
}

// TestBounded holds that what hangs is left behind, and what panics is an error.
func TestBounded(t *testing.T) {
	ctx := context.Background()
	end := make(chan struct{})
	defer close(end)
	_, err := bounded(ctx, time.Millisecond, func(context.Context) (int, error) { <-end; return 1, nil })
	if !isSlow(err) {
		t.Errorf("hangs: %v", err)
	}
	if n, err := bounded(ctx, time.Minute, func(context.Context) (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("returns: %d, %v", n, err)
	}
	if _, err := bounded(ctx, time.Minute, func(context.Context) (int, error) { panic("x") }); err == nil || isSlow(err) {
		t.Errorf("panics: %v", err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := bounded(stopped, time.Minute, func(context.Context) (int, error) { <-end; return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// What keeps quiet at first shows what it is told later.
func TestProgressAfter(t *testing.T) {
	var err bytes.Buffer
	a := &app{std: std{strings.NewReader(""), &err, &err}}
	show, wipe := a.progressAfter(0, "checking:")
	show(1, 2)
	wipe()
}
