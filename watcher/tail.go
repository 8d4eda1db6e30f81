package watcher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"

	"ccd/internal/transcript"
)

const (
	segmentBytes = 4 << 20 // of whole lines in one segment
	pieceBytes   = 8 << 20 // of one line in one segment
	firstBuffer  = 64 << 10
)

// ErrIrregular is wrapped by Tail's error for what is not a regular file, or was another file a moment ago.
var ErrIrregular = errors.New("not a regular file, or replaced while it was opened")

// tailer is one call of Tail.
type tailer struct {
	s      transcript.Session
	o      TailOptions
	file   *os.File
	size   int64 // when it was opened: what comes later is the next call's
	in     io.Reader
	packed *unpacker // of a .zst, else nil
	taken  taken
	sum    hash.Hash // of what is skipped; nil where nobody asks
	gen    int
	buf    []byte
}

// run opens the transcript and reads it.
func (t *tailer) run(read func() error) error {
	f, err := Open(t.s)
	if err != nil {
		return fmt.Errorf("open transcript %s: %w", t.s.Path, cause(err))
	}
	t.file = f
	if t.o.Scratch != nil {
		t.buf = (*t.o.Scratch)[:0]
	}
	info, err := f.Stat()
	if err == nil {
		t.size = info.Size()
		err = t.rewind()
	}
	if err == nil {
		err = read()
	}
	if err != nil {
		return fmt.Errorf("read transcript %s: %w", t.s.Path, cause(err))
	}
	return nil
}

func (t *tailer) close() {
	if t.packed != nil {
		t.packed.Close()
	}
	if t.file != nil {
		t.file.Close()
	}
	if t.o.Scratch != nil && cap(t.buf) <= segmentBytes+1 {
		*t.o.Scratch = t.buf[:0]
	}
}

// position goes to where from stands, or to the beginning of the next generation where the file is another one.
func (t *tailer) position(ctx context.Context, from transcript.Cursor) error {
	t.gen = max(from.Generation, 1)
	if t.s.Packed {
		return t.positionPacked(ctx, from)
	}
	if from.Offset == 0 {
		return nil
	}
	var err error
	if from.Offset <= t.size {
		err = t.taken.load(t.file, from.Offset)
		t.in = io.NewSectionReader(t.file, from.Offset, t.size-from.Offset)
	}
	if err != nil || t.taken.agrees(from) {
		return err
	}
	t.gen++
	return t.rewind()
}

// positionPacked reads a .zst to its end before any of it is yielded: its checksum stands there, and until then a
// damaged one gives wrong bytes without an error. So one that is being written yields nothing until it is whole.
func (t *tailer) positionPacked(ctx context.Context, from transcript.Cursor) error {
	if err := t.skip(ctx, from.Offset); err != nil {
		return err
	}
	agrees := t.taken.agrees(from)
	if err := t.skip(ctx, math.MaxInt64); err != nil {
		return err
	}
	if agrees && t.taken.offset == from.Offset {
		return nil // at the end: nothing is new
	}
	if err := t.rewind(); err != nil {
		return err
	}
	if agrees {
		return t.skip(ctx, from.Offset)
	}
	t.gen++
	return nil
}

func (t *tailer) rewind() (err error) {
	t.taken = taken{}
	if !t.s.Packed {
		t.in = io.NewSectionReader(t.file, 0, t.size)
		return nil
	}
	if t.packed != nil {
		t.packed.Close()
	}
	t.packed, err = unpack(t.file, t.size)
	t.in = t.packed
	return err
}

// skip reads up to offset, or to the end of a file that is shorter.
func (t *tailer) skip(ctx context.Context, offset int64) error {
	if cap(t.buf) < firstBuffer {
		t.grow(firstBuffer)
	}
	for t.taken.offset < offset && ctx.Err() == nil {
		room := t.buf[:min(int64(cap(t.buf)), offset-t.taken.offset)]
		n, err := t.in.Read(room)
		t.taken.pass(room[:n])
		if t.sum != nil {
			t.sum.Write(room[:n])
		}
		t.o.Alive()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (t *tailer) segments(ctx context.Context, yield func(transcript.Segment, error) bool) error {
	limit := segmentBytes
	for {
		eof, err := t.fill(ctx, limit+1) // one more than is taken, so that the last segment is known as the last
		if err != nil || eof && t.shrank() {
			return err
		}
		eof = eof && len(t.buf) <= limit
		n := t.cut(eof, limit)
		if n == 0 {
			if eof {
				return nil
			}
			limit = pieceBytes // a long line
			continue
		}
		seg := transcript.Segment{Start: t.taken.cursor(t.gen), Data: t.buf[:n:n], Rest: eof && t.rests()}
		t.taken.pass(seg.Data)
		seg.End = t.taken.cursor(t.gen)
		if !yield(seg, nil) || eof {
			return nil
		}
		t.buf = append(t.buf[:0], t.buf[n:]...)
		if limit = segmentBytes; len(t.buf) > limit {
			limit = pieceBytes
		}
	}
}

// shrank reports whether the file ended before the size that it had when it was opened.
func (t *tailer) shrank() bool {
	return t.packed == nil && t.taken.offset+int64(len(t.buf)) < t.size
}

// fill reads until want bytes are in the buffer, or the file ends.
func (t *tailer) fill(ctx context.Context, want int) (eof bool, err error) {
	for len(t.buf) < want {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if len(t.buf) == cap(t.buf) {
			t.grow(t.room(want))
		}
		n, err := t.in.Read(t.buf[len(t.buf):min(cap(t.buf), want)])
		t.buf = t.buf[:len(t.buf)+n]
		t.o.Alive()
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// room is how big the buffer is to be: not bigger than what is left of a small file.
func (t *tailer) room(want int) int {
	if t.packed == nil {
		return int(min(int64(want), t.size-t.taken.offset+1))
	}
	return min(want, max(firstBuffer, 2*cap(t.buf)))
}

func (t *tailer) grow(room int) {
	t.buf = append(make([]byte, 0, max(room, cap(t.buf)+1)), t.buf...)
}

// cut returns how much of the buffer goes into the next segment: whole lines, a piece of a long one, or at the end
// of a file at rest all that is left.
func (t *tailer) cut(eof bool, limit int) int {
	b := t.buf[:min(len(t.buf), limit)]
	lines := bytes.LastIndexByte(b, '\n') + 1
	switch {
	case eof && t.rests() && t.takes(b[lines:], lines == 0):
		return len(b)
	case lines == 0 && !eof && limit == pieceBytes:
		return len(b)
	}
	return lines
}

// rests reports whether the file is at rest. A compressed one is: its checksum at the end was read.
func (t *tailer) rests() bool { return t.o.Rest || t.s.Packed }

// takes reports whether the bytes behind the last line end of a file at rest are taken. first: nothing stands before
// them in the buffer.
func (t *tailer) takes(last []byte, first bool) bool {
	switch {
	case len(last) == 0:
		return false
	case t.o.Torn || t.s.Packed || t.s.Class == transcript.Attachment || t.s.Unlined():
		return true
	case first && t.taken.midLine():
		return false // the end of a line whose beginning was taken: nobody can tell whether it is whole
	}
	return whole(last)
}

// whole reports whether a line without a line end is one JSON object or array: a writer that died in the middle of
// one leaves something that is not.
func whole(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return false
	}
	end := line[len(line)-1]
	return (end == '}' || end == ']') && json.Valid(line)
}
