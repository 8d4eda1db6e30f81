package compactor

import "ccd/internal/transcript"

// recentStart is the first record of what should stay verbatim: the newest part of the context's tokens, at least the
// last messages, and the tool results of the last minutes. The budget may still send the older ones away.
func (d *draft) recentStart(most int) int {
	o := d.c.o
	share := int64(o.RecentShare * float64(d.heldChars(most)))
	young := d.youngResults(o.RecentResults.Milliseconds())
	var chars int64
	messages := 0
	rec := d.last
	for ; rec > d.c.records.from; rec-- {
		from, to := d.c.items(rec - 1)
		wanted := messages < o.RecentMessages || (rec-1 >= d.c.held.start && (chars < share || rec-1 >= young))
		if !wanted && from < to {
			break
		}
		chars += d.cappedChars(from, to, most)
		for i := from; i < to; i++ {
			if row := d.c.rows.at(i); !row.has(side) && row.has(opens) {
				messages++
			}
		}
	}
	return rec
}

// cappedChars is the text of items [from, to), of each at most so many chars: what one huge item holds beyond what is
// ever shown of it must not push the others out.
func (d *draft) cappedChars(from, to, most int) int64 {
	var sum int64
	for i := from; i < to; i++ {
		if row := d.c.rows.at(i); !row.has(side) {
			sum += int64(min(int(row.chars), most))
		}
	}
	return sum
}

// heldChars is the text that the agent still holds, of each item at most so many chars.
func (d *draft) heldChars(most int) int64 {
	h := &d.c.held
	var sum int64
	for _, rec := range h.preserved {
		from, to := d.c.items(int(rec))
		sum += d.cappedChars(from, to, most)
	}
	if rec := max(h.start, d.c.records.from); rec < d.last {
		from, _ := d.c.items(rec)
		sum += d.cappedChars(from, d.c.rows.n, most)
	}
	return sum
}

// maxPause is how much of the time between two records counts, in milliseconds, where what is young is told: work grows
// old by what is done since, not by the hours that a person is away.
const maxPause = 30 * 1000

// youngResults is the first record that holds a tool result younger than so many milliseconds, in one stretch with the
// end.
func (d *draft) youngResults(limit int64) int {
	first := d.last
	var age, later int64
	for rec := d.last - 1; rec >= max(d.c.held.start, d.c.records.from); rec-- {
		from, to := d.c.items(rec)
		t := d.c.records.at(rec).milli()
		if t != 0 {
			if later != 0 {
				age += max(0, min(later-t, maxPause))
			}
			later = t
		}
		if from < to && (t == 0 || age > limit) {
			break
		}
		for i := from; i < to; i++ {
			if row := d.c.rows.at(i); row.kind == transcript.Result && !row.has(side) {
				first = rec
			}
		}
	}
	return first
}

// zoneChars is the text of the compression zone: everything before record rec.
func (d *draft) zoneChars(rec int) int64 {
	sum := d.c.past.chars
	to := d.c.rows.n
	if rec < d.last {
		to = d.c.records.place(rec).first
	}
	for i := d.c.rows.from; i < to; i++ {
		if row := d.c.rows.at(i); !row.has(side) {
			sum += int64(row.chars)
		}
	}
	return sum
}

// shares are the parts of the text's budget, in chars. From 40,000 chars up State takes at most 60 %; as the budget
// shrinks, Recent gives way first, then Earlier, then Files.
type shares struct {
	whole  int // of everything, the lead not counted
	state  int // at most
	recent int // at least, of what State leaves
	files  int // at most, of what State leaves
}

const (
	roomy  = 40000 // chars from which on the shares no longer change
	narrow = 10000 // chars at which State is still nearly whole
)

// divided divides a budget of b chars.
func divided(b int) shares {
	wide := float64(min(max(b-narrow, 0), roomy-narrow)) / (roomy - narrow) // 0..1
	s := shares{whole: b}
	s.state = int(float64(b) * (0.97 - 0.37*wide))
	s.recent = int(100 * 0.40 * wide)
	s.files = int(100 * (0.10 + 0.15*wide))
	return s
}

// verbatimChars is the text of the verbatim part: everything from record rec on.
func (d *draft) verbatimChars(rec int) int64 {
	var sum int64
	for r := max(rec, d.c.records.from); r < d.last; r++ {
		from, to := d.c.items(r)
		for i := from; i < to; i++ {
			if row := d.c.rows.at(i); !row.has(side) {
				sum += int64(row.chars)
			}
		}
	}
	return sum
}
