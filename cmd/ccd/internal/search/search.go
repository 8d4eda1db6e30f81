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
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/grams"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Search is a query and the sessions to search, all generations of each.
type Search struct {
	Library  *reader.Library
	Sessions []*reader.Entry // in the order in which they are searched: newest first
	Query    Query
	Most     int                     // hits that are wanted, 0 for all: once many more are found, the search ends (see enough)
	Counts   func(Hit) bool          // whether a hit is one of these; nil: all are
	Kind     string                  // only hits of this kind, as Hit.What names it; "": all
	Whole    bool                    // also what ccd resume copied from another one of the library's sessions
	Progress func(done, total int64) // sessions; may be nil
}

// A search reads so many bytes for each wanted hit, and goes on until it has found so many times what is wanted: then the best are among
// them, as a rule. So a common word is found in a tenth of a second, and a rare one in the few sessions that may have it.
const (
	perHit = 100 << 10
	enough = 4
)

// source is a session to search.
type source struct {
	*reader.Entry
	lacks []bool // whether a generation certainly lacks a word
}

// Hit is an item that matches.
type Hit struct {
	Session    transcript.Session `json:"-"`
	Generation int                `json:"generation"`
	Record     int                `json:"record"` // number of its record; 0 in an attachment, and if damage before it makes the number unknown
	Kind       transcript.Kind    `json:"-"`
	Tool       string             `json:"tool"`             // tool of a call or result, "" if unknown
	ID         mark.ID            `json:"id"`               // restores its original
	Time       time.Time          `json:"-"`                // time of its record, zero if it has none
	Line       int                `json:"line"`             // line of the first match in what restore prints
	Snippet    string             `json:"snippet"`          // the line of the first match, escaped, at most 200 characters of it
	Before     []string           `json:"before,omitempty"` // lines before that of the match, as Query.Around wants
	After      []string           `json:"after,omitempty"`
	Back       bool               `json:"taken_back"` // the person took it back
	Copies     int                `json:"copies"`     // how many more sessions have a copy of the record, as forks do, of those that Ranked was given
	Equal      int                `json:"equal"`      // how many more equal originals it was given
	Part       bool               `json:"-"`          // a word of the query is only a part of longer words in it
	Rewritten  bool               `json:"-"`          // it is only in an earlier generation, which numbers its records for itself

	fork bool
	uuid string // of the record
}

// Best searches until it has found the hits that matter most. Damage does not end the search; any other error, and the end of ctx, comes
// with what was found before it. An item that several generations contain is one hit. Goroutines search the next sessions until the
// search ends, and hold a lock only while they read a few MB.
func (s Search) Best(ctx context.Context) (*Ranked, error) {
	found := &Ranked{Most: s.Most}
	f, err := s.finder()
	if err != nil {
		return found, err
	}
	sources, counted, bytes := f.sources(ctx, s.Sessions), 0, int64(0)
	found.Left = len(sources)
	for r := range f.results(ctx, sources) {
		bytes += toRead(sources[len(sources)-found.Left])
		if found.Left--; s.Progress != nil {
			s.Progress(int64(len(sources)-found.Left), int64(len(sources)))
		}
		more := true
		for _, h := range r.hits {
			if !s.wants(h) {
				continue
			}
			if more = found.Add(h) && more; s.Counts == nil || s.Counts(h) {
				counted++
			}
		}
		for _, err := range r.errs {
			if !damaged(err) {
				return found, err
			}
			found.Damage = append(found.Damage, err)
		}
		if !more || s.Most > 0 && counted >= enough*s.Most && bytes >= int64(s.Most)*perHit {
			return found, nil
		}
	}
	return found, ctx.Err()
}

func (s Search) wants(h Hit) bool { return s.Kind == "" || h.What() == s.Kind }

// results searches sources as fast as the results are taken, and yields these in their order.
func (f *finder) results(ctx context.Context, sources []source) iter.Seq[result] {
	return func(yield func(result) bool) {
		results := make(chan chan []result, runtime.GOMAXPROCS(0))
		var workers sync.WaitGroup
		defer workers.Wait()
		working, cancel := context.WithCancel(ctx)
		defer cancel()
		workers.Go(func() {
			defer close(results)
			for some := range archive.Batches(sources, toRead) { // small ones together
				coming := make(chan []result, 1)
				select {
				case results <- coming:
					workers.Go(func() { coming <- f.together(working, some) })
				case <-working.Done():
					return
				}
			}
		})
		for coming := range results {
			for _, r := range <-coming {
				if r.panicked != nil {
					panic(r.panicked)
				}
				if !yield(r) {
					return
				}
			}
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
	panicked any
}

// indexed is of how many sessions the index is read at once.
const indexed = 1000

// sources returns the sessions that may have all words.
func (f *finder) sources(ctx context.Context, sessions []*reader.Entry) (may []source) {
	for many := range slices.Chunk(sessions, indexed) {
		all := make([]archive.Session, len(many))
		for i, e := range many {
			all[i] = e.Session
		}
		for i, lacks := range f.archive.Lacking(ctx, all, f.words) {
			if s := (source{many[i], lacks}); toRead(s) > 0 && !f.excludes(s) {
				may = append(may, s)
			}
		}
	}
	return may
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
			held.session(ctx, s, last)
		}
		return nil
	}
	if len(sources) == 1 {
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
	path    *regexp.Regexp
	whole   bool // see Search
}

func (s Search) finder() (*finder, error) {
	terms, err := s.Query.terms()
	if err != nil {
		return nil, err
	}
	path, err := newPattern(s.Query.Path)
	f := &finder{Query: s.Query, library: s.Library, terms: terms, words: literals(terms), path: path, whole: s.Whole}
	if s.Library != nil {
		f.archive = s.Library.Archive
	}
	return f, err
}

// ofCall reports whether only calls and their results can match.
func (f *finder) ofCall() bool { return f.Tool != "" || f.path != nil }

func damaged(err error) bool { return errors.As(err, new(*archive.DamageError)) }

// excludes reports whether nothing in a session can match. An attachment is as old as its last change, and has no calls; to a sub-agent
// only an agent speaks.
func (f *finder) excludes(s source) bool {
	attachment := s.Class == transcript.Attachment
	early := !f.Since.IsZero() && !s.Last().IsZero() && s.Last().Before(f.Since)
	late := attachment && !f.Until.IsZero() && s.Last().After(f.Until)
	return early || late || attachment && (f.ofCall() || f.Said) || f.Human && s.Class == transcript.SubAgent
}

// session searches all generations, the newest one first.
func (f *finder) session(ctx context.Context, s source, r *result) {
	seen, back, copied := map[mark.ID]bool{}, s.Current().Kept.TakenBack, 0
	if !f.whole && f.library.CopiedFrom(s.Entry) != nil {
		copied = s.Kept.Resumed.Records
	}
	for i, g := range slices.Backward(s.Generations) {
		if s.lacks[i] {
			continue
		}
		w := walk{finder: f, source: s.Entry, generation: f.library.At(s.Entry, g), result: r}
		w.generation.Archive = f.archive
		err := w.read(ctx)
		for _, h := range slices.Backward(w.hits) {
			if !seen[h.ID] && (h.Record == 0 || h.Record > copied) {
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

// Said reports whether a person or an agent said it to the other: not a thought, a call, a result or a file.
func (h Hit) Said() bool { return isSaid(h.Kind) }

func isSaid(k transcript.Kind) bool { return k == transcript.Human || k == transcript.Text }

// says reports whether what is wanted with Said may be of a kind.
func (q Query) says(k transcript.Kind) bool { return isSaid(k) && (!q.Human || k == transcript.Human) }

// What names the kind of the original, as people see it.
func (h Hit) What() string { return reader.KindName(h.Kind) }

// Ranked collects hits: what people and agents said, then thoughts and summaries, then calls, results and files; of each, first
// those with the words themselves, then those with parts of longer words. Hits of equal originals are one.
type Ranked struct {
	Most   int     // how many are wanted; 0: all
	Left   int     // sessions that were not searched, because enough was found
	Damage []error // what could not be searched

	ranks [6][]*Hit
	byID  map[mark.ID]*Hit
}

// Add adds a hit, and reports whether more are wanted.
func (r *Ranked) Add(h Hit) (more bool) {
	if first := r.byID[h.ID]; first != nil {
		first.take(h)
		return true
	}
	rank := 4
	switch {
	case h.Said():
		rank = 0
	case h.Kind == transcript.Thinking, h.Kind == transcript.Summary:
		rank = 2
	}
	if h.Part {
		rank++
	}
	if r.Most == 0 || len(r.ranks[rank]) < r.Most {
		r.ranks[rank] = append(r.ranks[rank], &h)
		if r.byID == nil {
			r.byID = map[mark.ID]*Hit{}
		}
		r.byID[h.ID] = &h
	}
	return r.Most == 0 || len(r.ranks[0]) < r.Most
}

// take adds a hit of the same original: an equal one, or the same record in another session. The record is shown in a session
// that is no fork.
func (h *Hit) take(other Hit) {
	switch {
	case h.uuid == "" || h.uuid != other.uuid:
		h.Equal++
	case h.Session.Key == other.Session.Key: // written twice
	default:
		if other.Copies, other.Equal = h.Copies+1, h.Equal; h.fork && !other.fork {
			*h = other
		} else {
			h.Copies++
		}
	}
}

// All returns the wanted hits in their order.
func (r *Ranked) All() []*Hit {
	all := slices.Concat(r.ranks[:]...)
	if r.Most > 0 {
		all = all[:min(len(all), r.Most)]
	}
	return all
}

// Unsaid returns how many hits were kept that nobody said, wanted or not.
func (r *Ranked) Unsaid() int { return len(slices.Concat(r.ranks[2:]...)) }
