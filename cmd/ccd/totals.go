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
	out := status.TotalsOf(l.Sessions)
	out.Damage = l.Damages()
	if a.json {
		return a.printJSON(out)
	}
	if out.Sessions == 0 && !a.damaged {
		a.say("nothing is archived yet; `ccd run --once` archives your sessions")
	}
	rows := [][]string{
		{"sessions", fmt.Sprintf("%d in %s", out.Sessions, words.Count(len(out.ByProject), "project"))},
		{"companions", fmt.Sprintf("%d, %s", out.Companions, out.Shrunk())},
	}
	if err := a.printFacts(rows); err != nil || len(out.ByProject) == 0 {
		return err
	}
	if err := a.print("\n"); err != nil {
		return err
	}
	return printTable(a, out.ByProject, projectColumns(time.Now()))
}

// projectColumns returns the columns of the totals by project.
func projectColumns(now time.Time) []column[*status.Project] {
	return []column[*status.Project]{
		{head: "PROJECT", least: 8, part: 35, text: func(g *status.Project) string { return mark.Inline(g.Project, 0) }},
		{head: "SESSIONS", text: func(g *status.Project) string { return fmt.Sprint(g.Sessions) }},
		{head: "BYTES", text: func(g *status.Project) string { return humanize.IBytes(uint64(g.Bytes)) }},
		{head: "TOKENS", text: func(g *status.Project) string { return status.Size{Tokens: g.Size, About: g.About}.Short() }},
		{head: "COMPANIONS", drop: 1, text: func(g *status.Project) string { return fmt.Sprint(g.Companions) }},
		{head: "SAVED", drop: 2, text: func(g *status.Project) string { return status.Size{Tokens: g.Saved, About: true}.Short() }},
		{
			head: "LAST", drop: 3, text: func(g *status.Project) string { return words.Ago(g.LastAt(), now) },
			piped: func(g *status.Project) string { return words.Minute(g.LastAt()) },
		},
	}
}
