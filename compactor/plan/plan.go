// Package plan chooses what a text says.
//
// It is a pure function: units, a room, and how long a text is to its reader. It knows nothing of sessions, files and
// Markdown. Its invariant: what it chooses for a room it also chooses for twice that room.
package plan

import (
	"cmp"
	"container/heap"
	"slices"
)

// Unit is one thing to say. It has levels, each of which says all that the one before says, and more.
type Unit struct {
	Section int // where it stands
	Turn    int // of the conversation; 0 elsewhere
	Order   int // its place in the section, or in the turn
	Kind    string
	Seen    int   // the level from which on its key fact is visible
	Must    bool  // its first level is tried before any second level; a pool may still refuse it
	Pool    *Pool // that it draws on beside the room, but for excerpts; may be nil

	// Worth is what a char of each level is worth. A unit has as many levels.
	Worth []float64
	// Excerpt is the first level that is an excerpt of what another ID gives whole; 0: none is. Such levels are chosen
	// only while the text is shorter than Room.Excerpts.
	Excerpt int
	// Form makes the text of a level. It is asked for when the level may be chosen, at most once in a plan.
	Form func(level int) Form
}

// Form is a unit at one level.
type Form struct {
	Text     string  // whole lines; "": nothing is gained by this level
	Shows    string  // what of it is a key fact: visible if it stands in the text
	Strategy string  // the strategy that made it, "" for none
	Saved    int     // chars that it saves of the original
	Rows     []int32 // what stands whole in it
}

// Pool is a part of the room that some units share.
type Pool struct {
	Most func(room int) int // chars, of a room
	Soft bool               // it holds only until nothing else is left to say
	used int
}

// left is how many chars a pool has left, of a room.
func (p *Pool) left(room int) int { return p.Most(room) - p.used }

func (u *Unit) isExcerpt(level int) bool { return u.Excerpt > 0 && level >= u.Excerpt }

// Choice is a unit and the form chosen for it.
type Choice struct {
	*Unit
	Form
	Level int
}

// Plan is what was chosen, in the order of the text.
type Plan struct {
	Chosen []*Choice
	Left   []*Unit // of which nothing was chosen
	Used   int     // chars
}

const (
	smallest  = 1000 // chars: a room that is not halved further
	leastStep = 40   // chars left in a pool below which nothing of it is tried
	misses    = 120  // levels in a row that do not fit, after which no more are tried
	poolMiss  = 16   // the same of a pool, after which no more of it are tried
	builds    = 10   // times the room: chars of forms that are made for a plan, chosen or not
)

// Room is what a text may take, as its reader counts.
type Room struct {
	Most     int
	Frame    int // of it, what stands around the units
	Excerpts int // length from which on no excerpt is added
}

// Choose fills a room. Size is the length of a text as its reader counts it, in chars or bytes.
//
// It first chooses for half the room, and so on down, then adds to that: so a smaller text never says what a larger one
// does not. In each step every unit that must stand gets its first level, those worth most first; then whatever is worth
// most by the char.
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
	at       []*Choice // by unit
	next     []*formed // of each unit, the next level if it was made and did not fit
	used     int
	made     int  // chars of all forms
	lifted   bool // soft pools hold no longer
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

// round chooses levels of the units that may have one, those worth most first, while they fit.
func (c *chooser) round(room int, may func(*Choice) bool) {
	var q queue
	for i, a := range c.at {
		if may(a) && a.Level+1 < len(a.Worth) {
			q = append(q, step{i, a.Worth[a.Level+1]})
		}
	}
	heap.Init(&q)
	full := map[*Pool]int{} // levels in a row that a pool had no room for
	for missed := 0; len(q) > 0 && missed < misses && c.made < builds*max(room, smallest); {
		s := heap.Pop(&q).(step)
		a := c.at[s.unit]
		free := a.isExcerpt(a.Level+1) || a.Pool == nil || a.Pool.Soft && c.lifted
		if !free && (a.Pool.left(room) < leastStep || full[a.Pool] >= poolMiss) {
			continue
		}
		m := c.form(s.unit, a.Level+1)
		switch {
		case m.form.Text == "" && a.Level+2 < len(a.Worth): // nothing is gained: the next one may
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

// form makes the form of a level, and tells what it costs beyond the level before.
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

// queue is a heap of steps, the one worth most first.
type queue []step

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].worth != q[j].worth {
		return q[i].worth > q[j].worth
	}
	return q[i].unit < q[j].unit
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(step)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
