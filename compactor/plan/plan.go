// Package plan chooses the contents of a text.
//
// It is a pure function of units, a room, and the reader's measure of length. It knows nothing of sessions, files and
// Markdown. Invariant: whatever it chooses for a room it also chooses for twice that room.
package plan

import (
	"cmp"
	"slices"
)

// Unit is one thing that a text can contain. Each of its levels contains everything in the level before, and more.
type Unit struct {
	Section int // its section
	Turn    int // of the conversation; 0 elsewhere
	Order   int // its position in the section or turn
	Kind    string
	Seen    int   // the first level at which its key fact is visible
	Must    bool  // its first level is tried before any second level, although a pool may reject it
	Pool    *Pool // a further limit besides the room, except for excerpts; may be nil

	// Worth is the value per char of each level, one entry per level.
	Worth []float64
	// Excerpt is the first level that is an excerpt of an original with its own ID; 0 if none is. Such levels are chosen only
	// while the text is shorter than Room.Excerpts.
	Excerpt int
	// Form makes the text of a level. It is called when the level may be chosen, and not again before Forget.
	Form func(level int) Form

	made []*formed // the forms made so far, by level
	lost int       // how many of its last levels may no longer be chosen
}

// formed is a form that was made.
type formed struct {
	Form
	size int    // of its text
	flat string // its text as DropRepeats compares it, "" before the first use
}

// form returns the form of a level.
func (u *Unit) form(level int, size func(string) int) *formed {
	for len(u.made) <= level {
		u.made = append(u.made, nil)
	}
	if u.made[level] == nil {
		f := u.Form(level)
		u.made[level] = &formed{Form: f, size: size(f.Text)}
	}
	return u.made[level]
}

// Forget drops the forms of a unit, so that the next plan makes them again.
func (u *Unit) Forget() { u.made = nil }

// Restore gives a unit the levels back that DropRepeats removed.
func (u *Unit) Restore() { u.lost = 0 }

// Levels returns how many levels may be chosen.
func (u *Unit) Levels() int { return len(u.Worth) - u.lost }

// Form is a unit at one level.
type Form struct {
	Text     string  // whole lines; "" if this level adds nothing
	Shows    string  // its key fact, which is visible if the text contains it
	Strategy string  // the strategy that made it, "" if none
	Saved    int     // chars saved compared with the original
	Rows     []int32 // rows that it contains in full
}

// Pool is a limit that some units share.
type Pool struct {
	Most func(room int) int // the limit in chars for a room
	Soft bool               // ignored in the last round of a step, when nothing else is left to add
	used int
}

// left returns how many chars a pool has left for a room.
func (p *Pool) left(room int) int { return p.Most(room) - p.used }

func (u *Unit) isExcerpt(level int) bool { return u.Excerpt > 0 && level >= u.Excerpt }

// Choice is a unit and the form chosen for it.
type Choice struct {
	*Unit
	Form
	Level  int
	formed *formed
}

// Plan lists the chosen forms in the order of the text.
type Plan struct {
	Chosen []*Choice
	Left   []*Unit // units of which nothing was chosen
	Used   int     // chars
}

const (
	smallest  = 1000 // chars; a smaller room is not halved further
	leastStep = 40   // chars; a pool with less left is not tried
	misses    = 120  // consecutive levels that do not fit the room, after which no more are tried
	poolMiss  = 16   // the same for a pool, after which no more of it is tried
	builds    = 10   // times the room: chars of forms made for a plan, chosen or not
)

// Room is the maximum length of a text, in the reader's measure.
type Room struct {
	Most     int
	Frame    int // part of it for what surrounds the units
	Excerpts int // length from which no excerpt is added
}

// Choose fills a room. size returns the length of a text in the reader's measure, chars or bytes.
//
// It first chooses for half the room, recursively, then adds to that, so that a text for twice the room contains everything
// in this one. Each step adds what fits: first the first levels of Must units, then the next levels of all units, then what
// soft pools kept out, always the most valuable per char first. The units keep their forms for the next plan, which must have
// the same measure.
func Choose(units []*Unit, room Room, size func(string) int) Plan {
	c := chooser{size: size, frame: room.Frame, excerpts: room.Excerpts, at: make([]state, len(units)), all: make([]int32, len(units)), queues: make([]queue, 1)}
	nothing, places := &formed{}, map[*Pool]int32{}
	c.queues[0] = make(queue, 0, len(units))
	for i, u := range units {
		c.all[i] = int32(i)
		c.at[i] = state{Unit: u, formed: nothing}
		c.at[i].rise(-1)
		if u.Must {
			c.must = append(c.must, int32(i))
		}
		if u.Pool != nil {
			if places[u.Pool] == 0 {
				places[u.Pool] = int32(len(c.queues))
				c.queues = append(c.queues, nil)
			}
			c.at[i].pool, u.Pool.used = places[u.Pool], 0
			if u.Pool.Soft {
				c.soft = append(c.soft, int32(i))
			}
		}
	}
	c.fill(room.Most)
	return c.plan()
}

type chooser struct {
	size     func(string) int
	frame    int
	excerpts int
	at       []state // of each unit

	all, must, soft []int32 // the units, those that Must, those of soft pools
	queues          []queue // of a round: of levels that no pool limits, then those of each pool
	used            int
	built           int  // chars of all forms
	lifted          bool // soft pools no longer apply
}

// state is the choice for a unit so far.
type state struct {
	*Unit
	*formed
	worth float64 // of the next level
	level int32
	built int32 // how many of the unit's levels were counted as built
	pool  int32 // place of its pool's queue
	open  bool  // there is a next level
}

// rise makes level the chosen one, -1 for none.
func (a *state) rise(level int) {
	if a.level, a.open = int32(level), level+1 < a.Levels(); a.open {
		a.worth = a.Worth[level+1]
	}
}

func (c *chooser) fill(room int) {
	if room > 2*smallest {
		c.fill(room / 2)
	}
	c.built = 0
	room -= c.frame
	c.lifted = false
	c.round(room, c.must, true)
	c.round(room, c.all, false)
	c.lifted = true
	c.round(room, c.soft, false)
}

// free reports whether no pool limits the next level of a unit.
func (c *chooser) free(a *state) bool {
	return a.pool == 0 || a.isExcerpt(int(a.level)+1) || a.Pool.Soft && c.lifted
}

func (c *chooser) queue(a *state) *queue {
	if c.free(a) {
		return &c.queues[0]
	}
	return &c.queues[a.pool]
}

// best returns the queue with the most valuable step, nil if all are empty.
func (c *chooser) best() (q *queue) {
	for n := range c.queues {
		if other := &c.queues[n]; len(*other) > 0 && (q == nil || (*other)[0].before((*q)[0])) {
			q = other
		}
	}
	return q
}

// enqueue fills the queues with the next levels of units, or only with the first ones.
func (c *chooser) enqueue(units []int32, first bool) {
	for n := range c.queues {
		c.queues[n] = c.queues[n][:0]
	}
	for _, i := range units {
		if a := &c.at[i]; a.open && (a.level < 0 || !first) {
			q := c.queue(a)
			*q = append(*q, step{i, a.worth})
		}
	}
	for _, q := range c.queues {
		q.order()
	}
}

// round chooses levels of units, or only their first ones, most valuable first, while they fit.
func (c *chooser) round(room int, units []int32, first bool) {
	c.enqueue(units, first)
	full := make([]int, len(c.queues)) // consecutive levels for which a pool had no room
	for missed := 0; missed < misses && c.built < builds*max(room, smallest); {
		q := c.best()
		if q == nil {
			return
		}
		i := (*q)[0].unit
		a := &c.at[i]
		level, free := int(a.level)+1, c.free(a)
		if !free && (a.Pool.left(room) < leastStep || full[a.pool] >= poolMiss) {
			*q = (*q)[:0] // the pool limits all of them
			continue
		}
		q.pop()
		m := a.form(level, c.size)
		if int(a.built) <= level {
			a.built = int32(level) + 1
			c.built += m.size
		}
		cost := m.size - a.size
		switch {
		case m.Text == "": // this level adds nothing, but the next one may
			if level+1 < a.Levels() {
				a.rise(level)
				c.queue(a).push(step{i, a.worth})
			}
			continue
		case a.isExcerpt(level) && c.used+cost > c.excerpts:
			continue
		case !free && cost > a.Pool.left(room):
			full[a.pool]++
			continue
		case cost > room-c.used:
			missed++
			continue
		}
		missed = 0
		c.used += cost
		if !free {
			a.Pool.used += cost
			full[a.pool] = 0
		}
		a.formed = m
		if a.rise(level); a.open && !first {
			c.queue(a).push(step{i, a.worth})
		}
	}
}

func (c *chooser) plan() Plan {
	p := Plan{Used: c.used, Left: make([]*Unit, 0, len(c.at))}
	for i := range c.at {
		if a := &c.at[i]; a.Text == "" {
			p.Left = append(p.Left, a.Unit)
		} else {
			p.Chosen = append(p.Chosen, &Choice{a.Unit, a.formed.Form, int(a.level), a.formed})
		}
	}
	slices.SortStableFunc(p.Chosen, func(a, b *Choice) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Order, b.Order))
	})
	return p
}

// step is the next level of a unit.
type step struct {
	unit  int32
	worth float64
}

func (s step) before(t step) bool { return s.worth > t.worth || s.worth == t.worth && s.unit < t.unit }

// queue is a binary heap of steps, most valuable first.
type queue []step

// order makes a heap of any steps.
func (q queue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
}

func (q queue) sink(i int) {
	for s := q[i]; ; {
		below := 2*i + 1
		if below+1 < len(q) && q[below+1].before(q[below]) {
			below++
		}
		if below >= len(q) || s.before(q[below]) {
			q[i] = s
			return
		}
		q[i], i = q[below], below
	}
}

func (q *queue) push(s step) {
	*q = append(*q, s)
	i := len(*q) - 1
	for ; i > 0 && s.before((*q)[(i-1)/2]); i = (i - 1) / 2 {
		(*q)[i] = (*q)[(i-1)/2]
	}
	(*q)[i] = s
}

// pop removes the most valuable step.
func (q *queue) pop() {
	all := *q
	last := len(all) - 1
	all[0] = all[last]
	if *q = all[:last]; last > 0 {
		q.sink(0)
	}
}
