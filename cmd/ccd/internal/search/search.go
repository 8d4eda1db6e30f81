// Package search finds items in the archive by words, tool, file and time.
//
// It owns what a match is: all words in the text of one item, and nothing that a full decoding of the archive would not
// give. It only reads, a few MB at a time, so that nobody waits for it and its memory does not grow with the archive:
// lines are sieved by their bytes, and only those that may match are decoded. It knows nothing of companions, of which
// sessions exist, nor of how hits are printed.
package search

import (
	"context"
	"iter"
	"slices"
	"time"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Search is where to look, and for what.
type Search struct {
	Archive  *archive.Archive
	Sources  []Source // in the order in which they are looked through: newest first
	Query    Query
	Progress func(done, total int64) // bytes looked through; may be nil
}

// Source is a session that is looked through: all its generations, the newest first.
type Source struct {
	archive.Session
	Last time.Time // of its newest record; zero where it is not known
	// Records is how many records stand before Taken in the newest generation, as the last fold counted them. They save
	// counting: where Taken is not its tip, or zero, records are counted when the first hit needs its number.
	Records int
	Taken   transcript.Cursor
}

// Hit is an item in which everything stands that was looked for.
type Hit struct {
	Session    transcript.Session
	Generation int
	Record     int // number of its record; 0 in an attachment, and where damage before it keeps it from being told
	Kind       transcript.Kind
	Tool       string    // of a call or a result: the tool's name, "" where it is not known
	ID         mark.ID   // its original restores by it
	Time       time.Time // of its record; zero where it has none
	Line       int       // of the first match: number of the line of what restore prints
	Snippet    string    // the text around it, in one line, inert, at most 200 characters
}

// Hits gives what is found: by session as Sources has them, within one the newest records first (in a plain message
// list that is one JSON array, in stretches of it). What stood in an earlier generation already is not given again. A
// query that cannot be used is the only error then. With an *archive.DamageError the search goes on behind what is
// damaged; any other error ends it, as the end of ctx does. What comes next is read meanwhile, by a goroutine that ends with the
// iteration; it holds no lock but while it reads a few MB.
func (s Search) Hits(ctx context.Context) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		f, err := s.Query.finder()
		if err != nil {
			yield(Hit{}, err)
			return
		}
		var done, total int64
		for _, one := range s.Sources {
			total += size(one)
		}
		f.progress = func(n int64) {
			if done += n; s.Progress != nil {
				s.Progress(done, total)
			}
		}
		reader, end := readAhead(ctx, s.Archive, slices.Collect(s.passing(f)))
		defer end()
		for _, one := range s.Sources {
			if ctx.Err() != nil {
				yield(Hit{}, ctx.Err())
				return
			}
			if !f.passes(one) {
				f.progress(size(one))
				continue
			}
			if !f.session(ctx, s.Archive, reader, one, yield) {
				return
			}
		}
	}
}

// passing are the sources that can hold a hit.
func (s Search) passing(f *finder) iter.Seq[Source] {
	return func(yield func(Source) bool) {
		for _, one := range s.Sources {
			if f.passes(one) && !yield(one) {
				return
			}
		}
	}
}

// forth reports whether the source is looked through from its beginning, not from its end.
func (s Source) forth() bool {
	return s.Class == transcript.Attachment || s.Unlined()
}

func size(s Source) (n int64) {
	for _, g := range s.Generations {
		n += g.Tip.Offset
	}
	return n
}

// finder is a query made ready.
type finder struct {
	terms    []term
	sieve    sieve // of the terms
	calls    sieve // of calls of the tool on the file
	tool     string
	path     pattern
	since    time.Time
	retold   bool
	progress func(n int64)
}

func (q Query) finder() (*finder, error) {
	terms, err := q.terms()
	if err != nil {
		return nil, err
	}
	path, err := newPattern(q.Path)
	if err != nil {
		return nil, err
	}
	return &finder{terms: terms, sieve: newSieve(terms), calls: callSieve(q.Tool, path), tool: q.Tool, path: path, since: q.Since, retold: q.Retold}, nil
}

// passes reports whether a session can hold a hit.
func (f *finder) passes(s Source) bool {
	return (f.since.IsZero() || s.Last.IsZero() || !s.Last.Before(f.since)) && (!f.ofCall() || s.Class != transcript.Attachment)
}

// ofCall reports whether only calls and their results are looked for.
func (f *finder) ofCall() bool { return f.tool != "" || f.path != nil }

// maxSeen bounds how many hits of newer generations are remembered, so that older ones do not give them again.
const maxSeen = 1 << 16

// session gives the hits of all generations. It returns false where the consumer, or an error, ended the search.
func (f *finder) session(ctx context.Context, a *archive.Archive, r *ahead, s Source, yield func(Hit, error) bool) bool {
	seen := map[mark.ID]bool{}
	for i, g := range slices.Backward(s.Generations) {
		w := walk{finder: f, archive: a, source: s, generation: g, segments: r.next(ctx), upTo: -1, known: map[int64][]string{}}
		if s.Taken.Generation == g.N && s.Taken.Offset == g.Tip.Offset && i == len(s.Generations)-1 {
			w.upTo = s.Records
		}
		var own []mark.ID
		for h, err := range w.hits(ctx) {
			if err == nil && seen[h.ID] {
				continue
			}
			if err == nil && i > 0 && len(seen)+len(own) < maxSeen {
				own = append(own, h.ID)
			}
			if !yield(h, err) || err != nil && !damaged(err) {
				return false
			}
		}
		for _, id := range own {
			seen[id] = true
		}
	}
	return true
}
