package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// Shares of the context window from which a session is shown as filling and as full.
const (
	filling = 0.60
	full    = 0.85
)

// sessionColumns returns the columns that identify a session. of returns the session of a row.
func sessionColumns[T any](now time.Time, of func(T) status.Session) []column[T] {
	return []column[T]{
		{
			head: "SESSION", least: 13, text: func(r T) string { return status.Short(of(r).Session) },
			piped: func(r T) string { return of(r).Session },
		},
		{head: "TITLE", least: 20, part: 40, text: func(r T) string {
			s := of(r)
			title := s.Labelled()
			if title == "" {
				title = "-"
			}
			if s.SubAgent() {
				title = "  " + title
			}
			return title
		}, piped: func(r T) string { return of(r).Labelled() }},
		{
			head: "PROJECT", least: 8, drop: 4, text: func(r T) string { return cut(of(r).Directory(), 20) },
			piped: func(r T) string { return mark.Inline(of(r).Project, 0) },
		},
		{
			head: "LAST", drop: 6, text: func(r T) string { return words.Ago(of(r).LastAt(), now) },
			piped: func(r T) string { return words.Minute(of(r).LastAt()) },
		},
	}
}

// itself is the of for rows that are sessions.
func itself(s status.Session) status.Session { return s }

// sizeTone returns the tone for a session that fills its window that much.
func sizeTone(s status.Size) tone {
	switch share := s.Share(); {
	case share >= full:
		return bad
	case share >= filling:
		return warn
	}
	return noTone
}

func agentColumn[T any](of func(T) string) column[T] {
	return column[T]{head: "AGENT", drop: 3, text: of}
}

// lsColumns returns the columns of lists of sessions.
func lsColumns(now time.Time) []column[status.Session] {
	columns := sessionColumns(now, itself)
	last := &columns[3]
	date := last.text
	last.text = func(s status.Session) string { // who is next says more than when
		switch state := condition(s, now); {
		case state == status.Working, state == status.Waits, state == status.Deleted, s.Problem() != "":
			return state
		}
		return date(s)
	}
	last.tone = func(s status.Session) tone { return stateTone(s, now) }
	return append(columns,
		column[status.Session]{
			head: "CONTEXT", text: func(s status.Session) string { return s.Size().Filled() },
			tone: func(s status.Session) tone { return sizeTone(s.Size()) },
		},
		column[status.Session]{head: "COMPACTED", drop: 5, text: func(s status.Session) string {
			if s.Compactions == 0 {
				return ""
			}
			return fmt.Sprintf("%dx", s.Compactions)
		}},
		agentColumn(func(s status.Session) string { return s.Agent }),
		column[status.Session]{head: "TOKENS", drop: 2, text: func(s status.Session) string {
			return strings.TrimSuffix(s.Size().Short()+", "+s.Ignored(), ", ")
		}},
		column[status.Session]{
			head: "STATE", drop: 1, text: func(s status.Session) string { return condition(s, now) },
			tone: func(s status.Session) tone { return stateTone(s, now) },
		})
}

// condition returns what is wrong with a session, else why nobody works in it, else who is next.
func condition(s status.Session, now time.Time) string {
	state := s.State(now)
	if state == status.Resting && s.Lag > 0 { // one at work is always a little ahead of the archive
		state = humanize.IBytes(uint64(s.Lag)) + " behind"
	}
	return cmp.Or(s.Problem(), s.Apart(), state)
}

func stateTone(s status.Session, now time.Time) tone {
	switch state := condition(s, now); {
	case s.Problem() != "":
		return bad
	case state == status.Working:
		return good
	case state == status.Waits:
		return warn
	case state == status.Deleted:
		return dim
	}
	return noTone
}

// printHeading prints on a terminal which session the next lines are about.
func (a *app) printHeading(e reader.Entry) error {
	width := a.width()
	if width <= 0 || a.json || a.quiet {
		return nil
	}
	return a.draw(fittedLine(&e, width) + "\n\n")
}
