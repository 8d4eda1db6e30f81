package compactor

import (
	"container/heap"
	"math"
	"time"
	"unicode/utf8"
)

// piece is the least that a text takes or leaves of an event: its head, or a part of what it says. A part brings its head and pays for
// it.
type piece struct {
	part
	tokens
	event      *event
	order      int // within the event; 0: the head
	chars      int
	importance float64
	alone      bool // of a head: it says something without a part
	focused    bool // it has a word of the focus, and does not age
	taken      bool
}

// formula has the numbers of the value. They are not options: changed by half they move recall by less than .01 (docs/PERFORMANCE.md has
// what each is worth).
type formula struct {
	part       float64 // of a part, without new values
	head       float64 // of a head that says something alone: a command and how it ended, a choice
	brought    float64 // importance of a head that only comes with a part
	word       float64 // of a new word, beside a new value
	opening    float64 // factor of the first sentence of what the human asked or refused
	effect     float64 // importance of the line that says what a turn changed
	focus      float64 // factor of a part with a word of the focus
	floor      float64 // age of the oldest event
	place      float64 // share of the events after which the rest of the age is half
	turns      float64 // messages of the human after which the age is half
	longAgo    float64 // least age of what is many hours old
	cost       int     // chars that a piece costs besides its own
	saturation float64 // chars of an event after which the next ones are worth half, if its class keeps no more
	whole      float64 // importance times age from which on an event comes before all others, 0: none does
}

// standard is the formula as measured.
func standard() formula {
	return formula{
		part: 1, head: 2, brought: .5, word: .8, opening: 2, effect: 4, focus: 20, floor: .3, place: .2, turns: 15, longAgo: .5, cost: 8,
		saturation: 1000,
	}
}

const (
	leastLeft = 20  // chars
	lineMark  = 3   // chars of a line end and its quote sign
	first     = 1e3 // is more than the value of any piece
)

// fill takes pieces by their value while they fit. Values only fall as the text says more, so an old value is an upper bound: the
// order is that of a greedy choice. known are the tokens that the reader has already.
type fill struct {
	formula
	pieces []*piece
	known  []bool
	left   int // chars
	lines  int // lines left
	queue  queue
	least  float64 // value of the last piece that was taken
}

// weight is the part of a piece's value that never changes.
func (f *fill) weight(p *piece) float64 {
	if p.focused {
		return p.importance * f.focus
	}
	return p.importance * p.event.age
}

// gain returns what a piece adds to what the reader knows.
func (f *fill) gain(p *piece) float64 {
	n := f.part
	switch {
	case p.alone:
		n = f.head
	case p.order == 0:
		n = 0
	}
	for _, v := range p.values {
		if !f.known[v] {
			n++
		}
	}
	for _, w := range p.words {
		if !f.known[w] {
			n += f.word
		}
	}
	return n * f.weight(p)
}

// value returns the value of a piece per char, and the chars that it costs.
func (f *fill) value(p *piece) (value float64, chars int) {
	gain, chars := f.gain(p), p.chars
	if h := p.event.head; p.order > 0 && !h.taken {
		gain += f.gain(h)
		chars += h.chars
	}
	value = gain / float64(chars+f.cost) / (1 + float64(p.event.shown)/max(f.saturation, float64(p.event.keeps)))
	if f.whole > 0 && p.event.importance()*p.event.age >= f.whole && p.event.shown < p.event.keeps {
		value += first
	}
	return value, chars
}

// run takes pieces until the room is full.
func (f *fill) run() {
	for _, p := range f.pieces {
		if p.order > 0 || p.alone {
			v, _ := f.value(p)
			f.queue = append(f.queue, candidate{v, p})
		}
	}
	heap.Init(&f.queue)
	for len(f.queue) > 0 && f.left > leastLeft {
		best := f.queue[0]
		now, chars := f.value(best.piece)
		if len(f.queue) > 1 && now < best.value-1e-12 {
			f.queue[0].value = now
			heap.Fix(&f.queue, 0)
			if f.queue[0].piece != best.piece {
				continue
			}
		}
		heap.Pop(&f.queue)
		if chars <= f.left && f.lines > 1 {
			f.take(best.piece, chars)
			f.least = now
		}
	}
}

func (f *fill) take(p *piece, chars int) {
	if h := p.event.head; !h.taken {
		f.say(h)
	}
	if !p.taken {
		f.say(p)
	}
	p.event.shown += chars
	f.left -= chars
}

func (f *fill) say(p *piece) {
	p.taken = true
	if r := p.event.row(); p.order == 0 || r.cut != nil && !r.prose { // words and names go on in a line
		f.lines -= 1 + p.to - p.from
	}
	for _, v := range p.values {
		f.known[v] = true
	}
	for _, w := range p.words {
		f.known[w] = true
	}
}

// age returns how much of its importance an event still has: by its place, by the messages of the human after it, and by the hours
// since, if half is the time after which such an event is half as important, 0 for none.
func (f *formula) age(place float64, turnsAfter int, since, half time.Duration) float64 {
	age := (f.floor + (1-f.floor)*math.Exp2(-(1-place)/f.place)) * math.Exp2(-float64(turnsAfter)/f.turns)
	if half > 0 && since > 0 {
		age *= max(f.longAgo, math.Exp2(-float64(since)/float64(half)))
	}
	return age
}

// sizeOf returns the chars of a part as it is printed.
func sizeOf(p *part) int { return utf8.RuneCountInString(p.text) + lineMark*(1+p.to-p.from) }

// candidate is a piece that may be taken, with the value that it had when it was last looked at.
type candidate struct {
	value float64
	piece *piece
}

// queue is a heap of candidates, the best first; of equal ones the earlier. Len, Less, Swap, Push and Pop are for container/heap.
type queue []candidate

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	if a.value != b.value {
		return a.value > b.value
	}
	if a.piece.event.index != b.piece.event.index {
		return a.piece.event.index < b.piece.event.index
	}
	return a.piece.order < b.piece.order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(candidate)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
