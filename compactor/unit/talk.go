package unit

import (
	"fmt"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
	"ccd/internal/mark"
)

// dup returns the line for a message that has a newer copy.
func (w *writer) dup(i int32, head string) (form, bool) {
	at, ok := w.copyOf(i)
	if !ok {
		return form{}, false
	}
	chars := int(w.row(i).Chars)
	m := mark.New(w.id(i), fmt.Sprintf("dup of #%d, %d chars", at, chars))
	return form{line: head + " " + m, kind: "dup", saved: chars - lexicon.Chars(m)}, true
}

// copyOf finds the newest copy of an item's content.
func (w *writer) copyOf(i int32) (record int, ok bool) {
	row := w.row(i)
	if !w.o.Dedup || row.Chars < prose.DupChars {
		return 0, false
	}
	at, ok := w.newest()[row.Key]
	if !ok || at <= i {
		return 0, false
	}
	return w.row(at).Record(), true
}

// newest returns the newest row of each content that a copy may refer to.
func (w *writer) newest() map[uint64]int32 {
	if w.copies == nil {
		w.copies = map[uint64]int32{}
		from, to := w.f.Rows()
		for i := from; i < to; i++ {
			if row := w.row(i); row.Chars >= prose.DupChars && !row.Has(fold.Side) && !hidden(row.Kind) {
				w.copies[row.Key] = i
			}
		}
	}
	return w.copies
}

// quotedWhole returns a text as quoted lines if they take at most most chars.
func quotedWhole(text string, most int) (quoted string, ok bool) {
	if len(text) > 4*most || lexicon.Bulk(text) > most {
		return "", false
	}
	q := mark.Quote("", text)
	return q, lexicon.Chars(q) <= most+most/4
}
