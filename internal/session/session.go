// Package session is the model of a session: one pass over the records of any agent gives its items (a person's message and
// what follows it), tool calls with their outcome, files, commits, checks, plan, compactions and token usage.
//
// Texts are not kept: a Ref says where one is, and Source fetches it when it is printed. Invariant: the model is a pure
// function of the records, the options and the session's kind, however the records were split into calls of Add. It knows
// nothing of files, the archive, clocks and goroutines.
package session

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// Detached is the name of the branch where a client records HEAD in its place.
const Detached = "detached HEAD"

// Session is the model of one generation of a session. It is not safe for concurrent use. Its fields are read by callers
// and written only by Add.
type Session struct {
	Items   []Item   // in order; the first one has no message if the session begins without one
	Events  []Event  // of all items, in order
	Calls   []*Call  // all, in order, also those of inline sub-agents
	Long    []int    // numbers of the records over 16 MB, which are not parsed
	Files   []*File  // in the order of their first use
	Commits []Commit // in order
	Plan    Plan
	Bounds  []Bound // the agent's own compactions, in order
	Branch  Named   // the branch in the newest record that has one, or Detached

	*Tracker

	client  *transcript.Client
	records []record
	early   int32                   // how many of them are before the file's: of earlier generations, and the rewrite
	marks   map[int32][]redact.Mark // secrets of a record
	secrets map[string]int          // different secrets by kind

	jobs    map[string]int32 // calls that run in the background, by job
	byPath  map[string]*File
	waiting transcript.Waiting[Ref] // messages that are not known to have reached the agent
	command Ref                     // of Tracker.command
	shell   *Call                   // the newest command that the person ran, until its output came
	retold  int32                   // record of the newest text in which a hook of ccd told of earlier work, -1 if none
	failure int                     // number of events up to the newest error of the API
	given   []string                // what the record attaches to a message that follows in it
	gave    Ref                     // the first of it
}

// Ref says where an item is in the transcript.
type Ref struct {
	Rec   int32 // index of its record, from 0; below -1 in an earlier generation (archive.Story)
	Kind  transcript.Kind
	Frame transcript.Frame
	Span  transcript.Span
	Sum   mark.Hash // of the original
	Chars int32     // length of its text
}

// Zero reports whether the Ref is unset.
func (r Ref) Zero() bool { return r.Span.Len == 0 }

// N returns the number of the record, from 1; in an earlier generation below 0.
func (r Ref) N() int { return int(r.Rec) + 1 }

// Kind says what an event is.
type Kind uint8

// The kinds of events.
const (
	Asked     Kind = iota // a message that a person typed
	Queued                // one typed while the agent was working
	Withdrawn             // one typed then, and taken back before the agent saw it
	Reason                // a person's words on refusing a call
	Answer                // a person's answer to a question or a plan
	Shell                 // a command that the person ran in the client
	Said                  // a text of the agent
	Thought               // readable reasoning of the agent
	Did                   // a tool call
	Summed                // the agent's own summary of a compacted context
	Noted                 // the report of a sub-agent or a background command that a client put into the user's role
	Stopped               // the client's report of what ended the turn: an interruption, an error, a limit
	Ended                 // the client's report that a background command has ended
	Ruled                 // a message in the system's role of a plain list
)

// Event is something that happened in an item.
type Event struct {
	Kind
	Ref
	Call  *Call    // of a Did, Shell or Ended; of a Reason or an Answer the call that it is about, nil if unknown
	Back  bool     // of an Asked: the person took it back
	Ends  bool     // of a Said: the record says that the agent's turn ended with it
	Ours  bool     // of a Summed: ccd wrote it
	Note  string   // of a Stopped or Ended: the client's words, shortened
	Media []string // of an Asked or Queued: what the person attached, "PDF, 3 pages, 12 KB"
}

// Item is a typed message and all that follows it until the next one.
type Item struct {
	Ask     int32 // its event, -1 if the session begins without a message
	From    int32 // its first event
	To      int32 // the event after its last one
	Command bool  // the message is a slash command
	Back    bool  // the person took the message back
}

// State says how a call ended.
type State uint8

// The states of a call.
const (
	Pending State = iota // no result yet
	Running              // in the background, not known to have ended
	Done                 // ended without a reported failure
	Failed
	Refused    // by the human or a rule; it did not run
	Unrecorded // the agent records no results: what became of it is unknown
)

// Call is a tool call with its outcome.
type Call struct {
	At      Ref // its input
	Result  Ref
	Index   int32 // of its event; -1: of an inline sub-agent
	Tool    string
	Op      transcript.Op
	Command string // of a Command, at most maxCommand bytes
	Dir     string // where it ran, "" if unknown
	Query   string
	Files   []Change
	Lines   [2]int
	State   State
	Exit    int
	HasExit bool
	Silent  bool   // its status is another command's: a pipe or a list hides it
	LookUp  bool   // it only lists, reads, searches or tests
	Goal    string // of a Command: the programs with their sub-commands that do something, "" if none
	Stdin   bool   // input for a running command
	Aborted bool   // of a Failed one: the person interrupted it
	Shown   bool   // the agent has its result, which the transcript does not have yet
	Agent   string // ID of the sub-agent that it started
	Words   Ref    // the person's words: an answer, or the reason of a refusal
}

// Change is what a call does to a file.
type Change struct {
	Op   transcript.Op
	File *File
	To   *File // of a proved Rename: the file under its new name
	N    int32 // index in the call's Action.Files
	Sure bool  // proved by the outcome; false: perhaps changed by a command, if Op is Other, else only named
	Tree bool  // the path may be a directory, with everything below it
	Into bool  // of a Rename: To may be a directory that the file was moved into
}

// File is a file that the session used.
type File struct {
	Path    string
	Edits   []Edit
	Reads   int
	Last    int32 // event of the last use
	Created bool  // by this session, according to a result
	Deleted bool
}

// Edit is one change of a file.
type Edit struct {
	Event int32
	Op    transcript.Op
	Gone  bool // there is no such file after it
}

// Bound is one of the agent's own compactions.
type Bound struct {
	Event   int32 // the first event after it
	Rec     int32
	Trigger string
	Before  int64   // tokens before, 0 if unknown
	Own     Ref     // its summary; zero if there is none
	Kept    []int32 // records before it that the agent kept, ascending
	Took    int     // items that its record carries over itself
	Sealed  bool    // a part of the new context is encrypted
	ByCCD   bool    // ccd answered the compaction: its summary is ccd's text

	copies map[uint64]bool // keys of the messages that it carries over, or that stand behind it once more
}

// Verbatim returns how many messages, calls and results stand word for word behind ccd's text.
func (b *Bound) Verbatim() int {
	if !b.ByCCD {
		return 0
	}
	return len(b.copies)
}

// Carries reports whether the agent kept the original of an item from before.
func (b *Bound) Carries(r Ref) bool {
	_, kept := slices.BinarySearch(b.Kept, r.Rec)
	return kept || b.copies[r.Sum.Key()]
}

// Named is a name with the record that has it.
type Named struct {
	Name string // "" if unknown
	Rec  int32
}

// record is where a record is.
type record struct {
	transcript.Span
	milli int64
	used  int64 // tokens in the agent's context after it, as last reported; 0 if unknown
}

// Limits of what is kept.
const (
	maxCommand = 600  // bytes of a command
	maxPending = 1024 // calls without a result
	maxNote    = 1024 // bytes of a string about the session
	maxAsk     = 400  // bytes of Status.Ask
	maxPath    = 1024
	maxHead    = 4096     // bytes in which a text of ccd says that it is one
	maxMeta    = 64 << 10 // chars of a client's text that is read
	maxTries   = 4096     // bytes of the longest command that is analyzed
)

// New returns the model of a session before its first record. Of s only Agent, ID, Class, Parent and Source are used.
func New(o limits.Options, s transcript.Session) *Session {
	return &Session{
		Tracker: NewTracker(o, s), client: &transcript.Client{},
		Items: []Item{{Ask: -1}}, retold: -1,
		marks: map[int32][]redact.Mark{}, secrets: map[string]int{}, jobs: map[string]int32{},
		byPath: map[string]*File{}, Plan: Plan{Event: -1},
	}
}

// Add takes the next record. It does not keep r.
func (s *Session) Add(r *transcript.Record) {
	if len(s.records) == 0 {
		s.early = int32(max(0, 1-r.N))
	}
	rec := int32(s.Records())
	row := record{Span: r.Span}
	if !r.Time.IsZero() {
		row.milli = r.Time.UnixMilli()
	}
	s.records = append(s.records, row)
	if r.Long {
		s.Long = append(s.Long, int(rec)+1)
	}
	if len(r.Marks) > 0 {
		s.marks[rec] = slices.Clone(r.Marks)
	}
	for _, m := range r.Marks {
		s.secrets[m.Kind] = max(s.secrets[m.Kind], m.N)
	}
	s.begin(r)
	if r.Branch == "HEAD" && s.Branch.Name != "" {
		s.Branch = Named{Name: Detached, Rec: rec}
	} else if r.Branch != "" && r.Branch != "HEAD" {
		s.Branch = Named{Name: clip(r.Branch, 200), Rec: rec}
	}
	if r.Boundary != nil {
		s.cut(rec, r)
	}
	if r.From > 0 {
		s.setBack(r.From, r.N, true)
	}
	s.setBack(r.Stand[0], r.Stand[1], false)
	if s.failure > 0 && s.failure == len(s.Events) && (r.APIError || r.Replies()) { // it was tried again
		s.Events, s.failure = s.Events[:s.failure-1], 0
		s.Items[len(s.Items)-1].To--
	}
	for i := range r.Items {
		s.addItem(rec, r, &r.Items[i])
	}
	if len(s.given) > 0 { // a message without words
		s.open(s.gave, false)
	}
	if r.Queue == transcript.Withdrawn {
		for _, ref := range s.waiting.All() {
			s.push(Event{Kind: Withdrawn, Ref: ref})
		}
	}
	if ref, ok := s.waiting.Take(r); ok {
		s.push(Event{Kind: Queued, Ref: ref})
	}
	if n := int32(len(s.Events)) - 1; r.TurnEnd && n >= 0 && s.Events[n].Kind == Said {
		s.Events[n].Ends = true
	}
	if r.Aborted {
		s.stop(Event{Ref: Ref{Rec: rec}})
	}
	s.end(r)
	s.row(rec).used = s.gauge.reported
}

// stop takes an interruption, unless the newest event is one. The call before it, if it has an error and no exit status, is
// what was interrupted.
func (s *Session) stop(e Event) {
	if n := len(s.Events); n > 0 {
		switch last := &s.Events[n-1]; last.Kind {
		case Stopped: // said before
			return
		case Did:
			last.Call.Aborted = last.Call.State == Failed && !last.Call.HasExit
		}
	}
	e.Kind = Stopped
	s.push(e)
}

// cut takes the agent's own compaction.
func (s *Session) cut(rec int32, r *transcript.Record) {
	b := Bound{
		Event: int32(len(s.Events)), Rec: rec, Trigger: clip(r.Boundary.Trigger, 100), Before: r.Boundary.Before,
		Kept: slices.Clone(s.held.preserved), copies: map[uint64]bool{},
	}
	for _, it := range transcript.Replacement(r) {
		switch it.Kind {
		case transcript.Human, transcript.Text, transcript.Call, transcript.Result:
			b.Took++
			if it.Kind == transcript.Human && len(b.copies) < maxPreserved {
				b.copies[it.Sum().Key()] = true
			}
		case transcript.Thinking:
			b.Sealed = true
		case transcript.Summary:
			if !it.Side {
				b.Own = refOf(rec, &it, charsOf(&it))
			}
		}
	}
	if n := len(s.Bounds); n > 0 && s.Bounds[n-1].Rec == -1 && s.Bounds[n-1].Event == b.Event { // it is why the file was rewritten
		s.Bounds = s.Bounds[:n-1]
	}
	s.Bounds = append(s.Bounds, b)
}

func refOf(rec int32, it *transcript.Item, chars int32) Ref {
	return Ref{Rec: rec, Kind: it.Kind, Frame: it.Frame, Span: it.Span, Sum: it.Sum(), Chars: chars}
}

// addItem takes an item while its text is available.
func (s *Session) addItem(rec int32, r *transcript.Record, it *transcript.Item) {
	chars, text := s.item(r, it)
	if s.taken {
		s.open(s.command, true)
	}
	ref := refOf(rec, it, chars)
	s.client = it.Client()
	if n := len(s.Bounds); it.Copy { // it is in the context, and all it says was taken before
		if n > 0 && len(s.Bounds[n-1].copies) < maxPreserved {
			s.Bounds[n-1].copies[ref.Sum.Key()] = true
		}
		return
	}
	switch it.Kind {
	case transcript.Human:
		if !it.Side {
			s.addHuman(ref, r, it, text)
		}
	case transcript.Text:
		if !it.Side {
			s.push(Event{Kind: Said, Ref: ref})
		}
	case transcript.Thinking:
		if plain, _ := transcript.Readable(it.Kind, it.Raw); !it.Side && len(plain) > 0 {
			s.push(Event{Kind: Thought, Ref: ref})
		}
	case transcript.Call:
		s.addCall(ref, it)
	case transcript.Result:
		s.addResult(ref)
	case transcript.Summary:
		s.addSummary(rec, ref, it)
	case transcript.Meta, transcript.System:
		if it.Kind == transcript.System && s.Tracker.session.Agent == transcript.Messages { // of an agent's transcript it is the client's own text
			s.push(Event{Kind: Ruled, Ref: ref})
			return
		}
		s.addMeta(rec, ref, r, it)
	case transcript.Image:
		if it.Given {
			s.attach(ref, it)
		}
	}
}

// push appends an event to the newest item.
func (s *Session) push(e Event) int32 {
	i := int32(len(s.Events))
	if e.Kind == Asked || e.Kind == Queued {
		e.Media, s.given = s.given, nil
	}
	s.Events = append(s.Events, e)
	s.Items[len(s.Items)-1].To = i + 1
	return i
}

func (s *Session) addHuman(ref Ref, r *transcript.Record, it *transcript.Item, text string) {
	s.waiting.Repeats(text)
	if n := len(s.Events); n > 0 { // agents repeat a record when they resume a session
		if last := &s.Events[n-1]; last.Kind == Asked && last.Sum == ref.Sum && s.row(last.Rec).milli == s.row(ref.Rec).milli {
			return
		}
	}
	switch {
	case it.Call != "":
		s.addWords(ref, it)
	case strings.Contains(r.Type, "queued"): // the client says so; a call without a result may also have been aborted
		s.push(Event{Kind: Queued, Ref: ref})
	case s.Tracker.command != "":
		s.command = ref
	default:
		s.open(ref, false)
	}
}

// maxMedia is how many attachments of a message are named.
const maxMedia = 8

// attach takes a picture or a document that a person attached, before or behind what they typed.
func (s *Session) attach(ref Ref, it *transcript.Item) {
	media := &s.given
	if n := len(s.Events); n > 0 {
		if last := &s.Events[n-1]; last.Rec == ref.Rec && (last.Kind == Asked || last.Kind == Queued) {
			media = &last.Media
		}
	}
	if media == &s.given && len(s.given) == 0 {
		s.gave = ref
	}
	if len(*media) < maxMedia {
		*media = append(*media, transcript.MediumOf(it.Raw).String())
	}
}

// Attached names what came with a message: "[PDF, 3 pages, 12 KB], [image/png, 9 KB]".
func (e *Event) Attached() string { return "[" + strings.Join(e.Media, "], [") + "]" }

// With names what came with the words of a message, "" if nothing.
func (e *Event) With() string {
	if len(e.Media) == 0 || e.Ref.Kind == transcript.Image {
		return ""
	}
	return " with " + e.Attached()
}

// open begins an item with a message.
func (s *Session) open(ref Ref, command bool) {
	i := int32(len(s.Events))
	s.Items = append(s.Items, Item{Ask: i, From: i, To: i, Command: command})
	s.push(Event{Kind: Asked, Ref: ref})
}

// addWords takes a person's answer to a call, or their reason for refusing it.
func (s *Session) addWords(ref Ref, it *transcript.Item) {
	e := Event{Kind: Answer, Ref: ref}
	if p := s.pairs.now; p != nil {
		e.Call = p.call
		if p.call.Op != transcript.Ask || it.Failed { // a failed question or plan is one that the person refused
			e.Kind = Reason
			p.call.State = Refused
		} else {
			p.call.State = Done
		}
		p.call.Words = ref
	}
	s.push(e)
}

func (s *Session) addSummary(rec int32, ref Ref, it *transcript.Item) {
	if it.Side {
		return
	}
	if n := len(s.Bounds); n > 0 && s.Bounds[n-1].Own.Zero() {
		s.Bounds[n-1].Own = ref
	}
	ours := bytes.Contains(it.Raw[:min(len(it.Raw), maxHead)], []byte(transcript.HistoryNote))
	if ours {
		s.retold = rec
		if n := len(s.Bounds); n > 0 {
			s.Bounds[n-1].ByCCD = true
		}
	}
	s.push(Event{Kind: Summed, Ref: ref, Ours: ours})
}

func (s *Session) addMeta(rec int32, ref Ref, r *transcript.Record, it *transcript.Item) {
	if it.Side || ref.Chars == 0 {
		return
	}
	if r.Queue == transcript.Enqueued {
		text := string(transcript.Original(transcript.Text, it.Raw))
		s.waiting.Add(text, ref)
		return
	}
	if it.Span == s.status.Asked { // a sub-agent's task
		s.Items = append(s.Items, Item{Ask: 0})
		s.push(Event{Kind: Asked, Ref: ref})
		return
	}
	if ref.Chars > maxMeta {
		return
	}
	text := string(transcript.Original(transcript.Text, it.Raw))
	if strings.Contains(text, transcript.HistoryNote) {
		s.retold = rec
	}
	if transcript.Interrupts(text) {
		s.stop(Event{Ref: ref, Note: clip(text, 200)})
		return
	}
	if it.Kind == transcript.Meta && (r.APIError || strings.HasPrefix(r.Type, "assistant")) { // the client answered in the model's place
		if !r.APIError { // it says that there is nothing to answer
			s.push(Event{Kind: Noted, Ref: ref})
			return
		}
		s.push(Event{Kind: Stopped, Ref: ref, Note: clip(text, 300)})
		s.failure = len(s.Events)
		return
	}
	if s.addShell(ref, r, text) {
		return
	}
	if job, exit, ok := transcript.Notice(text); ok {
		s.ended(ref, job, exit)
	}
	if transcript.Begins(text, it.Client().Reports) {
		s.push(Event{Kind: Noted, Ref: ref})
	}
}

// addShell takes a command that the person ran in the client, and what it printed. It returns false for other texts.
func (s *Session) addShell(ref Ref, r *transcript.Record, text string) bool {
	if s.shell != nil && (transcript.Begins(text, s.client.Prints) || r.Shell && s.shell.At.Rec == ref.Rec) {
		s.shell.Result, s.shell.State, s.shell = ref, Done, nil
		return true
	}
	command, output, ok := s.client.RanBy(text)
	if r.Shell {
		command, ok = text, true
	}
	if !ok {
		return false
	}
	s.shell = &Call{At: ref, Index: int32(len(s.Events)), Op: transcript.Command, Command: clip(command, maxCommand), Dir: s.status.Cwd}
	s.push(Event{Kind: Shell, Ref: ref, Call: s.shell})
	if output != "" {
		s.shell.Result, s.shell.State, s.shell = ref, Done, nil
	}
	return true
}

// ended takes the client's report that a background command has ended.
func (s *Session) ended(ref Ref, job string, exit int) {
	i, known := s.jobs[job]
	if !known {
		return
	}
	c := s.Events[i].Call
	delete(s.jobs, job)
	c.State = Done
	if exit > 0 {
		c.State = Failed
	}
	if exit >= 0 {
		c.Exit, c.HasExit = exit, true
	}
	s.push(Event{Kind: Ended, Ref: ref, Call: c})
}

// setBack says of the messages in the records from one to another whether the person took them back.
func (s *Session) setBack(from, to int, back bool) {
	for n := len(s.Items) - 1; n > 0 && to > 0; n-- {
		if ask := s.Items[n].Ask; ask >= 0 && s.Events[ask].N() >= from && s.Events[ask].N() <= to {
			s.Items[n].Back, s.Events[ask].Back = back, back
		}
	}
}

// clip returns a copy of the first n bytes of a text, in whole characters.
func clip(text string, n int) string {
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "")
	}
	return strings.Clone(text)
}

// Client returns the description of the client that wrote the session.
func (s *Session) Client() *transcript.Client { return s.client }

// Records returns how many records the file has.
func (s *Session) Records() int { return len(s.records) - int(s.early) }

func (s *Session) row(rec int32) *record { return &s.records[rec+s.early] }

// Time returns a record's time, zero if it has none.
func (s *Session) Time(rec int32) time.Time {
	if rec < -s.early || int(rec) >= s.Records() || s.row(rec).milli == 0 {
		return time.Time{}
	}
	return time.UnixMilli(s.row(rec).milli).UTC()
}

// Line returns where a record is.
func (s *Session) Line(rec int32) transcript.Span { return s.row(rec).Span }

// Used returns the tokens in the agent's context after a record, as last reported; 0 if unknown.
func (s *Session) Used(rec int32) int64 { return s.row(rec).used }

// Marks returns the secrets in an item's original, relative to it.
func (s *Session) Marks(r Ref) (all []redact.Mark) {
	if len(s.marks) == 0 {
		return nil
	}
	from, to := int(r.Span.Off-s.Line(r.Rec).Off), int(r.Span.End()-s.Line(r.Rec).Off)
	for _, m := range redact.From(s.marks[r.Rec], from) {
		if m.From >= to {
			break
		}
		m.From, m.To = m.From-from, m.To-from
		all = append(all, m)
	}
	return all
}

// Secrets returns how many different secrets of each kind the session has.
func (s *Session) Secrets() map[string]int { return s.secrets }

// Answered reports whether ccd wrote the context at the last boundary.
func (s *Session) Answered() bool { return len(s.Bounds) > 0 && s.Bounds[len(s.Bounds)-1].ByCCD }

// Retold reports whether a hook of ccd has told the agent of its earlier work since the last boundary.
func (s *Session) Retold() bool { return s.retold >= 0 && int(s.retold) >= s.held.start }
