package watcher

import (
	"io"
	"slices"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// How many bytes the fingerprints of a cursor cover. Every append reads them again. A file that was replaced differs in
// its first record. If bytes before the cursor were added or removed, the bytes before it differ. A change that keeps the
// length is found by comparing the whole file (daemon/recheck.go).
const (
	headBytes = 512
	backBytes = 1024
)

// taken describes what was read of a generation, as far as its fingerprints need it.
type taken struct {
	offset int64
	head   []byte // the first bytes, at most headBytes
	back   []byte // the bytes before offset, at most backBytes
}

// add records that b was read.
func (t *taken) add(b []byte) {
	if room := headBytes - len(t.head); room > 0 && t.offset == int64(len(t.head)) {
		t.head = append(t.head, b[:min(room, len(b))]...)
	}
	t.offset += int64(len(b))
	if t.back == nil {
		t.back = make([]byte, 0, backBytes)
	}
	if keep := backBytes - len(b); keep > 0 {
		t.back = slices.Delete(t.back, 0, max(0, len(t.back)-keep))
	} else {
		t.back, b = t.back[:0], b[len(b)-backBytes:]
	}
	t.back = append(t.back, b...)
}

// load reads what the next cursor after c has fingerprints of. If f is shorter, it keeps nothing.
func (t *taken) load(f io.ReaderAt, c transcript.Cursor) error {
	head, back := make([]byte, min(c.Offset, headBytes)), make([]byte, min(c.Offset, backBytes), backBytes)
	_, err := f.ReadAt(head, 0)
	if err == nil {
		_, err = f.ReadAt(back, c.Offset-int64(len(back)))
	}
	if err == io.EOF {
		return nil
	}
	if err == nil {
		*t = taken{c.Offset, head, back}
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
