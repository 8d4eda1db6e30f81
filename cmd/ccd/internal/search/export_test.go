package search

import (
	"context"
	"iter"
)

// Hits yields each match: sessions in the order of Search.Sessions, within a session the newest records first.
func (s Search) Hits(ctx context.Context) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		f, err := s.finder()
		if err != nil {
			yield(Hit{}, err)
			return
		}
		for r := range f.results(ctx, f.sources(ctx, s.Sessions)) {
			for _, h := range r.hits {
				if !yield(h, nil) {
					return
				}
			}
			for _, err := range r.errs {
				if !yield(Hit{}, err) {
					return
				}
			}
		}
	}
}
