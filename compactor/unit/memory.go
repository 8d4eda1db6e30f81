package unit

import (
	"ccd/compactor/fold"
	"ccd/internal/transcript"
)

// maxMemory bounds a Memory, in bytes.
const maxMemory = 4 << 20

// itemCost is the approximate memory of a read item besides its bytes, and timesRaw that of its bytes with what was derived
// from them.
const (
	itemCost = 400
	timesRaw = 3
)

// Memory keeps the items that the last text of a fold was made from, with what was derived from their bytes. The next text of
// the same fold shows most of them again: it reads and decodes only the others. The zero value is empty.
type Memory struct {
	items map[int32]*read
	size  int64
}

// Size returns the bytes that a Memory uses, about.
func (m *Memory) Size() int64 { return m.size }

// read is an item that was read.
type read struct {
	body
	at      transcript.Span
	key     uint64
	derived map[any]any // by derive's key
}

// of returns a row's item if it is still what the row says.
func (m *Memory) of(i int32, row *fold.Row, at transcript.Span) *read {
	if it := m.items[i]; it != nil && it.key == row.Key && it.at == at {
		return it
	}
	return nil
}

// take replaces the items by those that a text was made from, in the order of their first use, as many as there is room for.
func (m *Memory) take(items map[int32]*read, order []int32) {
	*m = Memory{items: make(map[int32]*read, len(order))}
	for _, i := range order {
		cost := itemCost + timesRaw*int64(len(items[i].raw))
		if m.size+cost <= maxMemory {
			m.items[i] = items[i]
			m.size += cost
		}
	}
}

// derive returns what from derives from the bytes of an item and key alone, and keeps it. Each use has a key type of its own.
// The result must not be changed.
func derive[T any](s *Source, i int32, key any, from func(raw []byte) T) T {
	it := s.item(i)
	if v, ok := it.derived[key]; ok {
		return v.(T)
	}
	v := from(it.raw)
	if it.derived == nil {
		it.derived = map[any]any{}
	}
	it.derived[key] = v
	return v
}
