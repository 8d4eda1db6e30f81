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

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/daemon"
	"ccd/packaging"
	"ccd/watcher"
)

// askEvery is how often the service manager is asked by one who goes on looking: it takes a process each time.
const askEvery = 30 * time.Second

// noWatches begins the cause that the watcher gives for polling where the kernel has no more watches to give.
const noWatches = "no further watches"

// gauge reads what status prints. Read again, it opens only what has changed: run.json and the archive by their stat, and
// asks the service manager only when the daemon came or went, or now and then.
type gauge struct {
	a       *app
	l       *library
	wrong   error // why the configuration cannot be read: l has the defaults then
	archive stamp
	size    archive.Size
	count   statusOutput // what the sessions make of it
	stored  map[string]stored
	service packaging.State
	asked   time.Time
	running bool

	elsewhere []string // the settings with which the service runs, and not here

	reads int // how often the archive was read
	known int // sessions that the daemon tells of
}

// stamp is a file as it was when it was read.
type stamp struct {
	info fs.FileInfo // nil: there was none
	at   time.Time
}

// same reports whether info tells of the same file, unchanged since it was read. One that was read in the very moment of
// a change may have changed again without another time.
func (s stamp) same(info fs.FileInfo) bool {
	if s.info == nil || info == nil {
		return s.info == nil && info == nil && !s.at.IsZero()
	}
	return os.SameFile(s.info, info) && s.info.Size() == info.Size() && s.info.ModTime().Equal(info.ModTime()) &&
		s.at.Sub(info.ModTime()) > time.Second
}

// gauge finds what status looks at. Nothing is read but the configuration; where that is in error, what needs none is
// told all the same.
func (a *app) gauge() (*gauge, error) {
	l, wrong := a.locate(true)
	if wrong == nil {
		return &gauge{a: a, l: l}, nil
	}
	plain := a.unconfigured()
	l, err := plain.locate(true)
	if err != nil { // there is no home directory either
		return nil, wrong
	}
	return &gauge{a: plain, l: l, wrong: wrong}, nil
}

// follow looks at the archive of the daemon that runs, where the configuration does not tell.
func (g *gauge) follow(info daemon.RunInfo) {
	if g.wrong == nil || info.Archive == "" || info.Archive == g.l.archivePath {
		return
	}
	if a, err := archive.Open(info.Archive, archive.Options{ReadOnly: true}); err == nil {
		g.l.archive, g.l.archivePath = a, info.Archive
	}
}

// read tells how things are now. What cannot be read stands under degraded; err is only for what ended ctx.
func (g *gauge) read(ctx context.Context) (statusOutput, error) {
	info, running, runErr := daemon.ReadRun(g.l.stateDir)
	if running {
		g.follow(info)
	}
	archiveErr := g.readArchive(ctx)
	if ctx.Err() != nil {
		return statusOutput{}, context.Cause(ctx)
	}
	out := g.count
	out.Damage = g.l.damages()
	out.Live = append([]sessionOutput{}, out.Live...)
	out.Running, out.This = running, version().Version
	out.Degraded, out.Roots, out.Errors = []string{}, []rootOutput{}, []failureOutput{}
	if running && info.Locked != "" {
		out.Degraded = append(out.Degraded, "the daemon is waiting for the archive: "+info.Locked)
	}
	for _, f := range info.Errors { // where no daemon runs, those of the last one
		out.Errors = append(out.Errors, failureOutput{f.Path, f.Error, f.Time})
	}
	g.known = info.Sessions
	out.LagBytes = g.lag(ctx, archiveErr)
	out.Config = g.l.configPath
	if g.wrong != nil {
		out.Config = ""
	}
	if running {
		out.run(info)
	} else {
		for _, r := range g.l.roots {
			out.Roots = append(out.Roots, rootOutput{Agent: r.Agent, Path: r.Path, Present: exists(r.Path)})
		}
	}
	g.ask(ctx, running)
	out.Service = serviceOutput{g.service.Installed, g.service.Enabled, g.service.Active, g.service.Detail}
	out.ShouldRun = out.Service.Installed && len(g.elsewhere) == 0
	for _, err := range []error{runErr, plainLock(archiveErr)} {
		var next interface{ Hint() string }
		switch {
		case errors.As(err, &next):
			out.Degraded = append(out.Degraded, fmt.Sprintf("%v (%s)", err, next.Hint()))
		case err != nil:
			out.Degraded = append(out.Degraded, err.Error())
		}
	}
	if errors.As(archiveErr, new(*archive.DamageError)) && len(out.Damage) == 0 {
		out.Damage = append(out.Damage, damageOutput{Cause: archiveErr.Error()})
	}
	out.Archive = archiveOutput{Path: g.l.archivePath, Bytes: g.size.File, Free: g.size.Free, Raw: g.size.Raw, Max: g.l.config.Archive.MaxSize}
	if free, err := freeSpace(existing(filepath.Dir(g.l.archivePath))); err == nil {
		out.Archive.Space, out.Archive.measured = free, true
	}
	if out.Archive.unread = archiveErr != nil; out.Archive.unread {
		out.Sessions = info.Sessions
	}
	out.Degraded = append(out.Degraded, g.degraded(out)...)
	return out, nil
}

// readArchive reads what the archive knows of each session, where it has changed or a live session may have come to rest.
func (g *gauge) readArchive(ctx context.Context) error {
	info, err := os.Stat(g.l.archivePath)
	if err != nil {
		info = nil
	}
	if g.archive.same(info) {
		g.rest()
		return nil
	}
	seen := stamp{info, time.Now()}
	g.reads++
	if err := g.l.load(ctx); err != nil {
		return err
	}
	if g.size, err = g.l.archive.Size(ctx); err != nil {
		return fmt.Errorf("measure archive: %w", err)
	}
	g.count = statusOutput{Live: []sessionOutput{}}
	g.count.count(g.l.sessions)
	g.stored = g.l.archived()
	g.l.sessions = nil // what is printed is kept, and that is little
	g.archive = seen
	return nil
}

// lag is how many bytes of the watched transcripts are not archived, nil where that cannot be told.
func (g *gauge) lag(ctx context.Context, err error) *int64 {
	if err != nil || g.wrong != nil {
		return nil
	}
	found, err := bounded(ctx, checkLimit, func(ctx context.Context) ([]watcher.Found, error) {
		found, _ := watcher.Scan(ctx, g.l.watch)
		return found, nil
	})
	if err != nil {
		return nil
	}
	bytes := behind(found, g.stored, nil).bytes
	return &bytes
}

// rest drops the sessions that have not grown for a while.
func (g *gauge) rest() {
	var live []sessionOutput
	for _, s := range g.count.Live {
		if s.Last != nil && time.Since(*s.Last) < liveWithin {
			live = append(live, s)
		}
	}
	g.count.Live = live
}

// ask asks the service manager.
func (g *gauge) ask(ctx context.Context, running bool) {
	if running == g.running && time.Since(g.asked) < askEvery {
		return
	}
	g.running, g.asked, g.service, g.elsewhere = running, time.Now(), packaging.State{}, nil
	if s, err := g.a.installedService(g.l); err == nil {
		if state, err := s.Status(ctx); err == nil {
			g.service = state
			if !running && state.Active {
				g.elsewhere, _ = s.Differs() // what cannot be read, doctor tells
			}
		}
	}
}

// degraded lists every problem, the worst first.
func (g *gauge) degraded(o statusOutput) (why []string) {
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if r := o.Reload; g.wrong != nil && (r == nil || r.Error != g.wrong.Error()) {
		add("the configuration cannot be read: %v", g.wrong)
	} else if g.wrong == nil && o.Running && o.Config != "" && absolute(g.l.configPath) != o.Config {
		add("the daemon runs with a different configuration: %s", o.Config)
	}
	if o.ShouldRun && !o.Running {
		add("the service is installed but not running; run ccd start")
	}
	if len(g.elsewhere) > 0 {
		add("the service runs, and with other settings than this shell: ccd looks elsewhere without %s", strings.Join(g.elsewhere, ", "))
	}
	if all := g.l.damage; len(all) > 0 {
		add("the archive is damaged (ccd ls lists the damaged sessions): %v", all[0])
	}
	if o.Stale {
		add("the daemon cannot write %s; the figures below are old", filepath.Join(g.l.stateDir, "run.json"))
	}
	if late := stalled(g.l.config.Watch.ScanInterval); o.Running && o.LastPass != nil && time.Since(*o.LastPass) > late {
		add("no scan has finished for %s; run ccd doctor", age(*o.LastPass))
	}
	if o.Running && o.LastPass != nil && g.known > 0 && !exists(o.Archive.Path) {
		add("%s was removed; all existing transcripts are archived again at the next scan", o.Archive.Path)
	}
	if o.Running && o.Version != o.This && !(o.Stale && o.Version == "") {
		add("the daemon is %s, this is %s; run ccd restart", named(o.Version), named(o.This))
	}
	if least := g.l.minFree(); least > 0 && o.Archive.measured && o.Archive.Space < least {
		add("%s free, below archive.min_free of %s; archiving has stopped", humanize.IBytes(uint64(o.Archive.Space)), g.l.written("archive.min_free"))
	}
	if g.l.minFree() <= 0 && o.Archive.measured && o.Archive.Space == 0 {
		add("no space left on the disk of %s; archiving has stopped", o.Archive.Path)
	}
	switch limit := g.l.config.Archive.MaxSize; {
	case full(g.size, limit):
		add("the archive cannot grow without exceeding archive.max_size of %s; archiving has stopped", g.l.written("archive.max_size"))
	case nearlyFull(g.size, limit):
		add("the archive is over 80 %% of archive.max_size of %s", g.l.written("archive.max_size"))
	}
	if r := o.Reload; r != nil && r.Error != "" {
		add("the configuration was refused %s ago, the previous one is in use: %s", age(r.Time), r.Error)
	} else if r != nil && r.Note != "" {
		add("%s", r.Note)
	}
	if n := max(o.Failing, len(o.Errors)); n > 0 {
		add("%s could not be brought up to date", count(n, "file"))
	}
	if o.Unreadable > 0 {
		add("cannot read %d directories or files; run ccd doctor", o.Unreadable)
	}
	for _, r := range o.Roots {
		if dir, err := os.Open(r.Path); err == nil {
			dir.Close()
		} else if r.Present {
			add("a root cannot be read: %v", err)
		}
		if o.Running && r.Polled && strings.HasPrefix(r.Why, noWatches) {
			add("%s is polled, not watched: %s", r.Path, r.Why)
		}
	}
	return why
}

// named is a version for people.
func named(version string) string {
	if version == "" {
		return "of an unknown version"
	}
	return version
}
