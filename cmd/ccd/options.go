package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/mark"
)

// locate reads the configuration and returns the library that it describes. It reads no archive and creates nothing.
func (a *app) locate(readOnly bool) (*reader.Library, error) {
	p, err := a.Place(readOnly)
	if err != nil {
		return nil, err
	}
	if a.machine != "" {
		if err := a.readMachine(p, readOnly); err != nil {
			return nil, err
		}
	}
	return reader.Open(p, a.agent)
}

// library opens the archive for reading. If there is none yet, it has no sessions.
func (a *app) library(ctx context.Context) (*reader.Library, error) {
	l, err := a.locate(true)
	if err != nil {
		return nil, err
	}
	return l, l.Load(ctx)
}

// collectLess is for commands that list sessions and end: almost everything that they allocate stays in use, so most
// collections would find nothing.
func (a *app) collectLess() {
	if a.process {
		debug.SetGCPercent(1600)
	}
}

// incomplete reports damage that may make the answer incomplete. The command then exits 4.
func (a *app) incomplete(l *reader.Library) {
	if len(l.Damage) == 0 || a.damaged {
		return
	}
	a.damaged = true
	if l.Machine != "" {
		fmt.Fprintf(a.err, "ccd: warning: what was pulled of machine %s is damaged; the output may be incomplete\nhint: remove %s, then ccd remote pull\n",
			mark.Inline(l.Machine, 60), mark.Inline(l.ArchivePath, 0))
		return
	}
	fmt.Fprintln(a.err, "ccd: warning: the archive is damaged; the output may be incomplete:")
	for _, err := range l.Damage {
		fmt.Fprintf(a.err, "  %s\n", reader.Brief(err))
	}
	fmt.Fprintln(a.err, "hint: ccd doctor --fix")
}

// find returns the session of a SESSION argument. If that is latest, it says which one it took.
func (a *app) find(l *reader.Library, arg, agent string) (reader.Entry, error) {
	e, err := l.Find(arg, agent)
	if dir, ok := history.LatestIn(arg); ok && err == nil {
		a.incomplete(l) // the newest session may be among the damaged ones
		a.sayLatest(l, e, dir, agent)
	}
	return e, err
}

// session opens the archive for reading and chooses a session.
func (a *app) session(ctx context.Context, arg, agent string) (*reader.Library, reader.Entry, error) {
	l, err := a.library(ctx)
	if err != nil {
		return nil, reader.Entry{}, err
	}
	e, err := a.choose(ctx, l, arg, agent)
	return l, e, err
}

// daemonFor makes a daemon of the configuration. With readOnly it can only say what it would do.
func (a *app) daemonFor(ctx context.Context, readOnly bool) (*daemon.Daemon, *reader.Library, error) {
	l, err := a.locate(readOnly)
	if err != nil {
		return nil, nil, err
	}
	log, err := a.logger(l.Config)
	if err != nil {
		return nil, nil, err
	}
	d, err := daemon.New(ctx, a.daemonOptions(l, log))
	return d, l, err
}

// daemonOptions returns the daemon's options of a configuration.
func (a *app) daemonOptions(l *reader.Library, log *slog.Logger) daemon.Options {
	config := ""
	if l.Config.Path() != "" {
		config = l.Env.Absolute(l.Config.Path())
	}
	return daemon.Options{
		Config: config, Archive: l.Archive, Agents: l.Agents, StateDir: l.StateDir, Watch: l.Watch, Compaction: reader.Options(l.Place),
		CompanionDir: l.Config.Companion.Dir, KeepAfterPurge: l.Config.Companion.KeepAfterPurge, Log: log, Version: a.version().Version, Summarize: a.summarize(l),
	}
}
