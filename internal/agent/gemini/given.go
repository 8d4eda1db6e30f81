package gemini

import (
	"hash/fnv"
	"slices"

	"ccd/internal/transcript"
)

// maxGiven is how many items a decoder remembers. Only the last message is ever written again.
const maxGiven = 512

// seen are the items of the last messages, oldest first.
type seen []uint64

// given takes out of a message's items those that the message gave before: each change of it writes it whole again. A
// call and its result are known by the call's ID, all else by what it holds. What stands twice in one message stays.
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

// itemKey is 0 where nothing tells one item from another.
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
