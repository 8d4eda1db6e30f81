package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// verdict is what preflight, or an open that panicked, found about the file.
type verdict struct {
	info os.FileInfo
	err  error
}

// preflight checks, at the first open, what bbolt would follow blindly into a stack overflow or a huge allocation,
// neither of which can be recovered from: cycles of branch pages, and the length of the freelist. Everything else that
// can be wrong with a page ends in an error or in a panic that guard takes up.
func (a *Archive) preflight(f *os.File, info os.FileInfo) error {
	v := a.known.Load()
	if v != nil && (v.err == nil || v.same(info)) {
		return v.err
	}
	err := a.checkPages(f, info.Size())
	a.known.Store(&verdict{info, err})
	return err
}

// condemn remembers that an open panicked: its mapping cannot be undone, so it must not be tried again and again. A
// file that has changed gets another chance.
func (a *Archive) condemn(info os.FileInfo, err error) { a.known.Store(&verdict{info, err}) }

func (v *verdict) same(info os.FileInfo) bool {
	return os.SameFile(v.info, info) && v.info.Size() == info.Size() && v.info.ModTime().Equal(info.ModTime())
}

func (a *Archive) checkPages(f *os.File, size int64) error {
	m, ok := readMeta(f)
	if !ok {
		return nil // bolt.Open says what is wrong
	}
	w := walker{r: f, page: int64(m.PageSize), pages: uint64(size / int64(m.PageSize)), branches: map[uint64]bool{}}
	err := w.freelist(m.Freelist)
	if err == nil {
		err = w.roots(m.Root)
	}
	if err == nil {
		err = w.leaves()
	}
	if err != nil {
		return a.damage("%w", err)
	}
	return nil
}

// bbolt's file format, version 2: pages begin with pageHeader, meta pages go on with metaPage; all in the byte order
// of the machine.
type pageHeader struct {
	ID       uint64
	Flags    uint16
	Count    uint16
	Overflow uint32
}

type metaPage struct {
	Magic, Version, PageSize, Flags uint32
	Root, RootSequence              uint64
	Freelist, Pages, Tx, Checksum   uint64
}

type branchElement struct {
	Pos, KeySize uint32
	Page         uint64
}

type leafElement struct {
	Flags, Pos, KeySize, ValueSize uint32
}

const (
	headerSize = 16
	branchFlag = 0x01
	leafFlag   = 0x02
	bucketFlag = 0x01
	bucketSize = 16 // of a bucket's own header, before an inline page
	boltMagic  = 0xED0CDAED
	noFreelist = ^uint64(0)
	maxDepth   = 64
)

// readMeta returns the meta page that bbolt will use, ok false where there is none.
func readMeta(r io.ReaderAt) (best metaPage, ok bool) {
	offsets := []int64{0, 4096, int64(os.Getpagesize())}
	for i := 0; i < len(offsets); i++ {
		buf := make([]byte, headerSize+64)
		if _, err := r.ReadAt(buf, offsets[i]); err != nil {
			continue
		}
		var m metaPage
		if _, err := binary.Decode(buf[headerSize:], binary.NativeEndian, &m); err != nil || m.Magic != boltMagic {
			continue
		}
		h := fnv.New64a()
		h.Write(buf[headerSize : headerSize+56])
		if h.Sum64() != m.Checksum || m.PageSize < 512 || m.PageSize > 1<<24 {
			continue
		}
		if i == 0 {
			offsets = []int64{0, int64(m.PageSize)}
		}
		if !ok || m.Tx > best.Tx {
			best, ok = m, true
		}
	}
	return best, ok
}

// walker goes through the branch pages of all trees: about one page in a hundred.
type walker struct {
	r        io.ReaderAt
	page     int64
	pages    uint64          // that the file has
	branches map[uint64]bool // seen
	last     []uint64        // what the lowest branches lead to: leaves, unless it is a branch seen
}

var errCycle = errors.New("branch pages lead in a circle")

func (w *walker) header(id uint64) (h pageHeader, err error) {
	if id < 2 || id >= w.pages {
		return h, fmt.Errorf("page %d is beyond the file", id)
	}
	buf := make([]byte, headerSize)
	if _, err := w.r.ReadAt(buf, int64(id)*w.page); err != nil {
		return h, fmt.Errorf("page %d: %w", id, err)
	}
	_, err = binary.Decode(buf, binary.NativeEndian, &h)
	if err == nil && h.ID != id {
		err = fmt.Errorf("page %d says that it is page %d", id, h.ID)
	}
	return h, err
}

// freelist checks that the list of free pages is not longer than the file.
func (w *walker) freelist(id uint64) error {
	if id == noFreelist {
		return nil
	}
	h, err := w.header(id)
	if err != nil || h.Count != 0xFFFF {
		return err
	}
	var buf [8]byte
	if _, err := w.r.ReadAt(buf[:], int64(id)*w.page+headerSize); err != nil {
		return fmt.Errorf("freelist: %w", err)
	}
	if n := binary.NativeEndian.Uint64(buf[:]); n > w.pages {
		return fmt.Errorf("freelist of %d pages in a file of %d", n, w.pages)
	}
	return nil
}

// roots walks the tree of the buckets, and each bucket's tree.
func (w *walker) roots(root uint64) error {
	leaves, err := w.tree(root)
	if err != nil {
		return err
	}
	for _, id := range leaves {
		buckets, err := w.buckets(id)
		if err != nil {
			return err
		}
		for _, b := range buckets {
			if b.root == 0 {
				continue
			}
			low, err := w.tree(b.root)
			if err != nil {
				return err
			}
			w.last = append(w.last, low...)
		}
	}
	return nil
}

// tree walks the branch pages below root, level by level, and returns the pages below the lowest of them. All leaves
// of a tree stand on one level, so that the first child tells what its siblings are.
func (w *walker) tree(root uint64) ([]uint64, error) {
	level := []uint64{root}
	for range maxDepth {
		h, err := w.header(level[0])
		if err != nil {
			return nil, err
		}
		if h.Flags != branchFlag {
			return level, nil
		}
		var next []uint64
		for _, id := range level {
			if w.branches[id] {
				return nil, errCycle
			}
			w.branches[id] = true
			children, err := w.children(id)
			if err != nil {
				return nil, err
			}
			next = append(next, children...)
		}
		if len(next) == 0 {
			return nil, fmt.Errorf("page %d: a branch without leaves", level[0])
		}
		level = next
	}
	return nil, errCycle
}

// children returns the pages that a branch page leads to.
func (w *walker) children(id uint64) ([]uint64, error) {
	h, err := w.header(id)
	if err != nil {
		return nil, err
	}
	if h.Flags != branchFlag {
		return nil, fmt.Errorf("page %d is no branch as its siblings are", id)
	}
	elements := make([]branchElement, h.Count)
	if err := w.elements(id, elements); err != nil {
		return nil, err
	}
	children := make([]uint64, len(elements))
	for i, e := range elements {
		children[i] = e.Page
	}
	return children, nil
}

func (w *walker) elements(id uint64, into any) error {
	r := io.NewSectionReader(w.r, int64(id)*w.page+headerSize, 1<<40)
	if err := binary.Read(r, binary.NativeEndian, into); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// bucket is a bucket as the root tree has it.
type bucket struct {
	name   string
	root   uint64 // its root page; 0 where it is inline
	inline []byte // the page that stands in the root tree itself
}

// buckets returns the buckets in a leaf of the root tree.
func (w *walker) buckets(id uint64) (all []bucket, err error) {
	h, err := w.header(id)
	if err != nil {
		return nil, err
	}
	elements := make([]leafElement, h.Count)
	if err := w.elements(id, elements); err != nil {
		return nil, err
	}
	for i, e := range elements {
		at := int64(id)*w.page + headerSize + int64(i)*headerSize + int64(e.Pos)
		size := int64(e.KeySize) + int64(e.ValueSize)
		if e.Flags&bucketFlag == 0 || e.ValueSize < bucketSize {
			continue
		}
		if size > (int64(h.Overflow)+1)*w.page {
			return nil, fmt.Errorf("page %d: entry %d is beyond the page", id, i)
		}
		buf := make([]byte, size)
		if _, err := w.r.ReadAt(buf, at); err != nil {
			return nil, fmt.Errorf("page %d: %w", id, err)
		}
		value := buf[e.KeySize:]
		all = append(all, bucket{string(buf[:e.KeySize]), binary.NativeEndian.Uint64(value), value[bucketSize:]})
	}
	return all, nil
}

// leaves checks that what should be leaves are not branches.
func (w *walker) leaves() error {
	for _, id := range w.last {
		if w.branches[id] {
			return errCycle
		}
		if id < 2 || id >= w.pages {
			return fmt.Errorf("page %d is beyond the file", id)
		}
	}
	return nil
}
