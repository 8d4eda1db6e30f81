package compactor

import (
	"strings"
)

// earlierPart is the compressed part: range markers, and below those of the newest records their lines.
type earlierPart struct {
	text   string
	detail int // first record whose lines are shown, a multiple of block
	saved  []form
}

// earlierLines renders the records before end into at most budget chars: lines as long as they fit, newest first,
// each block of them below the marker of its range, and ever larger ranges for what lies before.
func (d *draft) earlierLines(end, budget int) earlierPart {
	p := earlierPart{detail: (end + block - 1) / block * block}
	var blocks []string
	used := 0
	for b := (end - 1) / block; b >= 0 && end > 0 && d.err == nil; b-- {
		from, to := b*block, min(b*block+block, end)
		marker := "- " + d.rangeMarker(stretch{from, min(from+block, d.last)}) + "\n"
		room := budget - used - runes(marker) - d.rangesCost(from)
		if room < 0 {
			break
		}
		v := full
		if used > budget/2 {
			v = terse
		}
		lines, forms, all := d.blockLines(from, to, v.at(d.level), room)
		if !all && used <= budget/2 {
			if l, f, ok := d.blockLines(from, to, terse.at(d.level), room); ok || len(f) > len(forms) {
				lines, forms, all = l, f, ok
			}
		}
		blocks = append(blocks, marker+lines)
		used += runes(marker) + runes(lines)
		p.saved = append(p.saved, forms...)
		p.detail = from
		if !all {
			break
		}
	}
	var b strings.Builder
	if p.detail > 0 && end > 0 {
		for _, s := range cut(min(p.detail, d.last)) {
			b.WriteString("- " + d.rangeMarker(s) + "\n")
		}
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		b.WriteString(blocks[i])
	}
	p.text = b.String()
	return p
}

// rangesCost is about how many chars the markers of the records before one take.
func (d *draft) rangesCost(to int) int { return 75 * len(cut(to)) }

// blockLines renders the units of a block, newest first, while they fit; all reports that none is missing.
func (d *draft) blockLines(from, to int, v detail, room int) (text string, forms []form, all bool) {
	var lines []string
	for rec := to - 1; rec >= from && d.err == nil; rec-- {
		units := d.units(rec)
		for n := len(units) - 1; n >= 0; n-- {
			f := d.form(units[n], v)
			if f.line == "" {
				continue
			}
			line := head(f.line, maxLine)
			if runes(line)+1 > room {
				return joinBack(lines), forms, false
			}
			room -= runes(line) + 1
			lines = append(lines, line)
			forms = append(forms, f)
			d.show(units[n].first)
			d.show(units[n].result)
		}
	}
	return joinBack(lines), forms, true
}

// joinBack joins lines that were collected from the last to the first.
func joinBack(lines []string) string {
	var b strings.Builder
	for i := len(lines) - 1; i >= 0; i-- {
		b.WriteString(lines[i] + "\n")
	}
	return b.String()
}
