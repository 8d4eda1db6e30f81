package compactor

import (
	"ccd/internal/transcript"
)

// held is what the agent still holds: everything since its own last compaction, with what that preserved.
type held struct {
	start     int      // index of the first record
	preserved []uint32 // indices of records before start that are held all the same, ascending
	chars     int64    // of the items held
	total     int64    // of all items, those of inline sub-agents included
	last      []int64  // chars of the newest messages, a ring
	messages  int      // so far
	message   uint64   // hash of the name of the newest message, 0 where it has none
	kind      transcript.Kind
}

// maxPreserved bounds what a boundary may preserve, in records: agents preserve a handful.
const maxPreserved = 4096

// cut begins a new context with record rec.
func (h *held) cut(c *Compactor, rec int, b *transcript.Boundary) {
	var kept []uint32
	if !b.Replaced && len(b.Preserved) > 0 {
		kept = h.find(c, rec, b.Preserved)
	}
	h.start, h.preserved, h.chars = rec, kept, 0
	h.messages, h.message = 0, 0
	clear(h.last)
	for _, p := range kept {
		from, to := c.items(int(p))
		for i := from; i < to; i++ {
			if row := c.rows.at(i); !row.has(side) {
				h.chars += int64(row.chars)
			}
		}
	}
}

// find searches the records that the agent held for those with the given UUIDs, backward from the boundary.
func (h *held) find(c *Compactor, rec int, uuids []string) []uint32 {
	want := map[uint64]bool{}
	for _, u := range uuids[:min(len(uuids), maxPreserved)] {
		want[hashOf(u)] = true
	}
	var found []uint32
	take := func(i int) {
		if u := c.records.at(i).uuid; u != 0 && want[u] {
			delete(want, u)
			found = append(found, uint32(i))
		}
	}
	for i := rec - 1; i >= h.start && len(want) > 0; i-- {
		take(i)
	}
	for i := len(h.preserved) - 1; i >= 0 && len(want) > 0; i-- {
		take(int(h.preserved[i]))
	}
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	return found
}

// add counts an item and tells its row whether it opens a message.
func (h *held) add(it *transcript.Item, row *itemRow) {
	h.total += int64(row.chars)
	if it.Side {
		return
	}
	h.chars += int64(row.chars)
	if h.isNew(it) {
		row.flags |= opens
		h.last[h.messages%len(h.last)] = 0
		h.messages++
	}
	h.kind = it.Kind
	h.message = 0
	if it.Message != "" {
		h.message = hashOf(it.Message)
	}
	h.last[max(0, h.messages-1)%len(h.last)] += int64(row.chars)
}

// isNew reports whether an item begins another message: blocks of one reply are one message, and so are results that
// stand next to each other. What a machine adds belongs to the message that it stands beside.
func (h *held) isNew(it *transcript.Item) bool {
	switch {
	case h.messages == 0:
		return true
	case it.Kind == transcript.Meta || it.Kind == transcript.System:
		return false
	case it.Message != "":
		return h.message != hashOf(it.Message)
	case it.Kind == transcript.Result:
		return h.kind != transcript.Result
	}
	return true
}

// newest is the chars of the last messages, as many as the options call recent.
func (h *held) newest() int64 {
	var sum int64
	for _, n := range h.last {
		sum += n
	}
	return sum
}
