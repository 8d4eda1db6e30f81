package main

import (
	"fmt"
	"time"

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
		{head: "TITLE", least: 20, text: func(r T) string {
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
			head: "PROJECT", least: 8, drop: 5, text: func(r T) string { return cut(of(r).Directory(), 20) },
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

func (a *app) sizeColumn() column[status.Session] {
	return column[status.Session]{
		head: "SIZE",
		text: func(s status.Session) string {
			text := s.Size().String()
			if a.verbose {
				text += fmt.Sprintf(" (est %d, pressure %.2f)", s.Estimate, s.Pressure)
			}
			if s.Ignored() != "" {
				text += ", " + s.Ignored()
			}
			return text
		},
		tone: func(s status.Session) tone { return sizeTone(s.Size()) },
	}
}

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

func companionColumn() column[status.Session] {
	return column[status.Session]{
		head: "COMPANION", drop: 2, text: status.Session.CompanionState,
		tone: func(s status.Session) tone {
			switch s.CompanionState() {
			case "gone", "damaged":
				return bad
			case "unverified", "unknown format":
				return warn
			}
			return noTone
		},
	}
}

func sourceColumn() column[status.Session] {
	return column[status.Session]{
		head: "SOURCE", drop: 1, text: status.Session.SourceState,
		tone: func(s status.Session) tone {
			if !s.Present && s.Machine == "" {
				return warn
			}
			return noTone
		},
	}
}

func agentColumn[T any](of func(T) string) column[T] {
	return column[T]{head: "AGENT", drop: 4, text: of}
}

func (a *app) lsColumns() []column[status.Session] {
	return append(sessionColumns(time.Now(), itself), a.sizeColumn(),
		column[status.Session]{head: "SAVED", drop: 3, text: status.Session.Smaller},
		companionColumn(), sourceColumn(), agentColumn(func(s status.Session) string { return s.Agent }))
}

// liveColumns returns the columns of the live sessions in status.
func (a *app) liveColumns() []column[status.Session] {
	return append(sessionColumns(time.Now(), itself), a.sizeColumn(), companionColumn(),
		agentColumn(func(s status.Session) string { return s.Agent }))
}

// printHeading prints on a terminal which session the next lines are about.
func (a *app) printHeading(e reader.Entry) error {
	width := a.width()
	if width <= 0 || a.json || a.quiet {
		return nil
	}
	return a.draw(cut(sessionLine(&e), width) + "\n\n")
}
