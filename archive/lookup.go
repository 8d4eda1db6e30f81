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

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Found is an original that an ID names, and where it stands.
type Found struct {
	transcript.Pointer
	Key        transcript.Key
	Generation int
}

// Lookup returns every original in the index whose ID begins with prefix (mark.PrefixRange says what a prefix is), in
// the order of their hashes; none is no error. Two originals that share an ID are both there. A damaged entry is left
// out, and reported in a DamageError beside the sound ones.
func (a *Archive) Lookup(ctx context.Context, prefix string) ([]Found, error) {
	lo, hi, err := mark.PrefixRange(prefix)
	if err != nil {
		return nil, err
	}
	var found []Found
	var damaged error
	err = a.view(ctx, func(tx *bolt.Tx) error {
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

func parsePointer(k, v []byte) (f Found, err error) {
	record, err := unseal(k, v)
	if err == nil {
		return decodePointer(k, record)
	}
	if len(k) >= len(f.Hash) {
		f.Hash = mark.Hash(k[:len(f.Hash)])
	}
	return f, err
}

// Piece is a stretch of an original's raw bytes.
type Piece struct {
	Index int             // of the part that it belongs to, from 0
	Part  transcript.Part // the whole part
	Data  []byte          // valid until the next piece
	More  bool            // the same part goes on in the next piece
}

// Raw yields the raw bytes of an original, part by part; a part over transcript.MaxLine in pieces of about 4 MB, any
// other whole. Everything is read and hashed first: where it is not what the pointer says, a DamageError comes before
// any byte. The bytes are then read, and each block checked, once more.
func (a *Archive) Raw(ctx context.Context, f Found) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		r := a.Reader(f.Key, f.Generation)
		if err := r.verify(ctx, f.Pointer); err != nil {
			yield(Piece{}, err)
			return
		}
		for i, part := range f.Parts {
			for p, err := range r.pieces(ctx, part.Span) {
				if err != nil {
					yield(Piece{}, r.damageOf(f.Pointer, err))
					return
				}
				if !yield(Piece{Index: i, Part: part, Data: p.data, More: p.more}, nil) {
					return
				}
			}
		}
	}
}

type piece struct {
	data []byte
	more bool
}

// pieces yields the bytes of a span: whole, or where it is longer than a line may be, in pieces.
func (r *Reader) pieces(ctx context.Context, span transcript.Span) iter.Seq2[piece, error] {
	return func(yield func(piece, error) bool) {
		step := span.Len
		if step > transcript.MaxLine {
			step = fetchSize
		}
		for {
			n := min(step, span.Len)
			data, err := r.Span(ctx, transcript.Span{Off: span.Off, Len: n})
			span.Off, span.Len = span.Off+n, span.Len-n
			if !yield(piece{data, span.Len > 0}, err) || err != nil || span.Len == 0 {
				return
			}
		}
	}
}

// errMismatch tells that bytes are not those of an original.
var errMismatch = errors.New("hash mismatch")

// Check reads what a pointer stands for and compares its hash. It fails with a DamageError where that is not what was
// stored.
func (r *Reader) Check(ctx context.Context, p transcript.Pointer) error { return r.verify(ctx, p) }

// verify reads what a pointer stands for and compares its hash.
func (r *Reader) verify(ctx context.Context, p transcript.Pointer) error {
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

// unlined reports whether p is a range of records that need not be lines: elements of a JSON array of messages. What
// stands between them is not hashed under their IDs; the hashes of the blocks alone vouch for the bytes then.
func (r *Reader) unlined(p transcript.Pointer) bool {
	return p.Shape == transcript.Lines && r.key.Unlined()
}

// damageOf names the original in an error that means damage; any other error stays what it is.
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

// hash computes the hash that p should have.
func (r *Reader) hash(ctx context.Context, p transcript.Pointer) (mark.Hash, error) {
	if p.Shape == transcript.Lines {
		l := lines{want: p.Last - p.Record + 1, ids: sha256.New(), line: sha256.New()}
		for data, err := range r.bytes(ctx, p.Parts[0].Span, true) {
			if err != nil {
				return mark.Hash{}, err
			}
			l.write(data)
		}
		return l.sum(), nil
	}
	var ids []mark.ID
	for _, part := range p.Parts {
		h := sha256.New()
		for data, err := range r.bytes(ctx, part.Span, true) {
			if err != nil {
				return mark.Hash{}, err
			}
			h.Write(data)
		}
		if p.Shape == transcript.Single {
			return mark.Hash(h.Sum(nil)), nil
		}
		ids = append(ids, mark.Hash(h.Sum(nil)).ID())
	}
	return mark.Combine(ids), nil
}

// lines computes mark.Combine of the IDs of lines, without holding either.
type lines struct {
	want  int // how many there are
	seen  int // line ends so far
	open  int // bytes of the line that has not ended
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

// sum takes what stands behind the last line end as a line if there is something, or if a line is wanting: a blank
// one, then.
func (l *lines) sum() mark.Hash {
	if l.open > 0 || l.seen < l.want {
		l.end()
	}
	return mark.Hash(l.ids.Sum(nil))
}
