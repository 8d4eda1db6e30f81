// Package view is what `ccd top`, `ccd web` and `ccd export` show of one session: its turns, its context over time, its
// compactions and what each of them dropped, its files, and its originals.
//
// Invariant: it only reads the archive, and every text in it is redacted unless its name says Exact. An Index is built in one
// pass, again when the session has grown; what it knows comes from the session's model, and it keeps places, not texts.
// Lists of sessions are those of package status. It knows nothing of terminals, HTTP and HTML.
package view

import (
	"time"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Moment is the size of the agent's context after a record.
type Moment struct {
	Record int
	Time   time.Time
	Tokens int64 // as the model reported, else estimated
}

// Step is a call by what its result added to the context.
type Step struct {
	Record  int     `json:"record"` // of the result
	Tool    string  `json:"tool"`
	What    string  `json:"what"`
	Tokens  int64   `json:"about_tokens"`
	Seconds float64 `json:"seconds"` // from the call to the result, 0 if it is not recorded
	Gone    bool    `json:"gone"`    // a compaction took it out of the context
	ID      mark.ID `json:"id"`
}

// Took is how long the call took.
func (s Step) Took() time.Duration { return time.Duration(s.Seconds * float64(time.Second)) }

// FileLine is one file that the session touched.
type FileLine struct {
	Path   string
	Reads  int
	Edits  int
	Last   int // record of its last call
	Time   time.Time
	Change string // the last change: "written", "edited", "deleted", "renamed"; "" if it was only read
}

// Kinds of an Entry.
const (
	Asked      = "asked"      // a request, or an answer of the person
	Said       = "said"       // a text of the agent
	Thought    = "thought"    // reasoning of the agent
	Called     = "called"     // a tool call, with its result if there is one
	Resulted   = "result"     // a result without a call
	Compacted  = "compacted"  // the agent compacted its context here
	Summarized = "summarized" // the agent's own summary
	Added      = "added"      // text that a program added: reminders, hooks, system prompts
	Ahead      = "ahead"      // typed while the agent worked; taken back, or sent in another record
	Pictured   = "image"
	Unparsed   = "unparsed" // a record that was not understood, or is longer than 16 MB
)

// Entry is one thing that happened, as a page of a session shows it.
type Entry struct {
	Record int
	Time   time.Time
	Kind   string
	ID     mark.ID // of the original; of a call, of its input
	Text   string  // redacted; of a call, what it does in one line (the command, the path, the pattern)
	Left   int     // so many characters more has the text, or the diff
	Tool   string
	Ask    bool // the call asks the person, with Text
	Files  []string
	Diff   string // of a call that writes: its lines, with "+ ", "- " or two blanks before them
	Plus   int
	Minus  int
	Sealed bool // reasoning that only the agent's provider can read

	Plan    []transcript.PlanItem // what a call makes of the agent's plan
	Ending  string                // "exit 1", "failed", "refused"; "" if it is unknown
	Failed  bool                  // or refused
	Waiting bool                  // a call without a result yet
	Result  mark.ID               // ID of the call's result
	Answer  int                   // number of the record with it, 0 if none
	Output  string                // the beginning of the result, redacted
	Hidden  int                   // so many characters stand between it and Tail
	Tail    string                // the end of a long result
	Tokens  int64                 // about so many did the result add to the context
	Took    time.Duration         // from the call to the result, 0 if it is not recorded
	Back    bool
	Side    bool   // of an inline sub-agent
	Agent   string // session of the sub-agent that the call started
}

// Place is the first and the last record of a page.
type Place struct{ First, Last int }
