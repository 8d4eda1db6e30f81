package fold

import (
	"sort"

	"ccd/compactor/prose"
)

// Text is what is kept of a message beyond its row: how often later messages take up what it brought up.
type Text struct {
	Row   int32       // of the message
	Refs  uint16      // mentions in later messages of what it brought up
	Shape prose.Shape // what kind of text it is
}

// text notes a message, so that references to it can be counted.
func (f *Fold) text(i int32, s prose.Shape) { f.texts.push(Text{Row: i, Shape: s}) }

// refer counts a reference to the message that brought a term up.
func (f *Fold) refer(first int32) {
	t := f.Text(first)
	if t == nil || t.Refs == 1<<16-1 {
		return
	}
	t.Refs++
	f.mostRefs = max(f.mostRefs, t.Refs)
}

// Text returns what is known of the message in row i; nil where the row is no message or is past. The fold owns it: it
// is not to be changed, and holds until the next record is added.
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

// Texts yields what is known of the messages whose rows are still there, the newest first.
func (f *Fold) Texts(yield func(*Text) bool) {
	for n := f.texts.n - 1; n >= f.texts.from; n-- {
		if t := f.texts.at(n); int(t.Row) >= f.rows.from && !yield(t) {
			return
		}
	}
}

// MostRefs is the largest number of mentions that any message has.
func (f *Fold) MostRefs() uint16 { return f.mostRefs }
