package compactor

import (
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// checked is a unit's short form, or its original where the form does not hold what must never be elided: the status of
// what failed, and the first line that tells why.
func (d *draft) checked(c *candidate, f form, v detail) form {
	i := c.unit.result
	if i < 0 || f.line == "" || f.kind == "dup" || f.quote != "" || !d.row(i).has(failed) || d.row(i).has(rejected) {
		return f
	}
	text := d.outcome(i).Text
	lines, _ := lexicon.ErrorLines(text, 1, false)
	if len(lines) == 0 || strings.Contains(f.line, mark.Inline(lexicon.Head(lines[0], v.err/2), v.err)) && strings.Contains(f.line, d.status(i)) {
		return f
	}
	d.fell.add(FallbackVerify, 1)
	start, _, _ := strings.Cut(f.line, d.status(i))
	return form{line: start + d.status(i), quote: mark.Quote("  ", text)}
}
