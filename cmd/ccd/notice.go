package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/summarizer"
	"ccd/internal/transcript"
)

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
