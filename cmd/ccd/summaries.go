package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/summarizer"
)

// onBehalf reports whether this process runs below a summarizer's command. It then starts none, and follows nothing.
func (a *app) onBehalf() bool { return a.Getenv(summarizer.Variable) != "" }

// summarize returns what has the configured command write a summary, nil where none is configured or may be run.
func (a *app) summarize(l *reader.Library) func(ctx context.Context, input string) ([]byte, error) {
	c := l.Config.Summarizer
	if len(c.Command) == 0 || a.onBehalf() {
		return nil
	}
	command := summarizer.Command{
		Args: c.Command, Dir: filepath.Join(l.StateDir, "summarizer"), Env: a.Vars, Timeout: c.Timeout,
	}
	return func(ctx context.Context, input string) ([]byte, error) {
		out, err := command.Run(ctx, input)
		if errors.Is(err, summarizer.ErrNotStarted) {
			err = fmt.Errorf("%w: %w", daemon.ErrUnavailable, err)
		}
		return out, err
	}
}
