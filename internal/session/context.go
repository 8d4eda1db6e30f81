package session

import (
	"slices"

	"ccd/internal/transcript"
)

// held tracks the agent's context: everything since its own last compaction, and what that preserved.
type held struct {
	start     int     // index of the first record
	named     []named // the newest records since then that have a UUID, and those preserved
	preserved []int32 // indices of preserved records before start, ascending
	chars     int64   // of the items in context
	fresh     int32   // of them, in the newest record
	total     int64   // of all items, including those of inline sub-agents
	last      []int64 // chars of the newest messages, a ring
	messages  int     // number so far
	message   uint64  // hash of the name of the newest message, 0 if it has none
	kind      transcript.Kind
}

// named is a record with the hash of its UUID.
type named struct {
	id    uint64
	rec   int32
	chars int32 // of its items in context
}

// maxNamed is how many records a boundary's UUIDs are searched in. Agents preserve only recent records.
const maxNamed = 16384

// name remembers the UUID of the newest record.
func (h *held) name(uuid string, rec int) {
	if uuid == "" {
		return
	}
	if len(h.named) == 2*maxNamed {
		h.named = h.named[:copy(h.named, h.named[maxNamed:])]
	}
	h.named = append(h.named, named{transcript.Hashed(uuid), int32(rec), h.fresh})
}

// maxPreserved is how many records a boundary may preserve. Agents preserve a handful.
const maxPreserved = 4096

// cut begins a new context with record rec.
func (h *held) cut(rec int, b *transcript.Boundary) {
	var kept []int32
	if !b.Replaced && len(b.Preserved) > 0 {
		kept = h.find(rec, b.Preserved)
	}
	h.forget(rec, kept)
	h.start, h.preserved, h.chars = rec, kept, 0
	h.messages, h.message = 0, 0
	clear(h.last)
	for _, n := range h.named { // those that are kept, and none since
		if int(n.rec) < rec {
			h.chars += int64(n.chars)
		}
	}
}

// InContext reports whether a record is in the agent's context: it came after the last compaction, or that preserved it.
func (t *Tracker) InContext(rec int32) bool {
	_, preserved := slices.BinarySearch(t.held.preserved, int32(rec))
	return preserved || int(rec) >= t.held.start
}

// find searches the records in context before record rec for the given UUIDs, the newest first.
func (h *held) find(rec int, uuids []string) []int32 {
	want := map[uint64]bool{}
	for _, u := range uuids[:min(len(uuids), maxPreserved)] {
		want[transcript.Hashed(u)] = true
	}
	var found []int32
	for i := len(h.named) - 1; i >= 0 && len(want) > 0; i-- {
		if n := h.named[i]; want[n.id] && int(n.rec) < rec {
			delete(want, n.id)
			found = append(found, n.rec)
		}
	}
	slices.Reverse(found)
	return found
}

// forget drops the UUIDs of the records before rec that are not kept.
func (h *held) forget(rec int, kept []int32) {
	h.named = slices.DeleteFunc(h.named, func(n named) bool {
		_, found := slices.BinarySearch(kept, n.rec)
		return int(n.rec) < rec && !found
	})
}

// add counts an item.
func (h *held) add(it *transcript.Item, chars int32) {
	if !it.Copy {
		h.total += int64(chars)
	}
	if it.Side {
		return
	}
	h.chars += int64(chars)
	h.fresh += chars
	if h.isNew(it) {
		h.last[h.messages%len(h.last)] = 0
		h.messages++
	}
	h.kind = it.Kind
	h.message = 0
	if it.Message != "" {
		h.message = transcript.Hashed(it.Message)
	}
	h.last[max(0, h.messages-1)%len(h.last)] += int64(chars)
}

// isNew reports whether an item begins a message. The blocks of one reply are one message, and so are adjacent results.
// What a program adds belongs to the message beside it.
func (h *held) isNew(it *transcript.Item) bool {
	switch {
	case h.messages == 0:
		return true
	case it.Kind == transcript.Meta || it.Kind == transcript.System:
		return false
	case it.Message != "":
		return h.message != transcript.Hashed(it.Message)
	case it.Kind == transcript.Result:
		return h.kind != transcript.Result
	}
	return true
}

// newest returns the chars of the last messages, as many as the options count as recent.
func (h *held) newest() int64 {
	var sum int64
	for _, n := range h.last {
		sum += n
	}
	return sum
}

// Compacted tells the model that the agent has just compacted its context, because a client may call a hook before it writes
// the boundary. If the agent has said or done something since the last boundary, none of the records so far is in its
// context any more.
func (s *Session) Compacted() {
	if s.held.start == 0 || s.spoke(s.held.start) {
		s.held.cut(s.Records(), &transcript.Boundary{})
	}
}

// spoke reports whether the agent said or did something in record rec or later.
func (s *Session) spoke(rec int) bool {
	for i := len(s.Events) - 1; i >= 0 && int(s.Events[i].Rec) >= rec; i-- {
		if k := s.Events[i].Kind; k == Said || k == Did {
			return true
		}
	}
	return false
}
