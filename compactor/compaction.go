package compactor

import "ccd/internal/transcript"

// Compaction is what the compactor has to say in a companion.
type Compaction struct {
	Header   Header
	Sections []Section            // State, Earlier, Files, Recent; empty ones are left out
	Pointers []transcript.Pointer // one for every ID in the bodies, each exactly once
}

// Section is one part of a companion, below its `## Name` heading.
type Section struct {
	Name string
	Body string // finished Markdown: whole lines, quoted and escaped, each of at most 2000 chars
}

// Header holds the numbers of the front matter that are the compactor's.
type Header struct {
	Model          string
	Window         int64   // context window, real tokens
	Assumed        bool    // the window is assumed
	Pressure       float64 // part of the window in use, 0..
	Level          Level   // never ByPressure
	Tokens         Tokens
	KeyInformation KeyInformation
	Verified       bool
	Reason         string   // why not Verified, "" otherwise
	Saved          []Saving // by kind, in a fixed order; kinds that saved nothing are left out
}

// Tokens compares sizes, in tokens.
type Tokens struct {
	Original     int64   // estimated, of all items that the agent saw
	Companion    int64   // estimated, of the sections and the lead
	Reported     int64   // real ones, of the context as the transcript reports it; 0 where it does not
	SavedPercent float64 // of Original, one decimal
}

// KeyInformation counts key facts: human messages, edited paths, open errors, commands, plan items, decisions and the
// last answer. Lost ones neither stand in the companion nor below any of its IDs.
type KeyInformation struct{ Visible, Recoverable, Lost int }

// Saving tells what replacing items of one kind saved.
type Saving struct {
	Kind   string // "file", "output", "result", "cut", "dup", "range", "image"
	Items  int
	Tokens int64 // estimated
}

// Compaction chooses what the companion shows and renders it. Text gives the bytes of a span of the transcript; only
// spans that are printed or summarised are asked for. Equal records, options and text give equal results. It fails
// with text's error, or where a span's bytes are not those that were folded.
func (c *Compactor) Compaction(text func(transcript.Span) ([]byte, error)) (*Compaction, error) {
	return &Compaction{Header: Header{Level: Gentle}}, nil
}
