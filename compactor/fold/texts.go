package fold

import "sort"

// Text is what is kept of a message beyond its row: how often later messages mention terms that it introduced.
type Text struct {
	Row  int32  // of the message
	Refs uint16 // mentions of its terms in later messages
}

// countReference counts a reference to the message that introduced a term.
func (f *Fold) countReference(first int32) {
	t := f.Text(first)
	if t == nil || t.Refs == 1<<16-1 {
		return
	}
	t.Refs++
	f.mostRefs = max(f.mostRefs, t.Refs)
}

// Text returns what is known of the message in row i, nil if the row is not a message or is past. It must not be changed and
// is valid until the next record is added.
func (f *Fold) Text(i int32) *Text {
	t := &f.texts
	if int(i) < f.rows.from {
		if n := sort.Search(len(t.kept), func(n int) bool { return t.kept[n].Row >= i }); n < len(t.kept) && t.kept[n].Row == i {
			return &t.kept[n]
		}
		return nil
	}
	n := t.from + sort.Search(t.n-t.from, func(n int) bool { return t.at(t.from+n).Row >= i })
	if n == t.n || t.at(n).Row != i {
		return nil
	}
	return t.at(n)
}

// MostRefs returns the largest number of mentions of any message.
func (f *Fold) MostRefs() uint16 { return f.mostRefs }
