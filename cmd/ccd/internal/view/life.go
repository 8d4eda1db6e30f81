package view

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"ccd/archive"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// Limits of a Life, so that its memory grows with the events of a session and not with its bytes.
const (
	maxMoments = 2000
	maxAsked   = 160     // characters
	growStep   = 1 << 20 // bytes read at once
	chunkBytes = 256 << 10
	chunkLines = 64
	maxHeader  = 1 << 20 // bytes in which the first line must end
)

// Life is the model of one generation of a session, and where its records are. It is not safe for concurrent use.
type Life struct {
	Turns       []Turn
	Context     []Moment // bounded: if there are many, the highest of each stretch; none if the model reports no sizes
	Compactions []Compaction
	Records     int
	Bytes       int64 // indexed so far
	Total       int64 // archived when it last grew
	Long        int   // records over 16 MB

	library    *reader.Library
	entry      reader.Entry
	generation int
	archive    *archive.Reader
	decoder    *transcript.Decoder
	model      *history.Model
	chunks     []chunk
	open       map[string]int // chunk of each call without a result yet, by call ID
	step       int            // records of a moment
	cwd        string
}

// chunk is a place where decoding can begin.
type chunk struct {
	record int   // the first one
	off    int64 // of its line
	cwd    string
	late   []int // chunks with results of its calls that are not in this one or the next
	calls  bool  // it has results of calls that are not in this one or the one before
}

// Open returns the life of a session before its first record. It reads nothing.
func Open(l *reader.Library, e reader.Entry, g archive.Generation) *Life {
	life := &Life{library: l, entry: e, generation: g.N, Total: g.Tip.Offset}
	life.begin()
	return life
}

func (l *Life) begin() {
	*l = Life{library: l.library, entry: l.entry, generation: l.generation, Total: l.Total}
	l.archive = l.library.Archive.Reader(l.entry.Key, l.generation)
	l.decoder = l.library.Agents.NewDecoder(l.entry.Agent, l.entry.Class)
	l.open, l.step = map[string]int{}, 1
	l.model = history.NewModel(session.New(l.library.Options(l.entry), l.entry.Session.Session), 2*maxAsked)
}

// Now replaces what is known of the session beside its bytes: its state, its companion.
func (l *Life) Now(library *reader.Library, e reader.Entry) { l.library, l.entry = library, e }

// Grow indexes what was archived up to tip. It stops after about most bytes (0: no limit), so that a server can show what
// there is; more reports whether there is more to index.
func (l *Life) Grow(ctx context.Context, tip archive.Generation, most int64) (more bool, err error) {
	if tip.Tip.Offset > l.Total {
		l.archive = l.library.Archive.Reader(l.entry.Key, l.generation) // a reader keeps the tip that it has seen
	}
	l.Total = max(l.Total, tip.Tip.Offset)
	for begun := l.Bytes; l.Bytes < l.Total; {
		if most > 0 && l.Bytes-begun >= most {
			break
		}
		n := min(growStep, l.Total-l.Bytes)
		data, err := l.archive.Span(ctx, transcript.Span{Off: l.Bytes, Len: n})
		if err != nil {
			return false, fmt.Errorf("index session %s: %w", l.entry.ID, err)
		}
		seg := transcript.Segment{Start: transcript.Cursor{Offset: l.Bytes}, Data: data, Rest: l.Bytes+n == l.Total}
		if l.decoder.ContinuesLine(seg) { // the last record was only the beginning of its line
			l.begin()
			begun = 0
			continue
		}
		for r := range l.decoder.Records(seg) {
			l.add(r)
		}
		l.Bytes += n
	}
	l.finish()
	return l.Bytes < l.Total, nil
}

func (l *Life) add(r *transcript.Record) {
	l.Records = r.N
	if r.Cwd != "" && r.Cwd != l.cwd {
		l.cwd = strings.Clone(r.Cwd)
	}
	if n := len(l.chunks); n == 0 || r.N-l.chunks[n-1].record >= chunkLines || r.Span.Off-l.chunks[n-1].off >= chunkBytes {
		l.chunks = append(l.chunks, chunk{record: r.N, off: r.Span.Off, cwd: l.cwd})
	}
	l.pair(r)
	l.model.Add(r)
	l.moment(r)
}

// maxOpen bounds the calls without a result that are remembered.
const maxOpen = 10_000

// pair notes results that are far from their calls, so that a page can show both.
func (l *Life) pair(r *transcript.Record) {
	now := len(l.chunks) - 1
	for i := range r.Items {
		it := &r.Items[i]
		switch {
		case it.Call == "":
		case it.Kind == transcript.Call && len(l.open) < maxOpen:
			l.open[strings.Clone(it.Call)] = now
		case it.Kind == transcript.Result || it.Kind == transcript.Human:
			at, ok := l.open[it.Call]
			delete(l.open, it.Call)
			if ok && now-at > 1 {
				l.chunks[now].calls = true
				if from := &l.chunks[at]; !slices.Contains(from.late, now) {
					from.late = append(from.late, now)
				}
			}
		}
	}
}

// finish brings what is derived up to date.
func (l *Life) finish() {
	l.Long = len(l.model.Long)
	l.Turns = l.Turns[:0]
	for i := range l.model.Items {
		if t, ok := l.model.Turn(i); ok {
			l.Turns = append(l.Turns, l.turn(&t))
		}
	}
	l.Compactions = l.Compactions[:0]
	found, _ := dropped.Compactions(l.model.Session)
	for _, c := range found {
		one := Compaction{N: c.N, Record: c.Record, Time: c.Time, Trigger: c.Trigger, Before: c.Before}
		i := l.moments(c.Record)
		if i < len(l.Context) {
			one.After = l.Context[i].Tokens
		}
		if i > 0 && one.Before == 0 {
			one.Before = l.Context[i-1].Tokens
		}
		l.Compactions = append(l.Compactions, one)
	}
}

// turn returns a turn in a line.
func (l *Life) turn(t *history.Turn) Turn {
	one := Turn{
		N: len(l.Turns) + 1, Record: t.Record, Last: t.Last, Time: t.Time, End: t.End, Asked: mark.Inline(t.Asked, maxAsked), ID: t.ID, Back: t.Back,
		Commands: len(t.Commands) + t.MoreCommand, Edits: len(t.Files) + t.MoreFiles, Agents: t.Agents, Failed: t.Failed, Compactions: t.Compactions,
	}
	for _, tool := range t.Tools {
		one.Calls += tool.Calls
	}
	if i := l.moments(t.Last + 1); i > 0 {
		one.Tokens = l.Context[i-1].Tokens
	}
	return one
}

// moments returns how many moments are before a record.
func (l *Life) moments(record int) int {
	i, _ := slices.BinarySearchFunc(l.Context, record, func(m Moment, record int) int { return m.Record - record })
	return i
}

// moment notes the context that a record reports.
func (l *Life) moment(r *transcript.Record) {
	u := r.Usage
	if u == nil || u.Side || u.Context <= 0 || u.Context != l.model.Reported() {
		return
	}
	l.Context = append(l.Context, Moment{Record: r.N, Time: r.Time, Tokens: u.Context})
	kept := l.Context[:max(0, len(l.Context)-2)]
	if len(l.Context) > maxMoments {
		l.step *= 2
		kept = kept[:0]
	}
	for _, m := range l.Context[len(kept):] {
		if n := len(kept); n == 0 || (kept[n-1].Record-1)/l.step != (m.Record-1)/l.step {
			kept = append(kept, m)
		} else if m.Tokens >= kept[n-1].Tokens {
			kept[n-1] = m
		}
	}
	l.Context = kept
}

// Commands returns the commands that ran.
func (l *Life) Commands() (all []Command) {
	for i := range l.model.Items {
		it := &l.model.Items[i]
		turn := 0
		if it.Ask >= 0 {
			turn = l.model.Events[it.Ask].N()
		}
		for _, e := range l.model.Events[it.From:it.To] {
			if e.Kind == session.Did && e.Call.Op == transcript.Command && !e.Call.Stdin {
				one := Command{Command: history.CommandOf(e.Call), Turn: turn}
				if e.Call.Fixed >= 0 {
					one.Fixed = l.model.Events[e.Call.Fixed].Call.At.N()
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// changes names what a change does to a file.
var changes = map[transcript.Op]string{
	transcript.Write: "written", transcript.Edit: "edited", transcript.Delete: "deleted", transcript.Rename: "renamed",
	transcript.Revert: "reverted", transcript.Touch: "created",
}

// Files returns the files that were read or changed, the last used first.
func (l *Life) Files() (all []FileLine) {
	for _, f := range l.model.Files {
		if f.Last < 0 || len(f.Edits) == 0 && f.Reads == 0 {
			continue
		}
		last := l.model.Events[f.Last].Ref
		one := FileLine{Path: f.Path, Reads: f.Reads, Edits: len(f.Edits), Last: last.N(), Time: l.model.Time(last.Rec)}
		if n := len(f.Edits); n > 0 {
			one.Change = changes[f.Edits[n-1].Op]
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b FileLine) int { return b.Last - a.Last })
	return all
}

// TurnOf returns the index in Turns of the turn with a record, 0 for a record before the first one.
func (l *Life) TurnOf(record int) int {
	i, found := slices.BinarySearchFunc(l.Turns, record, func(t Turn, record int) int { return t.Record - record })
	if found {
		return i
	}
	return max(0, i-1)
}

// Page returns up to n entries from a record on, or, with n < 0, up to -n entries that end with that record, and which
// records they are from. It decodes little more than these records.
func (l *Life) Page(ctx context.Context, record, n int) ([]Entry, Place, error) {
	record = max(l.First(), min(record, l.Records))
	if len(l.chunks) == 0 || n == 0 {
		return nil, Place{}, nil
	}
	at, found := slices.BinarySearchFunc(l.chunks, record, func(c chunk, record int) int { return c.record - record })
	if !found {
		at--
	}
	if l.decoder.Unlined() { // the elements of one JSON value can be decoded only from its beginning
		all, err := l.entries(ctx, 0, len(l.chunks))
		return part(all, record, n, err)
	}
	for size := 1; ; size *= 2 { // most pages need one or two chunks
		from, to := at, min(at+size, len(l.chunks))
		if n < 0 {
			from, to = max(0, at+1-size), at+1
		}
		all, err := l.entries(ctx, from, to)
		enough := n > 0 && (to == len(l.chunks) || len(all)-before(all, record) >= n) ||
			n < 0 && (from == 0 || before(all, record+1) >= -n)
		if err != nil || enough {
			return part(all, record, n, err)
		}
	}
}

// before returns how many entries are from records before a record.
func before(all []Entry, record int) int {
	n, _ := slices.BinarySearchFunc(all, record, func(e Entry, record int) int { return e.Record - record })
	return n
}

// part returns the n entries from a record on, or the -n up to it.
func part(all []Entry, record, n int, err error) ([]Entry, Place, error) {
	if err != nil {
		return nil, Place{}, err
	}
	if n > 0 {
		all = all[before(all, record):]
		all = all[:min(n, len(all))]
	} else {
		all = all[:before(all, record+1)]
		all = all[max(0, len(all)+n):]
	}
	if len(all) == 0 {
		return nil, Place{}, nil
	}
	return all, Place{all[0].Record, all[len(all)-1].Record}, nil
}

// entries returns the entries of the chunks [from, to). Results in later chunks complete their calls.
func (l *Life) entries(ctx context.Context, from, to int) ([]Entry, error) {
	last := l.Records
	if to < len(l.chunks) {
		last = l.chunks[to].record - 1
	}
	w := writer{first: l.chunks[from].record, last: last, cwd: l.chunks[from].cwd, calls: map[string]pending{}, queued: map[int64]bool{}}
	for _, e := range l.model.Events {
		if e.Kind == session.Queued {
			w.queued[e.Span.Off] = true
		}
	}
	end := min(len(l.chunks), to+1)
	var late []int
	for _, c := range l.chunks[from:to] {
		w.far = w.far || c.calls
		for _, n := range c.late {
			if n >= end && !slices.Contains(late, n) {
				late = append(late, n)
			}
		}
	}
	if err := l.decode(ctx, l.library.Agents, max(0, from-1), end, w.add); err != nil {
		return nil, err
	}
	for _, n := range late {
		if err := l.decode(ctx, l.library.Agents, n, n+1, w.add); err != nil {
			return nil, err
		}
	}
	return w.entries, nil
}

// decode calls add with the records of the chunks [from, to), which it numbers as in the session.
func (l *Life) decode(ctx context.Context, agents registry.Table, from, to int, add func(*transcript.Record)) error {
	d := agents.NewDecoder(l.entry.Agent, l.entry.Class)
	if d.Redact != nil {
		d.Redact.Whole = l.numbers
	}
	begin, end := l.chunks[from], l.Bytes
	if to < len(l.chunks) {
		end = l.chunks[to].off
	}
	off, n := begin.off, begin.record
	if l.decoder.Unlined() {
		off, n = 0, 1
	} else if off > 0 {
		if err := l.header(ctx, d); err != nil {
			return err
		}
	}
	for off < end {
		size := min(growStep, end-off)
		data, err := l.archive.Span(ctx, transcript.Span{Off: off, Len: size})
		if err != nil {
			return fmt.Errorf("read session %s: %w", l.entry.ID, err)
		}
		seg := transcript.Segment{Start: transcript.Cursor{Offset: off}, Data: data, Rest: off+size == end}
		for r := range d.Records(seg) {
			r.N = n
			n++
			add(r)
		}
		off += size
	}
	return nil
}

// header gives a decoder the first line, because that of a Codex rollout says who wrote its prompts and where it works.
func (l *Life) header(ctx context.Context, d *transcript.Decoder) error {
	data, err := l.archive.Span(ctx, transcript.Span{Len: min(l.Bytes, maxHeader)})
	if err != nil {
		return fmt.Errorf("read session %s: %w", l.entry.ID, err)
	}
	line := data[:bytes.IndexByte(data, '\n')+1]
	if len(line) == 0 {
		line = []byte("\n") // too long: an empty line keeps a later one from being taken for the first
	}
	for range d.Records(transcript.Segment{Data: line, Rest: true}) {
		continue
	}
	d.Forget()
	return nil
}

// numbers returns the numbers of the session's secrets, as far as it is indexed.
func (l *Life) numbers() *redact.Session { return l.decoder.Redact }
