package archive

import (
	"encoding/binary"
	"errors"
)

var errCycle = errors.New("pages lead to each other")

// treeSound fails if a page of bbolt's newest tree is reached twice: bbolt would follow such pages until its stack has no room, which
// ends the process. It does not check what the pages have.
func (s *scan) treeSound() error {
	order, roots, newest := binary.NativeEndian, []uint64(nil), uint64(0)
	size := int64(0)
	for _, at := range []int64{0, 0x1000, 0x4000, 0x10000} { // the second meta page stands at the size of a page
		meta := s.read(nil, at, min(80, max(0, s.size-at)))
		if len(meta) == 80 && order.Uint32(meta[16:]) == 0xED0CDAED && order.Uint64(meta[64:]) >= newest {
			roots, newest, size = []uint64{order.Uint64(meta[32:])}, order.Uint64(meta[64:]), int64(order.Uint32(meta[24:]))
		}
	}
	for seen := map[uint64]bool{}; len(roots) > 0; {
		id := roots[len(roots)-1]
		if roots = roots[:len(roots)-1]; seen[id] {
			return errCycle
		}
		seen[id] = true
		if size == 0 || id >= uint64(s.size/size) {
			continue
		}
		at := int64(id) * size
		page := s.read(nil, at, min(size, s.size-at))
		if len(page) < 16 {
			continue
		}
		branch, count := order.Uint16(page[8:])&1 != 0, int64(order.Uint16(page[10:]))
		elements := s.read(nil, at+16, min(16*count, s.size-at-16))
		for ; len(elements) >= 16; elements, at = elements[16:], at+16 {
			switch {
			case branch:
				roots = append(roots, order.Uint64(elements[8:]))
			case order.Uint32(elements)&1 != 0: // a bucket: its root stands after its key, 0 for one inside the page
				value := at + 16 + int64(order.Uint32(elements[4:])) + int64(order.Uint32(elements[8:]))
				if root := s.read(nil, value, min(8, max(0, s.size-value))); len(root) == 8 && order.Uint64(root) != 0 {
					roots = append(roots, order.Uint64(root))
				}
			}
		}
	}
	return nil
}
