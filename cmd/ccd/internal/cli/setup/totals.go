package setup

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// totals prints what the archive has and what companions saved, in all and by project.
func (a *app) totals(ctx context.Context) error {
	a.CollectLess()
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	a.Incomplete(l)
	out := status.TotalsOf(l.Sessions)
	out.Damage = reader.DamagesOf(l.Damage)
	if a.Machine == "" {
		out.Counts = status.CountsOf(l)
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	if out.Sessions == 0 && !a.Damaged {
		a.Say("nothing is archived yet; `ccd run --once` archives your sessions")
	}
	rows := [][]string{
		{"sessions", fmt.Sprintf("%d in %s", out.Sessions, words.Count(len(out.ByProject), "project"))},
		{"companions", fmt.Sprintf("%d, %s", out.Companions, status.Shrunk(out.Messages, out.Real))},
	}
	if out.Counts != nil {
		rows = append(rows, out.Counts.Rows()...)
	}
	return factsAndTable(a, rows, out.ByProject, projectColumns(time.Now()))
}

// projectColumns returns the columns of the totals by project.
func projectColumns(now time.Time) []table.Column[*status.Project] {
	return []table.Column[*status.Project]{
		{Head: "PROJECT", Least: 8, Part: 35, Cut: table.CutMiddle, Text: func(g *status.Project) string { return mark.Inline(g.Project, 0) }},
		{Head: "SESSIONS", Text: func(g *status.Project) string { return fmt.Sprint(g.Sessions) }},
		{Head: "BYTES", Text: func(g *status.Project) string { return humanize.IBytes(uint64(g.Bytes)) }},
		{Head: "TOKENS", Text: func(g *status.Project) string { return status.Size{Tokens: g.Size, About: g.About}.Short() }},
		{Head: "COMPANIONS", Drop: 1, Text: func(g *status.Project) string { return fmt.Sprint(g.Companions) }},
		{
			Head: "LAST", Drop: 3, Text: func(g *status.Project) string { return words.Ago(g.LastAt(), now) },
			Piped: func(g *status.Project) string { return words.Minute(g.LastAt()) },
		},
	}
}
