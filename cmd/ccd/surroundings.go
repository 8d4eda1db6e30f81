package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccd/archive"
	"ccd/compactor/sidecar"
	"ccd/daemon"
	"ccd/packaging"
	"ccd/watcher"
)

// Doctor hangs nowhere: a dead network file system, or a lock that another process keeps, costs it so much.
const (
	checkLimit  = 5 * time.Second
	sampleLimit = 400 * time.Millisecond // that a sample of the archive takes
	maxListed   = 100_000                // entries of one kind that are remembered; beyond, a look is no check of all
)

// surroundings is what the checks look at, read once. A check changes nothing of it.
type surroundings struct {
	a   *app
	l   *library
	now time.Time

	bare bool // the configuration could not be read: l has the defaults

	scans    []rootScan // one a root that is a directory
	trees    []tree     // of roots, companion.dir and the state directory
	run      daemon.RunInfo
	running  bool
	runErr   error
	sessions []entry
	size     archive.Size
	sample   archive.Sampled
	slow     bool    // the archive's lock was not to be had
	readErr  error   // why the archive could not be read
	damage   []error // of sessions
	service  serviceFacts
}

// rootScan is one watched root.
type rootScan struct {
	watcher.Root
	err      error // why it is no directory that can be read, fs.ErrNotExist where it is not there yet
	found    []watcher.Found
	problems []error
}

// serviceFacts is what is known of the service that is installed for this user.
type serviceFacts struct {
	service *packaging.Service // nil where none is
	state   packaging.State
	machine bool     // it is the machine's, not the user's own
	err     error    // why nothing is known
	drift   []string // its files that are not what install would write
	drifted error    // why that cannot be told
	differs []string // where it works otherwise than what is run here would
}

// runFacts are what the daemon tells of itself, and whether one runs.
type runFacts struct {
	info    daemon.RunInfo
	running bool
}

// tree is what of ccd's stands below a directory.
type tree struct {
	dir        string
	own        bool     // all below it is ccd's
	dirs       int      // directories
	temps      []string // directories that hold a file with the name of a temporary one
	companions []string // files with the name of a companion
	others     []string // where own: directories and files
}

// lookAround reads what the checks need, each part within a limit. It opens nothing for writing.
func (a *app) lookAround(ctx context.Context, l *library, show func(done, total int64)) *surroundings {
	s := &surroundings{a: a, l: l, now: time.Now()}
	for _, r := range l.roots {
		scan, err := bounded(ctx, checkLimit, func(ctx context.Context) (rootScan, error) { return scanRoot(ctx, l, r), nil })
		if err != nil {
			scan = rootScan{Root: r, err: err}
		}
		s.scans = append(s.scans, scan)
	}
	show(20, 100)
	for _, t := range l.trees() {
		if t, err := bounded(ctx, checkLimit, func(ctx context.Context) (tree, error) { return t.walk(ctx), nil }); err == nil {
			s.trees = append(s.trees, t)
		}
	}
	show(30, 100)
	told, err := bounded(ctx, checkLimit, func(context.Context) (runFacts, error) {
		info, running, err := daemon.ReadRun(l.stateDir)
		return runFacts{info, running}, err
	})
	s.run, s.running, s.runErr = told.info, told.running, err
	s.readArchive(ctx)
	show(40, 100)
	facts, err := bounded(ctx, checkLimit, func(ctx context.Context) (serviceFacts, error) { return a.serviceFacts(ctx, l), nil })
	if s.service = facts; err != nil {
		s.service.err = err
	}
	return s
}

// readArchive reads sizes, sessions and a sample.
func (s *surroundings) readArchive(ctx context.Context) {
	var err error
	a := s.l.archive
	if s.size, err = bounded(ctx, checkLimit, a.Size); err != nil {
		s.slow, s.readErr = isSlow(err) || errors.As(err, new(*archive.LockedError)), err
		return
	}
	s.sample, s.readErr = bounded(ctx, checkLimit, func(ctx context.Context) (archive.Sampled, error) {
		return a.Sample(ctx, sampleLimit, uint64(s.now.UnixNano()))
	})
	own, err := bounded(ctx, checkLimit, func(ctx context.Context) (library, error) {
		own := *s.l // given up, it goes on; nobody else may see what it fills
		err := own.load(ctx)
		return own, err
	})
	if s.sessions, s.damage = own.sessions, own.damage; s.readErr == nil {
		s.readErr = err
	}
}

// slowError tells that something took too long and was given up.
type slowError struct{ limit time.Duration }

// Error says how long.
func (e slowError) Error() string { return fmt.Sprintf("no answer within %s", e.limit) }

func isSlow(err error) bool {
	_, slow := err.(slowError)
	return slow
}

// bounded returns what do returns, or a slowError: a system call that hangs cannot be interrupted, only be left behind.
// A panic of do is an error. What do shares with others it must not change.
func bounded[T any](ctx context.Context, limit time.Duration, do func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("a fault in ccd: %v", p)
			}
			c <- o
		}()
		o.value, o.err = do(ctx)
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	var none outcome
	select {
	case o := <-c:
		return o.value, o.err
	case <-ctx.Done():
		return none.value, ctx.Err()
	case <-late.C:
		return none.value, slowError{limit}
	}
}

// trees are the directories in which files of ccd's stand.
func (l *library) trees() []tree {
	all := []tree{{dir: l.stateDir, own: true}}
	for _, r := range l.roots {
		all = append(all, tree{dir: r.Path})
	}
	if dir := l.config.Companion.Dir; dir != "" {
		all = append(all, tree{dir: dir})
	}
	return all
}

// walk looks through the tree. What cannot be read is the roots' check.
func (t tree) walk(ctx context.Context) tree {
	_ = filepath.WalkDir(t.dir, func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil
		case d.IsDir():
			t.dirs++
		case strings.HasPrefix(name, ".ccd-"):
			if dir := filepath.Dir(path); len(t.temps) == 0 || t.temps[len(t.temps)-1] != dir {
				t.temps = append(t.temps, dir)
			}
			return nil
		case strings.HasSuffix(name, sidecar.Suffix) && d.Type().IsRegular() && len(t.companions) < maxListed:
			t.companions = append(t.companions, path)
			return nil
		}
		if t.own && (d.IsDir() || d.Type().IsRegular()) && len(t.others) < maxListed {
			t.others = append(t.others, path)
		}
		return nil
	})
	return t
}

func scanRoot(ctx context.Context, l *library, r watcher.Root) rootScan {
	s := rootScan{Root: r}
	info, err := os.Stat(r.Path)
	if err == nil && !info.IsDir() {
		err = errNoDirectory
	}
	if s.err = err; err != nil {
		return s
	}
	o := l.watch
	o.Roots = []watcher.Root{r}
	s.found, s.problems = watcher.Scan(ctx, o)
	return s
}
