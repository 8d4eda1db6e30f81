package unit

import (
	"math"
	"slices"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/plan"
	"ccd/internal/transcript"
)

// The share of a text that Recent may take: a quarter of a roomy text, less if room is short.
const (
	recentMost = 4
	noRecent   = 8000  // chars up to which a text has no Recent
	roomy      = 40000 // chars from which Recent may take its whole share
	leastCut   = 140   // chars; a record is not cut below this
)

// recent adds the newest records verbatim, one record more at each level. It sets w.until to the first of them, or to the first
// that the reader has in full anyway.
func (w *writer) recent() {
	from, last := w.f.Records()
	w.until = last
	if w.Brief || w.First > 0 {
		if w.First > 0 {
			w.until = min(last, w.First-1)
		}
		return
	}
	limit := max(w.recentStart(), w.Begin)
	room := w.Room / recentMost * min(max(w.Room-noRecent, 0), roomy-noRecent) / (roomy - noRecent)
	var blocks []string // newest first, as are rows
	var rows []int32
	var upTo []int // how many of rows each level shows
	for rec := last - 1; rec >= max(limit, from) && w.Err == nil; rec-- {
		block := w.verbatimRecord(rec, w.most)
		for m := min(w.most, room); w.Size(block.Text) > room && m >= leastCut; m = m * 7 / 8 {
			block = w.verbatimRecord(rec, m)
		}
		if w.Size(block.Text) > room {
			break
		}
		room -= w.Size(block.Text)
		w.until = rec
		if block.Text != "" {
			blocks, rows = append(blocks, block.Text), append(rows, block.Rows...)
			upTo, w.starts = append(upTo, len(rows)), append(w.starts, rec)
		}
	}
	if len(blocks) == 0 {
		return
	}
	u := &plan.Unit{Section: Recent, Kind: "recent", Pool: &plan.Pool{Most: func(room int) int { return room / recentMost }}}
	begins := make([]int, len(blocks)) // where the text of each level begins in that of the last one
	at := 0
	for n := len(blocks) - 1; n >= 0; n-- {
		begins[n] = at
		at += len(blocks[n])
	}
	slices.Reverse(blocks)
	text := strings.Join(blocks, "")
	for n := range begins {
		u.Worth = append(u.Worth, worthVerb*fresh(n/8))
	}
	u.Form = func(level int) plan.Form {
		return plan.Form{Text: text[begins[level]:], Strategy: "recent", Rows: rows[:upTo[level]:upTo[level]]}
	}
	w.add(u)
}

// Begins returns the first record under Recent at a level. At a level below 0 there is none.
func (s *Set) Begins(level int) int {
	if _, last := s.w.f.Records(); level < 0 || level >= len(s.w.starts) {
		return last
	}
	return s.w.starts[level]
}

// recentStart returns the first record of what should be kept verbatim: the newest share of the context, at least the last
// messages, and the tool results of the last minutes. If room is short, older ones are left out.
func (w *writer) recentStart() int {
	share := int64(w.o.RecentShare * float64(w.heldChars()))
	young := w.youngResults(w.o.RecentResults.Milliseconds())
	start, _ := w.f.Held()
	first, rec := w.f.Records()
	var chars int64
	messages := 0
	for ; rec > first; rec-- {
		from, to := w.f.Items(rec - 1)
		if from < to && messages >= w.o.RecentMessages && (rec-1 < start || chars >= share && rec-1 < young) {
			break
		}
		chars += w.cappedChars(from, to)
		for i := from; i < to; i++ {
			if row := w.row(i); !row.Has(fold.Side) && row.Has(fold.Opens) {
				messages++
			}
		}
	}
	return rec
}

// cappedChars returns the chars of items [from, to), counting of each at most what one thing may take, so that the rest of
// one huge item, which is never shown, does not push others out.
func (w *writer) cappedChars(from, to int32) int64 {
	var sum int64
	for i := from; i < to; i++ {
		if row := w.row(i); !row.Has(fold.Side) {
			sum += int64(min(int(row.Chars), w.most))
		}
	}
	return sum
}

// heldChars returns the chars in the agent's context, counting of each item at most what one thing may take.
func (w *writer) heldChars() int64 {
	var sum int64
	start, preserved := w.f.Held()
	for _, rec := range preserved {
		sum += w.cappedChars(w.f.Items(int(rec)))
	}
	first, last := w.f.Records()
	if rec := max(start, first); rec < last {
		from, _ := w.f.Items(rec)
		_, to := w.f.Rows()
		sum += w.cappedChars(from, to)
	}
	return sum
}

// maxPause is how much of the time between two records counts toward the age of a result, in milliseconds. Work ages by what
// is done since, not by the hours that a person is away.
const maxPause = 30 * 1000

// youngResults returns the first record with a tool result younger than limit milliseconds, or the number of records if there
// is none. A record with items but no time ends the search.
func (w *writer) youngResults(limit int64) int {
	start, _ := w.f.Held()
	oldest, first := w.f.Records()
	var age, later int64
	for rec := first - 1; rec >= max(start, oldest); rec-- {
		from, to := w.f.Items(rec)
		if t := w.f.Milli(rec); t != 0 {
			if later != 0 {
				age += max(0, min(later-t, maxPause))
			}
			later = t
		}
		if from < to && (w.f.Milli(rec) == 0 || age > limit) {
			break
		}
		for i := from; i < to; i++ {
			if row := w.row(i); row.Kind == transcript.Result && !row.Has(fold.Side) {
				first = rec
			}
		}
	}
	return first
}

// Whole returns the session verbatim, with ranges for items that are never shown.
func Whole(s *Source) string {
	w := &writer{Source: s, most: math.MaxInt32, plainly: true}
	w.Room, w.level = math.MaxInt32, s.f.Level()
	w.turns = w.divide()
	from, last := s.f.Records()
	if from > 0 {
		return ""
	}
	w.turns = w.divide() // the message after a plan shows what became of it
	var b strings.Builder
	shown := map[int32]bool{}
	for rec := range last {
		block := w.verbatimRecord(rec, w.most)
		b.WriteString(block.Text)
		for _, i := range block.Rows {
			shown[i] = true
		}
	}
	first, to := s.f.Rows()
	for i := first; i < to; i++ {
		if !shown[i] {
			for _, r := range stretches(last, block, 8) {
				b.WriteString("Whole, with what is not shown here: " + w.rangeMarker(r, false) + "\n")
			}
			break
		}
	}
	return b.String()
}
