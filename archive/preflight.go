package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
)

// verdict is the result of preflight, or of an open that panicked.
type verdict struct {
	info os.FileInfo
	err  error
}

// preflight checks, at the first open, for damage that would make bbolt overflow the stack or allocate huge amounts of
// memory, from which a process cannot recover: cycles of branch pages, and the length of the freelist. Any other damage
// causes an error, or a panic that guard recovers.
func (a *Archive) preflight(f *os.File, info os.FileInfo) error {
	v := a.checked.Load()
	if v != nil && (v.err == nil || v.same(info)) {
		return v.err
	}
	err := a.checkPages(f, info.Size())
	a.checked.Store(&verdict{info, err})
	return err
}

// rememberPanic stores that an open panicked. Its memory mapping cannot be undone, so the file is not opened again
// until it has changed.
func (a *Archive) rememberPanic(info os.FileInfo, err error) { a.checked.Store(&verdict{info, err}) }

func (v *verdict) same(info os.FileInfo) bool {
	return os.SameFile(v.info, info) && v.info.Size() == info.Size() && v.info.ModTime().Equal(info.ModTime())
}

func (a *Archive) checkPages(f *os.File, size int64) error {
	w, m, ok := newWalker(f, size)
	if !ok {
		return nil // bolt.Open will report the error
	}
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

// bbolt's file format, version 2. Pages begin with pageHeader, followed by metaPage in meta pages, all in native byte
// order.
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

// pageElement is an element of a branch or a leaf, with the fields of both.
type pageElement struct {
	key, value []byte // nil if they are outside the page
	at         int64  // offset of the key in the page
	page       uint64 // branch: child page
	bucket     bool   // leaf: the element is a bucket
}

const (
	headerSize = 16
	branchFlag = 0x01
	leafFlag   = 0x02
	bucketFlag = 0x01
	bucketSize = 16 // of a bucket's header, before an inline page
	boltMagic  = 0xED0CDAED
	noFreelist = ^uint64(0)
	maxDepth   = 64
)

// readMeta returns the meta page that bbolt will use; ok is false if there is none.
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

// walker reads the branch pages of all trees, about one page in a hundred.
type walker struct {
	r         io.ReaderAt
	page      int64
	pages     uint64          // in the file
	branches  map[uint64]bool // visited
	leafPages []uint64        // children of the lowest branches: must be leaves
	spare     pageBuffer      // of checkTree
}

// pageBuffer is what a page is read into.
type pageBuffer struct {
	page     []byte
	elements []pageElement
}

// newWalker returns a walker for a file of the given size, and its meta page; ok is false if there is none.
func newWalker(r io.ReaderAt, size int64) (w walker, m metaPage, ok bool) {
	m, ok = readMeta(r)
	if ok {
		w = walker{r: r, page: int64(m.PageSize), pages: uint64(size / int64(m.PageSize)), branches: map[uint64]bool{}}
	}
	return w, m, ok
}

var errCycle = errors.New("branch pages form a cycle")

func (w *walker) header(id uint64) (pageHeader, error) {
	return w.begin(id, make([]byte, headerSize))
}

// begin reads the beginning of a page into buf and returns its header.
func (w *walker) begin(id uint64, buf []byte) (h pageHeader, err error) {
	if id < 2 || id >= w.pages {
		return h, fmt.Errorf("page %d is beyond the file", id)
	}
	if _, err := w.r.ReadAt(buf, int64(id)*w.page); err != nil {
		return h, fmt.Errorf("page %d: %w", id, err)
	}
	order := binary.NativeEndian
	h = pageHeader{order.Uint64(buf), order.Uint16(buf[8:]), order.Uint16(buf[10:]), order.Uint32(buf[12:])}
	if h.ID != id {
		err = fmt.Errorf("page %d has the ID of page %d", id, h.ID)
	}
	return h, err
}

// freelist checks that the freelist is not longer than the file.
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

// roots walks the root tree and each bucket's tree.
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
			w.leafPages = append(w.leafPages, low...)
		}
	}
	return nil
}

// tree walks the branch pages below root level by level, and returns the pages below the lowest branches. All leaves
// are on the same level, so the first page of a level shows what the others are.
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
			return nil, fmt.Errorf("page %d: branch without leaves", level[0])
		}
		level = next
	}
	return nil, errCycle
}

// children returns the child pages of a branch page.
func (w *walker) children(id uint64) ([]uint64, error) {
	h, elements, err := w.read(id, &pageBuffer{})
	if err == nil && h.Flags != branchFlag {
		err = fmt.Errorf("page %d is not a branch like its siblings", id)
	}
	children := make([]uint64, len(elements))
	for i, e := range elements {
		children[i] = e.page
	}
	return children, err
}

// read reads a page into b, and returns its elements. An element that points outside the page has a nil key and value.
func (w *walker) read(id uint64, b *pageBuffer) (h pageHeader, elements []pageElement, err error) {
	if len(b.page) == 0 {
		b.page = make([]byte, w.page)
	}
	if h, err = w.begin(id, b.page[:w.page]); err != nil {
		return h, nil, err
	}
	if id+uint64(h.Overflow) >= w.pages {
		return h, nil, fmt.Errorf("page %d reaches beyond the file", id)
	}
	size := (int64(h.Overflow) + 1) * w.page
	if size > int64(len(b.page)) {
		b.page = make([]byte, size)
	}
	if h.Overflow > 0 {
		if _, err := w.r.ReadAt(b.page[:size], int64(id)*w.page); err != nil {
			return h, nil, fmt.Errorf("page %d: %w", id, err)
		}
	}
	if b.elements, err = appendElements(b.elements[:0], b.page[:size]); err != nil {
		err = fmt.Errorf("page %d: %w", id, err)
	}
	return h, b.elements, err
}

// elementsOf returns the elements of a page, which may be inline in another page.
func elementsOf(page []byte) ([]pageElement, error) { return appendElements(nil, page) }

func appendElements(elements []pageElement, page []byte) ([]pageElement, error) {
	if len(page) < headerSize {
		return nil, errors.New("truncated page")
	}
	order := binary.NativeEndian
	leaf, count := order.Uint16(page[8:]) == leafFlag, int64(order.Uint16(page[10:]))
	if !leaf && order.Uint16(page[8:]) != branchFlag || headerSize+count*headerSize > int64(len(page)) {
		return nil, errors.New("neither a branch nor a leaf")
	}
	elements = slices.Grow(elements, int(count))
	for i := range count {
		head := headerSize + i*headerSize
		b, e := page[head:], pageElement{}
		var key, value int64
		if leaf { // flags, position, sizes of key and value
			e.bucket, e.at = order.Uint32(b)&bucketFlag != 0, head+int64(order.Uint32(b[4:]))
			key, value = int64(order.Uint32(b[8:])), int64(order.Uint32(b[12:]))
		} else { // position, size of the key, page
			e.at, key, e.page = head+int64(order.Uint32(b)), int64(order.Uint32(b[4:])), order.Uint64(b[8:])
		}
		if e.at+key+value <= int64(len(page)) {
			e.key, e.value = page[e.at:e.at+key], page[e.at+key:e.at+key+value]
		}
		elements = append(elements, e)
	}
	return elements, nil
}

// bucket is an entry of the root tree.
type bucket struct {
	name   string
	root   uint64 // its root page; 0 if it is inline
	inline []byte // the inline page
}

// buckets returns the buckets in a leaf of the root tree.
func (w *walker) buckets(id uint64) (all []bucket, err error) {
	_, elements, err := w.read(id, &pageBuffer{})
	if err != nil {
		return nil, err
	}
	for i, e := range elements {
		if e.bucket && e.key == nil {
			return nil, fmt.Errorf("page %d: entry %d is beyond the page", id, i)
		}
		if e.bucket && len(e.value) >= bucketSize {
			all = append(all, bucket{string(e.key), binary.NativeEndian.Uint64(e.value), e.value[bucketSize:]})
		}
	}
	return all, nil
}

// leaves checks that the pages below the lowest branches are not branches themselves.
func (w *walker) leaves() error {
	for _, id := range w.leafPages {
		if w.branches[id] {
			return errCycle
		}
		if id < 2 || id >= w.pages {
			return fmt.Errorf("page %d is beyond the file", id)
		}
	}
	return nil
}
