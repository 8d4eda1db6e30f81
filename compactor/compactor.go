// Package compactor is the entry point: it folds the records of a session and makes a companion, a hook's text or a copy
// from them.
//
//	records -> fold (rows and tables) -> unit (things to say) -> plan (choose) -> render (print)
//
// Invariant: a Compaction is a pure function of the records added, the options and the transcript's bytes, however
// the records were split into calls. It knows nothing of files, the archive, clocks and goroutines: "now" is the last
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
	o      limits.Options
	memory unit.Memory
}

// New returns the fold of a session before its first record. Of s only Agent, ID, Class, Parent and Source are used.
func New(o Options, s transcript.Session) *Compactor { return &Compactor{Fold: fold.New(o, s), o: o} }

// Size returns the memory that it uses, in bytes.
func (c *Compactor) Size() int64 { return c.Fold.Size() + c.memory.Size() }

// Runs returns the lists of consecutive human messages whose hash want accepts; markers of earlier texts may name them.
func (c *Compactor) Runs(want func(mark.Hash) bool) []transcript.Pointer {
	return unit.NewSource(c.Fold, c.o, &unit.Memory{}, nil).Runs(want)
}

// The types of the stages that callers use.
type (
	Options   = limits.Options
	Level     = limits.Level
	Manual    = limits.Manual
	Status    = fold.Status
	Outliers  = fold.Outliers
	Curve     = fold.Curve
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

// Rules is the version of everything that determines a companion's contents.
const Rules = limits.Rules

// Defaults returns the limits as shipped.
func Defaults() Options { return limits.Defaults() }

// ParseLevel returns the level with a name as in Level.String.
func ParseLevel(name string) (Level, error) { return limits.ParseLevel(name) }

// FocusWords splits a text into the words of a focus. It fails if there are none or too many.
func FocusWords(text string) ([]string, error) { return limits.FocusWords(text) }

// Plausible reports whether a context of so many tokens fits a window.
func Plausible(context, window int64) bool { return fold.Plausible(context, window) }

// Asks reports whether a record requests a summary, so that its session is one that a summarizer's command made. settled is
// false if the record has neither a message nor a call, so that the next one must be checked too.
func Asks(r *transcript.Record) (asks, settled bool) { return fold.Asks(r) }

// InputOf returns a message's input for the options' summarizer. ok is false if the message is too short for one.
func InputOf(o Options, text string) (in Input, ok bool) { return unit.InputOf(o, text) }

// DecodeCurve returns a curve that Curve.Encode has encoded.
func DecodeCurve(text string) Curve { return fold.DecodeCurve(text) }
