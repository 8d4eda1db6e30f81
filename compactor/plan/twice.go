package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// longText is how long a text may be that stands twice, in bytes; blanks count as one.
const longText = 200

// DropRepeats finds long texts that two units show, and takes the levels that show them from the unit worth less. It
// reports whether it found any. It skips units for which may is true, and takes nothing from those for which stays is
// true. The next plan shows each such text once.
func DropRepeats(p Plan, may, stays func(*Unit) bool) bool {
	by := slices.Clone(p.Chosen)
	rank := func(c *Choice) float64 {
		if stays(c.Unit) {
			return math.MaxFloat64
		}
		return c.Worth[c.Level]
	}
	slices.SortStableFunc(by, func(a, b *Choice) int { return cmp.Compare(rank(b), rank(a)) })
	owner := map[string]*Choice{}
	found := false
	for _, one := range by {
		if may(one.Unit) {
			continue
		}
		free := one.Must && one.Level == 0 || stays(one.Unit)
		for text := range runs(one.Text) {
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

// shorten takes the levels from the chosen one on from a unit, of an excerpt all that are excerpts.
func (c *Choice) shorten() {
	to := c.Level
	if c.isExcerpt(to) {
		to = c.Excerpt
	}
	c.Unit.Worth = c.Unit.Worth[:to]
}

// runs yields the long texts in a unit: from each word on, as much as is too long to stand twice.
func runs(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		var b strings.Builder
		for line := range strings.Lines(text) {
			t := strings.TrimSpace(line)
			t = strings.TrimPrefix(strings.TrimPrefix(t, ">+"), ">")
			for w := range strings.FieldsSeq(t) {
				b.WriteString(w + " ")
			}
		}
		flat := b.String()
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
