// Package transcript holds the nouns of ccd and what is known of each agent: where its transcripts live, how a line
// decodes, what a tool call means.
//
// It is a leaf: it opens no transcript for writing, and knows nothing of bbolt, fsnotify or ccd's own files. Its one
// law is losslessness: joining the spans of the records and the line ends between them gives the file back, and a line
// that cannot be understood is a record all the same. An agent is a Format, a row of a table, not an interface.
package transcript

import (
	"bytes"
	"strings"
	"time"

	"ccd/internal/mark"
)

// Key names a session for ever: moving, compressing or re-materialising its file keeps it.
type Key struct {
	Agent string // "claude-code", "codex", "messages"
	ID    string // the ID in the file's name, else the path below the root without its suffix
}

// Unlined reports whether the records of the session need not be lines: they may be elements of one JSON value that is
// the whole file.
func (k Key) Unlined() bool { return k.Agent == Messages || strings.HasSuffix(k.ID, ".json") }

// Class tells what the bytes of a session's file are.
type Class uint8

// The classes.
const (
	Main       Class = iota // a conversation of its own
	SubAgent                // a conversation that a parent session started
	Attachment              // a file of a session that is not a conversation: a spilled output, a meta.json
)

// Session is what a path tells of the file it names; nothing of the file is read for it.
type Session struct {
	Key
	Class  Class
	Parent string // ID of the parent session of the same agent, where the path tells it ("" otherwise)
	Path   string // absolute
	Root   string // absolute; the watched root that Path lies below
	Source string // Path below the agent's home, slashes, without .zst: "projects/-home-me/UUID.jsonl"
	Packed bool   // the file is the transcript compressed with zstd
}

// Fingerprint is the SHA-256 of N bytes at a known place of a generation.
type Fingerprint struct {
	N   int64
	Sum mark.Hash
}

// Cursor is a place in a session: how far its file has been taken, and what proves that it is still that file.
// The zero Cursor is the beginning of generation 1.
type Cursor struct {
	Generation int         // 1 for the first life of the file; 0 only in the zero Cursor
	Offset     int64       // bytes of this generation taken (of a .zst: uncompressed bytes)
	Head       Fingerprint // of the first bytes, N <= 4096
	Back       Fingerprint // of the bytes before Offset, N <= 4096
}

// Segment is a stretch of new bytes of one generation. Data is valid until the next segment is asked for.
// It holds whole lines, except: a line over 8 MB travels in several segments; an attachment, or a last line without a
// newline whose file is at rest, ends where the file ends.
type Segment struct {
	Start Cursor
	Data  []byte
	End   Cursor
	Rest  bool // nothing follows for now: a last line without a line end is to be taken as it is
}

// Span is a place in a generation, in bytes. Len is at most 16 MB (MaxLine) but for spans of several lines.
type Span struct {
	Off int64
	Len int64
}

// End returns the offset behind the span.
func (s Span) End() int64 { return s.Off + s.Len }

// MaxLine is the longest line that is parsed, in bytes; a longer one is archived and never parsed. Places within one fit
// into 24 bits.
const MaxLine = 16<<20 - 1

// Kind is what an item is.
type Kind uint8

// The kinds of items. Human is only what a person typed or answered; text that a machine wrote in the user's role
// (reminders, hook output, command echoes, AGENTS.md, environment) is Meta.
const (
	Meta Kind = iota
	Human
	Text     // assistant text
	Thinking // reasoning, readable or not
	Call     // a tool call; its original is the input
	Result   // a tool's result
	Image    // an image or document that stands outside of a result
	Summary  // the agent's own summary of what its compaction dropped
	System   // text in the system's or developer's role
	File     // an attachment's bytes
)

var kindNames = [...]string{"meta", "human", "text", "thinking", "call", "result", "image", "summary", "system", "file"}

// String returns the kind's name as companions and --json show it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Item is one content block. Its original is Raw: the JSON value in the file, quotes included (a text's string, a
// call's input, a result's content, an image's source), byte for byte at Span.
type Item struct {
	Kind    Kind
	Span    Span
	Raw     []byte // valid until the next record
	Call    string // on Call and Result: what pairs them ("" where the agent gives none)
	Tool    string // on Call, and on Result where the record tells it: the tool's name as the agent gives it
	Message string // blocks with the same Message came in one reply ("" where the agent gives none)
	Failed  bool   // on Result: the agent marked it as an error, or its exit status says so
	Refused bool   // on Result: the record says that the human refused the call
	Side    bool   // belongs to an inline sub-agent, not to this session's own context
	Frame   Frame  // on Human: what a client put around the person's words

	client *Client
}

// Client tells how the client speaks that wrote the item's record; it is never nil.
func (it *Item) Client() *Client {
	if it.client == nil {
		return &Client{}
	}
	return it.client
}

// Understand tells what a call does.
func (it *Item) Understand() Action { return it.Client().Understand(it.Tool, it.Raw) }

// Explain tells what a result says; tool and op are those of its call.
func (it *Item) Explain(tool string, op Op) Outcome {
	return it.Client().Explain(tool, op, it.Raw, it.Failed)
}

// NoCount stands for a report that holds something else than whole numbers of 0 or more.
const NoCount = -1

// Said returns what a person wrote of a Human item, and how many characters beside it a client added.
func (it *Item) Said() (said string, added int) {
	return it.Client().Said(it.Frame, string(Original(it.Kind, it.Raw)))
}

// Usage is what one reply of the model reports, in tokens.
type Usage struct {
	ID      string // (message id, request id): a later record with the same ID replaces this one ("" : always new)
	Context int64  // what the model held for this reply, the reply's own output included; or NoCount
	Window  int64  // the context window that the transcript states, 0 where it states none
	Side    bool   // of an inline sub-agent: says nothing of this session's context
}

// Boundary is the place where the agent compacted its own context: what stands before it, but for Preserved, is no
// longer held.
type Boundary struct {
	Trigger   string   // "auto", "manual" or ""
	Before    int64    // tokens held before, 0 where it is not told
	Preserved []string // Record.UUIDs that stay in the context although they stand before
	// Replaced is true where the record itself carries the whole new context (Codex replacement_history).
	Replaced bool
}

// Record is one line of a transcript, understood as far as it can be. Strings and Raw are valid until the next record
// unless said otherwise; numbers and times are plain values.
type Record struct {
	N        int       // 1-based number of the line
	Span     Span      // the line without its line end
	Raw      []byte    // the line; nil where it is longer than MaxLine
	Hash     mark.Hash // of the line without its line end
	Time     time.Time // UTC; zero where the record has none
	Type     string    // the agent's name for it: "assistant", "system/compact_boundary", "response_item/message"
	UUID     string    // "" where it has none
	Items    []Item    // in order; none on records that the model never saw
	Usage    *Usage
	Boundary *Boundary
	Back     int    // turns that the person took back here: so many of the last messages no longer count
	Model    string // the model that it names, "" where none or synthetic
	Chosen   string // the model that a person chose from now on, as the client tells it, "" where the record tells none
	Cwd      string
	Branch   string
	Parent   string   // ID of the session that started this one, where the record tells it
	Agent    string   // ID of the sub-agent whose launch or report this record is
	Version  string   // the agent's own version
	Title    string   // a title given to the session
	Resumed  *Resumed // on the first record of a copy that ccd wrote, else nil
	UI       bool     // a copy for the agent's own screen or bookkeeping: free to drop
	Unknown  bool     // of a type that is not known: kept, counted
	Broken   bool     // could not be parsed (at least one value of the line): kept, counted
	Long     bool     // longer than MaxLine: kept, never parsed

	client *Client
}

// Grasp counts how much of a transcript was understood.
type Grasp struct {
	Told    int // records of a known type that hold items
	Known   int // others of a known type: bookkeeping
	Strange int // records that are not understood; blank lines are none of these
}

// Add counts a record.
func (g *Grasp) Add(r *Record) {
	switch {
	case r.Unknown || r.Broken || r.Long:
		g.Strange++
	case len(r.Items) > 0:
		g.Told++
	case len(bytes.TrimSpace(r.Raw)) > 0:
		g.Known++
	}
}

// Nothing reports whether nothing was understood: a few lines that look like bookkeeping do not count beside others that
// are strange.
func (g *Grasp) Nothing() bool { return g.Told == 0 && (g.Strange > 0 || g.Known == 0) }

// Shape is how an original is put together.
type Shape uint8

// The shapes of originals.
const (
	Single Shape = iota // one span: an item
	Lines               // whole lines, from the first part's start to its end: restore prints them as they stand
	List                // several items: restore prints each, joined by newline
)

// Part is one item of an original.
type Part struct {
	Span Span
	Kind Kind
}

// Pointer tells what an ID stands for, within one generation of one session.
type Pointer struct {
	Hash   mark.Hash // of the raw span; of Lines and List: mark.Combine of the parts' IDs
	Shape  Shape
	Parts  []Part    // Single and Lines: exactly one
	Record int       // number of the (first) record
	Last   int       // number of the last record; = Record for a single one
	Time   time.Time // of the (first) record
	Note   string    // what it is, in a word or two, for people: "output", "file", "range"
}
