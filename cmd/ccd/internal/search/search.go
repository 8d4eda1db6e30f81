// Package search finds items in the archive by words, tool, file and time.
//
// It defines a match: all words in the text of one item, except in its secrets and in the marks in their place. Each session whose
// bytes may have all words by the archive's index, and do have them, is decoded from its beginning, several at a time. It only reads, a few MB at a time, so that it blocks no writer. It
// knows nothing of companions, of which sessions exist, or of how hits are printed.
package search

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/internal/agent/registry"
	"ccd/internal/grams"
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
	Joined int            // how many of its records are in other files, and counted before those of this one
	Back   session.Ranges // records that the person took back
	Fork   bool           // it was made from another session, of which it may have copies

	lacks []bool // whether a generation certainly lacks a word
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
	Before     []string  // lines before that of the match, as Query.Around wants
	After      []string
	Back       bool // the person took it back
	Copies     int  // how many more sessions have a copy of the record, as forks do, of those that Ranked was given
	Equal      int  // how many more equal originals it was given
	Part       bool // a word of the query is only a part of longer words in it

	fork bool
	uuid string // of the record
}

// Hits yields the matches: sessions in the order of Sources, within a session the newest records first. An item that several
// generations contain is yielded once. An invalid query yields only its error. After an *archive.DamageError the search continues;
// any other error ends it, as does the end of ctx. Goroutines search the next sessions until the iteration ends, and hold a lock
// only while they read a few MB.
func (s Search) Hits(ctx context.Context) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		f, err := s.finder()
		if err != nil {
			yield(Hit{}, err)
			return
		}
		var done, total int64
		for _, one := range s.Sources {
			total += size(one)
		}
		results := make(chan chan []result, runtime.GOMAXPROCS(0))
		var workers sync.WaitGroup
		defer workers.Wait()
		working, cancel := context.WithCancel(ctx)
		defer cancel()
		workers.Go(func() {
			defer close(results)
			f.search(working, s.Sources, results, &workers)
		})
		for coming := range results {
			for _, r := range <-coming {
				if done += r.size; s.Progress != nil {
					s.Progress(done, total)
				}
				if !r.yield(ctx, yield) {
					return
				}
			}
		}
		if ctx.Err() != nil {
			yield(Hit{}, ctx.Err())
		}
	}
}

func size(s Source) (n int64) {
	for _, g := range s.Generations {
		n += g.Tip.Offset
	}
	return n
}

// toRead is the size of the generations that may have all words.
func toRead(s Source) (n int64) {
	for i, g := range s.Generations {
		if !s.lacks[i] {
			n += g.Tip.Offset
		}
	}
	return n
}

// result is what was found in a session.
type result struct {
	hits     []Hit
	errs     []error // damage, and at last perhaps another error
	size     int64
	panicked any
}

// yield passes the result on, and reports whether the search goes on.
func (r result) yield(ctx context.Context, yield func(Hit, error) bool) bool {
	if r.panicked != nil {
		panic(r.panicked)
	}
	for _, h := range r.hits {
		if ctx.Err() != nil {
			yield(Hit{}, ctx.Err())
			return false
		}
		if !yield(h, nil) {
			return false
		}
	}
	for _, err := range r.errs {
		if !yield(Hit{}, err) || !damaged(err) {
			return false
		}
	}
	return true
}

// search starts to search the sources, in their order, as fast as results are taken: small ones together.
func (f *finder) search(ctx context.Context, sources []Source, results chan<- chan []result, workers *sync.WaitGroup) {
	for many := range slices.Chunk(slices.Clone(sources), indexed) {
		f.index(ctx, many)
		for some := range archive.Batches(many, toRead) {
			coming := make(chan []result, 1)
			select {
			case results <- coming:
			case <-ctx.Done():
				return
			}
			workers.Go(func() { coming <- f.together(ctx, some) })
		}
	}
}

// indexed is of how many sessions the index is read at once.
const indexed = 1000

// index notes which sources certainly lack a word.
func (f *finder) index(ctx context.Context, sources []Source) {
	all := make([]archive.Session, len(sources))
	for i, s := range sources {
		all[i] = s.Session
	}
	for i, lacks := range f.archive.Lacking(ctx, all, f.words) {
		sources[i].lacks = lacks
	}
}

// together searches sources. Several are read in one opening of the archive.
func (f *finder) together(ctx context.Context, sources []Source) (all []result) {
	all = make([]result, len(sources))
	last := &all[0]
	defer func() { last.panicked = recover() }() // the consumer panics with it again
	each := func(a *archive.Archive) error {
		held := *f
		held.archive.Archive = a
		for i, s := range sources {
			last = &all[i]
			if last.size = size(s); toRead(s) == 0 {
				continue
			}
			held.session(ctx, s, last)
		}
		return nil
	}
	if len(sources) == 1 || !slices.ContainsFunc(sources, func(s Source) bool { return toRead(s) > 0 }) {
		_ = each(f.archive.Archive) // it returns no error
	} else if err := f.archive.Held(ctx, each); err != nil {
		all[0].errs = append(all[0].errs, err)
	}
	return all
}

// finder is a prepared query.
type finder struct {
	Query
	archive history.Archive
	terms   []term
	words   []grams.Word // see literals
	path    pattern
}

func (s Search) finder() (*finder, error) {
	terms, err := s.Query.terms()
	if err != nil {
		return nil, err
	}
	path, err := newPattern(s.Query.Path)
	f := &finder{Query: s.Query, archive: history.Archive{Archive: s.Archive, Agents: s.Agents}, terms: terms, words: literals(terms), path: path}
	return f, err
}

// ofCall reports whether only calls and their results can match.
func (f *finder) ofCall() bool { return f.Tool != "" || f.path != nil }

func damaged(err error) bool { return errors.As(err, new(*archive.DamageError)) }

// excludes reports whether nothing in a session can match. An attachment is as old as its last change, and has no calls.
func (f *finder) excludes(s Source) bool {
	attachment := s.Class == transcript.Attachment
	early := !f.Since.IsZero() && !s.Last.IsZero() && s.Last.Before(f.Since)
	late := attachment && !f.Until.IsZero() && s.Last.After(f.Until)
	return early || late || attachment && f.ofCall()
}

// session searches all generations, the newest one first.
func (f *finder) session(ctx context.Context, s Source, r *result) {
	if f.excludes(s) {
		return
	}
	seen := map[mark.ID]bool{}
	for i, g := range slices.Backward(s.Generations) {
		if s.lacks[i] {
			continue
		}
		w := walk{finder: f, source: s, generation: g, result: r}
		err := w.read(ctx)
		for _, h := range slices.Backward(w.hits) {
			if !seen[h.ID] {
				h.Back, h.fork = i == len(s.Generations)-1 && s.Back.Has(h.Record), s.Fork
				r.hits = append(r.hits, h)
			}
		}
		for _, h := range w.hits {
			seen[h.ID] = true
		}
		if err != nil {
			r.errs = append(r.errs, w.failed(err))
			return
		}
	}
}
