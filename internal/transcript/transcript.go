// Package transcript defines ccd's basic types, and how transcripts are read: the decoding of lines and the meaning of tool
// calls. Each agent is a Format, a row of a table, not an interface.
//
// The package opens no transcript for writing, and does not know bbolt, fsnotify or ccd's own files. Its invariant is
// losslessness: the spans of the records, with the line ends between them, give the file back. A line that cannot be
// understood is a record too.
package transcript

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"ccd/internal/mark"
	"ccd/internal/redact"
)

// Key identifies a session permanently: moving, compressing or decompressing its file does not change it.
type Key struct {
	Agent string // "claude-code", "codex", "messages"
	ID    string // the ID in the file's name, otherwise the path below the root without its suffix
}

// Unlined reports whether the session's records may be elements of one JSON value instead of lines.
func (k Key) Unlined() bool { return k.Agent == Messages || strings.HasSuffix(k.ID, ".json") }

// Class is what a session's file contains.
type Class uint8

// The classes of files.
const (
	Main       Class = iota // a conversation of its own
	SubAgent                // a conversation that a parent session started
	Attachment              // a file of a session that is not a conversation: a spilled output, a meta.json
	Earlier                 // an earlier file of a conversation: the newest one stands for all
)

// Session is what the path of a file shows about it, without reading it.
type Session struct {
	Key
	Class  Class
	Parent string // ID of the parent session of the same agent, "" if the path does not contain it
	Thread string // of a later file of a conversation, begun when the person went back in it: ID of the first one
	Path   string // absolute
	Root   string // absolute; the watched root that contains Path
	Source string // Path below the agent's home, with slashes, without .zst: "projects/-home-me/UUID.jsonl"
	Packed bool   // the file is a transcript compressed with zstd
}

// Unpacked returns the path of a transcript without what says that it is compressed with zstd.
func Unpacked(path string) (plain string, packed bool) {
	return strings.CutSuffix(path, ".zst")
}

// Name is the ID by which people know the session: that of the conversation, if that has several files.
func (s Session) Name() string { return cmp.Or(s.Thread, s.ID) }

// Fingerprint is the SHA-256 of N bytes at a known position of a generation.
type Fingerprint struct {
	N   int64
	Sum mark.Hash
}

// Cursor is a position in a session, with fingerprints to check that the file is still the same. The zero Cursor is the
// beginning of generation 1.
type Cursor struct {
	Generation int         // 1 for the first life of the file; 0 only in the zero Cursor
	Offset     int64       // bytes before the position (uncompressed)
	Head       Fingerprint // of the first bytes, N <= 4096
	Back       Fingerprint // of the bytes before Offset, N <= 4096
}

// Segment is a run of new bytes of one generation. Data is only valid until the next segment. It contains whole lines,
// except: a line over 8 MB is split over several segments; an attachment, or a last line without a newline in a file at
// rest, ends at the end of the file.
type Segment struct {
	Start Cursor
	Data  []byte
	End   Cursor
	Rest  bool // nothing follows for now: take a last line without a newline as it is
}

// Span is a range of bytes in a generation. Len is at most 16 MB (MaxLine) except for several lines.
type Span struct {
	Off int64
	Len int64
}

// End returns the offset after the span.
func (s Span) End() int64 { return s.Off + s.Len }

// MaxLine is the size in bytes up to which a line is parsed; a longer one is only archived. Offsets in a line fit into
// 24 bits.
const MaxLine = 16<<20 - 1

// Kind is the kind of an item.
type Kind uint8

// The kinds of items. Human is only text that a person typed or answered; text that a program wrote in the user's role
// (reminders, hook output, command echoes, AGENTS.md, environment) is Meta.
const (
	Meta Kind = iota
	Human
	Text     // assistant text
	Thinking // reasoning, readable or not
	Call     // a tool call; its original is the input
	Result   // a tool's result
	Image    // an image or document outside a result
	Summary  // the agent's own summary of a compacted context
	System   // text in the system's or developer's role
	File     // an attachment's bytes
)

var kindNames = [...]string{"meta", "human", "text", "thinking", "call", "result", "image", "summary", "system", "file"}

// String returns the kind's name in companions and --json.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Item is one content block. Its original is the JSON value in the file at Span, with quotes (a text's string, a call's
// input, a result's content, an image's source). Raw is the same without its secrets.
type Item struct {
	Kind    Kind
	Span    Span
	Raw     []byte // valid until the next record
	Call    string // on Call and Result: pairs them ("" if the agent has no such ID)
	Tool    string // on Call, and on Result if recorded: the agent's name of the tool
	Message string // blocks with the same Message came in one reply ("" if unknown)
	Failed  bool   // on Result: the agent marked it as an error, or the exit status is not 0
	Refused bool   // on Result: according to the record the human refused the call
	Side    bool   // belongs to an inline sub-agent, not to this session's context
	Frame   Frame  // on Human: what a client put around the person's words
	Inner   bool   // on Call and Result: what a call of a wrapper did, as an event reports it; not itself in the context
	Opaque  bool   // on Result: its call called tools in a way that cannot be read
	Told    *Told  // on Result: what events say of how it ended, nil if nothing
	Given   bool   // on Image: a person attached it to a message
	Block   []byte // on Thinking: Anthropic's content block around it, which has its signature too; nil in other forms. Valid as long as Raw
	Copy    bool   // on Meta: repeats an earlier item, as a compaction that ccd answered keeps it

	client *Client
	exact  []byte // the original
}

// Sum returns the hash of the item's original, which its ID is made from.
func (it *Item) Sum() mark.Hash {
	if it.exact == nil {
		return mark.Sum(it.Raw)
	}
	return mark.Sum(it.exact)
}

// Sum returns the hash of the line without its newline, with its secrets.
func (r *Record) Sum() mark.Hash {
	if r.Long {
		return r.sum
	}
	return mark.Sum(r.exact)
}

// Redacted reports whether secrets are left out of it.
func (it *Item) Redacted() bool { return it.exact != nil && !bytes.Equal(it.exact, it.Raw) }

// Hide leaves secrets out of a record that was decoded with them.
func (r *Record) Hide(marks []redact.Mark) {
	r.Marks, r.Raw = marks, redact.Apply(r.exact, 0, marks)
	for i := range r.Items {
		it := &r.Items[i]
		it.Raw, it.Block = redact.Apply(it.exact, int(it.Span.Off-r.Span.Off), marks), nil
	}
}

// Clone returns a copy of the record whose bytes stay valid.
func (r *Record) Clone() Record {
	c := *r
	c.Raw, c.exact, c.Marks, c.Items = bytes.Clone(r.Raw), bytes.Clone(r.exact), slices.Clone(r.Marks), slices.Clone(r.Items)
	if r.Usage != nil {
		u := *r.Usage
		c.Usage = &u
	}
	if r.Boundary != nil {
		b := *r.Boundary
		c.Boundary = &b
	}
	for i := range c.Items {
		it := &c.Items[i]
		it.Raw, it.exact, it.Block = bytes.Clone(it.Raw), bytes.Clone(it.exact), bytes.Clone(it.Block)
	}
	return c
}

// Client returns the client that wrote the item's record. It is never nil.
func (it *Item) Client() *Client {
	if it.client == nil {
		return &Client{}
	}
	return it.client
}

// Understand returns what a call does.
func (it *Item) Understand() Action { return it.Client().Understand(it.Tool, it.Raw) }

// Explain returns what a result says; tool and op are those of its call.
func (it *Item) Explain(tool string, op Op) Outcome {
	o := it.Client().Explain(tool, op, it.Raw, it.Failed)
	it.Told.complete(&o)
	return o
}

// Told is how the commands and patches of a call ended, as the record, or events before it, report it beside the result.
type Told struct {
	Ended   bool   // a command ended
	Exit    int    // the first status that is not 0
	Piped   bool   // the status of a command may be a filter's
	Undone  bool   // a patch was not applied
	Stopped bool   // the person interrupted it
	Running string // name of the command in later calls, which had not ended; "" if it had
}

func (t *Told) complete(o *Outcome) {
	if t == nil || o.Rejected {
		return
	}
	if t.Ended {
		o.ended(t.Exit)
		o.Each = !t.Piped
	}
	if o.Stopped = o.Stopped || t.Stopped; t.Stopped {
		o.Failed, o.HasExit = true, false
	}
	if t.Running != "" {
		o.Running, o.Job = true, t.Running
	}
	if t.Undone {
		o.Failed, o.Ran = true, false
	}
}

// NoCount stands for a report that is not a number of 0 or more.
const NoCount = -1

// Said returns the person's words in a Human item, and how many characters a client added.
func (it *Item) Said() (said string, added int) {
	return it.Client().Said(it.Frame, string(Original(it.Kind, it.Raw)))
}

// Usage is the token usage reported with one reply of the model.
type Usage struct {
	ID      string // (message id, request id): a later record with the same ID replaces this one; "": always new
	Context int64  // size of the context including the reply's output; or NoCount
	Window  int64  // context window in the transcript, 0 if unknown
	Side    bool   // of an inline sub-agent, not of this session's context
	Spent   *Spent // what the reply cost, nil if that is unknown
	Sum     int64  // what the session has cost until then, 0 if unknown: a report is repeated with the same sum
}

// Boundary is where the agent compacted its own context: earlier records, except Preserved, are no longer in it.
type Boundary struct {
	Trigger   string   // "auto", "manual" or ""
	Before    int64    // tokens before, 0 if unknown
	Preserved []string // Record.UUIDs of earlier records that stay in the context
	// Replaced is true if the record contains the whole new context (Codex replacement_history).
	Replaced bool
}

// Queue says what a record tells of messages that a person typed while the agent worked. Such a message is a Meta item where
// it was typed, because only a later record says whether it reached the model.
type Queue uint8

// What happens to a queued message.
const (
	NoQueue   Queue = iota
	Enqueued        // the record's item waits
	Delivered       // a waiting message reached the model in the running turn
	Repeated        // a waiting message follows as a message of its own
	Withdrawn       // the person took all waiting messages back
)

// Record is one parsed line of a transcript. Strings and Raw are only valid until the next record unless said
// otherwise.
type Record struct {
	N        int           // 1-based number of the line
	Span     Span          // the line without its newline
	Raw      []byte        // the line without its secrets; nil if it is longer than MaxLine
	Marks    []redact.Mark // the secrets of the line, in order
	Time     time.Time     // UTC; zero if the record has none
	Type     string        // the agent's name of the type: "assistant", "system/compact_boundary", "response_item/message"
	UUID     string        // "" if there is none
	Items    []Item        // in order; none in records that the model never saw
	Usage    *Usage
	Boundary *Boundary
	Back     int    // number of turns that the person took back here
	From     int    // number of the first record that was taken back, 0 if none
	Stand    [2]int // the records from the first to the last stand: an earlier one seemed to take them back
	APIError bool   // it reports an error of the API instead of a reply
	Origin   string // ID of the session that this one is a fork of, if recorded
	Copied   bool   // it is a copy of a record of that session
	Fork     bool   // it begins a fork: what is before it was said in another session
	Model    string // the model in the record, "" if none or synthetic
	Provider string // of the model, "" if the record does not say
	Chosen   string // the model that a person selected here, "" if none
	Cwd      string
	Branch   string
	Parent   string   // ID of the session that started this one, if recorded
	Team     string   // name of the team that the session works in, if recorded
	Agent    string   // ID of the sub-agent that the record launches or reports on
	Version  string   // the agent's own version
	Title    string   // the session's title
	Resumed  *Resumed // on the first record of a copy that ccd wrote, otherwise nil
	Queue    Queue    // what happened to a message that a person typed while the agent worked
	Queued   string   // that message, "" if the record does not say: the oldest one
	Aborted  bool     // the person interrupted the agent in it
	TurnEnd  bool     // it says that the agent ended its turn by itself
	Shell    bool     // its first item is a command that the person ran in the client, its second one what that printed
	UI       bool     // only for the agent's display or bookkeeping: may be dropped
	Unknown  bool     // of an unknown type: kept and counted
	Broken   bool     // at least one value of the line could not be parsed: kept and counted
	Long     bool     // longer than MaxLine: kept, not parsed
	Unread   bool     // Broken, Long, or Unknown (and no UI) with words in no item: a part that a person may have written is not read

	client *Client
	exact  []byte    // the line
	sum    mark.Hash // of a line longer than MaxLine
}

// Understood counts how much of a transcript was understood.
type Understood struct {
	Content     int // records of a known type with items
	Bookkeeping int // other records of a known type
	Unknown     int // records that were not understood, except blank lines
}

// Add counts a record.
func (g *Understood) Add(r *Record) {
	switch {
	case r.Unknown || r.Broken || r.Long:
		g.Unknown++
	case len(r.Items) > 0:
		g.Content++
	case len(bytes.TrimSpace(r.Raw)) > 0:
		g.Bookkeeping++
	}
}

// Empty reports whether nothing was understood. A few lines that look like bookkeeping do not count if others are
// unknown.
func (g *Understood) Empty() bool { return g.Content == 0 && (g.Unknown > 0 || g.Bookkeeping == 0) }

// Shape is how an original is composed.
type Shape uint8

// The shapes of originals.
const (
	Single Shape = iota // one span: an item
	Lines               // whole lines, from the first part's start to its end: restore prints them as they are
	List                // several items: restore prints each, joined by newline
)

// String names the shape.
func (s Shape) String() string { return [...]string{"single", "lines", "list"}[s] }

// Part is one item of an original.
type Part struct {
	Span Span
	Kind Kind
}

// Pointer describes the original of an ID, in one generation of one session.
type Pointer struct {
	Hash   mark.Hash // of the raw span; of Lines and List: mark.Combine of the parts' IDs
	Shape  Shape
	Parts  []Part    // Single and Lines: exactly one
	Record int       // number of the (first) record
	Last   int       // number of the last record; = Record for a single one
	Time   time.Time // of the (first) record
	Note   string    // what it is, in a word or two: "output", "file", "range"
}

// Kind names what the original is: the kind of its item, "range" or "list"; "" if it has no parts.
func (p Pointer) Kind() string {
	switch {
	case p.Shape == Lines:
		return "range"
	case p.Shape == List:
		return "list"
	case len(p.Parts) == 0:
		return ""
	}
	return p.Parts[0].Kind.String()
}
