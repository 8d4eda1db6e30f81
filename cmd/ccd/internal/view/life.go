package view

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"ccd/archive"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

const (
	maxMoments = 2000
	maxAsked   = 160     // characters
	growStep   = 1 << 20 // bytes read at once
	maxHeader  = 1 << 20 // bytes in which the first line must end
)

// Index is the model of a session's story (archive.Story); the zero Index has read nothing. It is not safe for concurrent use.
type Index struct {
	Turns       []reader.Turn // with the beginning of what was asked, on one line
	Context     []Moment      // if there are many, the highest of each stretch; none if the model reports no sizes
	Compactions []Compaction
	First       int   // number of the first record that a page can show
	Records     int   // number of the last one
	Bytes       int64 // indexed so far
	Total       int64 // archived when it last grew

	library   *reader.Library
	entry     *reader.Entry
	reading   reader.Reading
	bytes     *archive.Reader
	decoder   *transcript.Decoder
	model     *session.Session // of the records from First on
	cut       bool             // only the end of the file is read, see End
	forgotten map[dropped.Choice]*dropped.Report
	said      map[place]string // beginnings of the items that may be requests
}

// place is where an item is: in which record, and where in its file.
type place struct {
	record int
	off    int64
}

// endBytes is how much of a session End reads.
const endBytes = 1 << 20

// End returns an index that has only the last records of a session, which it numbers from 1, so that a list can show what the agent
// does now. Secrets have no numbers in it. It is nil where that is no whole line, or the records are elements of one JSON value.
func End(ctx context.Context, library *reader.Library, e *reader.Entry) (*Index, error) {
	l := &Index{}
	if err := l.at(library, e); err != nil {
		return nil, err
	}
	from := max(0, l.Total-endBytes)
	data, err := l.bytes.Span(ctx, transcript.Span{Off: from, Len: l.Total - from})
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", e.ID, err)
	}
	if from > 0 {
		line := bytes.IndexByte(data, '\n') + 1
		if l.cut, l.Bytes = true, from+int64(line); line == 0 || e.Key.Unlined() {
			return nil, nil
		}
		if err := l.header(ctx, l.decoder, 0, 0); err != nil {
			return nil, err
		}
		if l.decoder.Redact != nil { // its numbers count from the first record
			l.decoder.Redact.Whole = l.numbers
		}
	}
	return l, l.Grow(ctx, library, e)
}

// at takes what is known of the session beside its bytes: its state, its companion, how much is archived.
func (l *Index) at(library *reader.Library, e *reader.Entry) error {
	r, err := library.Reading(e, 0)
	if err != nil {
		return err
	}
	if l.library, l.entry = library, e; l.reading.N != r.N {
		l.Total, l.Bytes = 0, 0
	}
	if l.reading = r; l.Bytes == 0 {
		l.begin()
	}
	if r.Tip.Offset > l.Total {
		l.bytes, l.Total = r.Bytes(), r.Tip.Offset // a reader keeps the tip that it has seen
	}
	return nil
}

func (l *Index) begin() {
	*l = Index{library: l.library, entry: l.entry, reading: l.reading, bytes: l.bytes, Total: l.Total, First: 1, decoder: l.reading.Decoder(), said: map[place]string{}}
	l.model = session.New(l.library.Options(l.entry), l.reading.Session)
}

// add indexes a record.
func (l *Index) add(r *transcript.Record) {
	l.model.Add(r)
	for i := range r.Items {
		it := &r.Items[i]
		text := ""
		switch it.Kind {
		case transcript.Human:
			text, _ = it.Said()
		case transcript.Meta: // the task of a sub-agent
			text = string(transcript.Original(it.Kind, it.Raw))
		default:
			continue
		}
		l.said[place{r.N, it.Span.Off}] = strings.Clone(lexicon.Head(text, 2*maxAsked))
	}
}

// Grow indexes what is archived of a session since the last time.
func (l *Index) Grow(ctx context.Context, library *reader.Library, e *reader.Entry) error {
	if err := l.at(library, e); err != nil {
		return err
	}
	if l.Bytes == 0 {
		if err := l.before(ctx); err != nil {
			return err
		}
	}
	begun := l.Bytes
	for l.Bytes < l.Total {
		seg, err := l.segment(ctx, l.Bytes, l.Total)
		if err != nil {
			return err
		}
		if l.decoder.ContinuesLine(seg) { // the last record was only the beginning of its line
			l.begin()
			if err := l.before(ctx); err != nil {
				return err
			}
			continue
		}
		for r := range l.decoder.Records(seg) {
			l.add(r)
		}
		l.Bytes += int64(len(seg.Data))
	}
	if l.Bytes != begun || l.Records == 0 {
		l.Records = l.model.Records()
		l.finish()
	}
	return nil
}

// before indexes what the session's file does not repeat.
func (l *Index) before(ctx context.Context) error {
	l.begin()
	for r, err := range l.reading.Before(ctx, l.decoder) {
		if err != nil {
			return fmt.Errorf("read what session %s continues: %w", l.entry.ID, err)
		}
		l.First = min(l.First, r.N)
		l.add(r)
	}
	return nil
}

// line returns where a record is.
func (l *Index) line(record int) transcript.Span { return l.model.Line(int32(record - 1)) }

// segment reads up to growStep bytes from off on.
func (l *Index) segment(ctx context.Context, off, end int64) (transcript.Segment, error) {
	n := min(growStep, end-off)
	data, err := l.bytes.Span(ctx, transcript.Span{Off: off, Len: n})
	if err != nil {
		return transcript.Segment{}, fmt.Errorf("read session %s: %w", l.entry.ID, err)
	}
	return transcript.Segment{Start: transcript.Cursor{Offset: off}, Data: data, Rest: off+n == end}, nil
}

// finish brings what is derived from the model up to date.
func (l *Index) finish() {
	l.measure()
	l.forgotten = map[dropped.Choice]*dropped.Report{}
	l.Turns = reader.Turns(l.model, func(r session.Ref) (string, int) { return l.said[place{r.N(), r.Span.Off}], 0 })
	for i := range l.Turns {
		l.Turns[i].Asked = mark.Inline(l.Turns[i].Asked, maxAsked)
	}
	l.Compactions = l.Compactions[:0]
	found, _ := dropped.Compactions(l.model)
	for _, c := range found {
		one := Compaction{Compaction: c}
		i, _ := slices.BinarySearchFunc(l.Context, c.Record, func(m Moment, record int) int { return m.Record - record })
		if i < len(l.Context) {
			one.After = l.Context[i].Tokens
		}
		if one.Before == 0 && c.Record > 1 {
			one.Before = l.model.Used(int32(c.Record - 2))
		}
		l.Compactions = append(l.Compactions, one)
	}
}

// measure lists the context after each record, as last reported.
func (l *Index) measure() {
	l.Context = l.Context[:0]
	step := (l.Records-l.First)/maxMoments + 1
	for rec := int32(l.First - 1); int(rec) < l.model.Records(); rec++ {
		tokens := l.model.Used(rec)
		if tokens == 0 {
			continue
		}
		m := Moment{Record: int(rec) + 1, Time: l.model.Time(rec), Tokens: tokens}
		if n := len(l.Context); n == 0 || (l.Context[n-1].Record-l.First)/step != (m.Record-l.First)/step {
			l.Context = append(l.Context, m)
		} else if m.Tokens >= l.Context[n-1].Tokens {
			l.Context[n-1] = m
		}
	}
}

// Largest returns the n calls that added most to the context.
func (l *Index) Largest(n int) []session.Step { return l.model.Largest(n) }

// Files returns the files that were read or changed, the last used first.
func (l *Index) Files() (all []FileLine) {
	for _, f := range l.model.Files {
		if f.Last < 0 || len(f.Edits) == 0 && f.Reads == 0 {
			continue
		}
		last := l.model.Events[f.Last].Ref
		if c := l.model.Events[f.Last].Call; c != nil && !c.Result.Zero() { // where versions of a file are
			last = c.Result
		}
		one := FileLine{Path: f.Path, Reads: f.Reads, Edits: len(f.Edits), Last: last.N(), Time: l.model.Time(last.Rec)}
		if n := len(f.Edits); n > 0 {
			one.Change = reader.How[f.Edits[n-1].Op]
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b FileLine) int { return b.Last - a.Last })
	return all
}

// Shown returns the record in which a page shows another one: of a result that of its call.
func (l *Index) Shown(record int) int {
	for _, c := range slices.Backward(l.model.Calls) {
		if c.Index >= 0 && (!c.Result.Zero() && c.Result.N() == record || !c.Words.Zero() && c.Words.N() == record) {
			return c.At.N()
		}
	}
	return record
}

// TurnOf returns the index in Turns of the turn with a record, 0 for a record before the first one.
func (l *Index) TurnOf(record int) int {
	i, found := slices.BinarySearchFunc(l.Turns, record, func(t reader.Turn, record int) int { return t.Record - record })
	if found {
		return i
	}
	return max(0, i-1)
}

// decode calls add with the records of numbers first to last, with the numbers that they have in the session.
func (l *Index) decode(ctx context.Context, first, last int, add func(*transcript.Record)) error {
	if l.decoder.Unlined() { // the elements of one JSON value can be decoded only from its beginning
		return l.run(ctx, 1, transcript.Span{Len: l.line(last).End()}, func(r *transcript.Record) {
			if r.N >= first && r.N <= last {
				add(r)
			}
		})
	}
	for n := first; n <= last; n++ {
		if n == 0 { // the rewrite, which is told with the record after it
			continue
		}
		if n == 1 && l.First < 0 {
			add(&transcript.Record{N: 1, UI: true, Boundary: &transcript.Boundary{Trigger: rewrite}})
		}
		from, at := n, l.line(n)
		for end := at.End(); n < last && n != 0 && l.line(n+1).Off == end+1; n++ {
			end = l.line(n + 1).End()
		}
		at.Len = l.line(n).End() - at.Off
		if err := l.run(ctx, from, at, add); err != nil {
			return err
		}
	}
	return nil
}

// rewrite is the trigger of the boundary between what a rewritten transcript had before and what it has (archive.Story).
const rewrite = "rewrite"

// run decodes adjacent records, from one on.
func (l *Index) run(ctx context.Context, n int, at transcript.Span, add func(*transcript.Record)) error {
	d := l.reading.Decoder()
	d.Apart = true // a page shows the file, so that it has the same entries wherever it begins
	if d.Redact != nil {
		d.Redact.Whole = l.numbers
	}
	if back, in := at.Life(); in.Off > 0 {
		if err := l.header(ctx, d, n, back); err != nil {
			return err
		}
	}
	for off := at.Off; off < at.End(); {
		seg, err := l.segment(ctx, off, at.End())
		if err != nil {
			return err
		}
		for r := range d.Records(seg) {
			r.N, n = n, n+1
			add(r)
		}
		off += int64(len(seg.Data))
	}
	return nil
}

// header gives a decoder the first line of the file that has record n, because that of a Codex rollout says who wrote its prompts
// and where it works.
func (l *Index) header(ctx context.Context, d *transcript.Decoder, n, back int) error {
	at := transcript.Span{Len: min(l.Total, maxHeader)}
	if back > 0 {
		for ; n > l.First && l.line(n-1).Len > 0; n-- {
			if other, _ := l.line(n - 1).Life(); other != back {
				break
			}
		}
		at = l.line(n)
	}
	data, err := l.bytes.Span(ctx, at)
	if err != nil {
		return fmt.Errorf("read session %s: %w", l.entry.ID, err)
	}
	line, _, whole := bytes.Cut(data, []byte{'\n'})
	if !whole && back == 0 {
		line = nil // too long: an empty line keeps a later one from being taken for the first
	}
	for range d.Records(transcript.Segment{Data: append(bytes.Clone(line), '\n'), Rest: true}) {
		continue
	}
	d.Forget()
	return nil
}

// numbers returns the numbers of the session's secrets, as far as it is indexed; none if it is not known what came before.
func (l *Index) numbers() *redact.Session {
	if l.cut {
		return nil
	}
	return l.decoder.Redact
}

// Forgotten reports on a compaction: what was there, what the agent's own summary kept and what ccd tells the agent. It reads
// the session once more for each, up to the compaction. The error is a *dropped.NoneError if there is no such compaction.
func (l *Index) Forgotten(ctx context.Context, by dropped.Choice) (*dropped.Report, error) {
	if known := l.forgotten[by]; known != nil {
		return known, nil
	}
	record, err := dropped.Last(l.model, by.Boundary)
	if err != nil {
		return nil, err
	}
	then, text, err := l.reading.Model(ctx, l.library.Options(l.entry), record)
	if err != nil {
		return nil, err
	}
	told := by
	if told.Told, _, err = (hook.Hooks{Agents: l.library.Agents}).AfterCompaction(l.reading.Session, then, text); err != nil {
		return nil, err
	}
	l.forgotten[by], err = dropped.Of(l.model, session.NewSource(l.model, text), told)
	return l.forgotten[by], err
}
