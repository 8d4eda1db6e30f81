package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// longText is the length from which a repeated text is dropped, in bytes; a run of blanks counts as one.
const longText = 200

// DropRepeats finds long texts that two units contain and removes the levels with them from the less valuable unit, so that
// the next plan shows each text once. Units for which may is true may repeat texts; those for which stays is true keep all
// their levels. It reports whether it removed any.
func DropRepeats(p Plan, may, stays func(*Unit) bool) bool {
	by := slices.Clone(p.Chosen)
	rank := func(c *Choice) float64 {
		if stays(c.Unit) {
			return math.MaxFloat64
		}
		return c.Worth[c.Level]
	}
	slices.SortStableFunc(by, func(a, b *Choice) int { return cmp.Compare(rank(b), rank(a)) })
	long := 0
	for _, one := range by {
		if !may(one.Unit) && len(one.Text) >= longText {
			long += len(one.Text)
		}
	}
	owner := make(map[string]*Choice, long/wordSize)
	found := false
	for _, one := range by {
		if may(one.Unit) || len(one.Text) < longText {
			continue
		}
		free := one.Must && one.Level == 0 || stays(one.Unit)
		for text := range runs(one.formed.flattened()) {
			first := owner[text]
			if first == nil {
				owner[text] = one
			} else if first != one && !free {
				one.shorten()
				found = true
				break
			}
		}
	}
	return found
}

// shorten removes the levels from the chosen one on from a unit; of an excerpt, all levels that are excerpts.
func (c *Choice) shorten() {
	to := c.Level
	if c.isExcerpt(to) {
		to = c.Excerpt
	}
	c.lost = len(c.Worth) - to
}

// wordSize is about how many bytes a word takes with the blank after it.
const wordSize = 6

// flattened returns a text as its words with a blank after each, without what quotes it.
func (f *formed) flattened() string {
	if f.flat != "" {
		return f.flat
	}
	var b strings.Builder
	b.Grow(len(f.Text) + 1)
	for line := range strings.Lines(f.Text) {
		t := strings.TrimSpace(line)
		t = strings.TrimPrefix(strings.TrimPrefix(t, ">+"), ">")
		for w := range strings.FieldsSeq(t) {
			b.WriteString(w)
			b.WriteByte(' ')
		}
	}
	f.flat = b.String()
	return f.flat
}

// runs yields the parts of longText bytes of a text, one from the beginning of each word.
func runs(flat string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := 0; i+longText <= len(flat); {
			if !yield(flat[i : i+longText]) {
				return
			}
			n := strings.IndexByte(flat[i:], ' ')
			if n < 0 {
				return
			}
			i += n + 1
		}
	}
}
