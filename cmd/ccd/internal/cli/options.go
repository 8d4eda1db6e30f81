package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor/limits"
	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/mark"
)

// Locate reads the configuration and returns the library that it describes. It reads no archive and creates nothing.
func (a *App) Locate(readOnly bool) (*reader.Library, error) {
	p, err := a.Place(readOnly)
	if err != nil {
		return nil, err
	}
	if a.Machine != "" {
		if err := a.readMachine(p, readOnly); err != nil {
			return nil, err
		}
	}
	return reader.Open(p, a.Agent)
}

// Library opens the archive for reading. If there is none yet, it has no sessions.
func (a *App) Library(ctx context.Context) (*reader.Library, error) {
	l, err := a.Locate(true)
	if err != nil {
		return nil, err
	}
	return l, l.Load(ctx)
}

// CollectLess is for commands that list sessions and end: almost everything that they allocate stays in use, so most
// collections would find nothing.
func (a *App) CollectLess() {
	if a.Process {
		debug.SetGCPercent(1600)
	}
}

// Incomplete reports damage that may make the answer incomplete. The command then exits 4.
func (a *App) Incomplete(l *reader.Library) {
	if len(l.Damage) == 0 || a.Damaged {
		return
	}
	a.Damaged = true
	if l.Machine != "" {
		fmt.Fprintf(a.Err, "ccd: warning: what was pulled of machine %s is damaged; the output may be incomplete\nhint: remove %s, then ccd remote pull\n",
			mark.Inline(l.Machine, 60), mark.Inline(l.ArchivePath, 0))
		return
	}
	fmt.Fprintln(a.Err, "ccd: warning: the archive is damaged; the output may be incomplete:")
	most := min(len(l.Damage), 5)
	for _, err := range l.Damage[:most] {
		fmt.Fprintf(a.Err, "  %s\n", reader.Brief(err))
	}
	if more := len(l.Damage) - most; more > 0 {
		fmt.Fprintf(a.Err, "  and %d more\n", more)
	}
	fmt.Fprintln(a.Err, "hint: ccd doctor --fix")
}

// SayLag says how much of some sessions is not in the answer, because it is not archived and no daemon runs that archives it.
func (a *App) SayLag(l *reader.Library, of ...*reader.Entry) {
	run := "ccd run --once"
	if a.Agent {
		run = agentHint(run)
	}
	if lag := l.Behind(of); lag > 0 {
		a.Say("%s not archived yet; to include them: %s", humanize.IBytes(uint64(lag)), run)
	}
}

// Find returns the session of a SESSION argument. If that is latest, it says which one it took.
func (a *App) Find(l *reader.Library, arg, agent string) (*reader.Entry, error) {
	e, err := l.Find(arg, agent)
	if dir, ok := reader.LatestIn(arg); ok && err == nil {
		a.Incomplete(l) // the newest session may be among the damaged ones
		a.sayLatest(l, e, dir, agent)
	}
	return e, err
}

// Session opens the archive for reading and chooses a session.
func (a *App) Session(ctx context.Context, arg, agent string) (*reader.Library, *reader.Entry, error) {
	l, err := a.Library(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := a.Choose(ctx, l, arg, agent)
	return l, e, err
}

// DaemonFor makes a daemon of the configuration. With readOnly it can only say what it would do.
func (a *App) DaemonFor(ctx context.Context, readOnly bool) (*daemon.Daemon, *reader.Library, error) {
	return a.daemon(readOnly, func(o daemon.Options) (*daemon.Daemon, error) { return daemon.New(ctx, o) })
}

// DaemonAt makes a daemon for work on the transcript at a path only.
func (a *App) DaemonAt(ctx context.Context, path string) (*daemon.Daemon, error) {
	d, _, err := a.daemon(false, func(o daemon.Options) (*daemon.Daemon, error) { return daemon.NewAt(ctx, o, path) })
	return d, err
}

func (a *App) daemon(readOnly bool, make func(daemon.Options) (*daemon.Daemon, error)) (*daemon.Daemon, *reader.Library, error) {
	l, err := a.Locate(readOnly)
	if err != nil {
		return nil, nil, err
	}
	log, err := a.LogTo(a.Err, l.Config)
	if err != nil {
		return nil, nil, err
	}
	d, err := make(a.DaemonOptions(l, log))
	return d, l, err
}

// UpToDate archives what is new in the session. If the archive is damaged, it warns and continues with what can be
// read.
func (a *App) UpToDate(ctx context.Context, d *daemon.Daemon, l *reader.Library, e *reader.Entry) error {
	if err := d.Update(ctx, e.Key); err != nil {
		if !errors.As(err, new(*archive.DamageError)) {
			return err
		}
		a.Say("ccd: warning: %v", err)
	}
	if err := l.Load(ctx); err != nil {
		return err
	}
	if fresh := l.Entry(e.Key); fresh != nil {
		*e = *fresh
	}
	return nil
}

// DaemonOptions returns the daemon's options of a configuration.
func (a *App) DaemonOptions(l *reader.Library, log *slog.Logger) daemon.Options {
	config := ""
	if l.Config.Path() != "" {
		config = l.Env.Absolute(l.Config.Path())
	}
	return daemon.Options{
		Config: config, Archive: l.Archive, Agents: l.Agents, StateDir: l.StateDir, Watch: l.Watch, Compaction: reader.Options(l.Place),
		CompanionDir: l.Config.Companion.Dir, KeepAfterPurge: l.Config.Companion.KeepAfterPurge.Duration, Log: log, Version: a.Version(), Summarize: a.Summarize(l),
	}
}

// AgentSetup describes what this binary and configuration would install for agents. line is what the user said of the status
// line, or nil.
func (a *App) AgentSetup(line *bool) (*install.Setup, error) {
	home, err := a.Home()
	if err != nil {
		return nil, err
	}
	o := install.Options{Home: home, Getenv: a.Getenv, Line: line, OnPath: func(name string) bool { _, err := a.LookPath(name); return err == nil }}
	if o.Executable, err = a.Executable(); err != nil {
		return nil, err
	}
	conf, err := a.Config()
	if err == nil {
		o.Reach = conf.Agents.Reach
	} else if conf, err = config.Load("", false, nil); err != nil {
		return nil, err
	}
	o.Mod = install.Mod{Compaction: conf.Live.Compaction, Output: limits.Chars(conf.Compaction.LargeOutputTokens)}
	if conf.Live.Compaction {
		o.Clients = conf.Live.Clients
	}
	if a.ConfigFile != "" {
		o.Config = a.Absolute(a.ConfigFile)
	}
	return install.New(o)
}
