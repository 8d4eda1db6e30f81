package compactor

import (
	"strings"
	"unicode"

	"ccd/compactor/lexicon"
)

// own is the agent's own summary from its last compaction; empty if the reader does not have it.
type own struct {
	text      string // as lexicon.Plain
	sentences []map[string]bool
}

func (d *draft) ownSummary() (o own) {
	n := len(d.s.Bounds)
	if n == 0 || d.s.Bounds[n-1].Own.Zero() {
		return o
	}
	text := d.src.Text(d.s.Bounds[n-1].Own)
	o.text = lexicon.Plain(text)
	for _, s := range lexicon.Sentences(text) {
		o.sentences = append(o.sentences, lexicon.WordSet(s))
	}
	return o
}

// enough is the share of a sentence's words, in percent, that one sentence of the summary must have to say the same.
const enough = 80

// knows reports whether the agent's own summary contains a sentence: verbatim, or as one sentence with all of its names and
// numbers and most of its words.
func (o *own) knows(s string) bool {
	if o.text == "" {
		return false
	}
	if strings.Contains(o.text, lexicon.Plain(s)) {
		return true
	}
	missing := false
	lexicon.Terms(s, func(term string) bool {
		missing = !strings.Contains(o.text, lexicon.Plain(term))
		return !missing
	})
	said := lexicon.WordSet(s)
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

// covers reports whether the agent's own summary says three quarters of a text, by the width of its sentences, and the rest has
// no value that it lacks.
func (o *own) covers(text string) bool {
	if o.text == "" {
		return false
	}
	all, same, fresh := 0, 0, false
	for _, sentence := range lexicon.Sentences(text) {
		n := lexicon.Width(sentence)
		if all += n; o.knows(sentence) {
			same += n
			continue
		}
		lexicon.Terms(sentence, func(term string) bool {
			fresh = fresh || !strings.Contains(o.text, lexicon.Plain(term))
			return !fresh
		})
		if fresh {
			return false
		}
	}
	return all > 0 && same*4 >= all*3
}
