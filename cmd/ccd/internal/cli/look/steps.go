package look

import (
	"context"
	"math"
	"strconv"
	"time"

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

// stepOutput is what show --steps --json prints of a step.
type stepOutput struct {
	Record  int     `json:"record"`
	Tool    string  `json:"tool"`
	What    string  `json:"what"`
	Tokens  int64   `json:"about_tokens"`
	Seconds float64 `json:"seconds"`
	ID      mark.ID `json:"id"`
}

// showSteps prints the calls that added most to a session's context.
func (a *app) showSteps(ctx context.Context, l *reader.Library, e *reader.Entry) error {
	var index view.Index
	if err := index.Grow(ctx, l, e); err != nil {
		return err
	}
	rows, most := []stepOutput{}, math.MaxInt
	if a.Width() > 0 && !a.JSON {
		most = mostSteps
	}
	for _, s := range index.Largest(most) {
		rows = append(rows, stepOutput{s.Result.N(), s.Tool, s.What(), s.Tokens, s.Took.Seconds(), s.Result.Sum.ID()})
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	return cli.PrintTable(a.App, rows, []table.Column[stepOutput]{
		{Head: "RECORD", Text: func(s stepOutput) string { return "#" + strconv.Itoa(s.Record) }},
		{Head: "TOKENS", Text: func(s stepOutput) string { return status.Size{Tokens: s.Tokens, About: true}.Short() }},
		{Head: "TOOK", Drop: 1, Text: func(s stepOutput) string {
			if s.Seconds < 1 { // or not recorded
				return ""
			}
			return words.Short(time.Duration(s.Seconds * float64(time.Second)))
		}},
		{Head: "TOOL", Text: func(s stepOutput) string { return mark.Inline(s.Tool, 30) }},
		{Head: "WHAT", Least: 20, Cut: table.CutMiddle, Text: func(s stepOutput) string { return within(e.Kept.Cwd, s.What) }, Piped: func(s stepOutput) string { return mark.Inline(s.What, 0) }},
		{Head: "ID", Text: func(s stepOutput) string { return string(s.ID) }},
	})
}

// within is what a call does, a file as the session's directory names it.
func within(dir, what string) string {
	if rest, ok := transcript.Below(what, dir); ok {
		what = rest
	}
	return mark.Inline(what, 0)
}
