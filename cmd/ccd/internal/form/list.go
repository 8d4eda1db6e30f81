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

// List is a plain list of messages: a JSON array, or one message a line.
type List struct {
	elements         []element
	open, sep, close string // what stands around them when the list is printed
}

// element is one message as it stands.
type element struct {
	value
	record int // its number in the archived session
	id     value
	filter prose.Message
	texts  []value // those of filter.Texts
	rest   int     // chars of what else the model reads
	chars  int     // of it all
}

// ReadList takes a list apart. It fails where something in it is not JSON: a list that is cut off must not come back
// without its end.
func ReadList(data []byte) (List, error) {
	l := List{open: "[", sep: ",\n", close: "]\n"}
	start := len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff")))
	d := reading(data[start:])
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
		v, err := (value{data[start:], start}).next(d)
		if !array && errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return l, fmt.Errorf("message %d is not JSON", len(l.elements)+1)
		}
		before := string(data[end:v.off])
		lines += strings.Count(before, "\n")
		e := newElement(v, lines)
		if array {
			e.record = len(l.elements) + 1
			if len(l.elements) == 0 {
				l.open = before
			} else if len(l.elements) == 1 || len(before) < len(l.sep) {
				l.sep = before
			}
		}
		l.elements = append(l.elements, e)
		lines += bytes.Count(v.raw, []byte{'\n'})
		end = v.off + len(v.raw)
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

// newElement looks at one message. Whatever is no message has neither role nor text.
func newElement(v value, record int) element {
	e := element{value: v, record: record}
	var b blocks
	var content, uuid value
	role, extra := "", false
	for name, member := range v.members() {
		switch name {
		case "id":
			e.id = member
		case "role":
			role = text(member.raw)
		case "content":
			content = member
		case "uuid":
			uuid = member
		case "timestamp":
		case "tool_call_id":
			b.result = true
		case "tool_calls", "function_call":
			extra = true
			if called := len(bytes.Trim(member.raw, "[]{} \t\r\nnul")) > 0; called {
				b.calls = true
				b.rest += transcript.Chars(member.raw)
			}
		default:
			extra = true
		}
	}
	if e.id.raw == nil {
		e.id = uuid
	}
	if !is(v.raw, '{') {
		b.rest = transcript.Chars(v.raw)
	}
	b.result = b.result || role == "tool" || role == "function"
	b.content(content)
	e.texts, e.rest, e.chars = b.texts, b.rest, b.rest
	e.filter = prose.Message{Role: role, ID: idText(e.id.raw), Calls: b.calls, Lone: extra || b.result || b.more}
	for _, t := range b.texts {
		e.filter.Texts = append(e.filter.Texts, prose.Piece{Text: text(t.raw), ID: mark.Sum(t.raw).ID()})
		e.chars += lexicon.Chars(text(t.raw))
	}
	return e
}

// idText is an id as markers name it: a string, or a number as it stands.
func idText(raw []byte) string {
	if is(raw, '"') {
		return text(raw)
	}
	if len(raw) > 0 && (raw[0] == '-' || raw[0]-'0' < 10) {
		return string(raw)
	}
	return ""
}

// blocks is what the content of a message holds.
type blocks struct {
	texts         []value // JSON strings that may be shortened
	calls, result bool
	more          bool // something else than one text
	rest          int  // chars of all else, as transcript.Chars counts
}

// content takes a content apart: a string, or a list of strings and blocks. Only texts may be shortened; images, thinking
// and what is not known stay as they are.
func (b *blocks) content(v value) {
	if is(v.raw, '"') {
		b.text(v)
		return
	}
	if is(v.raw, '{') {
		b.rest += transcript.Chars(v.raw)
	}
	n := 0
	for e := range v.elements() {
		if n++; is(e.raw, '"') {
			b.text(e)
		} else {
			b.block(e)
		}
	}
	b.more = b.more || n != 1
}

// text takes a text. One over transcript.MaxLine stays as it is: the archive would give it back as JSON.
func (b *blocks) text(v value) {
	if len(v.raw) > transcript.MaxLine {
		b.more = true
		b.rest += transcript.Chars(v.raw)
		return
	}
	b.texts = append(b.texts, v)
}

func (b *blocks) block(v value) {
	var kind string
	var said, inner value
	members := 0
	for name, member := range v.members() {
		switch members++; name {
		case "type":
			kind = text(member.raw)
		case "text":
			said = member
		case "content":
			inner = member
		}
	}
	switch {
	case strings.HasSuffix(kind, "tool_use"):
		b.calls, b.more = true, true
		b.rest += transcript.Chars(v.raw)
	case strings.HasSuffix(kind, "tool_result"):
		b.result, b.more = true, true
		b.content(inner)
	case is(said.raw, '"') && (kind == "" || kind == "text" || strings.HasSuffix(kind, "_text")):
		b.text(said)
		b.more = b.more || members > 2
	default:
		b.more = true
		b.rest += transcript.Chars(v.raw)
	}
}

// FilterOptions are the options of List.Filter.
type FilterOptions struct {
	prose.ListOptions
	MaxTokens int // estimated, of all messages; 0: no budget
}

// Filtered is what became of a list.
type Filtered struct {
	Text     []byte // the list
	Report   FilterReport
	Pointers []transcript.Pointer // of every ID in it that is new
}

// FilterReport tells what became of each message. Its keys are a promise (docs/FORMAT.md).
type FilterReport struct {
	Original  int            `json:"original_tokens"`
	Tokens    int            `json:"tokens"`
	Saved     float64        `json:"saved_percent"`
	Messages  jsontext.Value `json:"messages"`
	Decisions []Decided      `json:"decisions"`
}

// Decided is what became of one message: of the first of its texts that was shortened, else of the first.
type Decided struct {
	ID         jsontext.Value `json:"id"` // as it stands, null where there is none
	Role       string         `json:"role"`
	Action     string         `json:"action"`
	Reason     string         `json:"reason"`
	Importance float64        `json:"importance"`
	Chars      int            `json:"chars"`
	In         int            `json:"in"`    // place in the list that is given, from 0
	InID       jsontext.Value `json:"in_id"` // the id that stands there
	Marker     mark.ID        `json:"marker"`
}

// Filter gives the list with its prose shortened; see prose.Filter.
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

// filterWriter puts a list together again.
type filterWriter struct {
	out      [][]byte
	chars    int
	decided  []Decided
	pointers []transcript.Pointer
}

// write adds a message, and tells what became of it.
func (w *filterWriter) write(e *element, fates []prose.Fate) {
	d := Decided{ID: e.id.raw, Role: e.filter.Role, Action: prose.Preserved.String(), Reason: "no text", Chars: e.chars, In: len(w.out), InID: e.id.raw}
	for k := len(fates) - 1; k >= 0; k-- {
		if f := &fates[k]; f.Action != prose.Preserved || k == 0 && d.Action == prose.Preserved.String() {
			d.Action, d.Reason, d.Importance = f.Action.String(), f.Reason, math.Round(100*f.Importance)/100
		}
	}
	if len(fates) == 1 && fates[0].Into >= 0 { // it follows the one that it was merged into, or another such
		first, p := w.decided[fates[0].Into], &w.pointers[len(w.pointers)-1]
		d.In, d.InID, d.Marker = first.In, first.InID, first.Marker
		p.Parts, p.Last = append(p.Parts, e.part(e.texts[0])), e.record
	} else {
		d.Marker = w.replace(e, fates)
	}
	w.decided = append(w.decided, d)
}

// replace adds a message with what stands for its texts, and returns the ID of the first marker.
func (w *filterWriter) replace(e *element, fates []prose.Fate) (first mark.ID) {
	raw, at := []byte(nil), e.off
	w.chars += e.chars
	for k, f := range fates {
		if f.Text == "" {
			continue
		}
		t := e.texts[k]
		p := transcript.Pointer{Hash: mark.Sum(t.raw), Parts: []transcript.Part{e.part(t)}, Record: e.record, Last: e.record, Note: f.Action.String()}
		if f.Merged != nil {
			p.Hash, p.Shape = mark.Combine(f.Merged), transcript.List
		}
		w.pointers = append(w.pointers, p)
		first = cmp.Or(first, p.Hash.ID())
		raw = append(append(raw, e.raw[at-e.off:t.off-e.off]...), quoted(f.Text)...)
		at = t.off + len(t.raw)
		w.chars += lexicon.Chars(f.Text) - lexicon.Chars(e.filter.Texts[k].Text)
	}
	w.out = append(w.out, append(raw, e.raw[at-e.off:]...))
	return first
}

// part is a text of the message as the archive has it.
func (e *element) part(t value) transcript.Part {
	kind := transcript.Text
	if e.filter.Role == "tool" {
		kind = transcript.Result
	}
	return transcript.Part{Span: transcript.Span{Off: int64(t.off), Len: int64(len(t.raw))}, Kind: kind}
}
