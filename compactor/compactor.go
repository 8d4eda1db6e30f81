// Package compactor is the entry point: it folds the records of a session and makes a companion, a hook's text or a copy
// from them.
//
//	records -> fold (rows and tables) -> unit (things to say) -> plan (choose) -> render (print)
//
// Its invariant: a Compaction is a pure function of the records added, the options and the transcript's bytes, however
// the records were cut into calls. It knows nothing of files, the archive, clocks and goroutines: "now" is the last
// record's time.
package compactor

import (
	"ccd/compactor/fold"
	"ccd/compactor/limits"
	"ccd/compactor/render"
	"ccd/compactor/unit"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Compactor is the folded form of one generation of a session. It is not safe for concurrent use.
type Compactor struct {
	*fold.Fold
	o limits.Options
}

// New returns the fold of a session before its first record. Of s only Agent, ID, Class, Parent and Source are used.
func New(o Options, s transcript.Session) *Compactor { return &Compactor{fold.New(o, s), o} }

// Runs returns the lists of consecutive human messages whose hash want accepts; markers of earlier texts may name them.
func (c *Compactor) Runs(want func(mark.Hash) bool) []transcript.Pointer {
	return unit.NewSource(c.Fold, c.o, nil).Runs(want)
}

// The types of the stages that callers see.
type (
	Options   = limits.Options
	Level     = limits.Level
	Manual    = limits.Manual
	Status    = fold.Status
	Outliers  = fold.Outliers
	Section   = render.Section
	Input     = unit.Input
	Summaries = unit.Summaries
)

// The levels of limits.
const (
	ByPressure = limits.ByPressure
	Gentle     = limits.Gentle
	Standard   = limits.Standard
	Aggressive = limits.Aggressive
	Maximum    = limits.Maximum
)

// Rules is the version of everything that decides what a companion says.
const Rules = limits.Rules

// Defaults returns the limits as shipped.
func Defaults() Options { return limits.Defaults() }

// Strategies returns the names that Options.Off takes.
func Strategies() []string { return limits.Strategies() }

// ParseLevel returns the level of a name as Level.String gives it.
func ParseLevel(name string) (Level, error) { return limits.ParseLevel(name) }

// FocusWords takes a text apart into the words of a focus. It fails where there is none, or too many.
func FocusWords(text string) ([]string, error) { return limits.FocusWords(text) }

// Plausible reports whether a context of so many tokens can be held in a window.
func Plausible(context, window int64) bool { return fold.Plausible(context, window) }

// Asks reports whether a record asks for a summary, so that its session is one of a summarizer's command. Settled is
// false while nobody has said anything.
func Asks(r *transcript.Record) (asks, settled bool) { return fold.Asks(r) }

// InputOf makes the input of a message for the options' summarizer; ok is false where the message is too short for one.
func InputOf(o Options, text string) (in Input, ok bool) { return unit.InputOf(o, text) }
