package compactor

import (
	"strings"
	"unicode"

	"ccd/compactor/lexicon"
)

// own is the agent's own summary from its last compaction; empty if the reader does not have it.
type own struct {
	text      string // plain
	sentences []map[string]bool
}

func (d *draft) ownSummary() (o own) {
	n := len(d.s.Bounds)
	if n == 0 || d.s.Bounds[n-1].Own.Zero() {
		return o
	}
	text := d.src.Text(d.s.Bounds[n-1].Own)
	o.text = plain(text)
	for _, s := range lexicon.Sentences(text) {
		o.sentences = append(o.sentences, wordSet(s))
	}
	return o
}

// plain returns text in the form in which it is compared: lower case, without emphasis, each run of white space one blank.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "", "\"", "").Replace(lexicon.Lower(text))), " ")
}

// enough is the share of a sentence's words, in percent, that one sentence of the summary must have to say the same.
const enough = 80

// knows reports whether the agent's own summary contains a sentence: verbatim, or as one sentence with all of its names and
// numbers and most of its words.
func (o *own) knows(s string) bool {
	if o.text == "" {
		return false
	}
	if strings.Contains(o.text, plain(s)) {
		return true
	}
	missing := false
	lexicon.Terms(s, func(term string) bool {
		missing = !strings.Contains(o.text, plain(term))
		return !missing
	})
	said := wordSet(s)
	if missing || len(said) < 3 {
		return false
	}
	for _, sentence := range o.sentences {
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

// covers reports whether the agent's own summary says three quarters of a text, by the width of its pieces.
func (o *own) covers(text string) bool {
	if o.text == "" {
		return false
	}
	all, same := 0, 0
	for _, p := range lexicon.Pieces(text) {
		n := lexicon.Width(p.Text)
		if all += n; o.knows(p.Text) {
			same += n
		}
	}
	return all > 0 && same*4 >= all*3
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
