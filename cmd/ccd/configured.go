package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/summarizer"
	"ccd/internal/transcript"
)

// onBehalf reports whether a summarizer's command started this process. ccd then starts no command and follows no
// session.
func (a *app) onBehalf() bool { return a.Getenv(summarizer.Variable) != "" }

// summarize returns a function that runs the summarizer, or nil if none is configured or allowed.
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

// noticeTime is the time limit of the notice command.
const noticeTime = 10 * time.Second

// notify returns a function that runs the notice command, or nil if none is configured or allowed.
func (a *app) notify(l *reader.Library) func(context.Context, daemon.Notice) error {
	args := l.Config.Notice.Command
	if len(args) == 0 || a.onBehalf() {
		return nil
	}
	return func(ctx context.Context, n daemon.Notice) error {
		agent, _ := l.Agents.Lookup(n.Session.Agent)
		title, text := noticeText(agent.Title, n)
		command := summarizer.Command{Args: append(slices.Clone(args), title, text), Dir: l.StateDir, Env: a.Vars, Timeout: noticeTime}
		if _, err := command.Run(ctx, ""); err != nil {
			return fmt.Errorf("run notice.command: %w", err)
		}
		return nil
	}
}

// noticeText returns the text of a notice. Neither part starts with a hyphen, which a command could take for an option.
func noticeText(agent string, n daemon.Notice) (title, text string) {
	title = fmt.Sprintf("ccd: context %.0f%% full", 100*n.Pressure)
	if text = agent; n.Project != "" {
		text += " in " + mark.Inline(transcript.Base(n.Project), 60)
	}
	if n.Name != "" {
		return title, text + ": " + mark.Inline(n.Name, 80)
	}
	return title, text + ", session " + mark.Inline(n.Session.ID, 60)
}
