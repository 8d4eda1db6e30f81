// Package view is what `ccd top`, `ccd web` and `ccd export` show of one session: its turns, its context over time, its
// compactions and what each of them dropped, its files, and its originals.
//
// Invariant: it only reads the archive, and every text in it is redacted unless its name says Exact. A Life is built in one
// pass and then grows by the new bytes only; what it knows comes from the session's model, and it keeps places, not texts.
// Lists of sessions are those of package status. It knows nothing of terminals, HTTP and HTML.
package view

import (
	"cmp"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Turn is one request of the person and what followed it, in a line. The first turn has no request if the agent began.
type Turn struct {
	N           int       `json:"n"`      // from 1
	Record      int       `json:"record"` // its first record
	Last        int       `json:"last"`   // its last record
	Time        time.Time `json:"time,omitzero"`
	End         time.Time `json:"end,omitzero"`
	Asked       string    `json:"asked"` // the beginning of the request, on one line, at most 160 characters
	ID          mark.ID   `json:"id"`    // of the request, "" if there is none
	Back        bool      `json:"taken_back,omitempty"`
	Calls       int       `json:"calls"`
	Commands    int       `json:"commands"`
	Edits       int       `json:"edits"`  // calls that changed files
	Agents      int       `json:"agents"` // calls that started a sub-agent
	Failed      int       `json:"failed"` // failed calls
	Refused     int       `json:"refused"`
	Compactions int       `json:"compactions"`
	Tokens      int64     `json:"tokens"` // in the agent's context at its end; 0 if unknown
}

// Moment is the size of the agent's context after a record.
type Moment struct {
	Record int       `json:"record"`
	Time   time.Time `json:"time,omitzero"`
	Tokens int64     `json:"tokens"` // as the model reported, else estimated
}

// Compaction is one compaction by the agent itself.
type Compaction struct {
	N       int       `json:"n"` // from 1, as `ccd diff --boundary` counts them; 0 if nothing was before it
	Record  int       `json:"record"`
	Time    time.Time `json:"time,omitzero"`
	Trigger string    `json:"trigger"` // "auto", "manual" or ""
	Before  int64     `json:"before"`  // tokens in the context before, 0 if unknown
	After   int64     `json:"after"`   // tokens in the context of the first reply after it, 0 if there is none yet

	ByCCD    bool `json:"by_ccd"`      // ccd answered it
	Verbatim int  `json:"verbatim"`    // then: messages, calls and results that stand word for word behind ccd's text
	Told     int  `json:"handed_over"` // and the chars of that text
}

// How says who compacted, and what came of the context.
func (c Compaction) How() string {
	how := cmp.Or(c.Trigger, "unknown")
	if !c.ByCCD {
		return how
	}
	return fmt.Sprintf("%s, by ccd: %s word for word, %s characters handed over, the rest behind IDs", how, words.Count(c.Verbatim, "part"), humanize.Comma(int64(c.Told)))
}

// FileLine is one file that the session touched.
type FileLine struct {
	Path   string    `json:"path"`
	Reads  int       `json:"reads"`
	Edits  int       `json:"edits"`
	Last   int       `json:"last"` // record of its last call
	Time   time.Time `json:"time,omitzero"`
	Change string    `json:"change"` // the last change: "written", "edited", "deleted", "renamed"; "" if it was only read
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
	Pictured   = "image"
	Unparsed   = "unparsed" // a record that was not understood, or is longer than 16 MB
)

// Entry is one thing that happened, as a page of a session shows it.
type Entry struct {
	Record int       `json:"record"`
	Time   time.Time `json:"time,omitzero"`
	Kind   string    `json:"kind"`
	ID     mark.ID   `json:"id"`    // of the original; of a call, of its input
	Text   string    `json:"text"`  // redacted; of a call, what it does in one line (the command, the path, the pattern)
	Chars  int       `json:"chars"` // of the whole text
	Cut    bool      `json:"cut"`   // Text is not all of it
	Tool   string    `json:"tool,omitempty"`
	Op     string    `json:"op,omitempty"` // "command", "read", "write", "edit", "search", "agent", "other"
	Files  []string  `json:"files,omitempty"`
	Diff   string    `json:"diff,omitempty"` // of a call that writes: its lines, with "+ ", "- " or two blanks before them
	Plus   int       `json:"added_lines,omitempty"`
	Minus  int       `json:"removed_lines,omitempty"`
	Sealed bool      `json:"encrypted,omitempty"` // reasoning that only the agent's provider can read

	Plan    []transcript.PlanItem `json:"plan,omitempty"`    // what a call makes of the agent's plan
	Ending  string                `json:"ending,omitempty"`  // "exit 1", "failed", "refused", "exit status unknown"
	Failed  bool                  `json:"failed,omitempty"`  // or refused
	Waiting bool                  `json:"waiting,omitempty"` // a call without a result yet
	Result  mark.ID               `json:"result,omitempty"`  // ID of the call's result
	Output  string                `json:"output,omitempty"`  // the beginning and the end of the result, redacted
	OutSize int                   `json:"output_chars,omitempty"`
	Back    bool                  `json:"taken_back,omitempty"`
	Side    bool                  `json:"side,omitempty"`  // of an inline sub-agent
	Agent   string                `json:"agent,omitempty"` // session of the sub-agent that the call started
}

// Place is the first and the last record of a page.
type Place struct{ First, Last int }

// Original is an archived original, as a page shows it.
type Original struct {
	ID        mark.ID   `json:"id"`
	Kind      string    `json:"kind"`
	Agent     string    `json:"agent"`
	Session   string    `json:"session"`
	Record    int       `json:"record"`
	Last      int       `json:"last_record"`
	Time      time.Time `json:"time,omitzero"`
	Text      string    `json:"text"` // as the agent saw it, redacted, at most MaxShown bytes
	Line      string    `json:"line"` // the transcript's line or lines, redacted, at most MaxShown bytes
	Cut       bool      `json:"cut"`  // Text or Line is not all of it
	Secrets   string    `json:"secrets"`
	Bytes     int64     `json:"bytes"`  // of the raw span
	Size      int64     `json:"size"`   // of what restore prints
	SHA256    string    `json:"sha256"` // of the raw span, without redaction
	Verified  bool      `json:"verified"`
	MediaType string    `json:"media_type"` // of an image, else ""
}

// MaxShown is how much of an original is shown, in bytes. The rest is a download.
const MaxShown = 512 << 10

// Version is a file after one of its changes.
type Version struct {
	Record  int       `json:"record"`
	Session string    `json:"session"`
	Time    time.Time `json:"time,omitzero"`
	How     string    `json:"how"`   // "read", "written", "edited", "renamed", "deleted"
	Text    string    `json:"text"`  // "" if it is not wholly known
	Known   bool      `json:"known"` // Text is the whole content
	Lines   int       `json:"lines"`
	Diff    string    `json:"diff"` // unified, against the version before it that is known; "" if there is none or nothing changed
}
