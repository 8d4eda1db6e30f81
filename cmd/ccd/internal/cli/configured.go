package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/summarizer"
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
