// Package plan chooses the contents of a text.
//
// It is a pure function of units, a room, and the reader's measure of length. It knows nothing of sessions, files and
// Markdown. Invariant: whatever it chooses for a room it also chooses for twice that room.
package plan

import (
	"cmp"
	"container/heap"
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
	// Form makes the text of a level. It is called when the level may be chosen, at most once per plan.
	Form func(level int) Form
}

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
	Level int
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
// soft pools kept out, always the most valuable per char first.
func Choose(units []*Unit, room Room, size func(string) int) Plan {
	c := chooser{size: size, frame: room.Frame, excerpts: room.Excerpts, at: make([]*Choice, len(units)), next: make([]*formed, len(units))}
	for i, u := range units {
		c.at[i] = &Choice{Unit: u, Level: -1}
		if u.Pool != nil {
			u.Pool.used = 0
		}
	}
	c.fill(room.Most)
	return c.plan()
}

type chooser struct {
	size     func(string) int
	frame    int
	excerpts int
	at       []*Choice // choice of each unit
	next     []*formed // next level of each unit, if it was made and did not fit
	queue    queue     // buffer of a round
	used     int
	made     int  // chars of all forms
	lifted   bool // soft pools no longer apply
}

// formed is a form that was made.
type formed struct {
	level int
	form  Form
	cost  int
}

func (c *chooser) fill(room int) {
	if room > 2*smallest {
		c.fill(room / 2)
	}
	c.made = 0
	room -= c.frame
	c.lifted = false
	c.round(room, func(a *Choice) bool { return a.Must && a.Level < 0 })
	c.round(room, func(*Choice) bool { return true })
	c.lifted = true
	c.round(room, func(a *Choice) bool { return a.Pool != nil && a.Pool.Soft })
}

// round chooses levels of the units accepted by may, most valuable first, while they fit.
func (c *chooser) round(room int, may func(*Choice) bool) {
	q := c.queue[:0]
	for i, a := range c.at {
		if may(a) && a.Level+1 < len(a.Worth) {
			q = append(q, step{i, a.Worth[a.Level+1]})
		}
	}
	c.queue = q
	heap.Init(&q)
	full := map[*Pool]int{} // consecutive levels for which a pool had no room
	for missed := 0; len(q) > 0 && missed < misses && c.made < builds*max(room, smallest); {
		s := heap.Pop(&q).(step)
		a := c.at[s.unit]
		free := a.isExcerpt(a.Level+1) || a.Pool == nil || a.Pool.Soft && c.lifted
		if !free && (a.Pool.left(room) < leastStep || full[a.Pool] >= poolMiss) {
			continue
		}
		m := c.form(s.unit, a.Level+1)
		switch {
		case m.form.Text == "" && a.Level+2 < len(a.Worth): // this level adds nothing, but the next one may
			a.Level++
			c.next[s.unit] = nil
			heap.Push(&q, step{s.unit, a.Worth[a.Level+1]})
			continue
		case m.form.Text == "":
			continue
		case a.isExcerpt(m.level) && c.used+m.cost > c.excerpts:
			continue
		case !free && m.cost > a.Pool.left(room):
			full[a.Pool]++
			continue
		case m.cost > room-c.used:
			missed++
			continue
		}
		missed = 0
		c.used += m.cost
		if !free {
			a.Pool.used += m.cost
			full[a.Pool] = 0
		}
		a.Form, a.Level = m.form, m.level
		c.next[s.unit] = nil
		if a.Level+1 < len(a.Worth) && may(a) {
			heap.Push(&q, step{s.unit, a.Worth[a.Level+1]})
		}
	}
}

// form makes the form of a level and returns its cost beyond the level before.
func (c *chooser) form(unit, level int) *formed {
	if m := c.next[unit]; m != nil && m.level == level {
		return m
	}
	a := c.at[unit]
	m := &formed{level: level, form: a.Unit.Form(level)}
	n := c.size(m.form.Text)
	m.cost = n - c.size(a.Form.Text)
	c.made += n
	c.next[unit] = m
	return m
}

func (c *chooser) plan() Plan {
	p := Plan{Used: c.used}
	for _, a := range c.at {
		if a.Form.Text == "" {
			p.Left = append(p.Left, a.Unit)
		} else {
			p.Chosen = append(p.Chosen, a)
		}
	}
	slices.SortStableFunc(p.Chosen, func(a, b *Choice) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Order, b.Order))
	})
	return p
}

// step is the next level of a unit.
type step struct {
	unit  int
	worth float64
}

// queue is a heap of steps, most valuable first.
type queue []step

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool {
	if q[i].worth != q[j].worth {
		return q[i].worth > q[j].worth
	}
	return q[i].unit < q[j].unit
}

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(step)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
