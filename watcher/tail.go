package watcher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"

	"ccd/internal/transcript"
)

const (
	segmentBytes = 4 << 20 // whole lines in one segment
	pieceBytes   = 8 << 20 // piece of one line in one segment
	firstBuffer  = 64 << 10
)

// ErrIrregular is wrapped by the errors for a file that is not regular, or that was replaced while it was opened.
var ErrIrregular = errors.New("not a regular file")

// tailer is one call of Tail.
type tailer struct {
	s      transcript.Session
	o      TailOptions
	file   *os.File
	size   int64 // when it was opened; later bytes are left to the next call
	in     io.Reader
	packed *unpacker // of a .zst, else nil
	taken  taken
	gen    int
	buf    []byte
}

// open opens the transcript at its beginning.
func (t *tailer) open() (err error) {
	if t.file, err = Open(t.s); err != nil {
		return err
	}
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	t.size = info.Size()
	return t.rewind()
}

func (t *tailer) close() {
	if t.packed != nil {
		t.packed.Close()
	}
	if t.file != nil {
		t.file.Close()
	}
}

// position seeks to from, or to the start of a new generation if the file is another one.
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
		err = t.taken.load(t.file, from)
		t.in = io.NewSectionReader(t.file, from.Offset, t.size-from.Offset)
	}
	if err != nil || t.taken.matches(from) {
		return err
	}
	t.gen++
	return t.rewind()
}

// positionPacked reads a .zst to its end before any of it is yielded, because the checksum is at the end, and a damaged
// file can decode to wrong bytes without an error. A frame that is still being written yields nothing.
func (t *tailer) positionPacked(ctx context.Context, from transcript.Cursor) error {
	if err := t.skip(ctx, from.Offset); err != nil {
		return err
	}
	agrees := t.taken.matches(from)
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

// skip reads up to offset, or to the end of a shorter file.
func (t *tailer) skip(ctx context.Context, offset int64) error {
	if cap(t.buf) < firstBuffer {
		t.grow(firstBuffer)
	}
	for t.taken.offset < offset && ctx.Err() == nil {
		room := t.buf[:min(int64(cap(t.buf)), offset-t.taken.offset)]
		n, err := t.in.Read(room)
		t.taken.add(room[:n])
		t.o.Heartbeat()
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
		eof, err := t.fill(ctx, limit+1) // one byte more than is taken, to recognize the last segment
		if err != nil || eof && t.shrunk() {
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
		seg := transcript.Segment{Start: t.taken.cursor(t.gen), Data: t.buf[:n:n], Rest: eof && t.atRest()}
		t.taken.add(seg.Data)
		seg.End = t.taken.cursor(t.gen)
		if !yield(seg, nil) || eof {
			return nil
		}
		rest := t.buf[n:]
		if limit = segmentBytes; len(rest) > limit {
			limit = pieceBytes
		}
		t.buf = append(make([]byte, 0, max(len(rest), t.bufferSize(limit+1))), rest...) // the receiver has the other one
	}
}

// shrunk reports whether the file became shorter after it was opened.
func (t *tailer) shrunk() bool {
	return t.packed == nil && t.taken.offset+int64(len(t.buf)) < t.size
}

// fill reads until want bytes are in the buffer, or until the end of the file.
func (t *tailer) fill(ctx context.Context, want int) (eof bool, err error) {
	for len(t.buf) < want {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if len(t.buf) == cap(t.buf) {
			t.grow(t.bufferSize(want))
		}
		n, err := t.in.Read(t.buf[len(t.buf):min(cap(t.buf), want)])
		t.buf = t.buf[:len(t.buf)+n]
		t.o.Heartbeat()
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// bufferSize returns the size of a new buffer, not larger than the rest of a small file.
func (t *tailer) bufferSize(want int) int {
	if t.packed == nil {
		return int(min(int64(want), t.size-t.taken.offset+1))
	}
	return min(want, max(firstBuffer, 2*cap(t.buf)))
}

func (t *tailer) grow(room int) {
	t.buf = append(make([]byte, 0, max(room, cap(t.buf)+1)), t.buf...)
}

// cut returns how much of the buffer the next segment gets: whole lines, a piece of a long line, or, at the end of a
// file at rest, the rest.
func (t *tailer) cut(eof bool, limit int) int {
	b := t.buf[:min(len(t.buf), limit)]
	lines := bytes.LastIndexByte(b, '\n') + 1
	switch {
	case eof && t.atRest() && t.takesLastLine(b[lines:], lines == 0):
		return len(b)
	case lines == 0 && !eof && limit == pieceBytes:
		return len(b)
	}
	return lines
}

// atRest reports whether the file is at rest. A compressed one always is: its final checksum was read.
func (t *tailer) atRest() bool { return t.o.Rest || t.s.Packed }

// takesLastLine reports whether the bytes after the last newline of a file at rest are taken. first means that they are
// at the start of the buffer.
func (t *tailer) takesLastLine(last []byte, first bool) bool {
	switch {
	case len(last) == 0:
		return false
	case t.o.Torn || t.s.Packed || t.s.Class == transcript.Attachment || t.s.Unlined():
		return true
	case first && t.taken.midLine():
		return false // its beginning was taken before, so whether it is whole JSON is unknown
	}
	return whole(last)
}

// whole reports whether a line without a newline is a whole JSON object or array. If the writer died in the middle of a
// line, it is not.
func whole(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return false
	}
	end := line[len(line)-1]
	return (end == '}' || end == ']') && json.Valid(line)
}
