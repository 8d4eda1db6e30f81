package compactor

import (
	"fmt"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// mendedCmd is how much of a command is shown whose failure was made good, in chars.
const mendedCmd = 60

// maxMended bounds the failures that are looked at.
const maxMended = 200

// mendedPart lists the failures that something later made good, newest first: what was tried, and what it said.
func (d *draft) mendedPart(budget int, open string) string {
	l := lines{room: budget - 60}
	seen := map[string]bool{}
	v := full
	if d.narrow {
		v = terse
	}
	n := 0
	for i := d.c.rows.n - 1; i >= d.c.rows.from && n < maxMended && l.room > 60 && d.err == nil; i-- {
		row := d.c.rows.at(i)
		if row.kind != transcript.Result || !row.has(failed) || row.has(side|rejected) || row.pair < 0 {
			continue
		}
		if d.c.tables.isOpen(int32(i)) {
			continue
		}
		n++
		said := d.unsaid(int32(i), v, open, seen)
		if said == "" {
			continue
		}
		line := fmt.Sprintf("- #%d%s: %s", d.row(row.pair).record(), d.status(int32(i)), said)
		if a := d.action(row.pair); !d.narrow {
			line = fmt.Sprintf("- #%d %s%s: %s", d.row(row.pair).record(), d.label(d.row(row.pair), &a, mendedCmd), d.status(int32(i)), said)
		}
		if l.add(line + "\n") {
			d.fact("error", line, int32(i), false)
		}
	}
	return l.b.String()
}

// isOpen reports whether a failed result is one that nothing has made good.
func (t *tables) isOpen(result int32) bool {
	for e := t.errors.newest; e != nil; e = e.older {
		if e.value.result == result {
			return true
		}
	}
	return false
}

// unsaid is what a failure says that neither the open errors nor a newer failure have said.
func (d *draft) unsaid(i int32, v detail, open string, seen map[string]bool) string {
	text := d.outcome(i).Text
	lines, _ := lexicon.ErrorLines(text, 2*v.errors, false)
	if len(lines) == 0 {
		lines = lexicon.LastLines(text, 1)
	}
	var left []string
	for _, l := range lines {
		key := l
		if d.narrow {
			key = numberless(l)
		}
		if len(left) < v.errors && !seen[key] && !strings.Contains(open, mark.Inline(l, v.err)) {
			seen[key] = true
			left = append(left, l)
		}
	}
	return faults(left, 0, "", v)
}

// numberless is a line without its numbers: lines that differ in nothing else say the same again.
func numberless(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}
