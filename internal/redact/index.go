package redact

// index finds entries by three bytes of a text, whose letters may be small or not.
type index[T any] struct {
	known [1 << 15 / 64]uint64 // a bit for each slot that has entries: most texts need only these few cache lines
	slots [1 << 15]uint16      // where the entries are, by a hash of the bytes: what it finds has to be compared
	all   [][]T
}

// slot returns where the first three bytes of a text are.
func slot[S string | []byte](text S) uint32 {
	k := (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16) | 0x202020
	return k * 0x9e3779b1 >> 17
}

func (x *index[T]) add(text string, entry T) {
	at := slot(text)
	if x.known[at/64]>>(at%64)&1 == 0 {
		x.known[at/64] |= 1 << (at % 64)
		x.slots[at] = uint16(len(x.all))
		x.all = append(x.all, nil)
	}
	x.all[x.slots[at]] = append(x.all[x.slots[at]], entry)
}

// of returns the entries of what may be the first three bytes of a text.
func (x *index[T]) of(text []byte) []T {
	at := slot(text)
	if x.known[at/64]>>(at%64)&1 == 0 {
		return nil
	}
	return x.all[x.slots[at]]
}

// fold makes letters small. It is applied to both sides of a comparison, so it may change other bytes too.
func fold(c byte) byte { return c | 0x20 }

func beginsWith(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if fold(text[i]) != fold(word[i]) {
			return false
		}
	}
	return true
}
