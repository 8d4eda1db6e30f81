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
		lines, forms, all := d.blockLines(from, to, room, budget)
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

// size is the detail of a line, by how many of budget chars are left for it and the older ones: it changes line by
// line, so that one more record moves few of them.
func size(room, budget int) detail {
	switch {
	case room >= budget*2/3:
		return ample
	case room >= budget/3:
		return full
	}
	return terse
}

// rangesCost is about how many chars the markers of the records before one take.
func (d *draft) rangesCost(to int) int { return 75 * len(cut(to)) }

// blockLines renders the units of a block, newest first, while they fit into room of budget chars; all reports that
// none is missing.
func (d *draft) blockLines(from, to, room, budget int) (text string, forms []form, all bool) {
	var lines []string
	for rec := to - 1; rec >= from && d.err == nil; rec-- {
		units := d.units(rec)
		for n := len(units) - 1; n >= 0; n-- {
			f, line := d.fittingLine(units[n], room, budget)
			if f.line == "" {
				continue
			}
			if line == "" {
				return joinBack(lines), forms, false
			}
			room -= runes(line)
			lines = append(lines, line)
			forms = append(forms, f)
			d.show(units[n].first)
			d.show(units[n].result)
		}
	}
	return joinBack(lines), forms, true
}

// fittingLine is the form of a unit and its text, terse where it does not fit otherwise; no text where it does not fit
// at all.
func (d *draft) fittingLine(u unit, room, budget int) (form, string) {
	var f form
	for _, v := range []detail{size(room, budget), terse} {
		f = d.form(u, v.at(d.level))
		if line := head(f.line, maxLine) + "\n" + f.quote; f.line != "" && runes(line) <= room {
			return f, line
		}
	}
	return f, ""
}

// joinBack joins lines that were collected from the last to the first.
func joinBack(lines []string) string {
	var b strings.Builder
	for i := len(lines) - 1; i >= 0; i-- {
		b.WriteString(lines[i])
	}
	return b.String()
}
