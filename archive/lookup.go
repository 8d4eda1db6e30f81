package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// inIndex returns the indexed originals whose hashes begin with lo to hi.
func (a *Archive) inIndex(tx *bolt.Tx, lo, hi uint64) (found []Found, damaged error) {
	c := kindID.bucket(tx).Cursor()
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
// entries. It fails with a DamageError if some are hidden.
func (a *Archive) Pointers(ctx context.Context, k transcript.Key, generation int) ([]transcript.Pointer, error) {
	var all []transcript.Pointer
	err := a.each(ctx, kindID, func(_ *bolt.Tx, key, value []byte) error {
		if f, err := parsePointer(key, value); err == nil && f.Key == k && f.Generation == generation {
			all = append(all, f.Pointer)
		}
		return nil
	})
	return all, err
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
	// A range of records need not be lines: of elements of a JSON array, the hash has not the bytes between them.
	if err == nil && got != p.Hash && (p.Shape != transcript.Lines || !r.key.Unlined()) {
		err = errMismatch
	}
	return r.damageOf(p, err)
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
