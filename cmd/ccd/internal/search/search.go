// Package search finds items in the archive by words, tool, file and time.
//
// It defines a match: all words in the text of one item, except in its secrets and in the marks in their place. Its result
// is the same as if the whole archive were decoded. It only reads, a few MB at a time, so that it blocks no writer and its
// memory does not grow with the archive. Lines are filtered by their bytes, and only those that may match are decoded. It
// knows nothing of companions, of which sessions exist, or of how hits are printed.
package search

import (
	"context"
	"iter"
	"slices"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// Search is a query and the sessions to search.
type Search struct {
	Archive  *archive.Archive
	Agents   registry.Table
	Sources  []Source // in the order in which they are searched: newest first
	Query    Query
	Progress func(done, total int64) // bytes searched; may be nil
}

// Source is a session to search: all its generations, the newest first.
type Source struct {
	archive.Session
	Last   time.Time      // time of its newest record, zero if unknown
	Joined int            // records that it has in other files
	Back   session.Ranges // records that the person took back
	Fork   bool           // it was made from another session, of which it may have copies
}

// Hit is an item that matches.
type Hit struct {
	Session    transcript.Session
	Generation int
	Record     int // number of its record; 0 in an attachment, and if damage before it makes the number unknown
	Kind       transcript.Kind
	Tool       string    // tool of a call or result, "" if unknown
	ID         mark.ID   // restores its original
	Time       time.Time // time of its record, zero if it has none
	Line       int       // line of the first match in what restore prints
	Snippet    string    // the line of the first match, escaped, at most 200 characters of it
	Back       bool      // the person took it back
	Copies     int       // how many more sessions have a copy of the record, as forks do, of those that Ranked was given
	Equal      int       // how many more equal originals it was given
	Part       bool      // a word of the query is only a part of longer words in it

	fork bool
	uuid string // of the record
}

// Hits yields the matches: sessions in the order of Sources, within a session the newest records first. An item that several generations contain is yielded once. An invalid query
// yields only its error. After an *archive.DamageError the search continues behind the damage; any other error ends it, as
// does the end of ctx. A goroutine reads ahead until the iteration ends, and holds a lock only while it reads a few MB. The hits of
// one generation are in memory.
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
		f.agents = s.Agents
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

// passing returns the sources that can contain a match.
func (s Search) passing(f *finder) iter.Seq[Source] {
	return func(yield func(Source) bool) {
		for _, one := range s.Sources {
			if f.passes(one) && !yield(one) {
				return
			}
		}
	}
}

func size(s Source) (n int64) {
	for _, g := range s.Generations {
		n += g.Tip.Offset
	}
	return n
}

// finder is a prepared query.
type finder struct {
	agents   registry.Table
	terms    []term
	sieve    sieve // for the terms
	calls    sieve // for calls of the tool on the file
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

// passes reports whether a session can contain a match.
func (f *finder) passes(s Source) bool {
	return (f.since.IsZero() || s.Last.IsZero() || !s.Last.Before(f.since)) && (!f.ofCall() || s.Class != transcript.Attachment)
}

// ofCall reports whether only calls and their results can match.
func (f *finder) ofCall() bool { return f.tool != "" || f.path != nil }

// maxSeen is how many hits of newer generations are remembered to skip them in older ones.
const maxSeen = 1 << 16

// session yields the hits of all generations. It returns false if the consumer or an error ended the search.
func (f *finder) session(ctx context.Context, a *archive.Archive, r *ahead, s Source, yield func(Hit, error) bool) bool {
	seen := map[mark.ID]bool{}
	for i, g := range slices.Backward(s.Generations) {
		w := walk{finder: f, archive: a, source: s, generation: g, segments: r.next(ctx), known: map[int64][]string{}}
		w.numbers = history.Archive{Archive: a, Agents: f.agents}.Numbers(ctx, s.Session.Session, g.N)
		var own []mark.ID
		for h, err := range w.hits(ctx) {
			if err == nil && seen[h.ID] {
				continue
			}
			h.Back, h.fork = i == len(s.Generations)-1 && s.Back.Has(h.Record), s.Fork
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
