package compactor

import (
	"cmp"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
	"ccd/internal/transcript"
)

// earlierPart is the compressed part: the ranges of all its records, and below each the lines that stand for what was
// worth one.
type earlierPart struct {
	text  string
	lines []*candidate // shown, in order
}

// candidate is a unit of the compression zone that may get a line in Earlier.
type candidate struct {
	unit       unit
	rec        int
	chars      int64 // of its items
	copies     int   // of the same content or, of a read, of the same file, that follow
	importance float64
	closed     bool // nothing hangs on it any more
	points     int64
	value      int // as worth gives it
	third      int // of the scores: 0 for the highest, whose forms are the shortest
	form       form
	line       string // "" while it is not shown
	merged     bool   // told by the line of another one
}

const (
	// maxCandidates bounds the units of the compression zone that may get a line: older ones stand under their range.
	maxCandidates = 20000

	maxMisses = 48 // units that do not fit, after which no more are tried
	minLine   = 40 // chars below which no line is tried

	// keptImportance is the importance above which an item is never compressed, as long as it fits.
	keptImportance = 0.75
)

// earlierLines renders the records before end into at most budget chars: the ranges first, then a short form for each
// unit that is worth one, then, in the order of the score, whole what need not be short.
func (d *draft) earlierLines(end, budget int) earlierPart {
	var p earlierPart
	if end == 0 {
		return p
	}
	ranges, markers, room := d.zoneRanges(end, budget)
	all := d.candidates(end)
	d.decideTalk(all, 4*max(0, room))
	room = d.shorten(all, room)
	room = d.lengthen(all, room)
	d.lengthen(all, room+d.merge(all, ranges))
	p.text, p.lines = d.listed(all, ranges, markers)
	return p
}

// shortForms is how many chars the ranges and the short forms alone would take of a budget.
func (d *draft) shortForms(end, budget int) int {
	if end == 0 {
		return 0
	}
	_, _, room := d.zoneRanges(end, budget)
	all := d.candidates(end)
	d.decideTalk(all, 4*max(0, room))
	return budget - d.shorten(all, room)
}

// zoneRanges gives the ranges of the records before end, their markers, and what these leave of a budget.
func (d *draft) zoneRanges(end, budget int) (ranges []stretch, markers []string, room int) {
	ranges = d.stretches((end+d.least-1)/d.least*d.least, d.ranges)
	for _, s := range ranges {
		m := "- " + d.rangeMarker(stretch{s.from, min(s.to, d.last)}) + "\n"
		markers = append(markers, m)
		budget -= lexicon.Chars(m)
	}
	return ranges, markers, budget
}

// candidates gives the units before end that may get a line, newest first, each with what its score is made of.
func (d *draft) candidates(end int) []*candidate {
	var all []*candidate
	seen := map[uint64]int{}
	count := func(i int32) int {
		row := d.row(i)
		n := 0
		if row.chars >= prose.DupChars {
			n = seen[row.key]
			seen[row.key]++
		}
		if row.op == transcript.Read && row.kind == transcript.Result && row.subject != 0 {
			n = max(n, seen[uint64(row.subject)])
			seen[uint64(row.subject)]++
		}
		return n
	}
	for rec := d.last - 1; rec >= d.c.records.from && len(all) < maxCandidates; rec-- {
		units := d.units(rec)
		for n := len(units) - 1; n >= 0; n-- {
			u := units[n]
			c := &candidate{unit: u, rec: rec, chars: int64(d.row(u.first).chars), copies: count(u.first)}
			if u.result >= 0 {
				c.copies = max(c.copies, count(u.result))
				c.chars += int64(d.row(u.result).chars)
			}
			if rec < end && d.lined(u) {
				c.importance = d.importance(u.first)
				if u.result >= 0 {
					c.importance = max(c.importance, d.importance(u.result))
				}
				c.closed = d.isClosed(u)
				c.points, c.value = d.score(c), d.worth(c)
				all = append(all, c)
			}
		}
	}
	d.thirds(all)
	return all
}

// lined reports whether a unit of this kind may get a line in Earlier.
func (d *draft) lined(u unit) bool {
	row := d.row(u.first)
	return !hidden(row.kind) && row.kind != transcript.Human && row.op != transcript.Plan && u.first != d.notes.answer && d.notes.turns[u.first] == nil
}

// isClosed reports whether nothing hangs on a unit any more: a failure made good since, a sub-agent that reported.
func (d *draft) isClosed(u unit) bool {
	if u.result < 0 {
		return false
	}
	row := d.row(u.result)
	if row.op == transcript.Agent {
		return true
	}
	if !row.has(failed) || row.has(rejected) {
		return false
	}
	return !d.c.tables.isOpen(u.result)
}

// thirds divides the units by their score. The highest scores give way most.
func (d *draft) thirds(all []*candidate) {
	if !d.c.o.on("score") {
		return
	}
	by := slices.Clone(all)
	slices.SortStableFunc(by, func(a, b *candidate) int { return cmp.Compare(b.points, a.points) })
	for n, c := range by {
		c.third = 3 * n / len(by)
	}
}

// shorten gives units their short forms, those worth most first, while they fit; what is left of room comes back.
func (d *draft) shorten(all []*candidate, room int) int {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(b.unit.first, a.unit.first))
	})
	misses := 0
	for _, c := range order {
		if room < minLine || misses > maxMisses || d.err != nil {
			break
		}
		f, line := d.fittingLine(c, room)
		switch {
		case line != "":
			c.form, c.line = f, line
			room -= cost(line, f)
			d.show(c.unit.first)
			d.show(c.unit.result)
		case f.line != "":
			misses++
		}
	}
	return room
}

// lengthen puts whole content in place of short forms, in the order of the score, the lowest first: what no strategy is
// due for, then the rest. What is left of room comes back.
func (d *draft) lengthen(all []*candidate, room int) int {
	if !d.c.o.on("score") {
		return room
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b *candidate) int { return cmp.Compare(a.points, b.points) })
	misses := 0
	for _, c := range order {
		if room < minLine || misses > maxMisses || d.err != nil {
			break
		}
		if c.line == "" || c.merged || c.form.quote != "" || c.form.kind == "kept" || c.form.kind == "" || c.form.kind == "dup" {
			continue
		}
		v := d.detailOf(c)
		v.whole = true
		f := d.form(c.unit, v)
		line := lexicon.Head(f.line, maxLine) + "\n" + f.quote
		if n := cost(line, f) - lexicon.Chars(c.line); f.quote == "" && f.kind != "kept" || n > room {
			misses++
		} else {
			c.form, c.line = f, line
			room -= n
		}
	}
	return room
}

// fittingLine is the short form of a unit and its text, terse where it does not fit otherwise; no text where it does
// not fit at all.
func (d *draft) fittingLine(c *candidate, room int) (form, string) {
	var f form
	for _, v := range []detail{d.detailOf(c), terse} {
		v.kept = d.standMost()
		f = d.checked(c, d.form(c.unit, v), v)
		if line := lexicon.Head(f.line, maxLine) + "\n" + f.quote; f.line != "" && cost(line, f) <= room {
			return f, line
		}
	}
	return f, ""
}

// detailOf is how much of a unit its short form shows: less of those with a high score, and less at a hard level.
func (d *draft) detailOf(c *candidate) detail {
	v := details[c.third]
	v.text = min(max(int(float64(c.chars)*v.keep), wholeText), d.c.o.SummaryChars)
	v.whole = c.importance > keptImportance
	return v.at(d.level)
}

// listed joins what is shown: each range, and below it the lines of its records.
func (d *draft) listed(all []*candidate, ranges []stretch, markers []string) (string, []*candidate) {
	var b strings.Builder
	var shown []*candidate
	i := len(all) - 1 // they come newest first
	for n, s := range ranges {
		b.WriteString(markers[n])
		for ; i >= 0 && all[i].rec < s.to; i-- {
			if all[i].line != "" {
				b.WriteString(all[i].line)
				shown = append(shown, all[i])
			}
		}
	}
	return b.String(), shown
}
