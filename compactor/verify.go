package compactor

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/compactor/render"
	"ccd/internal/mark"
)

// kinds are the kinds of key facts, in the order in which missing ones are reported. All facts of the first mustKinds
// kinds must be visible.
var kinds = []string{"asked", "edited", "open errors", "answers", "rules", "decisions", "commands", "plan"}

// mustKinds is how many of kinds must be visible in full.
const mustKinds = 3

// nouns are the singular and plural nouns for facts of these kinds.
var nouns = [mustKinds][2]string{
	{"message of the human", "messages of the human"}, {"edited path", "edited paths"}, {"open problem", "open problems"},
}

// notVisible says how many facts of a kind, one of the first mustKinds, are not visible.
func notVisible(kind, facts int) string {
	if facts == 1 {
		return "1 " + nouns[kind][0] + " is not visible"
	}
	return fmt.Sprintf("%d %s are not visible", facts, nouns[kind][1])
}

// verify checks the text: its pointers and size, and which key facts it contains.
func (d *draft) verify(out *Compaction, body string) {
	h := &out.Header
	h.Verified = true
	missing := d.count(h, body)
	for n, kind := range kinds {
		if missing[kind] > 0 {
			h.Missing = append(h.Missing, Missing{kind, missing[kind]})
			if n < mustKinds {
				h.doubt(notVisible(n, missing[kind]))
			}
		}
	}
	switch {
	case len(out.Pointers) != len(mark.IDs(body)):
		h.doubt("an ID has no pointer")
	case longest(body) > mark.MaxLine:
		h.doubt("a line is too long")
	case d.length() > d.reader.Room, strings.Count(body, "\n") > maxLines:
		h.doubt(fmt.Sprintf("%d chars are over the budget, or more than %d lines", d.length(), maxLines))
	}
	if n := d.uncovered(out); n > 0 {
		h.KeyInformation.Lost += n
		if n == 1 {
			h.doubt("1 record is under no ID")
		} else {
			h.doubt(fmt.Sprintf("%d records are under no ID", n))
		}
	}
	if k := h.KeyInformation; k.Visible*20 < 19*(k.Visible+k.Recoverable+k.Lost) {
		h.doubt(fmt.Sprintf("%d of %d key facts are not visible", k.Recoverable+k.Lost, k.Visible+k.Recoverable+k.Lost))
	}
}

func (h *Header) doubt(why string) {
	if h.Verified {
		h.Verified, h.Reason = false, why
	}
}

// count counts the key facts in the text and those only under an ID, and returns the latter by kind.
func (d *draft) count(h *Header, body string) map[string]int {
	missing := map[string]int{}
	k := &h.KeyInformation
	if d.chosen.Chosen == nil { // all items are shown in full
		for _, u := range d.set.Units {
			if slices.Contains(kinds, u.Kind) {
				k.Visible++
			}
		}
		return missing
	}
	rest := map[string]string{} // of each section, after the units counted so far: they are printed in this order
	for _, s := range d.sections {
		rest[s.Name] = s.Body
	}
	names := render.Names()
	for _, one := range d.chosen.Chosen {
		if !slices.Contains(kinds, one.Kind) {
			continue
		}
		in, name := "", names[one.Section]
		if _, after, ok := strings.Cut(rest[name], one.Text); ok {
			in, rest[name] = one.Text, after
		}
		for _, text := range strings.Split(one.Shows, "\x00") {
			if one.Level >= one.Seen && (strings.Contains(in, text) || strings.Contains(body, text)) {
				k.Visible++
			} else {
				k.Recoverable++
				missing[one.Kind]++
			}
		}
	}
	for _, u := range d.chosen.Left {
		if slices.Contains(kinds, u.Kind) {
			k.Recoverable++
			missing[u.Kind]++
		}
	}
	return missing
}

// uncovered counts the records with items that are neither shown in full nor covered by a range's ID.
func (d *draft) uncovered(out *Compaction) int {
	_, last := d.c.Records()
	if d.chosen.Chosen == nil && len(out.Pointers) == 0 || d.reader.Brief {
		return 0
	}
	covered := make([]bool, last)
	for _, p := range out.Pointers {
		for s := range d.source.Named[p.Hash.ID()] {
			for rec := s.From; rec < s.To && rec < last; rec++ {
				covered[rec] = true
			}
		}
	}
	n := 0
	for rec, ok := range covered {
		if !ok && d.c.HasItems(rec) && (d.reader.First == 0 || rec+1 < d.reader.First) {
			n++
		}
	}
	return n
}

// longest returns the length of the longest line of a text, in chars.
func longest(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n = max(n, lexicon.Chars(strings.TrimSuffix(line, "\n")))
	}
	return n
}
