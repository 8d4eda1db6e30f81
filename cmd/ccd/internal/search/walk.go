package search

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// walk searches one generation of a session, from its beginning.
type walk struct {
	*finder
	source     *reader.Entry
	generation reader.Reading
	result     *result
	hits       []Hit // the oldest first

	cwd    string          // the session's working directory
	calls  map[string]bool // whether the last call with an ID is wanted
	secret *redact.Session
}

func (w *walk) failed(err error) error {
	return fmt.Errorf("search session %s: %w", w.source.ID, err)
}

// segments yields the segments of the generation. It notes damage, and continues behind it.
func (w *walk) segments(ctx context.Context) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		for seg, err := range w.generation.Bytes().SegmentsPastDamage(ctx) {
			if damaged(err) {
				w.result.errs = append(w.result.errs, w.failed(err))
				seg.Data, err = nil, nil
			}
			if !yield(seg, err) {
				return
			}
		}
	}
}

// read searches the generation. A record behind damage has no number, and in a list of messages none behind it is known.
func (w *walk) read(ctx context.Context) error {
	if w.source.Class == transcript.Attachment {
		return w.attachment(ctx)
	}
	d := w.library.Agents.Exact().NewDecoder(w.source.Agent, w.source.Class)
	d.Apart = true
	w.calls = map[string]bool{}
	if w.secret = w.library.Agents.Redact.Session(); w.secret != nil {
		w.secret.Whole = w.generation.Numbers(ctx)
	}
	before := len(w.result.errs)
	for seg, err := range w.segments(ctx) {
		lost := len(w.result.errs) > before
		if err != nil || lost && w.source.Unlined() {
			return err
		}
		for r := range d.Records(seg) {
			if r.Span.End() > w.generation.Tip.Offset { // appended since
				return nil
			}
			n := max(0, w.source.Kept.Joined) + r.N
			if lost {
				n = 0
			}
			w.record(r, n)
		}
	}
	return nil
}

// record adds the hits of a record. It looks for secrets only where something matches, because that takes longer than all else.
func (w *walk) record(r *transcript.Record, n int) {
	if r.Cwd != "" && r.Cwd != w.cwd {
		w.cwd = strings.Clone(r.Cwd)
	}
	from := len(w.hits)
	if !w.items(r, n) {
		return
	}
	if marks := w.secret.Marks(r.Raw); len(marks) > 0 {
		r.Hide(marks)
		w.hits = w.hits[:from]
		w.items(r, n)
	}
}

// items adds the hits of a record's items, and reports whether anything matches: an item, or a call whose result may.
func (w *walk) items(r *transcript.Record, n int) (any bool) {
	for i := range r.Items {
		it := &r.Items[i]
		wanted := !w.ofCall()
		switch {
		case wanted:
		case it.Kind == transcript.Call:
			wanted = w.wanted(it, r)
			w.calls[strings.Clone(it.Call)] = wanted && it.Call != ""
		default:
			wanted = it.Call != "" && w.calls[it.Call]
		}
		if !wanted {
			continue
		}
		any = any || it.Kind == transcript.Call && w.ofCall()
		if m, ok := w.match(r, it); ok {
			any = true
			w.hits = append(w.hits, w.hit(r, it, m, n))
		}
	}
	return any
}

// wanted reports whether a call matches the tool and file of the query.
func (w *walk) wanted(call *transcript.Item, r *transcript.Record) bool {
	if w.Tool != "" && !isTool(call.Tool, w.Tool) {
		return false
	}
	if w.path == nil {
		return true
	}
	a := call.Understand()
	a.Resolve(w.cwd)
	for _, f := range a.Files {
		if len(r.Marks) > 0 {
			f.Path, f.To = string(masked([]byte(f.Path), r.Marks)), string(masked([]byte(f.To), r.Marks))
		}
		if matches(w.path, f.Path) || matches(w.path, f.To) {
			return true
		}
	}
	return false
}

// isTool reports whether want is the tool's name, with or without the name of its server.
func isTool(tool, want string) bool {
	if strings.EqualFold(tool, want) {
		return true
	}
	i := strings.LastIndex(tool, "__")
	return i >= 0 && strings.EqualFold(tool[i+2:], want)
}

// match is the first occurrence of a term in the text of an item.
type match struct {
	text       []byte
	same       bool // the text is what restore prints
	start, end int
	part       bool            // a term is only a part of longer words
	said       [2]int          // range of a person's words in the text; all of it if a person wrote none
	kind       transcript.Kind // kind of the matching words; not Human for what a client added to a person's message
}

// within reports whether a record of that time is wanted. One without a time may be as new as its session, so it is not too early.
func (f *finder) within(t time.Time) bool {
	early := !f.Since.IsZero() && !t.IsZero() && t.Before(f.Since)
	late := !f.Until.IsZero() && (t.IsZero() || t.After(f.Until))
	return !early && !late
}

// retells reports whether an item says again what stands elsewhere: a copy, or what a hook of ccd added.
func retells(it *transcript.Item) bool {
	switch it.Kind {
	case transcript.Meta, transcript.System, transcript.Summary:
		return it.Copy || bytes.Contains(it.Raw, []byte(transcript.HistoryNote))
	}
	return it.Copy
}

// match matches the text of an item.
func (w *walk) match(r *transcript.Record, it *transcript.Item) (m match, ok bool) {
	if w.Said && !w.says(it.Kind) && r.Queue != transcript.Enqueued || !w.within(r.Time) || !w.Retold && retells(it) {
		return m, false
	}
	if m.text, m.same = transcript.Readable(it.Kind, it.Raw); len(m.text) == 0 {
		return m, false
	}
	text := masked(m.text, r.Marks)
	m.kind, m.said = it.Kind, [2]int{0, len(m.text)}
	if it.Kind == transcript.Human {
		from, to := it.Client().Span(it.Frame, string(m.text))
		if m.all(w.terms, text[from:to]) {
			m.start, m.end, m.said = m.start+from, m.end+from, [2]int{from, to}
			return m, true
		}
		if m.kind = transcript.Meta; it.Frame == transcript.Reported {
			m.kind = transcript.Result
		}
	}
	if r.Queue == transcript.Enqueued { // often the only copy of what a person typed
		m.kind = transcript.Human
	}
	return m, (!w.Said || w.says(m.kind)) && m.all(w.terms, text)
}

// masked returns a text of the same length in which no word matches the marks. If one did, which generations lack the word would
// differ with the secret, and so a hit would show something of it.
func masked(text []byte, marks []redact.Mark) []byte {
	own := true
	for _, m := range marks {
		said := []byte(m.Text())
		for at := 0; ; at += len(said) {
			i := bytes.Index(text[at:], said)
			if i < 0 {
				break
			}
			if own {
				text, own = bytes.Clone(text), false
			}
			at += i
			copy(text[at:], bytes.Repeat([]byte{noText}, len(said)))
		}
	}
	return text
}

// noText is a byte that no text has.
const noText = 0xff

// all finds the first occurrence of a term in a text, reports whether the text contains all terms, and whether it has one only as a
// part of longer words. Whole words are preferred.
func (m *match) all(terms []term, text []byte) (ok bool) {
	m.start, m.end, m.part = -1, 0, false
	if len(terms) == 0 {
		m.start = 0
		return true
	}
	has := make([]bool, len(terms)) // by group
	f := fold(text)
	for i := range terms {
		s, e, part := terms[i].best(f.text)
		switch {
		case s < 0 && (terms[i].or || terms[i].not):
			continue
		case s < 0 || terms[i].not:
			return false
		}
		if has[terms[i].group], m.part = true, m.part || part; m.start < 0 || s < m.start {
			m.start, m.end = s, e
		}
	}
	m.start, m.end = f.in(max(0, m.start)), f.in(m.end)
	return !slices.ContainsFunc(terms, func(t term) bool { return t.or && !has[t.group] })
}

func (w *walk) hit(r *transcript.Record, it *transcript.Item, m match, n int) Hit {
	if len(w.terms) == 0 && it.Kind == transcript.Call {
		a := it.Understand()
		m.start = max(0, bytes.Index(m.text, []byte(a.Command)))
	}
	if !m.same { // without the JSON around it
		if from, to, ok := transcript.Argument(it.Raw, m.start); ok {
			m.said, m.start, m.end = [2]int{from, to}, max(m.start, from), min(max(m.end, from), to)
		}
	}
	h := Hit{
		Session: w.source.Session.Session, Generation: w.generation.N, Record: n, Kind: m.kind, Tool: strings.Clone(it.Tool),
		ID: it.Sum().ID(), Time: r.Time, Line: 1, Part: m.part, uuid: strings.Clone(r.UUID),
		Snippet: snippet(m.text[m.said[0]:m.said[1]], m.start-m.said[0], m.end-m.said[0]),
	}
	if m.same {
		h.Line += bytes.Count(m.text[:m.start], []byte("\n"))
	}
	h.Before, h.After = around(m.text[m.said[0]:m.said[1]], m.start-m.said[0], w.Around)
	return h
}

// attachment searches the file as one item, a large one in parts.
func (w *walk) attachment(ctx context.Context) error {
	var part []byte
	lines := 0 // before the part
	for seg, err := range w.segments(ctx) {
		if err != nil {
			return err
		}
		if len(part) > 0 && len(part)+len(seg.Data) > transcript.MaxLine {
			if w.inPart(part, lines) {
				return nil
			}
			lines, part = lines+bytes.Count(part, []byte("\n")), part[:0]
		}
		part = append(part, seg.Data...)
	}
	w.inPart(part, lines)
	return nil
}

// inPart adds the hit of a part of an attachment, and reports whether it has one.
func (w *walk) inPart(part []byte, lines int) bool {
	marks := w.library.Agents.Redact.Session().Marks(part)
	text, m := redact.Apply(part, 0, marks), match{}
	if len(text) == 0 || !m.all(w.terms, masked(text, marks)) {
		return false
	}
	h := Hit{
		Session: w.source.Session.Session, Generation: w.generation.N, Kind: transcript.File, ID: w.generation.Sum.ID(), Time: w.source.Last(),
		Line: lines + 1 + bytes.Count(text[:m.start], []byte("\n")), Snippet: snippet(text, m.start, m.end), Part: m.part,
	}
	h.Before, h.After = around(text, m.start, w.Around)
	w.hits = append(w.hits, h)
	return true
}

// The length of a snippet, and how much of it may precede the match, in characters.
const (
	maxSnippet = 200
	maxLead    = 60
)

// snippet returns the line of a match, of a long one the part around it.
func snippet(text []byte, start, end int) string {
	first, _ := lineOf(text, start)
	_, last := lineOf(text, end)
	text, start, end = text[first:last], start-first, end-first
	if line := mark.Inline(string(text[:min(len(text), 4*maxSnippet)]), 0); len(text) <= 4*maxSnippet && utf8.RuneCountInString(line) <= maxSnippet {
		return line
	}
	from := start
	for lead := maxLead; lead > 0; lead /= 2 {
		from = before(text, start, lead)
		if utf8.RuneCountInString(mark.Inline(string(text[from:start]), 0)) <= maxLead {
			break
		}
		from = start
	}
	room, cut := maxSnippet, ""
	if from > 0 {
		room, cut = room-1, "…"
	}
	return cut + mark.Inline(string(text[from:min(len(text), end+4*maxSnippet)]), room)
}

// lineOf returns where the line with a position begins and ends.
func lineOf(text []byte, at int) (from, to int) {
	if to = bytes.IndexByte(text[at:], '\n'); to < 0 {
		to = len(text) - at
	}
	return bytes.LastIndexByte(text[:at], '\n') + 1, at + to
}

// around returns up to n lines before and after the line with a position.
func around(text []byte, at, n int) (above, below []string) {
	line := func(b []byte) string { return mark.Inline(string(b[:min(len(b), 4*maxSnippet)]), maxSnippet) }
	first, last := lineOf(text, at)
	for from := first; len(above) < n && from > 0; {
		begin, end := lineOf(text, from-1)
		above, from = append(above, line(text[begin:end])), begin
	}
	slices.Reverse(above)
	for to := last; len(below) < n && to < len(text); {
		begin, end := lineOf(text, to+1)
		below, to = append(below, line(text[begin:end])), end
	}
	return above, below
}

// before returns the position n characters before at, or the beginning of a word soon after it.
func before(text []byte, at, n int) int {
	from := at
	for range n {
		if from == 0 {
			return 0
		}
		_, size := utf8.DecodeLastRune(text[:from])
		from -= size
	}
	for i := from; i < at && i < from+maxLead/4; i++ {
		if text[i] == ' ' || text[i] == '\n' {
			return i + 1
		}
	}
	return from
}
