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

	"github.com/go-json-experiment/json/jsontext"

	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
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
	filter prose.Message
	texts  []transcript.Node // the texts that may be shortened
	rest   int               // chars of the rest that the model reads
	chars  int               // chars of everything
}

// ReadList parses a list. It fails if something in it is not JSON, because a truncated list must not be printed as if it
// were complete.
func ReadList(data []byte) (List, error) {
	l := List{open: "[", sep: ",\n", close: "]\n"}
	start := len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff")))
	d := jsontext.NewDecoder(bytes.NewBuffer(data[start:]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	array, end := d.PeekKind() == '[', start
	if array {
		if _, err := d.ReadToken(); err != nil {
			return l, err
		}
	}
	for lines := 1 + bytes.Count(data[:start], []byte{'\n'}); ; {
		if array && d.PeekKind() == ']' {
			break
		}
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
		e := newElement(transcript.Node{Raw: data[at:end:end], Off: int64(at)}, lines)
		if array {
			e.record = len(l.elements) + 1
			if len(l.elements) == 0 {
				l.open = before
			} else if len(l.elements) == 1 || len(before) < len(l.sep) {
				l.sep = before
			}
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

// newElement parses one message. A value that is not a message gets neither role nor text.
func newElement(v transcript.Node, record int) element {
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
		case "tool_calls", "function_call":
			extra = true
			if called := len(bytes.Trim(member.Raw, "[]{} \t\r\nnul")) > 0; called {
				b.calls = true
				b.rest += transcript.Chars(member.Raw)
			}
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
	b.result = b.result || role == "tool" || role == "function"
	b.content(content)
	e.texts, e.rest, e.chars = b.texts, b.rest, b.rest
	e.filter = prose.Message{Role: role, ID: idText(e.id), Calls: b.calls, Lone: extra || b.result || b.more}
	for _, t := range b.texts {
		e.filter.Texts = append(e.filter.Texts, prose.Piece{Text: t.Text(), ID: mark.Sum(t.Raw).ID()})
		e.chars += lexicon.Chars(t.Text())
	}
	return e
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
	texts         []transcript.Node // JSON strings that may be shortened
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
	b.texts = append(b.texts, v)
}

func (b *blocks) block(v transcript.Node) {
	var kind string
	var said, inner transcript.Node
	members := 0
	for name, member := range v.Members() {
		switch members++; string(name) {
		case "type":
			kind = member.Text()
		case "text":
			said = member
		case "content":
			inner = member
		}
	}
	switch {
	case strings.HasSuffix(kind, "tool_use"):
		b.calls, b.more = true, true
		b.rest += transcript.Chars(v.Raw)
	case strings.HasSuffix(kind, "tool_result"):
		b.result, b.more = true, true
		b.content(inner)
	case said.Is('"') && (kind == "" || kind == "text" || strings.HasSuffix(kind, "_text")):
		b.text(said)
		b.more = b.more || members > 2
	default:
		b.more = true
		b.rest += transcript.Chars(v.Raw)
	}
}

// FilterOptions are the options of List.Filter.
type FilterOptions struct {
	prose.ListOptions
	MaxTokens int // estimated, of all messages; 0: no budget
}

// Filtered is the result of List.Filter.
type Filtered struct {
	Text     []byte // the list
	Report   FilterReport
	Pointers []transcript.Pointer // one for every new ID in it
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

// Filter returns the list with its prose shortened; see prose.Filter.
func (l List) Filter(o FilterOptions) Filtered {
	messages, rest, before := make([]prose.Message, len(l.elements)), 0, 0
	for i := range l.elements {
		messages[i] = l.elements[i].filter
		rest += l.elements[i].rest
		before += l.elements[i].chars
	}
	if o.MaxTokens > 0 {
		o.Budget = max(1, o.MaxTokens*3/4-rest)
	}
	var w filterWriter
	fates := prose.Filter(messages, o.ListOptions)
	for i := range l.elements {
		n := len(messages[i].Texts)
		w.write(&l.elements[i], fates[:n])
		fates = fates[n:]
	}
	text := slices.Concat([]byte(l.open), bytes.Join(w.out, []byte(l.sep)), []byte(l.close))
	r := FilterReport{Original: before * 4 / 3, Tokens: w.chars * 4 / 3, Messages: bytes.TrimSpace(text), Decisions: append([]Decided{}, w.decided...)}
	if before > 0 {
		r.Saved = math.Round(1000*float64(before-w.chars)/float64(before)) / 10
	}
	return Filtered{Text: text, Report: r, Pointers: w.pointers}
}

// filterWriter writes the filtered list.
type filterWriter struct {
	out      [][]byte
	chars    int
	decided  []Decided
	pointers []transcript.Pointer
}

// write adds a message and reports what was done to it.
func (w *filterWriter) write(e *element, fates []prose.Fate) {
	d := Decided{ID: e.id.Raw, Role: e.filter.Role, Action: prose.Preserved.String(), Reason: "no text", Chars: e.chars, In: len(w.out), InID: e.id.Raw}
	for k := len(fates) - 1; k >= 0; k-- {
		if f := &fates[k]; f.Action != prose.Preserved || k == 0 && d.Action == prose.Preserved.String() {
			d.Action, d.Reason, d.Importance = f.Action.String(), f.Reason, math.Round(100*f.Importance)/100
		}
	}
	if len(fates) == 1 && fates[0].Into >= 0 { // it was merged into an earlier message
		first, p := w.decided[fates[0].Into], &w.pointers[len(w.pointers)-1]
		d.In, d.InID, d.Marker = first.In, first.InID, first.Marker
		p.Parts, p.Last = append(p.Parts, e.part(e.texts[0])), e.record
	} else {
		d.Marker = w.replace(e, fates)
	}
	w.decided = append(w.decided, d)
}

// replace adds a message with its texts replaced, and returns the ID of the first marker.
func (w *filterWriter) replace(e *element, fates []prose.Fate) (first mark.ID) {
	raw, at := []byte(nil), e.Off
	w.chars += e.chars
	for k, f := range fates {
		if f.Text == "" {
			continue
		}
		t := e.texts[k]
		p := transcript.Pointer{Hash: mark.Sum(t.Raw), Parts: []transcript.Part{e.part(t)}, Record: e.record, Last: e.record, Note: f.Action.String()}
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
