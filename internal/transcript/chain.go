package transcript

// Chain follows records that each name their predecessor. If a person returns to an earlier message, the next message
// names that one, and the messages after it are taken back. A branch without a message of a person takes nothing back.
type Chain struct {
	links  recent[link]
	record int   // number of the current record
	turns  []int // records of the messages of the person that count, the newest maxChain
	gone   int   // older ones
}

// link is a record, and how many messages of the person count up to it.
type link struct{ record, turns int }

// Add processes the next record; typed says that a person typed it. It returns how many turns the record takes back,
// and the first record that it takes back with them, 0 if none.
func (c *Chain) Add(uuid, parent string, typed bool) (back, from int) {
	if typed {
		if l, ok := c.links.find(parent); ok && uuid != "" {
			back, from = c.cut(l.turns, l.record+1)
		}
		if c.turns = append(c.turns, c.record); len(c.turns) > 2*maxChain {
			c.turns, c.gone = append([]int(nil), c.turns[maxChain:]...), c.gone+maxChain
		}
	}
	if uuid != "" {
		c.links.put(uuid, link{c.record, c.count()})
	}
	return back, from
}

// Return processes a record with which a person returns to record to, or to the beginning if to is empty. It returns what
// Add does.
func (c *Chain) Return(uuid, to string) (back, from int) {
	if l, ok := c.links.find(to); ok || to == "" {
		back, from = c.cut(l.turns, l.record+1)
	}
	if uuid != "" {
		c.links.put(uuid, link{c.record, c.count()})
	}
	return back, from
}

// TakeBack takes back the last turns. It returns what Add does.
func (c *Chain) TakeBack(turns int) (back, from int) {
	return c.cut(c.count()-max(turns, 0), 0)
}

func (c *Chain) count() int { return c.gone + len(c.turns) }

// cut keeps the first n turns. The first record taken back is from, or that of the first such turn if it is earlier or from is 0.
func (c *Chain) cut(n, from int) (back, first int) {
	if back = c.count() - n; back <= 0 || len(c.turns) == 0 {
		return 0, 0
	}
	kept := max(0, n-c.gone)
	if first = c.turns[kept]; from > 0 {
		first = min(from, first)
	}
	c.turns, c.gone = c.turns[:kept], min(c.gone, n)
	return back, first
}
