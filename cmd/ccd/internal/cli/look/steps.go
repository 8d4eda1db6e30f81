package look

import (
	"context"
	"fmt"
	"strconv"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// mostSteps is how many of the largest steps are listed on a terminal.
const mostSteps = 20

// showSteps prints the calls that added most to a session's context.
func (a *app) showSteps(ctx context.Context, l *reader.Library, e *reader.Entry) error {
	var index view.Index
	if err := index.Grow(ctx, l, e); err != nil {
		return err
	}
	all, tokens := index.Steps()
	if a.JSON {
		return a.PrintJSON(all)
	}
	rows := all
	if a.Width() > 0 {
		rows = all[:min(len(all), mostSteps)]
	}
	a.Say("%s", inContext(e, all, tokens))
	if err := cli.PrintTable(a.App, rows, []table.Column[view.Step]{
		{Head: "RECORD", Text: func(s view.Step) string { return "#" + strconv.Itoa(s.Record) }},
		{Head: "TOKENS", Text: func(s view.Step) string { return status.Size{Tokens: s.Tokens, About: true}.Short() }},
		{Head: "TOOK", Drop: 1, Text: func(s view.Step) string {
			if s.Seconds < 1 { // or not recorded
				return ""
			}
			return words.Short(s.Took())
		}},
		{Head: "NOW", Text: func(s view.Step) string { return map[bool]string{true: "gone"}[s.Gone] }},
		{Head: "TOOL", Text: func(s view.Step) string { return mark.Inline(s.Tool, 30) }},
		{Head: "WHAT", Least: 20, Cut: table.CutMiddle, Text: func(s view.Step) string { return within(e.Kept.Cwd, s.What) }, Piped: func(s view.Step) string { return mark.Inline(s.What, 0) }},
		{Head: "ID", Text: func(s view.Step) string { return string(s.ID) }},
	}); err != nil {
		return err
	}
	if more := len(all) - len(rows); more > 0 {
		a.Say("%s: ccd show %s --steps | less", words.Count(more, "more result"), l.Argument(e))
	}
	return nil
}

// inContext says how much of the context the results of calls are: what else is in it are the words of people and the agent.
func inContext(e *reader.Entry, all []view.Step, tokens int64) string {
	gone := 0
	for _, s := range all {
		if s.Gone {
			gone++
		}
	}
	text := words.Count(len(all)-gone, "result")
	if size := status.SizeOf(e.Kept.Reported, e.Kept.About, e.Kept.Estimate, 0); size.Tokens > 0 {
		text += fmt.Sprintf(", %s of the %s tokens in the context", status.Size{Tokens: tokens, About: true}.Short(), size.Short())
	}
	if gone > 0 {
		text += fmt.Sprintf("; %d from before the last compaction", gone)
	}
	return text
}

// within is what a call does, a file as the session's directory names it.
func within(dir, what string) string {
	if rest, ok := transcript.Below(what, dir); ok {
		what = rest
	}
	return mark.Inline(what, 0)
}
