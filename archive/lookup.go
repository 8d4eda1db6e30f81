package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"iter"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Found is an original and its location.
type Found struct {
	transcript.Pointer
	Key        transcript.Key
	Generation int
}

// Lookup returns every indexed original whose ID begins with prefix (see mark.PrefixRange), ordered by hash. An empty
// result is no error. Originals with the same ID are all returned. Damaged entries are skipped, and reported as a
// DamageError together with the good ones.
func (a *Archive) Lookup(ctx context.Context, prefix string) ([]Found, error) {
	lo, hi, err := mark.PrefixRange(prefix)
	if err != nil {
		return nil, err
	}
	var found []Found
	var damaged error
	err = a.view(ctx, func(tx *bolt.Tx) error {
		found, damaged = a.inIndex(tx, lo, hi)
		return nil
	})
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up id %s: %w", prefix, err)
	}
	return found, damaged
}

// inIndex returns the indexed originals whose hashes begin with lo to hi.
func (a *Archive) inIndex(tx *bolt.Tx, lo, hi uint64) (found []Found, damaged error) {
	c := tx.Bucket(bucketIDs).Cursor()
	for k, v := c.Seek(binary.BigEndian.AppendUint64(nil, lo)); k != nil; k, v = c.Next() {
		if len(k) >= 8 && binary.BigEndian.Uint64(k) > hi {
			break
		}
		f, err := parsePointer(k, v)
		if err != nil {
			damaged = errors.Join(damaged, &DamageError{Path: a.path, ID: f.Hash.ID(), Err: err})
			continue
		}
		found = append(found, f)
	}
	return found, damaged
}

// LookupAll returns the first indexed original of each ID that has one. damaged are IDs whose entries are damaged.
func (a *Archive) LookupAll(ctx context.Context, ids []mark.ID) (found []Found, damaged []mark.ID, err error) {
	err = a.viewEach(ctx, len(ids), func(tx *bolt.Tx, i int) {
		var got []Found
		lo, hi, err := mark.PrefixRange(string(ids[i]))
		if err == nil {
			err = a.guard(func() error {
				got, err = a.inIndex(tx, lo, hi)
				return err
			})
		}
		if len(got) > 0 {
			found = append(found, got[0])
		} else if err != nil {
			damaged = append(damaged, ids[i])
		}
	})
	switch {
	case errors.As(err, new(*DamageError)):
		return nil, ids, nil
	case err != nil:
		return nil, nil, fmt.Errorf("look up ids: %w", err)
	}
	return found, damaged, nil
}

// CheckStored returns the originals whose stored bytes are not what was written. No block is decoded, and each is
// read once. After limit bytes were read, no further original is checked.
func (a *Archive) CheckStored(ctx context.Context, all []Found, limit int64) (damaged []Found, read int64, err error) {
	checked := map[uint64]error{}
	err = a.viewEach(ctx, len(all), func(tx *bolt.Tx, i int) {
		if read >= limit {
			return
		}
		check := func(b block) error {
			err, known := checked[b.ID]
			if !known {
				var n int64
				n, err = checkBlock(tx, b.ID)
				checked[b.ID], read = err, read+n
			}
			return err
		}
		f := all[i]
		if a.guard(func() error { return a.Reader(f.Key, f.Generation).eachBlockOf(tx, f.Pointer, check) }) != nil {
			damaged = append(damaged, f)
		}
	})
	switch {
	case errors.As(err, new(*DamageError)):
		return all, read, nil
	case err != nil:
		return nil, read, fmt.Errorf("check originals: %w", err)
	}
	return damaged, read, nil
}

// readTime is how long viewEach reads under one lock.
const readTime = 10 * time.Millisecond

// viewEach calls fn with 0 to n-1, in short read transactions. Without an archive it calls nothing.
func (a *Archive) viewEach(ctx context.Context, n int, fn func(tx *bolt.Tx, i int)) error {
	for i := 0; i < n; {
		err := a.view(ctx, func(tx *bolt.Tx) error {
			for begun := time.Now(); i < n && time.Since(begun) < readTime; i++ { // without the wait for the lock
				fn(tx, i)
			}
			return nil
		})
		if errors.Is(err, errAbsent) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachBlockOf calls fn with the blocks that have the bytes of an original.
func (r *Reader) eachBlockOf(tx *bolt.Tx, p transcript.Pointer, fn func(b block) error) error {
	if err := checkPointer(p, math.MaxInt64); err != nil {
		return err
	}
	if err := r.load(tx); err != nil {
		return err
	}
	for _, part := range p.Parts {
		if part.Span.End() > r.gen.Offset {
			return ErrNotFound
		}
		if err := r.eachBlock(part.Span, fn); err != nil {
			return err
		}
	}
	return nil
}

func parsePointer(k, v []byte) (f Found, err error) {
	record, err := unseal(kindID, k, v)
	if err == nil {
		return decodePointer(k, record)
	}
	if len(k) >= len(f.Hash) {
		f.Hash = mark.Hash(k[:len(f.Hash)])
	}
	return f, err
}

// CheckIndex checks the records that list sessions and originals. Nothing should be reported as missing before this check. It
// fails with a DamageError.
func (a *Archive) CheckIndex(ctx context.Context) error {
	if _, err := a.Sessions(ctx); err != nil {
		return err
	}
	return a.checkKeys(ctx, kindID)
}

// Pointers returns the indexed originals of a generation, ordered by hash. It reads the whole index and skips damaged
// entries.
func (a *Archive) Pointers(ctx context.Context, k transcript.Key, generation int) ([]transcript.Pointer, error) {
	var all []transcript.Pointer
	err := a.each(ctx, kindID, func(_ *bolt.Tx, key, value []byte) error {
		if f, err := parsePointer(key, value); err == nil && f.Key == k && f.Generation == generation {
			all = append(all, f.Pointer)
		}
		return nil
	})
	if errors.Is(err, errAbsent) {
		err = nil
	}
	return all, err
}

// Piece is a stretch of an original's raw bytes.
type Piece struct {
	Index int             // of its part, from 0
	Part  transcript.Part // the whole part
	Data  []byte          // valid until the next piece
	More  bool            // the next piece continues the same part
}

// Raw yields the raw bytes of an original, part by part; parts over transcript.MaxLine in pieces of about 4 MB. It
// first reads and hashes everything, so that a DamageError comes before any byte. Then it reads the bytes again and
// checks each block.
func (a *Archive) Raw(ctx context.Context, f Found) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		r := a.Reader(f.Key, f.Generation)
		if err := r.CheckPointer(ctx, f.Pointer); err != nil {
			yield(Piece{}, err)
			return
		}
		for i, part := range f.Parts {
			step, end := part.Span.Len, part.Span.End()
			if step > transcript.MaxLine {
				step = fetchSize
			}
			for off, more := part.Span.Off, true; more; off += step {
				n := min(step, end-off)
				more = off+n < end
				data, err := r.Span(ctx, transcript.Span{Off: off, Len: n})
				if err != nil {
					yield(Piece{}, r.damageOf(f.Pointer, err))
					return
				}
				if !yield(Piece{Index: i, Part: part, Data: data, More: more}, nil) {
					return
				}
			}
		}
	}
}

// errMismatch is the cause if bytes have another hash than the original.
var errMismatch = errors.New("hash mismatch")

// CheckPointer reads the original of p and compares its hash. It fails with a DamageError if they differ.
func (r *Reader) CheckPointer(ctx context.Context, p transcript.Pointer) error {
	if err := checkPointer(p, math.MaxInt64); err != nil {
		return r.damageOf(p, fmt.Errorf("%w: %w", errMismatch, err))
	}
	for _, part := range p.Parts {
		if err := r.check(ctx, part.Span); err != nil {
			return r.damageOf(p, err)
		}
	}
	got, err := r.hash(ctx, p)
	if err == nil && got != p.Hash && !r.unlined(p) {
		err = errMismatch
	}
	return r.damageOf(p, err)
}

// unlined reports whether p is a range of records that need not be lines: elements of a JSON array of messages. The
// bytes between them are not part of its hash, so only the hashes of the blocks are checked.
func (r *Reader) unlined(p transcript.Pointer) bool {
	return p.Shape == transcript.Lines && r.key.Unlined()
}

// damageOf adds the original to an error that means damage, and returns any other error as it is.
func (r *Reader) damageOf(p transcript.Pointer, err error) error {
	d := DamageError{Path: r.a.path, Session: r.key, Generation: r.n, Err: err}
	var inner *DamageError
	switch {
	case errors.As(err, &inner):
		d = *inner
	case errors.Is(err, errMismatch), errors.Is(err, ErrNotFound):
		if len(p.Parts) > 0 {
			d.Offset = p.Parts[0].Span.Off
		}
	default:
		return err
	}
	d.ID = p.Hash.ID()
	return &d
}

// hash computes the hash of the bytes of p.
func (r *Reader) hash(ctx context.Context, p transcript.Pointer) (mark.Hash, error) {
	if p.Shape == transcript.Lines {
		l := lines{want: p.Last - p.Record + 1, ids: sha256.New(), line: sha256.New()}
		for got, err := range r.portions(ctx, p.Parts[0].Span.Off, p.Parts[0].Span.End()) {
			if err != nil {
				return mark.Hash{}, err
			}
			l.write(got.data)
		}
		return l.sum(), nil
	}
	var ids []mark.ID
	for _, part := range p.Parts {
		h := sha256.New()
		for got, err := range r.portions(ctx, part.Span.Off, part.Span.End()) {
			if err != nil {
				return mark.Hash{}, err
			}
			h.Write(got.data)
		}
		if p.Shape == transcript.Single {
			return mark.Hash(h.Sum(nil)), nil
		}
		ids = append(ids, mark.Hash(h.Sum(nil)).ID())
	}
	return mark.Combine(ids), nil
}

// lines computes mark.Combine of the IDs of lines without keeping either in memory.
type lines struct {
	want  int // number of lines
	seen  int // newlines so far
	open  int // bytes after the last newline
	ids   hash.Hash
	line  hash.Hash
	space [sha256.Size]byte
}

func (l *lines) write(data []byte) {
	for {
		n := bytes.IndexByte(data, '\n')
		if n < 0 {
			l.line.Write(data)
			l.open += len(data)
			return
		}
		l.line.Write(data[:n])
		l.end()
		data = data[n+1:]
	}
}

func (l *lines) end() {
	sum := mark.Hash(l.line.Sum(l.space[:0]))
	l.ids.Write([]byte(sum.ID()))
	l.line.Reset()
	l.seen++
	l.open = 0
}

// sum counts bytes after the last newline as a line, and adds an empty last line if one is missing.
func (l *lines) sum() mark.Hash {
	if l.open > 0 || l.seen < l.want {
		l.end()
	}
	return mark.Hash(l.ids.Sum(nil))
}
