package transcript

// maxChain is how many records of a chain are remembered that a later one may hang on.
const maxChain = 1024

// Chain follows records each of which names the one before it. A person who goes back to an earlier message hangs the
// next one there: what stood behind it is taken back.
type Chain struct {
	links []link // a ring, oldest at next
	next  int
	turns int // messages of the person that count
}

type link struct {
	record uint64 // hash of its UUID
	turns  int    // with it
}

// Add takes the next record. Typed is whether a person typed it. It returns how many turns the record takes back.
func (c *Chain) Add(uuid, parent string, typed bool) (back int) {
	if uuid == "" {
		return 0
	}
	if typed {
		if turns, ok := c.find(parent); ok && turns < c.turns {
			back, c.turns = c.turns-turns, turns
		}
		c.turns++
	}
	c.put(uuid)
	return back
}

// Return takes a record by which a person goes back to another one, to the beginning where that has no UUID. It returns
// how many turns that takes back.
func (c *Chain) Return(uuid, to string) (back int) {
	if turns, ok := c.find(to); (ok || to == "") && turns < c.turns {
		back, c.turns = c.turns-turns, turns
	}
	c.put(uuid)
	return back
}

func (c *Chain) put(uuid string) {
	one := link{callKey(uuid), c.turns}
	if len(c.links) < maxChain {
		c.links = append(c.links, one)
		return
	}
	c.links[c.next] = one
	c.next = (c.next + 1) % maxChain
}

// find returns how many turns stood with a record, of several of its UUID the last.
func (c *Chain) find(uuid string) (turns int, ok bool) {
	if uuid == "" {
		return 0, false
	}
	key := callKey(uuid)
	for n := range c.links {
		if l := c.links[(c.next+len(c.links)-1-n)%len(c.links)]; l.record == key {
			return l.turns, true
		}
	}
	return 0, false
}
