package look

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// mostSteps is how many of the largest steps are listed on a terminal.
const mostSteps = 20

// stepOutput is what show --steps --json prints of a step.
type stepOutput struct {
	Record  int     `json:"record"`
	Tool    string  `json:"tool"`
	What    string  `json:"what"`
	Tokens  int64   `json:"about_tokens"`
	Seconds float64 `json:"seconds"`
	Gone    bool    `json:"gone"` // a compaction took it out of the context
	ID      mark.ID `json:"id"`
}

// showSteps prints the calls that added most to a session's context.
func (a *app) showSteps(ctx context.Context, l *reader.Library, e *reader.Entry) error {
	var index view.Index
	if err := index.Grow(ctx, l, e); err != nil {
		return err
	}
	in, gone := index.Steps()
	rows, all := []stepOutput{}, slices.Concat(in, gone)
	if a.Width() > 0 && !a.JSON {
		all = all[:min(len(all), mostSteps)]
	}
	for _, s := range all {
		rows = append(rows, stepOutput{s.Result.N(), s.Tool, s.What(), s.Tokens, s.Took.Seconds(), s.Gone, s.Result.Sum.ID()})
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	a.Say("%s", inContext(e, in, len(gone)))
	if err := cli.PrintTable(a.App, rows, []table.Column[stepOutput]{
		{Head: "RECORD", Text: func(s stepOutput) string { return "#" + strconv.Itoa(s.Record) }},
		{Head: "TOKENS", Text: func(s stepOutput) string { return status.Size{Tokens: s.Tokens, About: true}.Short() }},
		{Head: "TOOK", Drop: 1, Text: func(s stepOutput) string {
			if s.Seconds < 1 { // or not recorded
				return ""
			}
			return words.Short(time.Duration(s.Seconds * float64(time.Second)))
		}},
		{Head: "NOW", Text: func(s stepOutput) string { return map[bool]string{true: "gone"}[s.Gone] }},
		{Head: "TOOL", Text: func(s stepOutput) string { return mark.Inline(s.Tool, 30) }},
		{Head: "WHAT", Least: 20, Cut: table.CutMiddle, Text: func(s stepOutput) string { return within(e.Kept.Cwd, s.What) }, Piped: func(s stepOutput) string { return mark.Inline(s.What, 0) }},
		{Head: "ID", Text: func(s stepOutput) string { return string(s.ID) }},
	}); err != nil {
		return err
	}
	if more := len(in) + len(gone) - len(rows); more > 0 {
		a.Say("%s: ccd show %s --steps | less", words.Count(more, "more result"), l.Argument(e))
	}
	return nil
}

// inContext says how much of the context the results of calls are: what else is in it are the words of people and the agent.
func inContext(e *reader.Entry, in []session.Step, gone int) string {
	sum := status.Size{About: true}
	for _, s := range in {
		sum.Tokens += s.Tokens
	}
	text := words.Count(len(in), "result")
	if size := status.SizeOf(e.Kept.Reported, e.Kept.About, e.Kept.Estimate, 0); size.Tokens > 0 {
		text += fmt.Sprintf(", %s of the %s tokens in the context", sum.Short(), size.Short())
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
