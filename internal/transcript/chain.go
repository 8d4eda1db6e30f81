package transcript

// Chain follows records that each name their predecessor. If a person returns to an earlier message, the next message
// names that one, and the messages after it are taken back.
type Chain struct {
	links  recent[link]
	record int // number of the current record
	turns  int // messages of the person that count
}

type link struct{ record, turns int }

// Add processes the next record; typed says that a person typed it. It returns how many turns the record takes back,
// and the number of the first record after its predecessor, 0 if unknown.
func (c *Chain) Add(uuid, parent string, typed bool) (back, from int) {
	if uuid == "" {
		return 0, 0
	}
	if typed {
		if l, ok := c.links.find(parent); ok {
			back, from = max(0, c.turns-l.turns), l.record+1
			c.turns -= back
		}
		c.turns++
	}
	c.links.put(uuid, link{c.record, c.turns})
	return back, from
}

// Return processes a record with which a person returns to record to, or to the beginning if to is empty. It returns
// how many turns that takes back.
func (c *Chain) Return(uuid, to string) (back int) {
	if l, ok := c.links.find(to); ok || to == "" {
		back = max(0, c.turns-l.turns)
		c.turns -= back
	}
	if uuid != "" {
		c.links.put(uuid, link{c.record, c.turns})
	}
	return back
}
