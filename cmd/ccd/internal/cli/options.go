package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/table"
	"ccd/cmd/ccd/internal/tally"
	"ccd/compactor/limits"
	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/mark"
	"ccd/internal/summarizer"
	"ccd/internal/transcript"
	"ccd/internal/words"
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
	all := reader.DamagesOf(l.Damage)
	most := min(len(all), 5)
	for _, d := range all[:most] {
		fmt.Fprintf(a.Err, "  %s\n", d.Brief)
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(a.Err, "  %d more\n", more)
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

// Session opens the archive for reading and chooses a session that is a conversation. On a terminal it says which one, if Choose has not.
func (a *App) Session(ctx context.Context, arg, agent string) (*reader.Library, *reader.Entry, error) {
	l, err := a.Library(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := a.Choose(ctx, l, arg, agent)
	why := ""
	switch {
	case err != nil:
		return l, e, err
	case e.Class == transcript.Attachment:
		why = "it is an attachment, not a conversation"
	case e.Kept.UnknownFormat:
		why = "none of its records is of a known type"
	default:
		if _, latest := reader.LatestIn(arg); arg != ThisDir && !latest && a.Width() > 0 && !a.JSON {
			a.Say("%s\n", table.Cut(SessionLine(e), a.Width()))
		}
		return l, e, nil
	}
	return l, e, words.Hint(fmt.Errorf("find messages in session %s: %w: %s", e.Name(), archive.ErrNotFound, why), "ccd restore --session %s", words.Shell(e.Name()))
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

// OnBehalf reports whether a summarizer's command started this process. ccd then starts no command and follows no
// session.
func (a *App) OnBehalf() bool { return a.Getenv(summarizer.Variable) != "" }

// Summarize returns a function that runs the summarizer, or nil if none is configured or allowed.
func (a *App) Summarize(l *reader.Library) func(ctx context.Context, input string) ([]byte, error) {
	c := l.Config.Summarizer
	if len(c.Command) == 0 || a.OnBehalf() {
		return nil
	}
	command := summarizer.Command{
		Args: c.Command, Dir: filepath.Join(l.StateDir, "summarizer"), Env: a.Vars, Timeout: c.Timeout.Duration,
	}
	return func(ctx context.Context, input string) ([]byte, error) {
		begun := time.Now()
		out, err := command.Run(ctx, input)
		line := tally.Line{What: tally.Summary, By: command.Name(), Ms: time.Since(begun).Milliseconds()}
		switch {
		case ctx.Err() != nil: // it is not the command that ended the call
			return out, err
		case err != nil:
			line.Why, line.Late = mark.Inline(err.Error(), mostWhy), errors.Is(err, summarizer.ErrLate)
		case len(bytes.TrimSpace(out)) == 0:
			line.Why = "it printed nothing"
		case len(out) >= len(input):
			line.Why = "its summary is not shorter than the text"
		}
		tally.Add(l.StateDir, line)
		if errors.Is(err, summarizer.ErrNotStarted) {
			err = fmt.Errorf("%w: %w", daemon.ErrUnavailable, err)
		}
		return out, err
	}
}

// mostWhy is the number of characters of a cause that are counted under.
const mostWhy = 200

// Restored counts an attempt to restore an original, for `ccd status --totals`, and returns its error. What was asked for in a wrong
// way or broken off does not count.
func (a *App) Restored(err error) error {
	why, counts := map[int]string{words.ExitDone: "", words.ExitNotFound: tally.NotFound, words.ExitDamage: tally.Damaged, words.ExitFailed: "failed"}[ExitCode(err)]
	if home, wrong := a.Home(); counts && wrong == nil {
		if dir, wrong := config.StateDir(a.Getenv, home); wrong == nil {
			tally.Add(dir, tally.Line{What: tally.Restore, Why: why})
		}
	}
	return err
}

// LogTo returns a log that writes to w, by default warnings only. -q logs errors only, -v everything.
func (a *App) LogTo(w io.Writer, c config.Config) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		return nil, fmt.Errorf("read log.level: %w", err)
	}
	if a.Quiet {
		level = slog.LevelError
	} else if a.Verbose {
		level = slog.LevelDebug
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return slog.New(slog.NewTextHandler(w, o)), nil
}
