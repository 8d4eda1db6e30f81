package watcher

import (
	"io"
	"slices"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const printBytes = 4096 // maximum for one fingerprint

// taken describes what was read of a generation, as far as its fingerprints need it.
type taken struct {
	offset int64
	head   []byte // the first bytes, at most printBytes
	back   []byte // the bytes before offset, at most printBytes
}

// add records that b was read.
func (t *taken) add(b []byte) {
	t.offset += int64(len(b))
	if room := printBytes - len(t.head); room > 0 {
		t.head = append(t.head, b[:min(room, len(b))]...)
	}
	if t.back == nil {
		t.back = make([]byte, 0, printBytes)
	}
	if keep := printBytes - len(b); keep > 0 {
		t.back = slices.Delete(t.back, 0, max(0, len(t.back)-keep))
	} else {
		t.back, b = t.back[:0], b[len(b)-printBytes:]
	}
	t.back = append(t.back, b...)
}

// load reads the bytes that add would have kept of the first offset bytes of f. If f is shorter, it keeps nothing.
func (t *taken) load(f io.ReaderAt, offset int64) error {
	n := min(offset, printBytes)
	head, back := make([]byte, n), make([]byte, n, printBytes)
	_, err := f.ReadAt(head, 0)
	if err == nil {
		_, err = f.ReadAt(back, offset-n)
	}
	if err == io.EOF {
		return nil
	}
	if err == nil {
		*t = taken{offset, head, back}
	}
	return err
}

func (t *taken) cursor(generation int) transcript.Cursor {
	return transcript.Cursor{
		Generation: generation,
		Offset:     t.offset,
		Head:       transcript.Fingerprint{N: int64(len(t.head)), Sum: sum(t.head)},
		Back:       transcript.Fingerprint{N: int64(len(t.back)), Sum: sum(t.back)},
	}
}

// sum returns the zero Hash for no bytes, so that all cursors at the start are equal.
func sum(b []byte) mark.Hash {
	if len(b) == 0 {
		return mark.Hash{}
	}
	return mark.Sum(b)
}

// matches reports whether c was made from these bytes. Fingerprints that c lacks are not compared.
func (t *taken) matches(c transcript.Cursor) bool {
	if t.offset != c.Offset {
		return false
	}
	head, back := c.Head.N, int64(len(t.back))-c.Back.N
	return head <= int64(len(t.head)) && back >= 0 &&
		sum(t.head[:head]) == c.Head.Sum && sum(t.back[back:]) == c.Back.Sum
}

// midLine reports whether the line at the offset began before it.
func (t *taken) midLine() bool { return len(t.back) > 0 && t.back[len(t.back)-1] != '\n' }
