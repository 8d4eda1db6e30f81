// Package compactor writes what an agent reads about earlier work: a companion, a hook's text, the beginning of a copy.
//
//	records -> session (one pass) -> events -> pieces -> fill (by value) -> text
//
// Invariant: a Compaction is a pure function of the records added, the options and the transcript's bytes, however the
// records were split into calls. It knows nothing of files, the archive, clocks and goroutines: "now" is the last record's
// time. Every line of the handover names the record that proves it.
package compactor

import (
	"strings"

	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// Compactor is the model of one generation of a session, from which texts are made. It is not safe for concurrent use.
type Compactor struct {
	*session.Session
	o    limits.Options
	name string // of the session
}

// New returns the model of a session before its first record. Of s only Agent, ID, Class, Parent and Source are used.
func New(o Options, s transcript.Session) *Compactor {
	return &Compactor{Session: session.New(o, s), o: o, name: s.Name()}
}

// The types of the stages that callers use.
type (
	Options = limits.Options
	Level   = limits.Level
	Manual  = limits.Manual
	Status  = session.Status
	Known   = session.Known
	Tracker = session.Tracker
	Curve   = session.Curve
	Ranges  = session.Ranges
)

// The levels of limits.
const (
	Gentle     = limits.Gentle
	Standard   = limits.Standard
	Aggressive = limits.Aggressive
	Maximum    = limits.Maximum
)

// Rules is the version of everything that determines a companion's contents.
const Rules = limits.Rules

// Defaults returns the limits as shipped.
func Defaults() Options { return limits.Defaults() }

// FocusWords splits a text into the words of a focus. It fails if there are none or too many.
func FocusWords(text string) ([]string, error) { return limits.FocusWords(text) }

// Plausible reports whether a context of so many tokens fits a window.
func Plausible(context, window int64) bool { return session.Plausible(context, window) }

// requestLine begins the first line of an input for a summarizer; the ID of the text follows.
const requestLine = "ccd summarizer request "

// maxRequest is how far into a message the line that marks an input may be, in bytes, because agents put the prompt of their
// command line before their standard input.
const maxRequest = 4096

// Asks reports whether a record requests a summary, so that its session is one that a summarizer's command made. settled is
// false if the record has neither a message nor a call, so that the next one must be checked too.
func Asks(r *transcript.Record) (asks, settled bool) {
	for i := range r.Items {
		k := r.Items[i].Kind
		if (k == transcript.Human || k == transcript.Meta) && isRequest(string(transcript.Original(k, r.Items[i].Raw))) {
			return true, true
		}
		settled = settled || k == transcript.Human || k == transcript.Text || k == transcript.Call
	}
	return false, settled
}

// isRequest reports whether a text contains the line that marks an input.
func isRequest(text string) bool {
	for line := range strings.Lines(text[:min(len(text), maxRequest)]) {
		if id, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), requestLine); ok && mark.IsID(id) {
			return true
		}
	}
	return false
}
