package compactor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/prose"
	"ccd/internal/mark"
)

// maxTerms bounds the terms of a session; who was mentioned longest ago goes first.
const maxTerms = 4096

// termState is what is remembered of a term.
type termState struct {
	text   string
	kind   termKind
	human  bool  // a person wrote it
	output bool  // only an output tells it
	code   bool  // it first stood in a fence
	count  int32 // mentions, one a message
	first  int32 // row of the first mention
	last   int32 // row of the last one
}

// mention takes the terms of a message. Each is counted once a message; a mention is a reference to the message that
// brought the term up.
func (c *Compactor) mention(i int32, text string, human bool) {
	terms(text[:min(len(text), maxSignal)], func(t term) bool {
		s := c.tables.terms.touch(hashOf(t.text))
		switch {
		case s.count == 0:
			*s = termState{text: clip(t.text, maxURL), kind: t.kind, human: human, code: t.code, count: 1, first: i, last: i}
			return true
		case s.last == i:
			return true
		}
		s.count++
		s.last, s.output = i, false
		s.human = s.human || human
		c.refer(s.first)
		return true
	})
}

// mentionOutput takes the figures, addresses, hashes and versions of the lines that sum an output up.
func (c *Compactor) mentionOutput(i int32, text string) {
	take := func(t term) bool {
		if t.kind < figureTerm {
			return true
		}
		if s := c.tables.terms.touch(hashOf(t.text)); s.count == 0 {
			*s = termState{text: clip(t.text, maxURL), kind: t.kind, output: true, count: 1, first: i, last: i}
		}
		return true
	}
	for _, l := range lastLines(text, summaryLines) {
		if len(l) < 400 && isSummary(strings.TrimSpace(l)) {
			terms(l, take)
		}
	}
}

// mostNamed bounds the terms that are looked at for one companion.
const mostNamed = 1500

// namesPart lists the names, figures, addresses, hashes and versions that the messages use and that the rest of State
// does not show: by the stretch of records that first brought them up, so that later ones leave the lines as they are.
func (d *draft) namesPart(budget int, shown string) string {
	room := budget
	chosen := map[int][]*termState{}
	for _, t := range d.nameable() {
		at := d.row(t.first).record() - 1
		n := prose.Chars(t.text) + 2
		if len(chosen[at/block]) == 0 {
			n += len("- from #1000: ")
		}
		if n > room || strings.Contains(shown, t.text) { // looked for last: it takes longest
			continue
		}
		room -= n
		chosen[at/block] = append(chosen[at/block], t)
		d.fact("name", mark.Inline(t.text, maxURL), t.first, false)
	}
	var b strings.Builder
	for _, at := range sortedKeys(chosen) {
		list := chosen[at]
		slices.SortFunc(list, func(a, b *termState) int {
			return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.text, b.text))
		})
		words := make([]string, 0, len(list))
		for _, t := range list {
			words = append(words, mark.Inline(t.text, maxURL))
		}
		for len(words) > 0 {
			line := fmt.Sprintf("- from #%d: ", at*block+1)
			n := 1
			for room := 900 - prose.Chars(words[0]); n < len(words) && room > 0; n++ {
				room -= prose.Chars(words[n]) + 2
			}
			b.WriteString(line + strings.Join(words[:n], ", ") + "\n")
			words = words[n:]
		}
	}
	return b.String()
}

// nameable gives the terms that State may name, those worth most for their length first.
func (d *draft) nameable() []*termState {
	if d.terms != nil {
		return d.terms
	}
	all := d.c.tables.terms.newestFirst()
	all = slices.DeleteFunc(all, func(t *termState) bool {
		return t.count == 0 || t.count == 1 && !t.human && t.kind == nameTerm && isShout(t.text)
	})
	slices.SortStableFunc(all, func(a, b *termState) int {
		return cmp.Or(cmp.Compare(b.worth(), a.worth()), cmp.Compare(b.last, a.last), cmp.Compare(a.text, b.text))
	})
	d.terms = all[:min(len(all), mostNamed)]
	return d.terms
}

// worth is what a term is worth for each char that it takes, in coarse steps: so that one more mention moves few of
// them.
func (t *termState) worth() int {
	w := 4
	switch t.kind {
	case addressTerm, hashTerm:
		w = 24
	case figureTerm:
		w = 12
		if _, what, ok := strings.Cut(t.text, " "); ok && len(what) > maxUnit {
			w = 6 // a count of something
		}
	case pathTerm:
		w = 3
	case nameTerm:
		if isShout(t.text) {
			w = 2
		}
	}
	if t.count > 1 {
		w *= 2
	}
	if t.count > 3 {
		w *= 2
	}
	if t.human {
		w *= 2
	}
	if t.output || t.code && t.count == 1 && t.kind <= figureTerm {
		w /= 4
	}
	return bucket(w * 64 / (prose.Chars(t.text) + 2))
}

// maxUnit is the longest word that is taken for a unit, in bytes: ms, KB, cents.
const maxUnit = 5

// isShout reports whether a name is a short abbreviation: most are the field's, not this session's.
func isShout(s string) bool { return len(s) <= 5 && strings.ToUpper(s) == s && strings.ToLower(s) != s }

// bucket is the largest power of two that is not above n, 0 for 0.
func bucket(n int) int {
	b := 0
	for p := 1; p <= n; p *= 2 {
		b = p
	}
	return b
}

func sortedKeys[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
