package form

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json/jsontext"

	"ccd/compactor/filter"
	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// List is a plain list of messages: a JSON array, or one message per line.
type List struct {
	elements         []element
	open, sep, close string // the text around and between messages when the list is printed
}

// element is one message with its original text.
type element struct {
	transcript.Node
	record int // its number in the archived session
	id     transcript.Node
	filter filter.Message
	texts  []text // that may be shortened
	chars  int    // chars of everything
}

// text is a JSON string that may be shortened.
type text struct {
	transcript.Node
	kind filter.PieceKind
}

// ReadList parses a list. It fails if something in it is not JSON, because a truncated list must not be printed as if it
// were complete. hide, if not nil, returns a text as JSON without its secrets; the filter sees no other.
func ReadList(data []byte, hide func(text []byte) []byte) (List, error) {
	l := List{open: "[", sep: ",\n", close: "]\n"}
	start := len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff")))
	d := jsontext.NewDecoder(bytes.NewBuffer(data[start:]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	array, end := d.PeekKind() == '[', start
	if array {
		if _, err := d.ReadToken(); err != nil {
			return l, err
		}
	}
	lines := 1 + bytes.Count(data[:start], []byte{'\n'})
	for !array || d.PeekKind() != ']' {
		raw, err := d.ReadValue()
		if !array && errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return l, fmt.Errorf("message %d is not JSON", len(l.elements)+1)
		}
		at := start + int(d.InputOffset()) - len(raw)
		before := string(data[end:at])
		lines += strings.Count(before, "\n")
		end = at + len(raw)
		e := newElement(transcript.Node{Raw: data[at:end:end], Off: int64(at)}, lines, hide)
		if array {
			e.record = l.next(before)
		}
		l.elements = append(l.elements, e)
		lines += bytes.Count(raw, []byte{'\n'})
	}
	l.close = string(data[end:])
	if len(l.elements) == 0 {
		l.open = ""
	}
	if _, err := d.ReadToken(); err != nil {
		return l, errors.New("the list has no end")
	}
	if rest := bytes.TrimSpace(data[start+int(d.InputOffset()):]); len(rest) > 0 {
		return l, errors.New("something follows the list")
	}
	return l, nil
}

// next returns the number of the next message of an array, which is printed with what is written before most of them.
func (l *List) next(before string) int {
	if len(l.elements) == 0 {
		l.open = before
	} else if len(l.elements) == 1 || len(before) < len(l.sep) {
		l.sep = before
	}
	return len(l.elements) + 1
}

// newElement parses one message. A value that is not a message gets neither role nor text.
func newElement(v transcript.Node, record int, hide func([]byte) []byte) element {
	e := element{Node: v, record: record}
	var b blocks
	var content, uuid transcript.Node
	role, extra := "", false
	for name, member := range v.Members() {
		switch string(name) {
		case "id":
			e.id = member
		case "role":
			role = member.Text()
		case "content":
			content = member
		case "uuid":
			uuid = member
		case "timestamp":
		case "tool_call_id":
			b.result = true
			b.answers = append(b.answers, member.Text())
		case "tool_calls", "function_call":
			extra = true
			b.called(member)
		default:
			extra = true
		}
	}
	if e.id.Raw == nil {
		e.id = uuid
	}
	if !v.Is('{') {
		b.rest = transcript.Chars(v.Raw)
	}
	b.result = b.result || slices.Contains([]string{"tool", "function"}, role)
	b.content(content)
	e.texts, e.chars = b.texts, b.rest
	slices.SortStableFunc(e.texts, func(x, y text) int { return cmp.Compare(x.Off, y.Off) })
	e.filter = filter.Message{Role: role, ID: idText(e.id), Calls: b.calls, Lone: extra || b.result || b.more, Opens: b.opens, Answers: b.answers, Rest: b.rest}
	for _, t := range b.texts {
		piece := t.piece(hide)
		e.filter.Texts = append(e.filter.Texts, piece)
		e.chars += lexicon.Chars(piece.Text)
	}
	return e
}

// piece returns the text as the filter sees it.
func (t text) piece(hide func([]byte) []byte) filter.Piece {
	id := mark.Sum(t.Raw).ID()
	if hide != nil {
		t.Raw = hide(t.Raw)
	}
	return filter.Piece{Text: t.Text(), ID: id, Kind: t.kind}
}

// called adds the calls of a message, from its field tool_calls or function_call.
func (b *blocks) called(v transcript.Node) {
	if len(bytes.Trim(v.Raw, "[]{} \t\r\nnul")) == 0 {
		return
	}
	b.calls = true
	b.rest += transcript.Chars(v.Raw)
	b.input(v.Object().Field("arguments"), filter.InputJSON)
	for call := range v.Elements() {
		b.opens = append(b.opens, call.Object().Field("id").Text())
		b.input(call.Object().Field("function").Object().Field("arguments"), filter.InputJSON)
	}
}

// idText returns an id as markers name it: a string, or a number as written.
func idText(id transcript.Node) string {
	if len(id.Raw) > 0 && (id.Raw[0] == '-' || id.Raw[0]-'0' < 10) {
		return string(id.Raw)
	}
	return id.Text()
}

// blocks is the parsed content of a message.
type blocks struct {
	texts         []text           // JSON strings that may be shortened
	kind          filter.PieceKind // of what is being read
	opens         []string         // the ids of calls in it
	answers       []string         // the ids of the calls whose results it has
	calls, result bool
	more          bool // the content is not a single text
	rest          int  // chars of everything else, as transcript.Chars counts
}

// content parses a content: a string, or a list of strings and blocks. Only texts may be shortened. Images, thinking and
// unknown blocks are left as they are.
func (b *blocks) content(v transcript.Node) {
	if v.Is('"') {
		b.text(v)
		return
	}
	if v.Is('{') {
		b.rest += transcript.Chars(v.Raw)
	}
	n := 0
	for e := range v.Elements() {
		if n++; e.Is('"') {
			b.text(e)
		} else {
			b.block(e)
		}
	}
	b.more = b.more || n != 1
}

// text adds a text. One over transcript.MaxLine is left as it is, because the archive would restore it as JSON.
func (b *blocks) text(v transcript.Node) {
	if len(v.Raw) > transcript.MaxLine {
		b.more = true
		b.rest += transcript.Chars(v.Raw)
		return
	}
	b.texts = append(b.texts, text{v, b.kind})
}

// isText reports whether a block of the kind is a text, as input_text is one. One without a kind is.
func isText(kind string) bool {
	return kind == "" || kind == "text" || strings.HasSuffix(kind, "_text")
}

func (b *blocks) block(v transcript.Node) {
	var kind, id, call string
	var said, inner, input transcript.Node
	members, failed := 0, false
	for name, member := range v.Members() {
		switch members++; string(name) {
		case "type":
			kind = member.Text()
		case "text":
			said = member
		case "content":
			inner = member
		case "id":
			id = member.Text()
		case "tool_use_id":
			call = member.Text()
		case "input":
			input = member
		case "is_error":
			failed = string(member.Raw) == "true"
		}
	}
	switch {
	case strings.HasSuffix(kind, "tool_use"):
		b.calls, b.more, b.opens = true, true, append(b.opens, id)
		b.rest += transcript.Chars(v.Raw)
		b.input(input, filter.Input)
	case strings.HasSuffix(kind, "tool_result"):
		b.result, b.more, b.answers = true, true, append(b.answers, call)
		outer := b.kind
		if b.kind = filter.Result; failed {
			b.kind = filter.Failed
		}
		b.content(inner)
		b.kind = outer
	case said.Is('"') && isText(kind):
		b.text(said)
		b.more = b.more || members > 2
	default:
		b.more = true
		b.rest += transcript.Chars(v.Raw)
	}
}

// longInput is the minimum length of a string in a call that may be shortened, in chars.
const longInput = 1000

// input adds the long strings that an agent passed to a tool. The call with all of them was counted before.
func (b *blocks) input(v transcript.Node, kind filter.PieceKind) {
	switch {
	case v.Is('"'):
		n := transcript.Chars(v.Raw)
		b.rest += n - utf8.RuneCount(v.Raw)
		if n >= longInput && len(v.Raw) <= transcript.MaxLine {
			b.texts, b.rest = append(b.texts, text{v, kind}), b.rest-n
		}
	case v.Is('{'):
		for _, member := range v.Members() {
			b.input(member, kind)
		}
	default:
		for e := range v.Elements() {
			b.input(e, kind)
		}
	}
}

// FilterOptions are the options of List.Filter.
type FilterOptions struct {
	filter.Options
	MaxTokens int     // estimated, of all messages; 0: no budget
	Ratio     float64 // the most that may be left of the list's chars, 0..1; 0: no budget
}

// Filtered is the result of List.Filter.
type Filtered struct {
	Text     []byte // the list
	Report   FilterReport
	Pointers []transcript.Pointer // one for every new ID in it
	Over     bool                 // it is longer than its budget
}

// FilterReport lists what Filter did to each message. Its keys are stable (docs/FORMAT.md).
type FilterReport struct {
	Original  int            `json:"original_tokens"`
	Tokens    int            `json:"tokens"`
	Saved     float64        `json:"saved_percent"`
	Messages  jsontext.Value `json:"messages"`
	Decisions []Decided      `json:"decisions"`
}

// Decided is what Filter did to one message: to the first of its texts that was shortened, else to its first text.
type Decided struct {
	ID         jsontext.Value `json:"id"` // as written, null if there is none
	Role       string         `json:"role"`
	Action     string         `json:"action"`
	Reason     string         `json:"reason"`
	Importance float64        `json:"importance"`
	Chars      int            `json:"chars"`
	In         int            `json:"in"`    // index in the printed list, from 0
	InID       jsontext.Value `json:"in_id"` // the id at that index
	Marker     mark.ID        `json:"marker"`
}

// Filter returns the list with its prose shortened; see filter.Apply.
func (l List) Filter(o FilterOptions) Filtered {
	messages, before := make([]filter.Message, len(l.elements)), 0
	for i := range l.elements {
		messages[i] = l.elements[i].filter
		before += l.elements[i].chars
	}
	if o.Budget = limits.Chars(o.MaxTokens); o.Ratio > 0 {
		o.Budget = max(1, int(o.Ratio*float64(before)))
	}
	var w filterWriter
	fates, dropped := filter.Apply(messages, o.Options)
	for i := 0; i < len(l.elements); i++ {
		if len(dropped) > 0 && dropped[0].From == i {
			run := l.elements[i:dropped[0].To]
			w.drop(run, fates, dropped[0].Names)
			for _, e := range run {
				fates = fates[len(e.texts):]
			}
			i, dropped = dropped[0].To-1, dropped[1:]
			continue
		}
		n := len(messages[i].Texts)
		w.write(&l.elements[i], fates[:n])
		fates = fates[n:]
	}
	text := slices.Concat([]byte(l.open), bytes.Join(w.out, []byte(l.sep)), []byte(l.close))
	r := FilterReport{Original: before * 4 / 3, Tokens: w.chars * 4 / 3, Messages: bytes.TrimSpace(text), Decisions: append([]Decided{}, w.decided...)}
	if before > 0 {
		r.Saved = math.Round(1000*float64(before-w.chars)/float64(before)) / 10
	}
	return Filtered{Text: text, Report: r, Pointers: w.pointers, Over: o.Budget > 0 && w.chars > o.Budget}
}

// filterWriter writes the filtered list.
type filterWriter struct {
	out      [][]byte
	chars    int
	decided  []Decided
	pointers []transcript.Pointer
}

// drop adds one message in place of a run of them, with a marker of the whole.
func (w *filterWriter) drop(run []element, fates []filter.Fate, names []string) {
	first, last := &run[0], &run[len(run)-1]
	p := transcript.Pointer{Shape: transcript.List, Record: first.record, Last: last.record, Note: filter.Dropped.String()}
	ids, size := []mark.ID{}, int64(0)
	for i := range run {
		e := &run[i]
		ids, size = append(ids, mark.Sum(e.Raw).ID()), size+int64(len(e.Raw))
		p.Parts = append(p.Parts, transcript.Part{Span: transcript.Span{Off: e.Off, Len: int64(len(e.Raw))}, Kind: transcript.Text})
	}
	p.Hash = mark.Combine(ids)
	id, at := p.Hash.ID(), len(w.decided)
	note := fmt.Sprintf("range #%d-#%d, %d messages, %s", at+1, at+len(run), len(run), humanize.Bytes(uint64(size)))
	role := filter.Human // a conversation may have to begin with it
	if len(run) == 1 {
		note = fmt.Sprintf("cut, %d chars", first.chars)
		if len(first.filter.Answers) == 0 {
			role = first.filter.Role
		}
	}
	if len(names) > 0 {
		note += " | entities: " + strings.Join(names, ", ")
	}
	said := mark.New(id, note)
	for i := range run {
		e, d := &run[i], Decided{ID: run[i].id.Raw, Role: run[i].filter.Role, Action: filter.Dropped.String(), Reason: "the budget", Chars: run[i].chars, In: len(w.out), Marker: id}
		if len(e.texts) > 0 {
			d.Importance = math.Round(100*fates[0].Importance) / 100
			fates = fates[len(e.texts):]
		}
		w.decided = append(w.decided, d)
	}
	w.pointers = append(w.pointers, p)
	w.chars += lexicon.Chars(said)
	raw := fmt.Appendf(nil, `{"role":%s,"content":%s}`, transcript.QuoteText(role), transcript.QuoteText(said))
	if len(run) == 1 && first.id.Raw != nil {
		raw = append(fmt.Appendf(nil, `{"id":%s,`, first.id.Raw), raw[1:]...)
		w.decided[at].InID = first.id.Raw
	}
	w.out = append(w.out, raw)
}

// write adds a message and reports what was done to it.
func (w *filterWriter) write(e *element, fates []filter.Fate) {
	d := Decided{ID: e.id.Raw, Role: e.filter.Role, Action: filter.Preserved.String(), Reason: "no text", Chars: e.chars, In: len(w.out), InID: e.id.Raw}
	for k := len(fates) - 1; k >= 0; k-- {
		if f := &fates[k]; f.Action != filter.Preserved || k == 0 && d.Action == filter.Preserved.String() {
			d.Action, d.Reason, d.Importance = f.Action.String(), f.Reason, math.Round(100*f.Importance)/100
		}
	}
	if len(fates) == 1 && fates[0].Into >= 0 { // it was merged into an earlier message
		first, p := w.decided[fates[0].Into], &w.pointers[len(w.pointers)-1]
		d.In, d.InID, d.Marker = first.In, first.InID, first.Marker
		p.Parts, p.Last = append(p.Parts, e.part(e.texts[0].Node)), e.record
	} else {
		d.Marker = w.replace(e, fates)
	}
	w.decided = append(w.decided, d)
}

// replace adds a message with its texts replaced, and returns the ID of the first marker.
func (w *filterWriter) replace(e *element, fates []filter.Fate) (first mark.ID) {
	raw, at := []byte(nil), e.Off
	w.chars += e.chars
	for k, f := range fates {
		if f.Text == "" {
			continue
		}
		t := e.texts[k]
		p := transcript.Pointer{Hash: mark.Sum(t.Raw), Parts: []transcript.Part{e.part(t.Node)}, Record: e.record, Last: e.record, Note: f.Action.String()}
		if f.Merged != nil {
			p.Hash, p.Shape = mark.Combine(f.Merged), transcript.List
		}
		w.pointers = append(w.pointers, p)
		first = cmp.Or(first, p.Hash.ID())
		raw = append(append(raw, e.Raw[at-e.Off:t.Off-e.Off]...), transcript.QuoteText(f.Text)...)
		at = t.Off + int64(len(t.Raw))
		w.chars += lexicon.Chars(f.Text) - lexicon.Chars(e.filter.Texts[k].Text)
	}
	w.out = append(w.out, append(raw, e.Raw[at-e.Off:]...))
	return first
}

// part returns where a text of the message is in the archive.
func (e *element) part(t transcript.Node) transcript.Part {
	kind := transcript.Text
	if e.filter.Role == "tool" {
		kind = transcript.Result
	}
	return transcript.Part{Span: transcript.Span{Off: t.Off, Len: int64(len(t.Raw))}, Kind: kind}
}
