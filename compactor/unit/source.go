// Package unit makes the things that a text can contain: an ask with its answer, a command with its outcome, a changed file,
// a problem, a rule, a verbatim stretch of the newest records, a range.
//
// It reads the fold's rows and, of the transcript, only the spans that it shows. Invariant: equal rows, options and bytes
// give equal units, and every ID in a unit's text has a pointer. It does not choose (package plan does) and knows nothing of
// files, archives and clocks.
package unit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"ccd/compactor/fold"
	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

const (
	giant     = 256 << 10 // bytes; of a longer item only both ends are read
	giantEnd  = 32 << 10  // bytes read of each end
	cacheSize = 12 << 20  // bytes of fetched items cached for one text
)

// Source reads the items of a fold and makes their pointers. After a failed fetch, Err is set and later reads return nothing.
type Source struct {
	Err   error
	Known map[mark.ID]transcript.Pointer // pointers of all IDs that may be printed
	Named map[mark.ID]map[Range]bool     // the ranges behind an ID; ranges with equal bytes share one
	Fell  int                            // items that failed their check and were left unchanged

	f     *fold.Fold
	o     limits.Options
	fetch func(transcript.Span) ([]byte, error)
	now   int64 // Unix time of the last record that has one, milliseconds

	memory  *Memory // of the texts before
	cache   map[int32]*read
	order   []int32 // the cached items, in the order of their first use
	cached  int     // bytes
	fetched int64   // bytes, as if there were no memory
	dropped bool    // the cache had no room for an item
}

// Range is the records [From, To), counted from 0.
type Range struct{ From, To int }

// body is an item's raw bytes without its secrets: the whole span or, for a giant, a JSON value made of both ends.
type body struct {
	raw   []byte
	hash  mark.Hash // with its secrets
	whole bool
}

// NewSource returns a Source for the items of f. fetch returns the bytes of a span of the transcript, valid until its next
// call. memory is of the texts of f before; it may be empty.
func NewSource(f *fold.Fold, o limits.Options, memory *Memory, fetch func(transcript.Span) ([]byte, error)) *Source {
	s := &Source{
		f: f, o: o, fetch: fetch, memory: memory, cache: map[int32]*read{}, Known: map[mark.ID]transcript.Pointer{}, Named: map[mark.ID]map[Range]bool{},
	}
	if last := f.Status().Last; !last.IsZero() {
		s.now = last.UnixMilli()
	}
	return s
}

func (s *Source) row(i int32) *fold.Row { return s.f.Row(i) }

// age returns how much older than the last record an item is, in milliseconds. An item without a time counts as older than
// everything.
func (s *Source) age(row *fold.Row) int64 {
	t := s.f.Milli(int(row.Rec))
	if t == 0 {
		return 1 << 62
	}
	return max(0, s.now-t)
}

func (s *Source) span(at transcript.Span) []byte {
	if s.Err != nil {
		return nil
	}
	data, err := s.fetch(at)
	if err == nil && int64(len(data)) != at.Len {
		err = fmt.Errorf("got %d bytes", len(data))
	}
	if err != nil {
		s.Err = fmt.Errorf("read %d bytes at offset %d: %w", at.Len, at.Off, err)
		return nil
	}
	return data
}

// Remember has the memory keep the items that were read.
func (s *Source) Remember() {
	if s.Err == nil {
		s.memory.take(s.cache, s.order)
	}
}

func (s *Source) body(i int32) body { return s.item(i).body }

// item returns an item: one of this text or of the memory, or else it fetches it and checks that it is what was folded.
func (s *Source) item(i int32) *read {
	if it := s.cache[i]; it != nil {
		return it
	}
	row := s.row(i)
	if row.Gone() {
		return &read{}
	}
	at := s.f.Span(row)
	it := s.memory.of(i, row, at)
	if it == nil {
		it = &read{body: s.readBody(i, row, at), at: at, key: row.Key}
	}
	if s.Err == nil {
		if s.fetched += at.Len; row.Size() > giant {
			s.fetched += 2*giantEnd - at.Len
		}
	}
	if s.dropped = s.dropped || s.cached+len(it.raw) > cacheSize; s.cached+len(it.raw) <= cacheSize {
		s.cached += len(it.raw)
		s.cache[i] = it
		s.order = append(s.order, i)
	}
	return it
}

func (s *Source) readBody(i int32, row *fold.Row, at transcript.Span) body {
	var b body
	if row.Size() > giant {
		b = s.ends(row, s.f.Marks(i))
	} else {
		raw := s.span(at)
		b = body{raw: raw, hash: mark.Sum(raw), whole: true}
		if s.Err == nil && b.hash.Key() != row.Key {
			s.Err = fmt.Errorf("read item at offset %d: its bytes have changed since they were folded", at.Off)
		}
		b.raw = redact.Apply(raw, 0, s.f.Marks(i))
	}
	b.raw = bytes.Clone(b.raw)
	return b
}

// ends reads both ends of a giant and makes a JSON string of their text.
func (s *Source) ends(row *fold.Row, marks []redact.Mark) body {
	at := s.f.Span(row)
	head := bytes.Clone(s.span(transcript.Span{Off: at.Off, Len: giantEnd}))
	tail := s.span(transcript.Span{Off: at.End() - giantEnd, Len: giantEnd})
	if s.Err != nil {
		return body{}
	}
	head, tail = redact.Apply(head, 0, marks), redact.Apply(tail, int(at.Len-giantEnd), marks)
	text := string(head) + "\n…\n" + string(tail)
	if head[0] == '"' {
		// A blank is never part of an escape: between blanks both ends are JSON.
		if i, j := bytes.LastIndexByte(head, ' '), bytes.IndexByte(tail, ' '); i > 0 && j >= 0 {
			text = original(transcript.Text, append(head[:i:i], '"')) + "\n…\n" +
				original(transcript.Text, append([]byte{'"'}, tail[j:]...))
		}
	}
	raw, err := json.Marshal(text)
	if err != nil {
		raw = []byte(`""`)
	}
	return body{raw: raw}
}

// original returns the item's text as the agent saw it.
func original(kind transcript.Kind, raw []byte) string { return string(transcript.Original(kind, raw)) }

// wording is a text as the agent saw it; for a human message, what the person typed and how much the client added to it.
type wording struct {
	text  string
	added int
}

// wordingKey is the key of wording.
type wordingKey struct {
	kind  transcript.Kind
	frame transcript.Frame
}

func (s *Source) wording(i int32) wording {
	key := wordingKey{kind: s.row(i).Kind}
	if key.kind == transcript.Human {
		key.frame = s.row(i).Frame()
	}
	return derive(s, i, key, func(raw []byte) wording {
		text := original(key.kind, raw)
		if key.kind != transcript.Human {
			return wording{text: text}
		}
		text, n := s.f.Client().Said(key.frame, text)
		return wording{text, n}
	})
}

// text returns an item's text as the agent saw it; for a human message, what the person typed.
func (s *Source) text(i int32) string { return s.wording(i).text }

// added says how much the client added to a human message, because text leaves that out.
func (s *Source) added(i int32) string {
	if s.row(i).Kind != transcript.Human {
		return ""
	}
	return mark.Added(s.wording(i).added)
}

// actionKey is the key of a call's action.
type actionKey struct{ tool string }

// action returns what a call does. Its lists must not be changed.
func (s *Source) action(i int32) transcript.Action {
	tool := s.f.Tool(s.row(i))
	return derive(s, i, actionKey{tool}, func(raw []byte) transcript.Action { return s.f.Client().Understand(tool, raw) })
}

// outcomeKey is the key of a result's outcome.
type outcomeKey struct {
	tool   string
	op     transcript.Op
	failed bool
}

// outcome returns what a result means. Its lists must not be changed.
func (s *Source) outcome(i int32) transcript.Outcome {
	row := s.row(i)
	key := outcomeKey{s.f.Tool(row), row.Op, row.Has(fold.Failed)}
	return derive(s, i, key, func(raw []byte) transcript.Outcome { return s.f.Client().Explain(key.tool, key.op, raw, key.failed) })
}

// fileOf returns the state of the first file of a result's call, nil if there is none.
func (s *Source) fileOf(result *fold.Row) *fold.File {
	if result.Pair < 0 {
		return nil
	}
	if a := s.action(result.Pair); len(a.Files) > 0 {
		a.Files = slices.Clone(a.Files)
		a.Resolve(s.f.Root())
		return s.f.File(a.Files[0].Path)
	}
	return nil
}

// id makes the pointer of an item and returns its ID. A giant gets the ID of its whole line, whose hash is known.
func (s *Source) id(i int32) mark.ID {
	row := s.row(i)
	b := s.body(i)
	if !b.whole {
		return s.lines(Range{int(row.Rec), int(row.Rec) + 1})
	}
	id := b.hash.ID()
	if _, ok := s.Known[id]; !ok {
		s.Known[id] = transcript.Pointer{
			Hash: b.hash, Shape: transcript.Single,
			Parts:  []transcript.Part{{Span: s.f.Span(row), Kind: row.Kind}},
			Record: row.Record(), Last: row.Record(),
			Time: s.f.Time(int(row.Rec)), Note: row.Kind.String(),
		}
	}
	return id
}

// lines makes the pointer of a range of records and returns its ID, without reading the transcript.
// The records of a message list may be elements of a JSON array instead of lines. They make a list with the same ID.
func (s *Source) lines(at Range) mark.ID {
	hash, from, to := s.f.Range(at.From, at.To)
	p := transcript.Pointer{
		Hash: hash, Shape: transcript.Lines, Record: from + 1, Last: to, Time: s.f.Time(from), Note: "range",
	}
	if s.f.Session().Unlined() {
		p.Shape = transcript.List
	}
	if start := s.f.Line(from).Off; p.Shape == transcript.Lines {
		p.Parts = []transcript.Part{{Span: transcript.Span{Off: start, Len: s.f.Line(to-1).End() - start}}}
	} else {
		for rec := from; rec < to; rec++ {
			p.Parts = append(p.Parts, transcript.Part{Span: s.f.Line(rec)})
		}
	}
	id := hash.ID()
	s.Known[id] = p
	if s.Named[id] == nil {
		s.Named[id] = map[Range]bool{}
	}
	s.Named[id][Range{from, to}] = true
	return id
}

// maxList is the maximum number of items in one list.
const maxList = 512

// list makes the pointer of at most maxList items in the given order, without reading the transcript.
func (s *Source) list(items []int32, note string) mark.ID {
	ids := make([]mark.ID, 0, len(items))
	p := transcript.Pointer{Shape: transcript.List, Note: note}
	for _, i := range items {
		row := s.row(i)
		if row.Gone() {
			continue // its range covers it
		}
		ids = append(ids, mark.KeyID(row.Key))
		p.Parts = append(p.Parts, transcript.Part{Span: s.f.Span(row), Kind: row.Kind})
		if p.Last == 0 || row.Record() < p.Record {
			p.Record, p.Time = row.Record(), s.f.Time(int(row.Rec))
		}
		p.Last = max(p.Last, row.Record())
	}
	p.Hash = mark.Combine(ids)
	s.Known[p.Hash.ID()] = p
	return p.Hash.ID()
}

// code returns transcript text as inline code for one of ccd's lines.
func code(text string, most int) string { return "`" + mark.Inline(text, most) + "`" }
