package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/internal/mark"
	"ccd/internal/words"
)

func (a *app) statsCommand() *cobra.Command {
	p := page{
		use: "stats [SESSION]", group: everyday, short: "show what was saved",
		long: `Shows the size of the sessions that have a companion and of the companions, in tokens as ` + "`ccd ls`" + ` shows
them; how often companions were written and how long that took; restores tried and succeeded. With --by,
it shows totals per project or per day of the last record (local time). --verbose adds the estimates
(chars*4/3).`,
		examples: []example{
			{"ccd stats", "totals, then each session"},
			{"ccd stats latest", "the session with the newest record"},
			{"ccd stats --by day", "tokens per day"},
			{"ccd stats --json | jq '.saved_percent'", "one figure, as JSON"},
		},
		json: `one object: sessions, companions, size_tokens (of the sessions with a companion), size_about (some
are converted from an estimate), companion_about, original_tokens and companion_tokens (estimated),
saved_percent (of these), compactions, milliseconds, restores_tried, restores_succeeded, by_session
[{agent, session, parent, project and the keys above except sessions and companions}], by_day [{day,
sessions, companions, size_tokens, size_about, saved_about}], by_project (the same keys, with project),
damage (sessions that cannot be read, as in verify)`,
		exits: []int{exitNotFound, exitDamage},
	}
	var f statsFlags
	c := p.command(cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		return a.stats(c.Context(), args, f)
	})
	a.agentFlag(c, &f.agent)
	a.machineFlag(c)
	c.Flags().Func("by", "show totals per `day|project`", func(text string) error {
		if text != "day" && text != "project" {
			return errors.New("must be day or project")
		}
		f.by = text
		return nil
	})
	return c
}

type statsFlags struct{ agent, by string }

func (a *app) stats(ctx context.Context, args []string, f statsFlags) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	sessions := slices.DeleteFunc(slices.Clone(l.Sessions), func(e reader.Entry) bool { return f.agent != "" && e.Agent != f.agent })
	var one *reader.Entry
	if len(args) > 0 {
		e, err := a.choose(ctx, l, args[0], f.agent)
		if err != nil {
			return err
		}
		sessions, one = []reader.Entry{e}, &e
	}
	if one == nil {
		a.incomplete(l)
	}
	out := status.StatsOf(sessions, l.Restores(), one == nil && f.agent == "")
	out.Damage = l.Damages()
	if a.json {
		return a.printJSON(out)
	}
	switch {
	case out.Sessions > 0 || a.damaged:
	case len(l.Sessions) > 0:
		a.say("no session matches")
	default:
		a.say("nothing is archived yet; `ccd run --once` archives your sessions")
	}
	switch f.by {
	case "day":
		return printTable(a, out.ByDay, groupColumns("DAY", func(g *status.Group) string { return cmp.Or(g.Day, "?") }))
	case "project":
		return printTable(a, out.ByProject, groupColumns("PROJECT", func(g *status.Group) string { return mark.Inline(g.Project, 0) }))
	}
	return a.printStats(out, one)
}

func groupColumns(head string, name func(*status.Group) string) []column[*status.Group] {
	return []column[*status.Group]{
		{head: head, least: 10, text: name},
		{head: "SESSIONS", text: func(g *status.Group) string { return fmt.Sprint(g.Sessions) }},
		{head: "TOKENS", text: func(g *status.Group) string { return status.Size{Tokens: g.Size, About: g.About}.Short() }},
		{head: "COMPANIONS", drop: 1, text: func(g *status.Group) string { return fmt.Sprint(g.Companions) }},
		{head: "SAVED", drop: 2, text: func(g *status.Group) string { return status.Size{Tokens: g.Saved, About: true}.Short() }},
	}
}

func (a *app) printStats(out status.Stats, one *reader.Entry) error {
	rows := [][]string{{"sessions", fmt.Sprintf("%d, %s", out.Sessions, words.Count(out.Companions, "companion"))}}
	before := out.Before()
	if one != nil {
		rows = [][]string{{"session", mark.Inline(one.ID, 0) + ", " + sessionDetails(one)}}
		before = status.Of(one).Size().String()
	}
	rows = append(rows, []string{"tokens", tokensLine(before, out.Saved)})
	if a.verbose {
		rows = append(rows, []string{"estimate", fmt.Sprintf("%s -> %s (chars*4/3, with what the agents dropped)", humanize.Comma(out.Original), humanize.Comma(out.Compacted))})
	}
	rows = append(rows,
		[]string{"time", words.Count(out.Compactions, "compaction") + " in " + out.Took()},
		[]string{"restores", fmt.Sprintf("%d tried, %d succeeded", out.Tried, out.Succeeded)})
	if err := a.printFacts(rows); err != nil {
		return err
	}
	if one != nil || len(out.BySession) == 0 {
		return nil
	}
	if err := a.print("\n"); err != nil {
		return err
	}
	return printTable(a, out.BySession, savedColumns(time.Now()))
}

// tokensLine says what size sessions had and have now.
func tokensLine(before string, s status.Saved) string {
	if s.Real == 0 {
		return before
	}
	line := before + " -> " + s.After()
	if smaller := status.Smaller(s.Size, s.Real); smaller != "" {
		return line + ", " + smaller + " saved"
	}
	return line + ", nothing saved"
}

// savedColumns returns the columns of what was saved per session.
func savedColumns(now time.Time) []column[status.SessionSaved] {
	return append(sessionColumns(now, func(s status.SessionSaved) status.Session { return s.Row }), []column[status.SessionSaved]{
		{head: "SIZE", text: func(s status.SessionSaved) string { return s.Row.Size().String() }},
		{head: "COMPANION", text: status.SessionSaved.After},
		{head: "SAVED", text: func(s status.SessionSaved) string { return s.Row.Smaller() }},
		{head: "WRITTEN", drop: 3, text: func(s status.SessionSaved) string { return fmt.Sprintf("%dx", s.Compactions) }},
		{
			head: "TIME", drop: 1, text: func(s status.SessionSaved) string { return fmt.Sprintf("%7s", s.Took()) }, // fixed width
			piped: func(s status.SessionSaved) string { return s.Took() },
		},
		{head: "RESTORES", drop: 2, text: func(s status.SessionSaved) string { return fmt.Sprintf("%d of %d", s.Succeeded, s.Tried) }},
		agentColumn(func(s status.SessionSaved) string { return s.Agent }),
	}...)
}
