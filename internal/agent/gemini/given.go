package gemini

import (
	"hash/fnv"
	"slices"

	"ccd/internal/transcript"
)

// maxGiven is how many items a decoder remembers. It is enough because the client rewrites only the last message.
const maxGiven = 512

// seen lists the hashes of the last items, oldest first.
type seen []uint64

// given removes the items that an earlier version of the message already gave, because each change writes the message
// whole. A call and its result are identified by the call's ID, other items by their content. Duplicates within one
// message stay.
func given(d *transcript.Decoder, items []transcript.Item, message string) []transcript.Item {
	before, _ := d.State.(seen)
	now := slices.Clone(before)
	left := items[:0]
	for _, it := range items {
		key, isCall := itemKey(&it, message)
		if key == 0 {
			left = append(left, it)
			continue
		}
		if slices.Contains(before, key) || isCall && slices.Contains(now, key) {
			continue
		}
		left, now = append(left, it), append(now, key)
	}
	d.State = now[max(0, len(now)-maxGiven):]
	return left
}

// itemKey returns the key of an item, or 0 if nothing identifies it.
func itemKey(it *transcript.Item, message string) (key uint64, isCall bool) {
	h := fnv.New64a()
	isCall = it.Call != "" && it.Kind != transcript.Image
	switch {
	case isCall && it.Kind == transcript.Call:
		h.Write([]byte("call " + it.Call))
	case isCall:
		h.Write([]byte("result " + it.Call))
	case message == "":
		return 0, false
	default:
		h.Write([]byte(it.Kind.String() + " " + message + " "))
		h.Write(it.Raw)
	}
	return h.Sum64() | 1, isCall
}
