package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// CheckIndex checks the pages and records that list sessions and originals. bbolt reads a page with a damaged count or
// key without an error and returns too few entries, so nothing should be reported as missing before this check. It
// fails with a DamageError.
func (a *Archive) CheckIndex(ctx context.Context) error {
	if _, err := a.Sessions(ctx); err != nil {
		return err
	}
	if err := a.checkBuckets(ctx, bucketIDs); err != nil {
		return err
	}
	return a.each(ctx, bucketIDs, func(_ *bolt.Tx, k, v []byte) error {
		if f, err := parsePointer(k, v); err != nil {
			return &DamageError{Path: a.path, ID: f.Hash.ID(), Err: err}
		}
		return nil
	})
}

// checkBuckets checks the pages of some buckets.
func (a *Archive) checkBuckets(ctx context.Context, names ...[]byte) error {
	err := a.use(ctx, &store{a: a}, func(s *store) error {
		w, m, ok := newWalker(s.lock.data, s.lock.info.Size())
		if !ok {
			return errors.New("no meta page")
		}
		if err := w.checkTrees(m.Root, names); err != nil {
			return a.damage("%w", err)
		}
		return nil
	})
	if errors.Is(err, errAbsent) {
		return nil
	}
	return err
}

// checkTrees checks the root tree and the trees of the named buckets, which must exist.
func (w *walker) checkTrees(root uint64, names [][]byte) error {
	if err := w.checkTree(root, nil, nil, 0); err != nil {
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
			err = checkInline(all[i].inline)
		} else {
			err = w.checkTree(all[i].root, nil, nil, 0)
		}
		if err != nil {
			return fmt.Errorf("bucket %q: %w", name, err)
		}
	}
	return nil
}

// checkTree checks a page and the pages below it. Their keys must be at least lo and below hi (nil: no bound).
func (w *walker) checkTree(id uint64, lo, hi []byte, depth int) error {
	if depth > maxDepth {
		return errCycle
	}
	h, elements, err := w.read(id, &w.spare)
	if h.Flags == branchFlag {
		w.spare = pageBuffer{} // the elements are needed while the pages below are read
	}
	if err == nil {
		err = checkOrder(elements)
	}
	if err == nil && h.Flags == branchFlag && len(elements) == 0 {
		err = errors.New("branch without leaves")
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	for i, e := range elements {
		if bytes.Compare(e.key, lo) < 0 && (i > 0 || h.Flags == leafFlag) || hi != nil && bytes.Compare(e.key, hi) >= 0 {
			return fmt.Errorf("page %d: entry %d is out of order", id, i)
		}
	}
	if h.Flags == leafFlag {
		return nil
	}
	for i, e := range elements {
		from, to := e.key, hi
		if i == 0 {
			from = lo // bbolt searches there for smaller keys too
		}
		if i+1 < len(elements) {
			to = elements[i+1].key
		}
		if err := w.checkTree(e.page, from, to, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkInline checks the page of an inline bucket.
func checkInline(page []byte) error {
	elements, err := elementsOf(page)
	if err == nil {
		err = checkOrder(elements)
	}
	return err
}

// checkOrder checks that elements are as bbolt writes them: without gaps after the element headers, with ascending
// keys. A damaged count, length or position leaves a gap or an overlap.
func checkOrder(elements []pageElement) error {
	at := headerSize + int64(len(elements))*headerSize
	for i, e := range elements {
		if e.key == nil || e.at != at {
			return fmt.Errorf("entry %d is in the wrong place", i)
		}
		if i > 0 && bytes.Compare(elements[i-1].key, e.key) >= 0 {
			return fmt.Errorf("entry %d is out of order", i)
		}
		at += int64(len(e.key) + len(e.value))
	}
	return nil
}
