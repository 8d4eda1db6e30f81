package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// Shares of the context window from which a session is shown as filling and as full.
const (
	filling = 0.60
	full    = 0.85
)

// SessionColumns returns the columns that identify a session. of returns the session of a row.
func SessionColumns[T any](now time.Time, of func(T) status.Session) []table.Column[T] {
	return []table.Column[T]{
		{
			Head: "SESSION", Text: func(r T) string { return status.Short(mark.Unname(of(r).Session)) },
			Piped: func(r T) string { return of(r).Session },
		},
		{Head: "TITLE", Least: 20, Part: 34, Text: func(r T) string {
			s := of(r)
			title := s.Labelled()
			if title == "" {
				title = "-"
			}
			if s.SubAgent() {
				title = "  " + title
			}
			return title
		}, Piped: func(r T) string { return of(r).Labelled() }},
		{
			Head: "PROJECT", Least: 8, Drop: 5, Text: func(r T) string { return table.Cut(of(r).Directory(), 20) },
			Piped: func(r T) string { return mark.Inline(of(r).Project, 0) },
		},
		{
			Head: "LAST", Drop: 6, Text: func(r T) string { return words.Ago(of(r).LastAt(), now) },
			Piped: func(r T) string { return words.Minute(of(r).LastAt()) },
		},
	}
}

// itself is the of for rows that are sessions.
func itself(s status.Session) status.Session { return s }

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

// LsColumns returns the columns of lists of sessions.
func LsColumns(now time.Time) []table.Column[status.Session] {
	columns := SessionColumns(now, itself)
	last := &columns[3]
	date := last.Text
	last.Text = func(s status.Session) string { // who is next says more than when
		switch state := Condition(s, now); {
		case state == status.Working, state == status.Waits, state == status.Deleted, s.Problem() != "":
			return state
		}
		return date(s)
	}
	last.Tone = func(s status.Session) table.Tone { return stateTone(s, now) }
	return append(columns,
		table.Column[status.Session]{
			Head: "CONTEXT", Text: func(s status.Session) string { return s.Size().Filled() },
			Tone: func(s status.Session) table.Tone { return SizeTone(s.Size()) },
		},
		table.Column[status.Session]{Head: "COMPACTED", Drop: 4, Text: func(s status.Session) string {
			if s.Compactions == 0 {
				return ""
			}
			return fmt.Sprintf("%dx", s.Compactions)
		}},
		AgentColumn(func(s status.Session) string { return s.Agent }),
		table.Column[status.Session]{Head: "TOKENS", Drop: 2, Text: func(s status.Session) string {
			return strings.TrimSuffix(s.Size().Short()+", "+s.Ignored(), ", ")
		}},
		table.Column[status.Session]{
			Head: "STATE", Drop: 1, Text: func(s status.Session) string { return Condition(s, now) },
			Tone: func(s status.Session) table.Tone { return stateTone(s, now) },
		})
}

// Condition returns what is wrong with a session, else why nobody works in it, else who is next.
func Condition(s status.Session, now time.Time) string {
	state := s.State(now)
	if state == status.Resting && s.Lag > 0 { // one at work is always a little ahead of the archive
		state = humanize.IBytes(uint64(s.Lag)) + " behind"
	}
	return cmp.Or(s.Problem(), s.Apart(), state)
}

func stateTone(s status.Session, now time.Time) table.Tone {
	switch state := Condition(s, now); {
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
