package unit

import (
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// ownSummary is what the agent wrote when it last compacted its context, plain; "" where the reader does not hold it.
func (w *writer) ownSummary() string {
	if !w.Holds {
		return ""
	}
	start, _ := w.f.Held()
	from, to := w.f.Rows()
	for i := to - 1; i >= from && int(w.row(i).Rec) >= start; i-- {
		if row := w.row(i); row.Kind == transcript.Summary && !row.Has(fold.Side) {
			return plain(w.text(i))
		}
	}
	return ""
}

// plain is text as it is compared: small letters, without emphasis, each run of white space one blank.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "", "\"", "").Replace(lexicon.Lower(text))), " ")
}

// knows reports whether the agent's own summary says what a sentence says: it holds it word by word, or all of at least
// two of its names and numbers.
func (w *writer) knows(s string) bool {
	if w.own == "" {
		return false
	}
	if p := plain(s); strings.Contains(w.own, p) {
		return true
	}
	terms, missing := 0, false
	lexicon.Terms(s, func(term string) bool {
		terms++
		missing = missing || !strings.Contains(w.own, plain(term))
		return !missing
	})
	return terms >= 2 && !missing
}

// knowsAll reports whether the agent's own summary says what each piece of a text says.
func (w *writer) knowsAll(text string) bool {
	for _, p := range lexicon.Pieces(text) {
		if !w.knows(p.Text) {
			return false
		}
	}
	return true
}
