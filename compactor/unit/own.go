package unit

import (
	"strings"
	"unicode"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// own is the agent's own summary from its last compaction; empty if the reader does not have it.
type own struct {
	text      string // plain
	sentences []map[string]bool
}

func (w *writer) ownSummary() (o own) {
	if !w.Holds {
		return o
	}
	start, _ := w.f.Held()
	from, to := w.f.Rows()
	for i := to - 1; i >= from && int(w.row(i).Rec) >= start; i-- {
		if row := w.row(i); row.Kind == transcript.Summary && !row.Has(fold.Side) {
			text := w.text(i)
			o.text = plain(text)
			for _, s := range lexicon.Sentences(text) {
				o.sentences = append(o.sentences, wordSet(s))
			}
			break
		}
	}
	return o
}

// plain returns text in the form in which it is compared: lower case, without emphasis, each run of white space one blank.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "", "\"", "").Replace(lexicon.Lower(text))), " ")
}

// enough is the share of a sentence's words, in percent, that one sentence of the summary must have to say the same.
const enough = 70

// knows reports whether the agent's own summary contains a sentence: verbatim, or as one sentence with all of its names and
// numbers and most of its words.
func (w *writer) knows(s string) bool {
	if w.own.text == "" {
		return false
	}
	if strings.Contains(w.own.text, plain(s)) {
		return true
	}
	missing := false
	lexicon.Terms(s, func(term string) bool {
		missing = !strings.Contains(w.own.text, plain(term))
		return !missing
	})
	said := wordSet(s)
	if missing || len(said) < 3 {
		return false
	}
	for _, sentence := range w.own.sentences {
		same := 0
		for word := range said {
			if sentence[word] {
				same++
			} else if unicode.IsDigit(rune(word[0])) { // another value is another fact
				same = -len(said)
			}
		}
		if same*100 >= enough*len(said) {
			return true
		}
	}
	return false
}

// known returns how much of a text the agent's own summary contains, in percent of the width of its pieces. Pieces that are
// too short to mean anything alone do not count.
func (w *writer) known(text string) int {
	all, same := 0, 0
	for _, p := range lexicon.Pieces(text) {
		if n := lexicon.Width(p.Text); len(p.Text) >= leastPiece {
			if all += n; w.knows(p.Text) {
				same += n
			}
		}
	}
	if all == 0 {
		return 0
	}
	return same * 100 / all
}

// wordSet returns the distinct words of a sentence that are long enough to matter; each ideograph is one.
func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, f := range strings.FieldsFunc(lexicon.Lower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !lexicon.IsWide([]rune(f)[0]) {
			if len(f) > 3 || unicode.IsDigit(rune(f[0])) {
				set[f] = true
			}
			continue
		}
		for _, r := range f {
			set[string(r)] = true
		}
	}
	return set
}
