package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ccd/compactor/limits"
	"ccd/internal/transcript"
)

// Tracker is the part of a model that lists show of a session: title, directory, times, tokens, pressure, compactions, who is
// next. It follows a session in little memory that does not grow with it, where the whole model would.
type Tracker struct {
	o       limits.Options
	session transcript.Session
	status  Status
	root    string
	begun   bool     // something was said or done
	command string   // the newest command to the client, as long as it is not known whether it reached the agent; "" if none
	asks    string   // the call of a question or a plan that has no answer, "" if none
	open    []string // the newest calls, until they have a result
	taken   bool     // the newest item decided the command to be a message
	first   int      // number of the record with Status.Ask
	copied  bool     // the record is a copy from another session, and its message is that one's title
	again   bool     // its message was taken back: the next one takes its place
	held    held
	gauge   gauge
	curve   Curve
	script  script
	deeds   deeds
	pairs   pairs
	calibration

	// Hide leaves out the secrets of a text that is kept. It is nil if the records leave out theirs.
	Hide func(string) string
}

// NewTracker returns a tracker before a session's first record. Of s only Class and Parent are used.
func NewTracker(o limits.Options, s transcript.Session) *Tracker {
	return &Tracker{
		o: o, session: s, status: Status{Known: Known{Parent: s.Parent}}, gauge: gauge{window: o.Window, named: o.Window, assumed: true},
		held:  held{last: make([]int64, max(1, o.RecentMessages))},
		deeds: deeds{list: []byte{deedsForm}, names: map[string]int64{}}, pairs: pairs{open: map[string]*pending{}},
	}
}

// Add takes the next record. It does not keep r.
func (t *Tracker) Add(r *transcript.Record) {
	t.begin(r)
	for i := range r.Items {
		t.item(r, &r.Items[i])
	}
	t.end(r)
}

// begin takes what a record says about its session and its context.
func (t *Tracker) begin(r *transcript.Record) {
	st := &t.status
	t.count(r)
	if st.Beginning == "" && r.Talks() {
		if _, said := r.Names(); transcript.IsUUID(r.UUID) {
			st.Beginning = clip(r.UUID, maxNote) + r.Time.String()
		} else if said != "" {
			st.Beginning = fmt.Sprintf("%x", said)
		}
	}
	t.again = t.again || r.From != 0 && t.first >= r.From
	st.Back = st.Back.with(r.From, r.N)
	if r.Stand[0] > 0 {
		st.Back = st.Back.without(r.Stand[0], r.Stand[1])
	}
	t.keep(&st.Origin, r.Origin)
	t.copied = r.Copied
	if r.Fork { // what was asked before is the other session's title
		st.Ask, st.Title, t.first, t.again = "", "", 0, false
	}
	st.Parsed.Add(r)
	t.notes(r)
	t.deeds.own = !r.Copied && r.Span.Off >= 0 && r.N > st.Resumed.Records
	if r.Boundary != nil {
		t.did(t.happened(Compacted, r))
		t.held.cut(st.Records-1, r.Boundary)
		t.gauge.cut(r.Boundary)
		t.calibration.cut()
		st.Boundary = st.Last
	}
	t.held.fresh = 0
}

// count counts a record, and what of it cannot be read.
func (t *Tracker) count(r *transcript.Record) {
	st := &t.status
	if st.Records == 0 && r.N < 0 {
		st.Records = r.N - 1
	}
	st.Records++
	if r.Broken {
		st.Broken++
	}
	if r.Unread {
		if st.Unread++; st.Unread == 1 {
			st.FirstUnread = r.N
		}
	}
	if r.Unknown {
		st.Unknown++
	}
}

// notes keeps what a record says of its session: when, where, and which model.
func (t *Tracker) notes(r *transcript.Record) {
	st := &t.status
	if !r.Time.IsZero() {
		if st.First.IsZero() {
			st.First = r.Time.UTC()
		}
		st.Last = r.Time.UTC()
	}
	t.keep(&st.Model, modelOf(r))
	t.keep(&st.Cwd, r.Cwd)
	if st.Start == "" {
		st.Start = st.Cwd
		t.root = transcript.Join("", st.Cwd)
	}
	if r.Branch != "HEAD" {
		t.keep(&st.Branch, r.Branch)
	}
	if st.Parent == "" {
		t.keep(&st.Parent, r.Parent)
	}
	t.keep(&st.Title, r.Title)
	t.keep(&st.Team, r.Team)
	if r.Resumed != nil && st.Records == 1 {
		st.Resumed = *r.Resumed
	}
	if r.Agent != "" && len(st.SubAgents) < 256 {
		if id := clip(r.Agent, maxNote); !slices.Contains(st.SubAgents, id) {
			st.SubAgents = append(st.SubAgents, id)
		}
	}
}

// refuse keeps the error of the API that the newest record reports, until the agent replies.
func (t *Tracker) refuse(r *transcript.Record) {
	switch {
	case r.APIError && len(r.Items) > 0:
		it := &r.Items[0]
		t.status.Refusal = clip(strings.Join(strings.Fields(clip(t.hidden(string(transcript.Original(it.Kind, it.Raw))), maxAsk)), " "), maxAsk)
	case r.Replies():
		t.status.Refusal = ""
	}
}

// item takes an item, and returns its chars and what a person or the agent says with it to the other.
func (t *Tracker) item(r *transcript.Record, it *transcript.Item) (chars int32, said string) {
	chars, t.taken = charsOf(it), false
	if it.Opaque {
		t.status.Opaque++
	}
	if !it.Copy {
		t.pair(r, it)
	}
	if it.Inner { // it is not in the context
		return chars, ""
	}
	t.held.add(it, chars)
	t.calibration.count(it, chars)
	if !it.Side {
		t.status.Waiting = t.waits(it)
		t.status.Asking, t.status.Open = t.asks != "", len(t.open) > 0
	}
	if it.Copy { // it is in the context, and all it says was taken before
		return chars, ""
	}
	t.status.Items++
	if it.Side {
		return chars, ""
	}
	t.decide(it)
	switch it.Kind {
	case transcript.Human:
		said, _ = it.Said()
		if it.Call == "" {
			local := it.ToClient()
			if t.requests(r, local); local {
				t.command = said
			} else {
				t.ask(said)
			}
		}
		t.script.add(said)
	case transcript.Text:
		said = string(transcript.Original(transcript.Text, it.Raw))
		t.script.add(said)
	case transcript.Meta, transcript.System:
		if t.session.Class != transcript.SubAgent || t.begun || chars == 0 || r.Unknown || r.Queue == transcript.Enqueued {
			return chars, ""
		}
		t.status.Asked = it.Span
		t.ask(string(transcript.Original(transcript.Text, it.Raw))) // a sub-agent's task is what it was given
	case transcript.Call, transcript.Summary:
	case transcript.Image:
		if it.Given {
			t.requests(r, false)
		}
		if !it.Given || r.Typed() {
			return chars, ""
		}
		t.ask("[" + transcript.MediumOf(it.Raw).String() + "]")
	default:
		return chars, ""
	}
	t.begun = true
	return chars, said
}

// end measures the context after a record.
func (t *Tracker) end(r *transcript.Record) {
	t.refuse(r)
	t.replied(r)
	t.held.name(r.UUID, t.status.Records-1)
	t.gauge.take(t.o, r, t.held.chars)
	if u := r.Usage; u != nil && !u.Side && u.Context == t.gauge.reported {
		t.calibration.take(u.Context)
	}
	if t.status.Records > 0 {
		t.curve.add(t.status.Records, t.gauge.used, r.Boundary != nil)
	}
	t.trigger(r.Boundary != nil)
}

// charsOf returns the length of an item's text.
func charsOf(it *transcript.Item) int32 {
	if it.Kind == transcript.Image || it.Kind == transcript.File {
		return 0
	}
	return int32(min(transcript.Chars(it.Raw), 1<<31-1))
}

// decide takes what the next item says of a command to the client: what the client printed shows that it ran the command
// itself, and what the agent does, that it was asked to.
func (t *Tracker) decide(it *transcript.Item) {
	switch {
	case t.command == "":
	case it.Kind != transcript.Meta && it.Kind != transcript.System:
		if it.Kind.Assistant() {
			t.ask(t.command)
		}
		t.taken, t.command = true, ""
		t.did(t.deeds.command)
	case transcript.Begins(string(transcript.Original(transcript.Text, it.Raw)), it.Client().Local):
		t.command = ""
	}
}

// ask keeps the first request, by which people recognize a session that its agent gave no title.
func (t *Tracker) ask(text string) {
	if !t.copied && (t.status.Ask == "" || t.again) {
		t.first, t.again = t.status.Records, false
		t.status.Ask = clip(strings.Join(strings.Fields(clip(t.hidden(text), 8*maxAsk)), " "), maxAsk)
	}
}

// SubAgent reports whether another session's agent started it.
func (t *Tracker) SubAgent() bool { return t.session.Class == transcript.SubAgent }

// waits reports whether the agent waits for the person after an item: it spoke last, was interrupted, or a question or a plan has
// no answer.
func (t *Tracker) waits(it *transcript.Item) bool {
	switch it.Kind {
	case transcript.Text:
		t.open = nil // the agent goes on without
		return true
	case transcript.Call:
		id := clip(it.Call, maxNote)
		if it.Client().Op(it.Tool) == transcript.Ask {
			t.asks = id
		}
		if len(t.open) < maxPending && !it.Client().NoResults {
			t.open = append(t.open, id)
		}
	case transcript.Result:
		if it.Call == t.asks {
			t.asks = ""
		}
		t.open = slices.DeleteFunc(t.open, func(id string) bool { return id == it.Call })
	case transcript.Human:
		t.asks, t.open = "", nil
	case transcript.Thinking:
	case transcript.Meta, transcript.System:
		interrupts := transcript.Interrupts(string(transcript.Original(it.Kind, it.Raw)))
		if interrupts || runByClient(it) {
			t.open = nil // the person stopped the call, left, or was there
		}
		return t.status.Waiting || interrupts && it.Kind == transcript.Meta
	default:
		return t.status.Waiting
	}
	return t.asks != ""
}

// runByClient reports whether an item is a command that the client ran, or what that printed.
func runByClient(it *transcript.Item) bool {
	return it.ToClient() || transcript.Begins(string(transcript.Original(it.Kind, it.Raw)), it.Client().Local)
}

// keep sets *s to a copy of newer unless that is empty.
func (t *Tracker) keep(s *string, newer string) {
	if newer != "" && newer != *s {
		*s = clip(t.hidden(newer), maxNote)
	}
}

func (t *Tracker) hidden(text string) string {
	if t.Hide == nil {
		return text
	}
	return t.Hide(text)
}

// Known is what the archive stores of a session's status for lists. Token counts are real tokens.
type Known struct {
	Records, Items  int    // an item is an original that can be restored
	Broken, Unknown int    // records that could not be parsed; records of an unknown type
	Unread          int    // records that were not read in whole: a part that a person may have written is missing
	FirstUnread     int    // number of the first of them
	Beginning       string // UUID and time of the first record that says something, or what it says: a fork that does not say so has it too
	Refusal         string // the API's error if the session ends with it
	Opaque          int    // calls that called tools in a way that ccd cannot read
	Reported        int64  // tokens of the context as last reported since the last boundary, 0 if none
	Window          int64
	Assumed         bool // the window is neither reported, nor configured, nor proven
	Pressure        float64
	First, Last     time.Time
	Boundary        time.Time // when the agent last compacted its context, zero if it has not
	Model           string
	Start, Cwd      string // the first working directory, the newest one
	Parent          string // ID of the session that started this one, from its path or else its records
	Team            string // name of the team that it works in, "" if none is recorded
	Title           string
	Ask             string             // the beginning of the first request that reached the agent, on one line; "" if there is none
	Resumed         transcript.Resumed // the session that ccd copied it from, zero if it is no copy
	Waiting         bool               // for the person: the agent spoke last, was interrupted, or asked something
	Asking          bool               // a question or a plan has no answer
	Open            bool               // a call has no result, and the person has done nothing since
	Origin          string             // ID of the session that this one is a fork of
	Deeds           []byte             // what sums count of it, see Did
}

// Status is what is known of a session as a whole.
type Status struct {
	Known
	Parsed    transcript.Understood
	Context   int64           // estimate of the agent's context
	Total     int64           // estimate of all items
	Level     limits.Level    // of Highest
	Trigger   string          // the first trigger that fired: "threshold", "pressure" or "boundary"; "" if none
	Branch    string          // in the newest record that has one
	Asked     transcript.Span // of a sub-agent: its task, zero if there is none
	SubAgents []string        // IDs, in order of appearance, the first 256
	Curve     Curve           // valid until the next record is added
	Back      Ranges          // of records that the person took back
}

// Status returns what is known of the session so far.
func (t *Tracker) Status() Status {
	st := t.status
	st.Context, st.Total = limits.Tokens(t.held.chars), limits.Tokens(t.held.total)
	st.Reported = t.gauge.reported
	st.Window, st.Assumed = t.gauge.window, t.gauge.assumed
	st.Pressure = t.gauge.pressure
	st.Level, st.Curve = t.Level(), t.curve
	st.Deeds = slices.Clip(t.deeds.list)
	return st
}

// Root returns the first working directory, relative to which paths are shown; "" if unknown.
func (t *Tracker) Root() string { return t.root }

// Held returns the index of the first record in the agent's context.
func (t *Tracker) Held() int { return t.held.start }

// Chars returns the chars of all items, in context or not.
func (t *Tracker) Chars() int64 { return t.held.total }

// Approximate chars per token, for sessions that report too little to measure it.
const (
	latinToken = 3.2
	wideToken  = 1.0
)

// PerToken returns the chars per token of this session, from its own reports or else from its scripts.
func (t *Tracker) PerToken() float64 {
	if n := t.CharsPerToken(); n > 0 {
		return n
	}
	wide := t.WideShare()
	return 1 / (wide/wideToken + (1-wide)/latinToken)
}

// held tracks the agent's context: everything since its own last compaction, and what that preserved.
type held struct {
	start     int     // index of the first record
	named     []named // the newest records since then that have a UUID, and those preserved
	preserved []int32 // indices of preserved records before start, ascending
	chars     int64   // of the items in context
	fresh     int32   // of them, in the newest record
	total     int64   // of all items, including those of inline sub-agents
	last      []int64 // chars of the newest messages, a ring
	messages  int     // number so far
	message   uint64  // hash of the name of the newest message, 0 if it has none
	kind      transcript.Kind
}

// named is a record with the hash of its UUID.
type named struct {
	id    uint64
	rec   int32
	chars int32 // of its items in context
}

// maxNamed is how many records a boundary's UUIDs are searched in. Agents preserve only recent records.
const maxNamed = 16384

// name remembers the UUID of the newest record.
func (h *held) name(uuid string, rec int) {
	if uuid == "" {
		return
	}
	if len(h.named) == 2*maxNamed {
		h.named = h.named[:copy(h.named, h.named[maxNamed:])]
	}
	h.named = append(h.named, named{transcript.Hashed(uuid), int32(rec), h.fresh})
}

// maxPreserved is how many records a boundary may preserve. Agents preserve a handful.
const maxPreserved = 4096

// cut begins a new context with record rec.
func (h *held) cut(rec int, b *transcript.Boundary) {
	var kept []int32
	if !b.Replaced && len(b.Preserved) > 0 {
		kept = h.find(rec, b.Preserved)
	}
	h.forget(rec, kept)
	h.start, h.preserved, h.chars = rec, kept, 0
	h.messages, h.message = 0, 0
	clear(h.last)
	for _, n := range h.named { // those that are kept, and none since
		if int(n.rec) < rec {
			h.chars += int64(n.chars)
		}
	}
}

// InContext reports whether a record is in the agent's context: it came after the last compaction, or that preserved it.
func (t *Tracker) InContext(rec int32) bool {
	_, preserved := slices.BinarySearch(t.held.preserved, int32(rec))
	return preserved || int(rec) >= t.held.start
}

// find searches the records in context before record rec for the given UUIDs, the newest first.
func (h *held) find(rec int, uuids []string) []int32 {
	want := map[uint64]bool{}
	for _, u := range uuids[:min(len(uuids), maxPreserved)] {
		want[transcript.Hashed(u)] = true
	}
	var found []int32
	for i := len(h.named) - 1; i >= 0 && len(want) > 0; i-- {
		if n := h.named[i]; want[n.id] && int(n.rec) < rec {
			delete(want, n.id)
			found = append(found, n.rec)
		}
	}
	slices.Reverse(found)
	return found
}

// forget drops the UUIDs of the records before rec that are not kept.
func (h *held) forget(rec int, kept []int32) {
	h.named = slices.DeleteFunc(h.named, func(n named) bool {
		_, found := slices.BinarySearch(kept, n.rec)
		return int(n.rec) < rec && !found
	})
}

// add counts an item.
func (h *held) add(it *transcript.Item, chars int32) {
	if !it.Copy {
		h.total += int64(chars)
	}
	if it.Side {
		return
	}
	h.chars += int64(chars)
	h.fresh += chars
	if h.isNew(it) {
		h.last[h.messages%len(h.last)] = 0
		h.messages++
	}
	h.kind = it.Kind
	h.message = 0
	if it.Message != "" {
		h.message = transcript.Hashed(it.Message)
	}
	h.last[max(0, h.messages-1)%len(h.last)] += int64(chars)
}

// isNew reports whether an item begins a message. The blocks of one reply are one message, and so are adjacent results.
// What a program adds belongs to the message beside it.
func (h *held) isNew(it *transcript.Item) bool {
	switch {
	case h.messages == 0:
		return true
	case it.Kind == transcript.Meta || it.Kind == transcript.System:
		return false
	case it.Message != "":
		return h.message != transcript.Hashed(it.Message)
	case it.Kind == transcript.Result:
		return h.kind != transcript.Result
	}
	return true
}

// newest returns the chars of the last messages, as many as the options count as recent.
func (h *held) newest() int64 {
	var sum int64
	for _, n := range h.last {
		sum += n
	}
	return sum
}

// Compacted tells the model that the agent has just compacted its context, because a client may call a hook before it writes
// the boundary. If the agent has said or done something since the last boundary, none of the records so far is in its
// context any more.
func (s *Session) Compacted() {
	if s.held.start == 0 || s.spoke(s.held.start) {
		s.held.cut(s.Records(), &transcript.Boundary{})
	}
}

// spoke reports whether the agent said or did something in record rec or later.
func (s *Session) spoke(rec int) bool {
	for i := len(s.Events) - 1; i >= 0 && int(s.Events[i].Rec) >= rec; i-- {
		if k := s.Events[i].Kind; k == Said || k == Did {
			return true
		}
	}
	return false
}
