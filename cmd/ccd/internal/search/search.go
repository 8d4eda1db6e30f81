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
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/grams"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// Search is a query and the sessions to search, all generations of each.
type Search struct {
	Library  *reader.Library
	Sessions []*reader.Entry // in the order in which they are searched: newest first
	Query    Query
	Progress func(done, total int64) // bytes searched; may be nil
}

// source is a session to search.
type source struct {
	*reader.Entry
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
	Rewritten  bool // it is only in an earlier generation, which numbers its records for itself

	fork bool
	uuid string // of the record
}

// Hits yields the matches: sessions in the order of Search.Sessions, within a session the newest records first. An item that several
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
		f.library, f.archive = s.Library, s.Library.Archive
		var done, total int64
		for _, e := range s.Sessions {
			total += e.Bytes()
		}
		results := make(chan chan []result, runtime.GOMAXPROCS(0))
		var workers sync.WaitGroup
		defer workers.Wait()
		working, cancel := context.WithCancel(ctx)
		defer cancel()
		workers.Go(func() {
			defer close(results)
			f.search(working, s.Sessions, results, &workers)
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

// toRead is the size of the generations that may have all words.
func toRead(s source) (n int64) {
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

// search starts to search the sessions, in their order, as fast as results are taken: small ones together.
func (f *finder) search(ctx context.Context, sessions []*reader.Entry, results chan<- chan []result, workers *sync.WaitGroup) {
	for many := range slices.Chunk(sessions, indexed) {
		for some := range archive.Batches(f.index(ctx, many), toRead) {
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

// index notes which sessions certainly lack a word.
func (f *finder) index(ctx context.Context, sessions []*reader.Entry) []source {
	all, sources := make([]archive.Session, len(sessions)), make([]source, len(sessions))
	for i, e := range sessions {
		all[i] = e.Session
	}
	for i, lacks := range f.library.Archive.Lacking(ctx, all, f.words) {
		sources[i] = source{sessions[i], lacks}
	}
	return sources
}

// together searches sources. Several are read in one opening of the archive.
func (f *finder) together(ctx context.Context, sources []source) (all []result) {
	all = make([]result, len(sources))
	last := &all[0]
	defer func() { last.panicked = recover() }() // the consumer panics with it again
	each := func(a *archive.Archive) error {
		held := *f
		held.archive = a
		for i, s := range sources {
			last = &all[i]
			if last.size = s.Bytes(); toRead(s) == 0 {
				continue
			}
			held.session(ctx, s, last)
		}
		return nil
	}
	if len(sources) == 1 || !slices.ContainsFunc(sources, func(s source) bool { return toRead(s) > 0 }) {
		_ = each(f.archive) // it returns no error
	} else if err := f.archive.Held(ctx, each); err != nil {
		all[0].errs = append(all[0].errs, err)
	}
	return all
}

// finder is a prepared query.
type finder struct {
	Query
	library *reader.Library
	archive *archive.Archive // the library's, or one that is held open
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
	f := &finder{Query: s.Query, terms: terms, words: literals(terms), path: path}
	return f, err
}

// ofCall reports whether only calls and their results can match.
func (f *finder) ofCall() bool { return f.Tool != "" || f.path != nil }

func damaged(err error) bool { return errors.As(err, new(*archive.DamageError)) }

// excludes reports whether nothing in a session can match. An attachment is as old as its last change, and has no calls.
func (f *finder) excludes(s source) bool {
	attachment := s.Class == transcript.Attachment
	early := !f.Since.IsZero() && !s.Last().IsZero() && s.Last().Before(f.Since)
	late := attachment && !f.Until.IsZero() && s.Last().After(f.Until)
	return early || late || attachment && f.ofCall()
}

// session searches all generations, the newest one first.
func (f *finder) session(ctx context.Context, s source, r *result) {
	if f.excludes(s) {
		return
	}
	seen, back := map[mark.ID]bool{}, session.ParseRanges(s.Current().Kept.Back)
	for i, g := range slices.Backward(s.Generations) {
		if s.lacks[i] {
			continue
		}
		w := walk{finder: f, source: s.Entry, generation: f.library.At(s.Entry, g), result: r}
		w.generation.Archive = f.archive
		err := w.read(ctx)
		for _, h := range slices.Backward(w.hits) {
			if !seen[h.ID] {
				h.Rewritten, h.fork = i < len(s.Generations)-1, s.Kept.Origin != ""
				h.Back = !h.Rewritten && back.Has(h.Record)
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
