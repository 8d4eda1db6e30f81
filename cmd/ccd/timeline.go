package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/history"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// turnOutput is a turn as --json prints it: its times are null where they are not known.
type turnOutput struct {
	history.Turn
	Time *time.Time `json:"time"`
	End  *time.Time `json:"end"`
}

func (a *app) timelineCommand() *cobra.Command {
	p := page{
		use: "timeline SESSION", group: everyday, short: "tell a session turn by turn, one line each",
		long: `Each line: record, time, what was asked with its ID, tools, files changed (an edit that failed or was
refused changed none), exit codes other than 0 with the ID of the output, calls that were refused. It is
told from the archive, so also where the transcript is gone.`,
		examples: []example{
			{"ccd timeline latest", "what happened in the session with the newest record"},
			{"ccd timeline 5d2f7a1e --json", "everything that is known of each turn"},
		},
		json: `one array, an object a turn: record, last, time, end, asked (at most 2000 characters), id,
tools [{name, calls}], files, more_files, commands [{record, command, exit, id}], more_commands,
failed (tool results), refused, compactions`,
		exits: []int{exitNotFound, exitDamage},
	}
	var agent string
	c := p.command(cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		return a.timeline(c.Context(), args[0], agent)
	})
	agentFlag(c, &agent)
	return c
}

func (a *app) timeline(ctx context.Context, arg, agent string) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	e, err := l.find(arg, agent)
	if err != nil {
		return err
	}
	g, err := e.generation(0)
	if err != nil {
		return err
	}
	all, asked := []turnOutput{}, false
	for t, err := range history.Turns(history.Records(ctx, l.archive, e.Session.Session, g.N)) {
		if err != nil {
			return err
		}
		asked = asked || t.ID != ""
		if a.json {
			all = append(all, turnOutput{t, known(t.Time), known(t.End)})
		} else if err := a.print(turnLine(t) + "\n"); err != nil {
			return err
		}
	}
	if !asked {
		a.say("session %s has no turns of a person's: nothing was asked in it", e.ID)
	}
	if a.json {
		return a.printJSON(all)
	}
	return nil
}

func turnLine(t history.Turn) string {
	parts := []string{strings.TrimSpace("#" + strconv.Itoa(t.Record) + " " + minute(t.Time))}
	asked := "(nothing asked)"
	if t.ID != "" {
		asked = mark.Inline(t.Asked, 120) + mark.Added(t.Added) + " " + mark.New(t.ID, "")
	}
	parts = append(parts, asked)
	for _, of := range []string{toolsOf(t), filesOf(t), exitsOf(t)} {
		if of != "" {
			parts = append(parts, of)
		}
	}
	if t.Refused > 0 {
		parts = append(parts, fmt.Sprintf("%d refused", t.Refused))
	}
	if t.Compactions > 0 {
		parts = append(parts, "compacted by the agent")
	}
	return strings.Join(parts, " · ")
}

func toolsOf(t history.Turn) string {
	var all []string
	for _, tool := range t.Tools {
		name := mark.Inline(tool.Name, 40)
		if tool.Calls > 1 {
			name += fmt.Sprintf(" %dx", tool.Calls)
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

func filesOf(t history.Turn) string {
	const show = 6
	var all []string
	for _, f := range t.Files[:min(show, len(t.Files))] {
		all = append(all, "`"+mark.Inline(transcript.Base(f), 60)+"`")
	}
	if more := len(t.Files) - len(all) + t.MoreFiles; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}

func exitsOf(t history.Turn) string {
	const show = 4
	var all []string
	good, bad := 0, 0
	for _, c := range t.Commands {
		switch {
		case c.Exit == nil:
		case *c.Exit == 0:
			good++
		case len(all) < show:
			all = append(all, fmt.Sprintf("`%s` -> %d %s", mark.Inline(c.Command, 60), *c.Exit, mark.New(c.ID, "")))
		default:
			bad++
		}
	}
	if bad > 0 {
		all = append(all, fmt.Sprintf("%d more failed", bad))
	}
	if good > 0 {
		all = append(all, fmt.Sprintf("%d exit 0", good))
	}
	return strings.Join(all, ", ")
}
