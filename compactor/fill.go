package compactor

import (
	"container/heap"
	"math"
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
	taken      bool
}

// The constants of the value.
const (
	baseValue  = 1.0  // of a part without new values
	headValue  = 2.5  // of a head that says something alone: a command and how it ended, a choice
	wordValue  = .8   // of a new word beside a new value
	pieceChars = 8    // that a piece costs besides its own
	saturation = 1000 // chars of an event, after which the next ones are worth half
	floorAge   = .3   // of the oldest event
	halfPlace  = .2   // share of the events after which the rest of the age is half
	halfTurns  = 15   // messages of the human after which the age is half
	focusValue = 20   // of a piece with a word of the focus
	announcing = .4   // of words that only announce what comes
	leastLeft  = 20   // chars
	shortIntro = 160  // chars of such words at most
	lineMark   = 3    // chars of a line end and its quote sign
)

// fill takes pieces by their value while they fit. Values only fall as the text says more, so an old value is an upper bound: the
// order is that of a greedy choice. known are the tokens that the reader has already.
type fill struct {
	pieces []*piece
	known  []bool
	left   int // chars
	lines  int // lines left
	queue  queue
	least  float64 // value of the last piece that was taken
}

// weight is the part of a piece's value that never changes.
func (p *piece) weight() float64 { return p.importance * p.event.age }

// gain returns what a piece adds to what the reader knows.
func (f *fill) gain(p *piece) float64 {
	n := baseValue
	switch {
	case p.alone:
		n = headValue
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
			n += wordValue
		}
	}
	return n * p.weight()
}

// value returns the value of a piece per char, and the chars that it costs.
func (f *fill) value(p *piece) (value float64, chars int) {
	gain, chars := f.gain(p), p.chars
	if h := p.event.head; p.order > 0 && !h.taken {
		gain += f.gain(h)
		chars += h.chars
	}
	return gain / float64(chars+pieceChars) / (1 + float64(p.event.shown)/saturation), chars
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
	f.lines -= 1 + p.to - p.from
	for _, v := range p.values {
		f.known[v] = true
	}
	for _, w := range p.words {
		f.known[w] = true
	}
}

// ageOf returns how much of its importance an event still has, by its place and by the messages of the human after it.
func ageOf(place float64, turnsAfter int) float64 {
	return (floorAge + (1-floorAge)*math.Exp2(-(1-place)/halfPlace)) * math.Exp2(-float64(turnsAfter)/halfTurns)
}

// sizeOf returns the chars of a part as it is printed.
func sizeOf(p *part) int { return utf8.RuneCountInString(p.text) + lineMark*(1+p.to-p.from) }

// candidate is a piece that may be taken, with the value that it had when it was last looked at.
type candidate struct {
	value float64
	piece *piece
}

// queue is a heap of candidates, the best first; of equal ones the earlier.
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
