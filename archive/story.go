package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// mostEarlier is how many earlier generations a story has.
const mostEarlier = 16

// Records yields the records of one generation in order. A record is valid until the next one. An error ends the iteration.
func (a *Archive) Records(ctx context.Context, k transcript.Key, generation int, d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
	return d.All(a.Reader(k, generation).Segments(ctx))
}

// Story yields the records of a session: those that its file does not repeat, because the session continues another file
// (see parts), then those of its file in a generation, which file yields with a decoder each time it is used. Those of earlier
// generations that are not in it come before all: an agent that rewrites its transcript does not undo what was said.
// Records of other files and of the file have one numbering. Those of earlier generations are numbered backwards
// from -1; record 0 is the rewrite, a boundary. The spans of what is not in the generation are Span.Earlier. What has
// the UUID, or else the bytes, of a later record is not repeated. An earlier generation that cannot be read is left
// out. A transcript that is one JSON value is rewritten at each change, so its story is the generation. An error ends the iteration.
func (a *Archive) Story(ctx context.Context, s transcript.Session, generation int, decoder func() *transcript.Decoder, file func(*transcript.Decoder) iter.Seq2[*transcript.Record, error]) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		d := decoder()
		if s.Unlined() {
			file(d)(yield)
			return
		}
		if generation > 1 && !a.before(ctx, s.Key, generation, decoder, file, yield) {
			return
		}
		var head []byte
		for r, err := range file(decoder()) {
			if err != nil || len(head) > maxHead {
				break
			}
			if head = append(append(head, r.Raw...), '\n'); len(r.Items) > 0 {
				break
			}
		}
		for r, err := range a.Joined(ctx, s, head, d) {
			if !yield(r, err) || err != nil {
				return
			}
		}
		file(d)(yield)
	}
}

// lives is what the generations of a session have, up to the one whose story is read.
type lives struct {
	oldest, now int
	read        func(n int) iter.Seq2[*transcript.Record, error]
	all         map[string]life
}

// life is the last generation that a record is in, and whether it has items.
type life struct {
	last  int
	items bool
}

// nameOf returns what a record is known by in other generations.
func (l *lives) nameOf(r *transcript.Record) string {
	name, said := r.Names()
	if _, known := l.all[said]; known {
		return said
	}
	return name
}

// before yields what only earlier generations have, the oldest first, and the rewrite, unless there was no item among it. It returns
// false if the caller wants no more.
func (a *Archive) before(ctx context.Context, k transcript.Key, generation int, decoder func() *transcript.Decoder, file func(*transcript.Decoder) iter.Seq2[*transcript.Record, error], yield func(*transcript.Record, error) bool) bool {
	l := &lives{oldest: max(1, generation-mostEarlier), now: generation, all: map[string]life{}}
	l.read = func(n int) iter.Seq2[*transcript.Record, error] {
		if n == generation {
			return file(decoder())
		}
		return a.Records(ctx, k, n, decoder())
	}
	if err := l.look(ctx); err != nil {
		yield(nil, err)
		return false
	}
	said, lost := false, 0
	for _, one := range l.all {
		if one.last < l.now {
			said, lost = said || one.items, lost+1
		}
	}
	if !said {
		return true
	}
	return l.yield(lost, yield) && yield(&transcript.Record{UI: true, Boundary: &transcript.Boundary{Trigger: "rewrite"}}, nil)
}

// look reads all generations.
func (l *lives) look(ctx context.Context) error {
	for n := l.oldest; n <= l.now; n++ {
		for r, err := range l.read(n) {
			if err = cmp.Or(ctx.Err(), err); err != nil && (n == l.now || ctx.Err() != nil) {
				return err
			}
			if err != nil {
				break
			}
			l.all[l.nameOf(r)] = life{n, len(r.Items) > 0}
		}
	}
	return nil
}

// yield yields the records that only earlier generations have, each once, as the last one that has it.
func (l *lives) yield(lost int, yield func(*transcript.Record, error) bool) bool {
	number := -lost
	for n := l.oldest; n < l.now; n++ {
		first, kept := number, []int(nil)
		for r, err := range l.read(n) {
			if err != nil {
				break
			}
			name := l.nameOf(r)
			if l.all[name].last != n {
				continue
			}
			l.all[name] = life{} // the same bytes may follow
			kept = append(kept, r.N)
			if r.From > 0 {
				at, _ := slices.BinarySearch(kept, r.From)
				r.From = first + at
			}
			r.Move(l.now-n, number)
			if number++; !yield(r, nil) {
				return false
			}
		}
	}
	return true
}

// part is a file that a story is made of. The last one is the session's own.
type part struct {
	of     Session
	lines  int64             // of it, 0 for all
	origin transcript.Origin // where it goes on
	fork   bool              // in the conversation of another session
	first  int               // number of its first record
}

// Limits of a story's parts. A life of mostEarlier or less is an earlier generation, a higher one is a part (Span.Life).
const (
	mostParts = 256
	maxHead   = 1 << 20 // bytes in which the first line must end
)

// parts returns the files that a session is made of, in order, the last one being its own, which begins with head.
// If it is a later file of a conversation (Session.Thread), these are the earlier files of that, whole. If it is a fork that
// does not repeat what it was made from, these are the parts of that. What is not archived is left out.
func (a *Archive) parts(ctx context.Context, s transcript.Session, head []byte, most int) (all []part, err error) {
	own := part{of: Session{Session: s}, origin: transcript.OriginOf(head)}
	before, err := a.conversation(ctx, s)
	if err == nil && len(before) == 0 {
		before, err = a.original(ctx, s, own.origin.ID)
		own.fork = len(before) > 0
	}
	if err != nil {
		return nil, err
	}
	for i, one := range before {
		if most--; most <= 0 {
			return nil, fmt.Errorf("read session %s: it continues more than %d files", s.ID, mostParts)
		}
		line, err := a.head(ctx, one)
		if err != nil {
			return nil, err
		}
		next := []part{{origin: transcript.OriginOf(line)}}
		if i == 0 {
			if next, err = a.parts(ctx, one.Session, line, most); err != nil {
				return nil, err
			}
		}
		last := &next[len(next)-1]
		if last.of = one; own.fork {
			last.lines = max(0, own.origin.End-last.origin.First)
		}
		all = append(all, next...)
	}
	return append(all, own), nil
}

// original returns the session that a fork was made from, if that is archived.
func (a *Archive) original(ctx context.Context, s transcript.Session, id string) ([]Session, error) {
	if id == "" || id == s.ID {
		return nil, nil
	}
	one, err := a.find(ctx, transcript.Key{Agent: s.Agent, ID: id}, 1)
	if errors.Is(err, ErrNotFound) || err == nil && len(one.Generations) == 0 {
		return nil, nil
	}
	return []Session{one}, err
}

// conversation returns the files of a conversation before one of them, by the times in their names.
func (a *Archive) conversation(ctx context.Context, s transcript.Session) (all []Session, err error) {
	if s.Thread == "" {
		return nil, nil
	}
	err = a.each(ctx, kindSession, func(tx *bolt.Tx, key, v []byte) error {
		r, err := parseSession(key, v)
		if err != nil || r.Agent != s.Agent || r.ID == s.ID || r.ID != s.Thread && r.Thread != s.Thread {
			return nil
		}
		one, err := a.session(tx, r, r.Generation)
		if err == nil && len(one.Generations) > 0 && transcript.Base(one.Path) < transcript.Base(s.Path) {
			all = append(all, one)
		}
		return err
	})
	slices.SortFunc(all, func(x, y Session) int { return cmp.Compare(transcript.Base(x.Path), transcript.Base(y.Path)) })
	return all, err
}

// head returns the beginning of a session.
func (a *Archive) head(ctx context.Context, s Session) ([]byte, error) {
	tip := s.Tip()
	return a.Reader(s.Key, tip.Generation).Span(ctx, transcript.Span{Len: min(tip.Offset, maxHead)})
}

// Joined yields the records that the file of a session, which begins with head, does not repeat, and prepares the
// decoder for the file. An error ends the iteration.
func (a *Archive) Joined(ctx context.Context, s transcript.Session, head []byte, d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		if s.Thread == "" && transcript.OriginOf(head).ID == "" {
			return
		}
		all, err := a.parts(ctx, s, head, mostParts)
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range all {
			all[i].first = d.Count() + 1
			if i > 0 {
				d.Join(all[i].fork, goesOn(all[:i+1]))
			}
			if i == len(all)-1 {
				return
			}
			for r, err := range a.part(ctx, all[i], mostEarlier+len(all)-1-i, d) {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// goesOn returns the number of the first record that the last part takes back, or that of its own first one.
func goesOn(all []part) int {
	last := all[len(all)-1]
	for i, p := range all[:len(all)-1] {
		if p.of.ID == last.origin.ID {
			return min(p.first+int(max(0, last.origin.End-p.origin.First)), all[i+1].first)
		}
	}
	return last.first
}

// part yields the records of a part.
func (a *Archive) part(ctx context.Context, p part, life int, d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		for seg, err := range a.Reader(p.of.Key, p.of.Tip().Generation).SegmentsFrom(ctx, 0) {
			if err != nil {
				yield(nil, err)
				return
			}
			n, last := endOf(seg.Data, &p.lines)
			seg.Start.Offset = transcript.Span{Off: seg.Start.Offset}.Earlier(life).Off
			seg.Data, seg.Rest = seg.Data[:n], seg.Rest || last
			for one := range d.Records(seg) {
				if !yield(one, nil) {
					return
				}
			}
			if last {
				return
			}
		}
	}
}

// endOf counts lines down to 0, and returns the end of the last one, or of all, and whether it was the last one. If they are 0 before, none is.
func endOf(data []byte, lines *int64) (end int, last bool) {
	for *lines > 0 && end < len(data) {
		n := bytes.IndexByte(data[end:], '\n')
		if n < 0 {
			break
		}
		end += n + 1
		if *lines--; *lines == 0 {
			return end, true
		}
	}
	return len(data), false
}
