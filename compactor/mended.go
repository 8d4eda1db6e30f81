package compactor

import (
	"fmt"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// maxMended bounds the failures that are looked at.
const maxMended = 200

// mendedPart lists the failures that something later made good, newest first: what was tried, and what it said.
func (d *draft) mendedPart(budget int, open string) string {
	l := lines{room: budget - 60}
	seen := map[string]bool{}
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
		said, all := d.wrong(int32(i), terse)
		if said == "" || seen[said] || strings.Contains(open, said) {
			continue
		}
		seen[said] = true
		line := fmt.Sprintf("- #%d%s: %s", d.row(row.pair).record(), d.status(int32(i)), said)
		if !all && l.room > budget/2 {
			line += " " + mark.New(d.id(int32(i)), "output, "+bytesText(row.size()))
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
