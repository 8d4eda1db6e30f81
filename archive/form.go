package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// CheckIndex checks what tells which sessions and originals there are: the form of those pages, the order of their keys
// and each entry's seal. bbolt reads a page with a damaged count or key without an error and comes up short, so that
// nothing can be said to be missing before this was checked. It fails with a DamageError.
func (a *Archive) CheckIndex(ctx context.Context) error {
	if _, err := a.Sessions(ctx); err != nil {
		return err
	}
	if err := a.checkForm(ctx, bucketIDs); err != nil {
		return err
	}
	return a.each(ctx, bucketIDs, func(_ *bolt.Tx, k, v []byte) error {
		if f, err := parsePointer(k, v); err != nil {
			return &DamageError{Path: a.path, ID: f.Hash.ID(), Err: err}
		}
		return nil
	})
}

// checkForm checks the pages of some buckets.
func (a *Archive) checkForm(ctx context.Context, names ...[]byte) error {
	err := a.viewStore(ctx, func(s *store, _ *bolt.Tx) error {
		m, ok := readMeta(s.lock.data)
		if !ok {
			return errors.New("no meta page")
		}
		w := walker{r: s.lock.data, page: int64(m.PageSize), pages: uint64(s.lock.info.Size() / int64(m.PageSize)), branches: map[uint64]bool{}}
		if err := w.forms(m.Root, names); err != nil {
			return a.damage("%w", err)
		}
		return nil
	})
	if errors.Is(err, errAbsent) {
		return nil
	}
	return err
}

// forms checks the root tree, and the trees of the buckets that are named, each of which must be there.
func (w *walker) forms(root uint64, names [][]byte) error {
	if err := w.form(root, nil, nil, 0); err != nil {
		return err
	}
	leaves, err := w.tree(root)
	if err != nil {
		return err
	}
	var all []bucket
	for _, id := range leaves {
		some, err := w.buckets(id)
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(b bucket) bool { return b.name == string(name) })
		if i < 0 {
			return fmt.Errorf("the bucket %q is missing", name)
		}
		if all[i].root == 0 {
			_, err = formOf(all[i].inline)
		} else {
			err = w.form(all[i].root, nil, nil, 0)
		}
		if err != nil {
			return fmt.Errorf("bucket %q: %w", name, err)
		}
	}
	return nil
}

// form checks a page and those below it, whose keys are from lo on and before hi (nil: no bound).
func (w *walker) form(id uint64, lo, hi []byte, depth int) error {
	h, err := w.header(id)
	if err == nil && (depth > maxDepth || id+uint64(h.Overflow) >= w.pages) {
		err = fmt.Errorf("page %d leads nowhere", id)
	}
	if err != nil {
		return err
	}
	page := make([]byte, (int64(h.Overflow)+1)*w.page)
	if _, err := w.r.ReadAt(page, int64(id)*w.page); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	entries, err := formOf(page)
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	for i, e := range entries {
		if bytes.Compare(e.key, lo) < 0 && (i > 0 || h.Flags == leafFlag) || hi != nil && bytes.Compare(e.key, hi) >= 0 {
			return fmt.Errorf("page %d: entry %d is out of order", id, i)
		}
	}
	if h.Flags == leafFlag {
		return nil
	}
	for i, e := range entries {
		from, to := e.key, hi
		if i == 0 {
			from = lo // bbolt searches smaller keys there too
		}
		if i+1 < len(entries) {
			to = entries[i+1].key
		}
		if err := w.form(e.page, from, to, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// pageEntry is an element of a page.
type pageEntry struct {
	key  []byte
	page uint64 // that a branch's element leads to
}

// formOf checks that a page is as bbolt writes it: its elements stand one behind the other, the first right behind their
// heads, and their keys ascend. A damaged count, length or place of an element leaves a gap or overlaps.
func formOf(page []byte) ([]pageEntry, error) {
	var h pageHeader
	if _, err := binary.Decode(page, binary.NativeEndian, &h); err != nil {
		return nil, err
	}
	leaf := h.Flags == leafFlag
	if !leaf && h.Flags != branchFlag || !leaf && h.Count == 0 || headerSize+int(h.Count)*headerSize > len(page) {
		return nil, errors.New("neither a branch nor a leaf")
	}
	entries := make([]pageEntry, 0, h.Count)
	at := headerSize + int64(h.Count)*headerSize
	for i := range int64(h.Count) {
		head := headerSize + i*headerSize
		var pos, key, value uint32
		var e pageEntry
		if leaf {
			var l leafElement
			_, _ = binary.Decode(page[head:], binary.NativeEndian, &l) // within the page, as was checked
			pos, key, value = l.Pos, l.KeySize, l.ValueSize
		} else {
			var b branchElement
			_, _ = binary.Decode(page[head:], binary.NativeEndian, &b)
			pos, key, e.page = b.Pos, b.KeySize, b.Page
		}
		end := at + int64(key) + int64(value)
		if head+int64(pos) != at || end > int64(len(page)) {
			return nil, fmt.Errorf("entry %d stands in a wrong place", i)
		}
		e.key = page[at : at+int64(key)]
		if n := len(entries); n > 0 && bytes.Compare(entries[n-1].key, e.key) >= 0 {
			return nil, fmt.Errorf("entry %d is out of order", i)
		}
		entries = append(entries, e)
		at = end
	}
	return entries, nil
}
