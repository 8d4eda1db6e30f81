package daemon

import (
	"slices"

	"ccd/internal/transcript"
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

// size returns the memory that a fold and its spans use, in bytes.
func (s *session) size() int64 { return s.compactor.Size() + s.decoder.Kept() + s.spans.size }

// maxSpans bounds the spans that are kept for each fold, in bytes.
const maxSpans = 1_000_000

// spanCost is the approximate memory of a span in addition to its bytes.
const spanCost = 64

// spans caches the bytes of the transcript that a companion was made from. The next companion of the same fold shows
// most of them again, and the archive would decode whole frames for them.
type spans struct {
	bytes map[transcript.Span][]byte
	size  int64
}

// get returns the bytes of a span: its own, those of before, or else those that read returns. It keeps them if there is
// room.
func (s *spans) get(span transcript.Span, before spans, read func() ([]byte, error)) ([]byte, error) {
	if b, ok := s.bytes[span]; ok {
		return b, nil
	}
	b, ok := before.bytes[span]
	if !ok {
		var err error
		if b, err = read(); err != nil {
			return nil, err
		}
	}
	if cost := span.Len + spanCost; s.size+cost <= maxSpans {
		if s.bytes == nil {
			s.bytes = map[transcript.Span][]byte{}
		}
		s.bytes[span] = b
		s.size += cost
	}
	return b, nil
}
