package fold

import (
	"maps"
	"slices"

	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// maxMarks is how many secrets of an item are told apart. From there on, everything to the end of the last one counts as one.
const maxMarks = 64

// secrets is what the fold keeps of secrets: where they are in the items, because it has only positions of their texts.
type secrets struct {
	marks map[int32][]redact.Mark // by row, relative to the item
	kinds map[string]int          // different secrets
}

// count takes a record's secrets.
func (s *secrets) count(marks []redact.Mark) {
	for _, m := range marks {
		if s.kinds == nil {
			s.kinds, s.marks = map[string]int{}, map[int32][]redact.Mark{}
		}
		s.kinds[m.Kind] = max(s.kinds[m.Kind], m.N)
	}
}

// add takes the secrets of an item of r in row i.
func (s *secrets) add(i int32, r *transcript.Record, it *transcript.Item) {
	from, to := int(it.Span.Off-r.Span.Off), int(it.Span.End()-r.Span.Off)
	var kept []redact.Mark
	for _, m := range redact.From(r.Marks, from) {
		if m.From >= to {
			break
		}
		m.From, m.To = m.From-from, m.To-from
		if len(kept) < maxMarks {
			kept = append(kept, m)
		} else {
			kept[maxMarks-1].To = m.To
		}
	}
	if len(kept) > 0 {
		s.marks[i] = kept
	}
}

// drop drops the rows before first except those of keep.
func (s *secrets) drop(first int, keep []int32) {
	maps.DeleteFunc(s.marks, func(i int32, _ []redact.Mark) bool {
		_, found := slices.BinarySearch(keep, i)
		return int(i) < first && !found
	})
}

func (s *secrets) bytes() (n int64) {
	for _, marks := range s.marks {
		n += 64 + int64(cap(marks))*40
	}
	return n
}

// Marks returns the secrets in the original of the item in row i, relative to it. They must not be changed.
func (f *Fold) Marks(i int32) []redact.Mark { return f.secrets.marks[i] }

// Secrets returns how many different secrets of each kind the session has so far. It must not be changed.
func (f *Fold) Secrets() map[string]int { return f.secrets.kinds }
