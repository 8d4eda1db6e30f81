package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"ccd/archive"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// walk searches one generation of a session from its beginning to its end. Its hits are yielded in reverse, so they are kept.
type walk struct {
	*finder
	archive    *archive.Archive
	source     Source
	generation archive.Generation
	segments   iter.Seq2[transcript.Segment, error]
	kept       []kept

	number  int  // of the first record of the next segment
	lost    bool // it cannot be known because of earlier damage
	long    bool // the next segment continues a line that is too long to be searched
	decoder *transcript.Decoder
	numbers func() *redact.Session // of the secrets of the whole generation
	cwd     string                 // the session's working directory, if the transcript names it only once
	near    *archive.Reader        // reads what precedes the current segment
	known   map[int64][]string     // IDs of wanted calls in lines decoded before it, by offset
}

// kept is a hit, or what kept some from being found.
type kept struct {
	hit Hit
	err error
}

func damaged(err error) bool { return errors.As(err, new(*archive.DamageError)) }

// hits yields the hits of the generation, the newest first.
func (w *walk) hits(ctx context.Context) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		var err error
		switch {
		case w.source.Class == transcript.Attachment:
			err = w.attachment()
		case w.source.Unlined():
			err = w.messages()
		default:
			err = w.lines(ctx)
		}
		for _, k := range slices.Backward(w.kept) {
			if ctx.Err() != nil {
				break
			}
			if !yield(k.hit, k.err) {
				return
			}
		}
		if err = cmp.Or(ctx.Err(), err); err != nil {
			yield(Hit{}, w.failed(err))
		}
	}
}

func (w *walk) lines(ctx context.Context) error {
	w.near, w.number = w.archive.Reader(w.source.Key, w.generation.N), w.source.Joined+1
	for seg, err := range w.read {
		if damaged(err) {
			w.kept = append(w.kept, kept{err: w.failed(err)})
			w.lost, w.long = true, false
			continue
		}
		if err == nil {
			err = w.segment(ctx, seg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read yields the segments of what the generation was when the search began.
func (w *walk) read(yield func(transcript.Segment, error) bool) {
	for seg, err := range w.segments {
		if more := seg.End.Offset - w.generation.Tip.Offset; more > 0 && err == nil {
			seg.Data, seg.End, seg.Rest = seg.Data[:max(0, int64(len(seg.Data))-more)], w.generation.Tip, true
		}
		w.progress(max(0, seg.End.Offset-seg.Start.Offset))
		if !yield(seg, err) || seg.End.Offset >= w.generation.Tip.Offset {
			return
		}
	}
}

func (w *walk) failed(err error) error {
	return fmt.Errorf("search session %s: %w", w.source.ID, err)
}

// segment finds the hits of a segment.
func (w *walk) segment(ctx context.Context, seg transcript.Segment) error {
	lines, err := w.candidates(ctx, seg)
	if err != nil {
		return err
	}
	end := int64(0)
	for _, line := range lines {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if w.long && line.Off == 0 || !seg.Rest && line.End() == int64(len(seg.Data)) { // not the whole line
			continue
		}
		hits, err := w.line(ctx, seg, line)
		if err != nil {
			return err
		}
		w.number, end = w.number+bytes.Count(seg.Data[end:line.Off], []byte("\n")), line.Off
		for _, h := range hits {
			if !w.lost {
				h.Record = w.number
			}
			w.kept = append(w.kept, kept{hit: h})
		}
	}
	w.number += bytes.Count(seg.Data[end:], []byte("\n"))
	w.long = !seg.Rest && !bytes.HasSuffix(seg.Data, []byte("\n"))
	return nil
}

// record decodes a line of data, which begins at offset off, without what the decoder remembers of other lines. It returns
// nil if the line has no record.
func (w *walk) record(data []byte, off int64, at transcript.Span) *transcript.Record {
	w.decoder.Forget()
	if off+at.Off == 0 { // a decoder treats the first line differently
		return decoded(w.newDecoder(), data, off, at)
	}
	return decoded(w.decoder, data, off, at)
}

// newDecoder returns a decoder for lines from anywhere in the generation.
func (w *walk) newDecoder() *transcript.Decoder {
	d := w.agents.NewDecoder(w.source.Agent, w.source.Class)
	d.Apart = true
	if d.Redact != nil {
		d.Redact.Whole = w.numbers
	}
	return d
}

func decoded(d *transcript.Decoder, data []byte, off int64, at transcript.Span) (last *transcript.Record) {
	end := min(at.End()+1, int64(len(data))) // with its line end, which saves a copy
	seg := transcript.Segment{Start: transcript.Cursor{Offset: off + at.Off}, Data: data[at.Off:end], Rest: true}
	for r := range d.Records(seg) {
		c := *r
		c.Items, c.Marks = slices.Clone(r.Items), slices.Clone(r.Marks)
		last = &c
	}
	return last
}

// maxFirst is how much of a generation is read to find its first line, in bytes.
const maxFirst = 1 << 20

// begin gives the decoder the first line, because that of a Codex rollout says who wrote its prompts and where the session works.
func (w *walk) begin(ctx context.Context, seg transcript.Segment) error {
	w.decoder = w.newDecoder()
	data := seg.Data
	if seg.Start.Offset > 0 {
		var err error
		data, err = w.near.Span(ctx, transcript.Span{Len: min(w.generation.Tip.Offset, maxFirst)})
		if err != nil && !damaged(err) {
			return err
		}
	}
	line := transcript.Span{Len: int64(max(0, bytes.IndexByte(data, '\n')))}
	if line.Len == 0 {
		data = []byte("\n") // overlong or missing; an empty line keeps later lines from being taken for the first
	}
	if r := decoded(w.decoder, data, 0, line); r != nil {
		w.cwd = r.Cwd
	}
	return nil
}

// line decodes a line and returns its hits, in order, without record numbers.
func (w *walk) line(ctx context.Context, seg transcript.Segment, at transcript.Span) ([]Hit, error) {
	if w.decoder == nil {
		if err := w.begin(ctx, seg); err != nil {
			return nil, err
		}
	}
	r := w.record(seg.Data, seg.Start.Offset, at)
	if r == nil {
		return nil, nil
	}
	var hits []Hit
	for i := range r.Items {
		m, ok := w.match(r, &r.Items[i])
		if !ok {
			continue
		}
		it, ok, err := w.called(ctx, seg, at, r, i)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if it.Kind != r.Items[i].Kind { // its call shows that it is a person's answer
			m, _ = w.match(r, &it)
		}
		hits = append(hits, w.hit(r, &it, m))
	}
	return hits, nil
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

// match matches an item by itself, without looking for its call.
func (w *walk) match(r *transcript.Record, it *transcript.Item) (m match, ok bool) {
	switch t := r.Time; {
	case !w.since.IsZero() && !t.IsZero() && t.Before(w.since):
		return m, false
	case w.ofCall() && it.Kind != transcript.Call && it.Call == "":
		return m, false
	case w.tool != "" && it.Kind == transcript.Call && !isTool(it.Tool, w.tool):
		return m, false
	case !w.retold && (it.Copy || (it.Kind == transcript.Meta || it.Kind == transcript.System || it.Kind == transcript.Summary) && bytes.Contains(it.Raw, []byte(transcript.HistoryNote))):
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
	return m, m.all(w.terms, text)
}

// masked returns a text of the same length in which no word matches the marks. If one did, the lines that the sieve returns
// would differ with the secret, and so a hit would show something of it.
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
	for i := range terms {
		s, e, part := terms[i].best(text)
		if s < 0 {
			return false
		}
		if m.part = m.part || part; m.start < 0 || s < m.start {
			m.start, m.end = s, e
		}
	}
	m.start = max(0, m.start)
	return true
}

func (w *walk) hit(r *transcript.Record, it *transcript.Item, m match) Hit {
	h := Hit{
		Session: w.source.Session.Session, Generation: w.generation.N, Kind: m.kind, Tool: it.Tool,
		ID: it.Sum().ID(), Time: r.Time, Line: 1, Part: m.part, uuid: strings.Clone(r.UUID),
		Snippet: snippet(m.text[m.said[0]:m.said[1]], m.start-m.said[0], m.end-m.said[0]),
	}
	if m.same {
		h.Line += bytes.Count(m.text[:m.start], []byte("\n"))
	}
	return h
}
