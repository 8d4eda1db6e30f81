package daemon

import (
	"slices"
)

// folds are the sessions whose fold is in memory, the least recently used first.
type folds []*session

// use marks s as used, and drops the least recently used folds until the rest is below max bytes.
func (f *folds) use(s *session, max int64) {
	list := slices.DeleteFunc(*f, func(o *session) bool { return o == s || !o.folded })
	if s.folded && s.compactor != nil {
		list = append(list, s)
	}
	var total int64
	for _, o := range list {
		total += o.size()
	}
	for len(list) > 1 && total > max {
		total -= list[0].size()
		list[0].unfold()
		list = list[1:]
	}
	*f = list
}

// size returns the memory that a fold uses, in bytes.
func (s *session) size() int64 { return s.compactor.Size() + s.decoder.Kept() }
