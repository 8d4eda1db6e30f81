package main

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// totals prints what the archive has and what companions saved, in all and by project.
func (a *app) totals(ctx context.Context) error {
	a.collectLess()
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	a.incomplete(l)
	out := status.StatsOf(l.Sessions, l.Restores())
	out.Damage = l.Damages()
	if a.json {
		return a.printJSON(out)
	}
	if out.Sessions == 0 && !a.damaged {
		a.say("nothing is archived yet; `ccd run --once` archives your sessions")
	}
	rows := [][]string{
		{"sessions", fmt.Sprintf("%d, %s", out.Sessions, words.Count(out.Companions, "companion"))},
		{"tokens", tokensLine(out.Before(), out.Saved)},
	}
	if a.verbose {
		rows = append(rows, []string{"estimate", fmt.Sprintf("%s -> %s (chars*4/3, with what the agents dropped)", humanize.Comma(out.Original), humanize.Comma(out.Compacted))})
	}
	rows = append(rows,
		[]string{"time", words.Count(out.Compactions, "compaction") + " in " + out.Took()},
		[]string{"restores", fmt.Sprintf("%d tried, %d succeeded", out.Tried, out.Succeeded)})
	if err := a.printFacts(rows); err != nil || len(out.ByProject) == 0 {
		return err
	}
	if err := a.print("\n"); err != nil {
		return err
	}
	return printTable(a, out.ByProject, projectColumns(time.Now()))
}

// projectColumns returns the columns of the totals by project.
func projectColumns(now time.Time) []column[*status.Group] {
	return []column[*status.Group]{
		{head: "PROJECT", least: 8, text: func(g *status.Group) string { return mark.Inline(g.Project, 0) }},
		{head: "SESSIONS", text: func(g *status.Group) string { return fmt.Sprint(g.Sessions) }},
		{head: "BYTES", text: func(g *status.Group) string { return humanize.IBytes(uint64(g.Bytes)) }},
		{head: "TOKENS", text: func(g *status.Group) string { return status.Size{Tokens: g.Size, About: g.About}.Short() }},
		{head: "COMPANIONS", drop: 1, text: func(g *status.Group) string { return fmt.Sprint(g.Companions) }},
		{head: "SAVED", drop: 2, text: func(g *status.Group) string { return status.Size{Tokens: g.Saved, About: true}.Short() }},
		{
			head: "LAST", drop: 3, text: func(g *status.Group) string { return words.Ago(g.LastAt(), now) },
			piped: func(g *status.Group) string { return words.Minute(g.LastAt()) },
		},
	}
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
