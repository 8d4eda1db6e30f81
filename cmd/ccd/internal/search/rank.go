package search

import (
	"context"
	"slices"

	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

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

// Best searches until it has found the hits that matter most. Damage does not end the search; any other error comes with what was found
// before it.
func (s Search) Best(ctx context.Context) (*Ranked, error) {
	found := &Ranked{Most: s.Most}
	s.Left = func(sessions int) { found.Left = sessions }
	for h, err := range s.Hits(ctx) {
		switch {
		case damaged(err):
			found.Damage = append(found.Damage, err)
		case err != nil:
			return found, err
		case !found.Add(h):
			return found, nil
		}
	}
	return found, nil
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
