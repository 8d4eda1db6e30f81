package compactor

import (
	"fmt"
	"slices"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// Told is what a text has of one event, and why.
type Told struct {
	Record     int     `json:"record"`
	Kind       string  `json:"kind"`
	Importance float64 `json:"importance"` // of its pieces, by the table
	Redundancy float64 `json:"redundancy"` // 1, and the part of it that a later event has
	Class      int     `json:"class"`      // percent of its chars that it keeps before the rest counts less
	Age        float64 `json:"age"`        // how much of that is left, 0..1
	New        int     `json:"new"`        // values and words of the event that nothing before it in this list has
	Shown      int     `json:"shown"`      // chars in the text
	Chars      int     `json:"chars"`      // of all its pieces
	Why        string  `json:"why"`        // "whole", or why something is left out
}

// told lists all events.
func (d *draft) told() (all []Told) {
	known := make([]bool, len(d.words.seen))
	for _, e := range slices.Concat(d.events, d.files) {
		one := Told{Record: e.n, Kind: e.row().name, Importance: e.importance(), Redundancy: e.redundancy, Class: e.class, Age: e.age, Shown: e.shown}
		for _, p := range e.pieces() {
			one.Chars += p.chars
			for _, v := range slices.Concat(p.values, p.words) {
				if !known[v] {
					known[v] = true
					one.New++
				}
			}
		}
		one.Shown = min(one.Shown, one.Chars)
		one.Why = d.reason(e, one)
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b Told) int { return a.Record - b.Record })
	return all
}

// reason says why a text has so much of an event: the best of what is left out against the last piece that was taken.
func (d *draft) reason(e *event, t Told) string {
	switch {
	case e.held:
		return "the reader has it"
	case d.filled.known == nil:
		return "no room"
	}
	best := 0.0
	for _, p := range e.pieces() {
		if !p.taken && (p.order > 0 || p.alone) {
			value, _ := d.filled.value(p)
			best = max(best, value)
		}
	}
	switch {
	case best == 0 && t.Shown == 0 && t.New > 0:
		return "too short to stand alone"
	case best == 0:
		return "whole"
	case t.New == 0 && t.Shown == 0:
		return "all of it stands elsewhere"
	case best > d.filled.least: // a piece is as large as it is, and a text has at most so many lines
		return "no room: the rest is too large"
	}
	return fmt.Sprintf("no room: %.4f a char, taken from %.4f", best, d.filled.least)
}

// key reports whether an event is a key fact: the human's words, a decision, a change or a failure.
func (e *event) key() bool {
	switch e.kind {
	case human, refusal, choice, planned, edit:
		return !e.Back
	case check, run, gitRun:
		return e.failed
	}
	return false
}

// effect is what a turn changed: files, in the order of their first change.
type effect []changed

// changed is a file with the lines that a turn added and removed.
type changed struct {
	*session.File
	name       string
	plus, less int
}

// change adds a change of files, which have these names.
func (t *effect) change(files []*session.File, names []string, plus, less int) {
	for i, name := range names {
		if i > 0 {
			plus, less = 0, 0
		}
		at := slices.IndexFunc(*t, func(f changed) bool { return f.name == name })
		if at < 0 {
			at, *t = len(*t), append(*t, changed{File: files[i], name: name})
		}
		(*t)[at].plus += plus
		(*t)[at].less += less
	}
}

// short returns the last element of a path if no other file of the turn has it.
func (t effect) short(path string) string {
	n := 0
	for _, f := range t {
		if transcript.Base(f.name) == transcript.Base(path) {
			n++
		}
	}
	if n > 1 {
		return path
	}
	return transcript.Base(path)
}

// effectOf says what a turn changed: its files, and the commits that git printed in it. "" if there is neither.
func (d *draft) effectOf(turn int) string {
	var all []string
	for i, f := range d.effects[turn] {
		if i == mostListed {
			all = append(all, fmt.Sprintf("%d more files", len(d.effects[turn])-i))
			break
		}
		name := mark.Inline(d.effects[turn].short(f.name), 200)
		if f.Deleted {
			name += " (gone)"
		}
		all = append(all, fmt.Sprintf("%s +%d -%d", name, f.plus, f.less))
	}
	for _, c := range d.s.Commits {
		if e := d.eventAt(c.Event); e != nil && e.turn == turn {
			one := fmt.Sprintf("commit %s (#%d)", c.Hash, e.n)
			if c.Pushed >= 0 {
				one += ", pushed"
			}
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "-> " + strings.Join(all, "; ")
}

// eventAt returns the event of the text that one of the session became, nil if it is none.
func (d *draft) eventAt(i int32) *event {
	if i < 0 || int(i) >= len(d.s.Events) {
		return nil
	}
	return d.bySession[i]
}
