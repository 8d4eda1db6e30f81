package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/tally"
	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/mark"
	"ccd/internal/summarizer"
	"ccd/internal/words"
)

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
	line := tally.Line{What: tally.Restore}
	switch ExitCode(err) {
	case words.ExitDone:
	case words.ExitNotFound:
		line.Why = tally.NotFound
	case words.ExitDamage:
		line.Why = tally.Damaged
	case words.ExitFailed:
		line.Why = "failed"
	default:
		return err
	}
	if home, wrong := a.Home(); wrong == nil {
		if dir, wrong := config.StateDir(a.Getenv, home); wrong == nil {
			tally.Add(dir, line)
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
