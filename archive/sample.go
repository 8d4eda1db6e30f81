package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Sampled is what Sample has looked at, and the damage that it met.
type Sampled struct {
	Leaves   int  // pages of the file whose form was checked
	Blocks   int  // read and hashed
	Pointers int  // followed and hashed
	Whole    bool // every block and every pointer was read: there is no more to sample
	Damage   []*DamageError
}

const (
	sampleLocked = 50 * time.Millisecond // that pages are read under one lock, so that nobody waits long
	sampleHop    = 4                     // blocks read from one place
	sampleRow    = 64                    // blocks read in order in one transaction
	sampleBytes  = 4 << 20               // stored bytes that end a transaction before that
	sampleWhole  = 32 << 20              // bytes; an archive up to this size is read in order, not here and there
	maxDamage    = 20                    // a sample that met so much has told enough
)

// Sample checks the form of the file's pages, then hashes what it can within about limit: half of that for blocks, half
// for pointers. An archive up to 32 MB is read from its beginning, of a larger one what seed picks. It is a look, where
// Verify is proof: damage outside the sample is not met. err is for what stops it; an archive that does not exist yet is
// Whole.
func (a *Archive) Sample(ctx context.Context, limit time.Duration, seed uint64) (Sampled, error) {
	s := sampler{a: a, rand: rand.New(rand.NewPCG(seed, seed))}
	err := s.pages(ctx)
	for _, read := range []func(context.Context) (bool, error){s.blocks, s.pointers} {
		if err != nil {
			break
		}
		var all bool
		short, stop := context.WithTimeout(ctx, limit/2)
		all, err = read(short)
		stop()
		s.partly = s.partly || !all
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			s.partly, err = true, nil
		}
	}
	s.Whole = !s.partly
	if err = s.met(err); err != nil && !errors.Is(err, errAbsent) {
		return s.Sampled, fmt.Errorf("sample archive: %w", err)
	}
	return s.Sampled, nil
}

type sampler struct {
	Sampled
	a      *Archive
	rand   *rand.Rand
	partly bool
}

// met lists err if it is damage, and returns it otherwise.
func (s *sampler) met(err error) error {
	var d *DamageError
	if !errors.As(err, &d) {
		return err
	}
	if len(s.Damage) < maxDamage {
		s.Damage = append(s.Damage, d)
	}
	return nil
}

// pages checks the form of leaf pages, in an order of its own, for as long as the lock may be held.
func (s *sampler) pages(ctx context.Context) error {
	l, err := s.a.lock(ctx, false, nil)
	if err != nil {
		return err
	}
	defer l.release()
	m, ok := readMeta(l.data)
	if !ok {
		return nil // whoever opens it says what is wrong
	}
	w := walker{r: l.data, page: int64(m.PageSize), pages: uint64(l.info.Size() / int64(m.PageSize)), branches: map[uint64]bool{}}
	if err := w.roots(m.Root); err != nil {
		return s.a.damage("%w", err)
	}
	until := time.Now().Add(sampleLocked)
	s.rand.Shuffle(len(w.last), func(i, j int) { w.last[i], w.last[j] = w.last[j], w.last[i] })
	for _, id := range w.last {
		if time.Now().After(until) {
			break
		}
		if err := w.leaf(id); err != nil {
			if err := s.met(s.a.damage("%w", err)); err != nil {
				return err
			}
		}
		s.Leaves++
	}
	return nil
}

// leaf checks that a page is a leaf whose elements lie within it.
func (w *walker) leaf(id uint64) error {
	h, err := w.header(id)
	if err != nil {
		return err
	}
	size := (int64(h.Overflow) + 1) * w.page
	if h.Flags != leafFlag || id+uint64(h.Overflow) >= w.pages || headerSize+int64(h.Count)*headerSize > size {
		return fmt.Errorf("page %d is no leaf", id)
	}
	elements := make([]leafElement, h.Count)
	if err := w.elements(id, elements); err != nil {
		return err
	}
	for i, e := range elements {
		at := headerSize + int64(i)*headerSize + int64(e.Pos)
		if at+int64(e.KeySize)+int64(e.ValueSize) > size {
			return fmt.Errorf("page %d: entry %d is beyond the page", id, i)
		}
	}
	return nil
}

// blocks hashes blocks of generations; all tells that there are no others.
func (s *sampler) blocks(ctx context.Context) (all bool, err error) {
	var sessions uint64
	small := false
	err = s.a.view(ctx, func(tx *bolt.Tx) error {
		sessions, small = tx.Bucket(bucketSessions).Sequence(), tx.Size() <= sampleWhole
		return nil
	})
	var next []byte
	for err == nil && len(s.Damage) < maxDamage {
		most := sampleRow
		if !small {
			next, most = s.somewhere(sessions), sampleHop
		}
		if next, err = s.hop(ctx, next, most); small && next == nil {
			return err == nil, err
		}
	}
	return false, err
}

// somewhere is a place in "manifest": one of so many sessions, and an offset that is as often small as large.
func (s *sampler) somewhere(sessions uint64) []byte {
	num := 1 + s.rand.Uint64N(max(1, sessions))
	return manifestKey(newStream(num, 1), int64(s.rand.Uint64N(1<<s.rand.IntN(34))))
}

// unread is a block as it stands in the archive.
type unread struct {
	block
	data []byte
}

// hop hashes at most so many blocks from a key of "manifest" on, and returns the key to go on from, nil at the end. A block and
// what it leads to are read in one transaction: the tail is packed meanwhile.
func (s *sampler) hop(ctx context.Context, from []byte, most int) (next []byte, err error) {
	var read []unread
	err = s.a.view(ctx, func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketManifest).Cursor()
		k, v := c.Seek(from)
		size := 0
		for ; k != nil && len(read) < most && size < sampleBytes; k, v = c.Next() {
			b, err := parseBlock(k, v)
			var data []byte
			if err == nil {
				data, err = getChunks(b.bucket(tx), b.ID, nil)
			}
			if err != nil {
				if err = s.met(s.a.damage("%w", err)); err != nil {
					return err
				}
				continue
			}
			size += len(data)
			read = append(read, unread{b, data})
		}
		next = bytes.Clone(k)
		return nil
	})
	for _, b := range read {
		if _, err := s.a.unpack(b.block, b.data, nil); err != nil {
			_ = s.met(s.a.damage("block %d: %w", b.ID, err))
		}
		s.Blocks++
	}
	return next, s.met(err)
}

// pointers hashes what IDs lead to, from one of them on and round to it again; all tells that it came round.
func (s *sampler) pointers(ctx context.Context) (all bool, err error) {
	start := binary.BigEndian.AppendUint64(nil, s.rand.Uint64())
	if all, err = s.pointersBetween(ctx, start, nil); all {
		all, err = s.pointersBetween(ctx, nil, start)
	}
	return all, err
}

// pointersBetween hashes what the IDs from one hash up to another (nil: the last) lead to.
func (s *sampler) pointersBetween(ctx context.Context, last, end []byte) (all bool, err error) {
	for more := true; more; {
		var found []Found
		last, more, err = s.a.page(ctx, bucketIDs, last, func(_ *bolt.Tx, k, v []byte) error {
			if end != nil && bytes.Compare(k, end) >= 0 {
				return nil // what is left of the page was looked at before
			}
			f, err := parsePointer(k, v)
			if err != nil {
				return s.met(&DamageError{Path: s.a.path, ID: f.Hash.ID(), Err: err})
			}
			found = append(found, f)
			return nil
		})
		if err != nil || len(s.Damage) >= maxDamage {
			return false, s.met(err)
		}
		for _, f := range found {
			if err := s.met(s.a.Reader(f.Key, f.Generation).verify(ctx, f.Pointer)); err != nil {
				return false, err
			}
			s.Pointers++
		}
	}
	return true, nil
}
