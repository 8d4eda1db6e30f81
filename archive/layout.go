package archive

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// A generation that shares bytes with the previous one stores only the differences: both use the same stream, the
// track, and new bytes are appended to it. The layout of a generation says where in the track its bytes are. It is
// stored as edits of the previous generation's layout, and in full every maxEdited generations, so that the stored
// layout of a rewrite is small however often the file was rewritten.
const (
	maxEdited  = 32   // generations between two full layouts
	maxExtents = 4096 // of a layout; beyond that the generation is stored in full
)

// extent is a contiguous stretch of a generation's bytes.
type extent struct {
	Off int64 // in the generation
	At  int64 // in its track
	Len int64
}

func (e extent) end() int64 { return e.Off + e.Len }

// layout lists where the bytes of a generation are, in order and without gaps.
type layout []extent

// find returns the extent that contains the byte at off, which must exist.
func (l layout) find(off int64) extent {
	i, found := slices.BinarySearchFunc(l, off, func(e extent, off int64) int { return cmp.Compare(e.Off, off) })
	if !found {
		i--
	}
	return l[i]
}

// size returns the number of bytes that the layout covers.
func (l layout) size() int64 {
	if len(l) == 0 {
		return 0
	}
	return l[len(l)-1].end()
}

// add appends n bytes that are in the track at at.
func (l layout) add(at, n int64) layout {
	if i := len(l) - 1; i >= 0 && l[i].At+l[i].Len == at {
		l[i].Len += n
	} else if n > 0 {
		l = append(l, extent{l.size(), at, n})
	}
	return l
}

// edit is the next stretch of a generation: bytes of the track or, if copied, of the previous generation.
type edit struct {
	At, Len int64
	copied  bool
}

// addEdit appends an edit.
func addEdit(edits []edit, copied bool, at, n int64) []edit {
	if i := len(edits) - 1; i >= 0 && edits[i].copied == copied && edits[i].At+edits[i].Len == at {
		edits[i].Len += n
	} else if n > 0 {
		edits = append(edits, edit{at, n, copied})
	}
	return edits
}

// apply returns the layout that results from edits of l.
func (l layout) apply(edits []edit) (next layout, err error) {
	for _, e := range edits {
		if !e.copied {
			next = next.add(e.At, e.Len)
			continue
		}
		if e.At < 0 || e.At+e.Len > l.size() {
			return nil, fmt.Errorf("layout: bytes %d to %d of %d", e.At, e.At+e.Len, l.size())
		}
		for at, left := e.At, e.Len; left > 0; {
			from := l.find(at)
			n := min(left, from.end()-at)
			next = next.add(from.At+at-from.Off, n)
			at, left = at+n, left-n
		}
	}
	return next, nil
}

// edits returns the layout as edits that copy nothing.
func (l layout) edits() (all []edit) {
	for _, e := range l {
		all = append(all, edit{At: e.At, Len: e.Len})
	}
	return all
}

// appendEdits appends the encoded edits. Each is its length shifted by one bit, with the low bit for copied, and its
// position relative to the end of the last edit of the same kind.
func appendEdits(b []byte, edits []edit) []byte {
	var ends [2]int64
	for _, e := range edits {
		kind := 0
		if e.copied {
			kind = 1
		}
		b = binary.AppendUvarint(b, uint64(e.Len)<<1|uint64(kind))
		b = binary.AppendVarint(b, e.At-ends[kind])
		ends[kind] = e.At + e.Len
	}
	return b
}

func parseEdits(b []byte) (edits []edit, err error) {
	var ends [2]int64
	d := varints{b: b}
	for len(d.b) > 0 {
		n := d.uint()
		kind := n & 1
		at := ends[kind] + d.int()
		length := int64(n >> 1)
		if d.err != nil || length == 0 || at < 0 || at+length < at {
			return nil, errors.New("layout cannot be decoded")
		}
		ends[kind] = at + length
		edits = addEdit(edits, kind == 1, at, length)
	}
	return edits, d.err
}

// getLayout returns the layout of a generation, and how many generations back the last full one is.
func getLayout(tx *bolt.Tx, num uint64, n int, g generationRecord) (l layout, depth int, err error) {
	if g.Track == n {
		return layout(nil).add(0, g.Offset), 0, nil
	}
	// The edits to apply, newest first.
	chain := []generationRecord{g}
	for !chain[depth].Full {
		depth++
		before, err := mustGeneration(tx, newStream(num, n-depth))
		if err == nil && (depth > 2*maxEdited || before.Track != g.Track) {
			err = fmt.Errorf("layout: generation %d does not lead to a full one", n-depth)
		}
		if err != nil {
			return nil, 0, err
		}
		if chain = append(chain, before); before.Track == n-depth {
			l = l.add(0, before.Offset)
			chain = chain[:depth]
			break
		}
	}
	for _, g := range slices.Backward(chain) {
		if l, err = l.apply(g.Edits); err == nil && l.size() != g.Offset {
			err = fmt.Errorf("layout covers %d bytes of %d", l.size(), g.Offset)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return l, depth, nil
}
