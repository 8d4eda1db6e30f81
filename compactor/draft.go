package compactor

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	giant     = 256 << 10 // bytes of an item beyond which only its ends are read
	giantEnd  = 32 << 10  // bytes read of each end
	cacheSize = 12 << 20  // bytes of fetched items kept during one compaction
)

// draft is one compaction in the making. The first fetch that fails stops it: later ones give nothing and err stays.
type draft struct {
	c     *Compactor
	fetch func(transcript.Span) ([]byte, error)
	now   int64 // Unix time of the last record that has one, milliseconds
	level Level
	err   error

	cache  map[int32]body
	cached int
	known  map[mark.ID]transcript.Pointer // whatever an ID may be printed for
	named  map[mark.ID]map[stretch]bool   // the records that a range's ID stands for: equal bytes share one
	newest map[uint64]int32               // by content: the newest row that the companion shows
	recent int                            // first record of the verbatim part
	last   int                            // its end: the number of records
	beside int                            // number of the first record that the reader has otherwise, 0 for none
	keep   int32                          // first row of the newest results
	notes  notes

	decided map[int32]prose.Decision // of the messages of Earlier
	narrow  bool                     // there is little room
	said    string                   // State, as it stands
	least   int                      // records of the smallest ranges
	ranges  int                      // most ranges of Earlier
	most    int                      // that one thing may take of the text, as bulk counts

	turns map[int]*turnEnd // by the place of the human message, once they were sought

	modelled modelled
	fell     fallbacks
}

// body is an item's raw bytes as fetched: the whole span, or, of a giant, a JSON value made of its two ends.
type body struct {
	raw   []byte
	hash  mark.Hash
	whole bool
}

func newDraft(c *Compactor, fetch func(transcript.Span) ([]byte, error)) *draft {
	d := &draft{
		c: c, fetch: fetch, level: c.level(), last: c.records.n, keep: c.keepFrom(), least: block,
		cache: map[int32]body{}, known: map[mark.ID]transcript.Pointer{}, named: map[mark.ID]map[stretch]bool{}, newest: map[uint64]int32{}, turns: map[int]*turnEnd{},
	}
	if !c.status.Last.IsZero() {
		d.now = c.status.Last.UnixMilli()
	}
	return d
}

func (d *draft) row(i int32) *itemRow { return d.c.rows.at(int(i)) }

// age is how much older than the last record an item is, in milliseconds; an item without a time is older than
// everything.
func (d *draft) age(row *itemRow) int64 {
	t := d.c.records.at(int(row.rec)).milli()
	if t == 0 {
		return 1 << 62
	}
	return max(0, d.now-t)
}

func (d *draft) span(s transcript.Span) []byte {
	if d.err != nil {
		return nil
	}
	data, err := d.fetch(s)
	if err == nil && int64(len(data)) != s.Len {
		err = fmt.Errorf("%d bytes came", len(data))
	}
	if err != nil {
		d.err = fmt.Errorf("read %d bytes at offset %d: %w", s.Len, s.Off, err)
		return nil
	}
	return data
}

// body fetches an item and checks that it is what was folded.
func (d *draft) body(i int32) body {
	if b, ok := d.cache[i]; ok {
		return b
	}
	row := d.row(i)
	var b body
	switch {
	case row.gone():
		return b
	case row.size() > giant:
		b = d.ends(row)
	default:
		raw := d.span(d.c.span(row))
		b = body{raw: raw, hash: mark.Sum(raw), whole: true}
		if d.err == nil && b.hash.Key() != row.key {
			d.err = fmt.Errorf("read item at offset %d: its bytes are not those that were folded", d.c.span(row).Off)
		}
	}
	b.raw = bytes.Clone(b.raw)
	if d.cached+len(b.raw) <= cacheSize {
		d.cached += len(b.raw)
		d.cache[i] = b
	}
	return b
}

// ends reads the two ends of a giant and makes a JSON string of what they hold.
func (d *draft) ends(row *itemRow) body {
	s := d.c.span(row)
	head := bytes.Clone(d.span(transcript.Span{Off: s.Off, Len: giantEnd}))
	tail := d.span(transcript.Span{Off: s.End() - giantEnd, Len: giantEnd})
	if d.err != nil {
		return body{}
	}
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

// text is an item's text as the agent saw it; of a human message, what the person typed.
func (d *draft) text(i int32) string {
	row := d.row(i)
	text := original(row.kind, d.body(i).raw)
	if row.kind == transcript.Human {
		text, _ = row.frame().Said(text)
	}
	return text
}

// added tells how much a client added to a human message that the message's text leaves out.
func (d *draft) added(i int32) string {
	row := d.row(i)
	if row.kind != transcript.Human {
		return ""
	}
	_, n := row.frame().Said(original(row.kind, d.body(i).raw))
	return mark.Added(n)
}

func (d *draft) action(i int32) transcript.Action {
	return transcript.Understand(d.c.names.name(d.row(i).tool), d.body(i).raw)
}

// fileOf is the state of the file that a result's call names first, nil where there is none.
func (d *draft) fileOf(result *itemRow) *fileState {
	if result.pair < 0 {
		return nil
	}
	if a := d.action(result.pair); len(a.Files) > 0 {
		a.Resolve(d.c.root)
		return d.c.tables.files.get(hashPath(a.Files[0].Path))
	}
	return nil
}

func (d *draft) outcome(i int32) transcript.Outcome {
	row := d.row(i)
	return transcript.Explain(d.c.names.name(row.tool), row.op, d.body(i).raw, row.has(failed))
}

// id makes the pointer of an item and returns its ID. A giant is named by its whole line, whose hash is known.
func (d *draft) id(i int32) mark.ID {
	row := d.row(i)
	b := d.body(i)
	if !b.whole {
		return d.lines(int(row.rec), int(row.rec)+1)
	}
	id := b.hash.ID()
	if _, ok := d.known[id]; !ok {
		d.known[id] = transcript.Pointer{
			Hash: b.hash, Shape: transcript.Single,
			Parts:  []transcript.Part{{Span: d.c.span(row), Kind: row.kind}},
			Record: row.record(), Last: row.record(),
			Time: d.c.records.at(int(row.rec)).time(), Note: row.kind.String(),
		}
	}
	return id
}

// lines makes the pointer of the records from..to (behind the last) and returns its ID. Nothing is read for it.
// The records of a message list may be the elements of a JSON array, not lines: they make a list, whose ID is the same.
func (d *draft) lines(from, to int) mark.ID {
	hash, s := d.c.rangeHash(stretch{from, to})
	from, to = s.from, s.to
	p := transcript.Pointer{
		Hash: hash, Shape: transcript.Lines, Record: from + 1, Last: to,
		Time: d.c.records.at(from).time(), Note: "range",
	}
	if d.c.session.Agent == transcript.Messages {
		p.Shape = transcript.List
	}
	if start := d.c.line(from).Off; p.Shape == transcript.Lines {
		p.Parts = []transcript.Part{{Span: transcript.Span{Off: start, Len: d.c.line(to-1).End() - start}}}
	} else {
		for r := from; r < to; r++ {
			p.Parts = append(p.Parts, transcript.Part{Span: d.c.line(r)})
		}
	}
	id := hash.ID()
	d.known[id] = p
	if d.named[id] == nil {
		d.named[id] = map[stretch]bool{}
	}
	d.named[id][stretch{from, to}] = true
	return id
}

// maxList bounds the items of one list.
const maxList = 512

// list makes the pointer of several items, at most maxList, in the order given. Nothing is read for it.
func (d *draft) list(items []int32, note string) mark.ID {
	ids := make([]mark.ID, 0, len(items))
	p := transcript.Pointer{Shape: transcript.List, Note: note}
	for _, i := range items {
		row := d.row(i)
		if row.gone() {
			continue // it stands under its range
		}
		ids = append(ids, mark.KeyID(row.key))
		p.Parts = append(p.Parts, transcript.Part{Span: d.c.span(row), Kind: row.kind})
		if p.Last == 0 || row.record() < p.Record {
			p.Record, p.Time = row.record(), d.c.records.at(int(row.rec)).time()
		}
		p.Last = max(p.Last, row.record())
	}
	p.Hash = mark.Combine(ids)
	d.known[p.Hash.ID()] = p
	return p.Hash.ID()
}
