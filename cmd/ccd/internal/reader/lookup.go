package reader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"ccd/archive"
	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Wanted names an original: an ID or a prefix of one, or SESSION#N.
type Wanted struct {
	Name       string
	Agent      string // "" for every agent
	Generation int    // of a record; 0 is the current one
	Raw        bool   // the lines that hold it
	In         *Entry // in which an ID is looked for first; nil: in the newest
}

// OfSession reports whether records of a session are named, and not an ID.
func (w Wanted) OfSession() bool { return strings.Contains(w.Name, "#") }

var recordRange = lazy.Regexp(`^(-?[0-9]+)(?:(-)(?:#?([0-9]+))?)?$`)

// Range reads SESSION#N, SESSION#3-#9, and SESSION#3- for all from there.
func (w Wanted) Range() (session string, first, last int, err error) {
	session, numbers, _ := strings.Cut(w.Name, "#")
	if m := recordRange().FindStringSubmatch(numbers); m != nil {
		first, _ = strconv.Atoi(m[1]) // a number that is too large is one that no session has
		last, _ = strconv.Atoi(cmp.Or(m[3], m[1]))
		if m[2] != "" && m[3] == "" {
			last = End
		}
	}
	if first == 0 || last < first || first < 0 && last > first {
		err = words.Usage(fmt.Errorf("parse record %q: must be a number, 1 or more, or below 0 for one before a rewrite, or FIRST-#LAST, or FIRST- for all from there", numbers))
	}
	return session, first, last, err
}

// Original finds what is wanted. Progress, which may be nil, is told how much of the archive has been looked through.
func (l *Library) Original(ctx context.Context, w Wanted, progress func(done, total int64)) (Original, error) {
	if w.OfSession() {
		if err := l.Load(ctx); err != nil {
			return Original{}, err
		}
		return l.record(ctx, w)
	}
	found, err := l.lookup(ctx, w, progress)
	if err != nil {
		return Original{}, err
	}
	o := l.original(ctx, found)
	o.raw = w.Raw
	return o, nil
}

// Whole is all of generation number n of a session, of the current one for 0.
func (l *Library) Whole(e *Entry, n int) (Original, error) {
	if len(e.Generations) == 0 && n == 0 { // an empty transcript comes back empty
		return l.file(e, archive.Generation{Sum: mark.Sum(nil)}), nil
	}
	g, err := e.Generation(n)
	return l.file(e, g), err
}

// record finds SESSION#N.
func (l *Library) record(ctx context.Context, w Wanted) (Original, error) {
	name, n, last, err := w.Range()
	if err == nil && n != last {
		err = words.Usage(fmt.Errorf("parse record %q: must be one", w.Name))
	}
	if err != nil {
		return Original{}, err
	}
	e, err := l.Find(name, w.Agent)
	if err != nil {
		return Original{}, err
	}
	for o, err := range l.Records(ctx, e, w, n, n) {
		return o, err
	}
	return Original{}, nil
}

// End is a record number that no session has: as the last one of several it means all that there are.
const End = math.MaxInt

// Records yields the records of a session between two numbers. If it has fewer, but not where last is End, the last error is archive.ErrNotFound.
func (l *Library) Records(ctx context.Context, e *Entry, w Wanted, first, last int) iter.Seq2[Original, error] {
	return func(yield func(Original, error) bool) {
		g, err := l.Reading(e, w.Generation)
		if err == nil && e.Class == transcript.Attachment {
			err = words.Hint(fmt.Errorf("find record %s#%d: %w: it is an attachment, which has no records", e.ID, first, archive.ErrNotFound),
				"ccd restore --session %s", words.Shell(e.ID))
		}
		if err != nil {
			yield(Original{}, err)
			return
		}
		n, next := 0, first
		for r, err := range g.Story(ctx) {
			if err != nil {
				yield(Original{}, err)
				return
			}
			if n = r.N; n < first || n > last {
				continue
			}
			next = n + 1
			p := Whole(*r)
			if !w.Raw {
				p = Items(*r)
			}
			o, err := l.Placed(ctx, g, p, r)
			if o.raw = w.Raw; !yield(o, err) || n == last {
				return
			}
		}
		if last != End || next == first {
			yield(Original{}, fmt.Errorf("find record %s#%d: %w: the session has %d records", e.ID, next, archive.ErrNotFound, n))
		}
	}
}

// Placed returns what a pointer of a session's story stands for. All of it is in a record that the caller has read.
func (l *Library) Placed(ctx context.Context, g Reading, p transcript.Pointer, r *transcript.Record) (Original, error) {
	line, err := l.placed(ctx, g, Whole(*r))
	if err != nil {
		return Original{}, err
	}
	o, err := l.placed(ctx, g, p)
	o.line, o.what = &line.found.Pointer, what(r)
	if err == nil {
		o.hidden.known = true
		o.hidden.add(r, line.found.Parts[0].Span.Off)
	}
	return o, err
}

func (l *Library) placed(ctx context.Context, g Reading, p transcript.Pointer) (Original, error) {
	found, err := g.Bytes().Locate(ctx, p)
	if err != nil {
		return Original{}, err
	}
	return l.original(ctx, found), nil // it may stand in another file of the story
}

func (l *Library) original(ctx context.Context, found archive.Found) Original {
	return Original{library: l, Entry: l.Session(ctx, found.Key), found: found, hidden: &secrets{}}
}

// Indexed reports whether a whole ID is in the index, so that no session need be searched for it.
func (l *Library) Indexed(ctx context.Context, id string) bool {
	if len(id) < mark.IDLen {
		return false
	}
	found, err := l.Archive.Lookup(ctx, mark.ID(id))
	return err == nil && len(found) == 1
}

const findsIDs = "ccd search WORDS finds IDs"

// lookup finds the one original that an ID, or a prefix of one, names.
func (l *Library) lookup(ctx context.Context, w Wanted, progress func(done, total int64)) (archive.Found, error) {
	if _, _, err := mark.PrefixRange(w.Name); err != nil {
		return archive.Found{}, words.Hint(words.Usage(err), findsIDs)
	}
	found, err := l.Archive.Lookup(ctx, mark.ID(w.Name)) // it has what a companion names: nothing else need be read
	if l.reach != nil || len(found) == 0 && !l.loaded {
		if err := l.Load(ctx); err != nil {
			return archive.Found{}, err
		}
		found = slices.DeleteFunc(found, func(f archive.Found) bool { return l.Entry(f.Key) == nil })
	}
	if len(found) == 0 {
		in := slices.Clone(l.Sessions)
		slices.SortStableFunc(in, func(x, y *Entry) int { // what ccd resume copied comes from another session
			return cmp.Compare(min(x.Kept.Resumed.Records, 1), min(y.Kept.Resumed.Records, 1))
		})
		if w.In != nil {
			in = slices.Insert(in, 0, w.In)
		}
		found, err = l.scan(ctx, in, w.Name, err, progress)
		err = l.Missing(err)
	}
	switch {
	case len(found) == 1: // damage elsewhere in the index does not matter
		return found[0], nil
	case len(found) > 1:
		return archive.Found{}, severalFound(w.Name, found)
	case errors.Is(err, archive.ErrNotFound) && l.Limited():
		return archive.Found{}, words.Hint(err, Widen)
	case len(l.Sessions) == 0:
		return archive.Found{}, words.Hint(fmt.Errorf("%w: nothing is archived yet", err), "ccd run --once")
	case errors.Is(err, archive.ErrNotFound) && len(l.Damage) == 0:
		return archive.Found{}, words.Hint(err, findsIDs)
	}
	return archive.Found{}, err
}

func severalFound(prefix string, found []archive.Found) error {
	e := &AmbiguousError{What: "id " + prefix}
	for _, f := range found {
		line := fmt.Sprintf("%s  %s  %s#%d", f.Hash.ID(), f.Note, f.Key.ID, f.Record)
		if found[0].Hash.ID() == found[1].Hash.ID() {
			line += "  sha256 " + f.Hash.String()
		}
		e.Matches = append(e.Matches, line)
	}
	return e
}

// scan returns the originals of some sessions whose IDs begin with prefix and which the index does not have: those of the first
// session that has one, attachments before items and lines. index is the error of the look into the index. An unreadable session
// does not end the search, but the error reports it, because it may hide an ID.
func (l *Library) scan(ctx context.Context, in []*Entry, prefix string, index error, progress func(done, total int64)) ([]archive.Found, error) {
	lo, hi, err := mark.PrefixRange(prefix)
	if err = cmp.Or(err, index); err != nil && !errors.As(err, new(*archive.DamageError)) {
		return nil, err
	}
	w := want{lo: lo, hi: hi}
	var done, total int64
	for _, e := range in {
		w.attachment(e)
		total += e.Bytes()
	}
	var broken error
	for _, e := range in {
		for _, g := range slices.Backward(e.Generations) {
			if len(w.found) == 0 && e.Class != transcript.Attachment {
				broken = cmp.Or(broken, w.generation(ctx, l.At(e, g)))
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if done += e.Bytes(); progress != nil {
			progress(done, total)
		}
	}
	switch {
	case len(w.found) > 0:
		return w.found, nil
	case index != nil: // an index entry is damaged and the archive cannot replace it
		return nil, index
	}
	return nil, l.notScanned(ctx, prefix, broken)
}

// notScanned is the error for an ID that no session has, as far as they could be read.
func (l *Library) notScanned(ctx context.Context, prefix string, broken error) error {
	err := fmt.Errorf("find id %s: %w%s", prefix, archive.ErrNotFound, cmp.Or(l.Scope(), " in any archived session"))
	if broken == nil {
		broken = l.Archive.CheckIndex(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case broken != nil:
		return fmt.Errorf("%w; some could not be read: %w", err, broken)
	}
	return err
}

// want is a range of hash keys, and what was found in it.
type want struct {
	lo, hi uint64
	found  []archive.Found
}

func (w *want) has(h mark.Hash) bool { return w.lo <= h.Key() && h.Key() <= w.hi }

// add adds an original, unless its hash is not wanted or it is there already.
func (w *want) add(k transcript.Key, generation int, p transcript.Pointer) {
	if known := slices.ContainsFunc(w.found, func(f archive.Found) bool { return f.Hash == p.Hash }); w.has(p.Hash) && !known {
		w.found = append(w.found, archive.Found{Pointer: p, Key: k, Generation: generation})
	}
}

// attachment compares the stored hashes of an attachment, without reading the file.
func (w *want) attachment(e *Entry) {
	for _, g := range e.Generations {
		if e.Class != transcript.Attachment {
			break
		}
		w.add(e.Key, g.N, transcript.Pointer{Hash: g.Sum, Parts: []transcript.Part{{Span: transcript.Span{Len: g.Tip.Offset}, Kind: transcript.File}}, Note: "file"})
	}
}

func (w *want) generation(ctx context.Context, g Reading) error {
	for r, err := range g.Records(ctx) {
		if err != nil {
			return err
		}
		single := func(h mark.Hash, span transcript.Span, kind transcript.Kind, note string) {
			if w.has(h) {
				w.add(g.Key, g.N, transcript.Pointer{Hash: h, Parts: []transcript.Part{{Span: span, Kind: kind}}, Record: r.N, Last: r.N, Time: r.Time, Note: note})
			}
		}
		single(r.Sum(), r.Span, transcript.Meta, "record")
		w.add(g.Key, g.N, Whole(*r))
		for _, it := range r.Items {
			single(it.Sum(), it.Span, it.Kind, it.Kind.String())
		}
	}
	return nil
}

// Unmark takes the ID out of a whole marker, "[ccd ID ...]", as it is pasted from a companion.
func Unmark(arg string) string {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(arg), "[ccd "); ok {
		if parts := strings.Fields(strings.TrimSuffix(rest, "]")); len(parts) > 0 {
			return strings.TrimRight(parts[0], "]")
		}
	}
	return arg
}

const (
	shortText = 16   // bytes below which a text is forgotten only where its surroundings are the same
	around    = 4096 // bytes of the line before and after it that are its surroundings
)

// Texts returns what to forget of an original: the content of each part, without its quotes or brackets, so that the rest
// of the record stays valid JSON.
func (l *Library) Texts(ctx context.Context, w Wanted, progress func(done, total int64)) (texts []archive.Text, err error) {
	for _, w.Raw = range []bool{false, true} { // of a record: its items, which other records may have too, and the whole line
		o, err := l.Original(ctx, w, progress)
		if err != nil {
			return nil, err
		}
		more, err := o.texts(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			if !slices.ContainsFunc(texts, func(known archive.Text) bool { return bytes.Equal(known.Bytes, t.Bytes) && known.From == t.From }) {
				texts = append(texts, t)
			}
		}
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("forget %s: it is empty", w.Name)
	}
	return texts, nil
}

func (o Original) texts(ctx context.Context) (texts []archive.Text, err error) {
	in := o.reading().Bytes()
	if err := in.CheckPointer(ctx, o.found.Pointer); err != nil {
		return nil, err
	}
	for _, part := range o.found.Parts {
		raw, err := in.Span(ctx, part.Span)
		if err != nil {
			return nil, err
		}
		lines, off := [][]byte{raw}, part.Span.Off
		if o.found.Shape == transcript.Lines {
			lines = bytes.SplitAfter(raw, []byte("\n"))
		}
		for _, line := range lines {
			text, ok := content(bytes.TrimRight(line, "\r\n"))
			switch {
			case !ok:
			case len(text.Bytes) < shortText:
				if text, err = o.inLine(ctx, off+int64(text.From), text); err != nil {
					return nil, err
				}
				texts = append(texts, text)
			default:
				text.From, text.To = 0, len(text.Bytes)
				texts = append(texts, text)
			}
			off += int64(len(line))
		}
	}
	return texts, nil
}

// content returns the content of a JSON value, of which From is the offset, or the whole of anything else.
func content(raw []byte) (t archive.Text, ok bool) {
	t = archive.Text{Bytes: raw, Fill: '*'}
	if n := len(raw); n >= 2 {
		switch {
		case raw[0] == '"' && raw[n-1] == '"':
			t.From = 1
		case raw[0] == '{' && raw[n-1] == '}', raw[0] == '[' && raw[n-1] == ']':
			t.From, t.Fill = 1, ' '
		}
		t.Bytes = raw[t.From : n-t.From]
	}
	return t, len(t.Bytes) > 0
}

// inLine returns a short text at an offset of the session together with its surroundings in the line.
func (o Original) inLine(ctx context.Context, at int64, t archive.Text) (archive.Text, error) {
	g, from := o.reading(), max(0, at-around)
	data, err := g.Bytes().Span(ctx, transcript.Span{Off: from, Len: min(g.Tip.Offset, at+int64(len(t.Bytes))+around) - from})
	if err != nil {
		return t, err
	}
	begin := bytes.LastIndexByte(data[:at-from], '\n') + 1
	last := int(at-from) + len(t.Bytes)
	if n := bytes.IndexByte(data[last:], '\n'); n >= 0 {
		data = data[:last+n]
	}
	return archive.Text{Bytes: data[begin:], From: int(at-from) - begin, To: last - begin, Fill: t.Fill}, nil
}
