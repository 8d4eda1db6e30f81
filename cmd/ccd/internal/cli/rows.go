package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// Shares of the context window from which a session is shown as filling and as full.
const (
	filling = 0.60
	full    = 0.85
)

// SessionColumns returns the columns that identify a session.
func SessionColumns(now time.Time) []table.Column[status.Session] {
	return []table.Column[status.Session]{
		{
			Head: "SESSION", Text: func(s status.Session) string { return mark.Inline(s.Short(), 0) },
			Piped: func(s status.Session) string { return s.Session },
		},
		{Head: "TITLE", Least: 20, Part: 36, Text: func(s status.Session) string {
			title := cmp.Or(s.Labelled(), map[bool]string{true: "(unknown format)", false: "-"}[s.Foreign])
			if s.SubAgent() || s.CopyOf != nil {
				title = "  " + title
			}
			return title
		}, Piped: func(s status.Session) string { return s.Labelled() }},
		{
			Head: "PROJECT", Least: 10, Drop: 6, Cut: table.CutMiddle, Text: func(s status.Session) string { return table.CutMiddle(s.Directory(), 24) },
			Piped: func(s status.Session) string { return mark.Inline(s.Project, 0) },
		},
		{
			Head: "LAST", Least: 10, Drop: 7, Cut: dayOf, Text: func(s status.Session) string { return words.Ago(s.LastAt(), now) },
			Piped: func(s status.Session) string { return words.Minute(s.LastAt()) },
		},
	}
}

// dayOf shortens a time to its day where its hour has no room.
func dayOf(text string, cells int) string {
	if table.CellsOf(text) > cells {
		text, _, _ = strings.Cut(text, " ")
	}
	return table.Cut(text, cells)
}

// SizeTone returns the tone for a session that fills its window that much.
func SizeTone(s status.Size) table.Tone {
	switch share := s.Share(); {
	case share >= full:
		return table.Bad
	case share >= filling:
		return table.Warn
	}
	return table.NoTone
}

// AgentColumn is the column of agents, on a terminal by their short names. of returns the agent of a row.
func AgentColumn[T any](of func(T) string) table.Column[T] {
	return table.Column[T]{Head: "AGENT", Piped: of, Text: func(r T) string { return table.Cut(registry.Table{}.Short(of(r)), 8) }}
}

// LsColumns returns the columns of a list of sessions.
func LsColumns(now time.Time) []table.Column[status.Session] {
	columns := SessionColumns(now)
	last := &columns[3]
	date := last.Text
	last.Text = func(s status.Session) string { // who is next says more than when
		if cond := Condition(s); cond == s.Does() && s.State != status.Resting || s.Problem() != "" && !s.Foreign {
			return cond
		}
		return date(s)
	}
	last.Tone, last.Drop = stateTone, 0
	agent := AgentColumn(func(s status.Session) string { return s.Agent })
	agent.Drop = 5
	return append(columns,
		table.Column[status.Session]{
			Head: "CONTEXT", Tone: func(s status.Session) table.Tone { return SizeTone(s.Size()) },
			Text:  func(s status.Session) string { return strings.TrimSpace(s.Size().Filled() + " " + compacted(s)) },
			Piped: func(s status.Session) string { return s.Size().Filled() },
		},
		table.Column[status.Session]{Head: "COMPACTED", Text: func(status.Session) string { return "" }, Piped: compacted}, // beside the context
		agent,
		table.Column[status.Session]{Head: "TOKENS", Drop: 2, Text: func(s status.Session) string {
			return s.Size().Short()
		}},
		table.Column[status.Session]{
			Head: "STATE", Drop: 1, Tone: stateTone, Piped: Condition,
			Text: func(s status.Session) string {
				if cond := Condition(s); cond != last.Text(s) {
					return cond
				}
				return ""
			},
		})
}

// compacted says how often the agent compacted a session, "" for never.
func compacted(s status.Session) string {
	if s.Compactions == 0 {
		return ""
	}
	return fmt.Sprintf("%dx", s.Compactions)
}

// Condition returns what is wrong with a session, else why nobody works in it, else who is next.
func Condition(s status.Session) string {
	state := s.Does()
	switch {
	case s.State != status.Resting: // one at work is always a little ahead of the archive
	case s.Lag > 0:
		state = humanize.IBytes(uint64(s.Lag)) + " behind"
	case s.CompanionFile() != "" && !s.HasCompanion(): // the next pass, or show, makes it again
		state = "no companion"
	}
	return cmp.Or(s.Problem(), s.Apart(), state)
}

func stateTone(s status.Session) table.Tone {
	switch state := Condition(s); {
	case s.Problem() != "":
		return table.Bad
	case state == status.Working:
		return table.Good
	case state == status.Waits:
		return table.Warn
	case state == status.Deleted:
		return table.Dim
	}
	return table.NoTone
}

// ExplainColumns is the help for the columns of --explain.
const ExplainColumns = `--explain lists the events: IMPORTANCE of its kind, 0.5 to 5; AGE, how much of
that is left, 0 to 1; REDUNDANCY, 1 and the part that later events repeat;
CLASS, the percent of it that counts in full; NEW, how many values and words it
adds; SHOWN, how many of its characters the text has, and WHY not all.
Important, new and short text comes first, until the room is full.`

// ExplainText is the help for --explain.
const ExplainText = "print one line an event instead: why the text has it or not"

// PrintExplained prints what a text has of each event, and why: one line an event, or with --json an array.
func (a *App) PrintExplained(all []compactor.Told) error {
	if a.JSON {
		return a.PrintJSON(all)
	}
	type told = compactor.Told
	columns := []table.Column[told]{
		{Head: "RECORD", Text: func(t told) string { return fmt.Sprintf("#%d", t.Record) }},
		{Head: "KIND", Text: func(t told) string { return t.Kind }},
		{Head: "IMPORTANCE", Text: func(t told) string { return fmt.Sprintf("%.1f", t.Importance) }, Drop: 5},
		{Head: "AGE", Text: func(t told) string { return fmt.Sprintf("%.2f", t.Age) }, Drop: 2},
		{Head: "REDUNDANCY", Text: func(t told) string { return fmt.Sprintf("%.2f", t.Redundancy) }, Drop: 1},
		{Head: "CLASS", Text: func(t told) string { return fmt.Sprintf("%d %%", t.Class) }, Drop: 3},
		{Head: "NEW", Text: func(t told) string { return fmt.Sprint(t.New) }, Drop: 4},
		{Head: "SHOWN", Text: func(t told) string { return fmt.Sprintf("%d of %d", t.Shown, t.Chars) }},
		{Head: "WHY", Text: func(t told) string { return t.Why }, Least: 36},
	}
	return PrintTable(a, all, columns)
}
