package watcher

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// wholeFrames returns how many bytes of a file compressed with zstd are whole frames. A client that appends a frame at each turn may
// be killed in the last one. It returns size if there is no whole frame, or anything else in the file: then reading it tells.
func wholeFrames(f io.ReaderAt, size int64) (end int64) {
	for {
		next, err := frameEnd(f, end, size)
		switch {
		case err == nil:
			end = next
		case end > 0 && errors.Is(err, io.ErrUnexpectedEOF):
			return end
		default:
			return size
		}
	}
}

// Torn returns how many bytes at the end of a file compressed with zstd are no whole frame and are not read.
// It fails if the file cannot be read.
func Torn(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size() - wholeFrames(f, info.Size()), nil
}

// frameEnd returns where the frame at an offset ends. It fails with io.ErrUnexpectedEOF if the file ends before, and otherwise if it is
// no frame.
func frameEnd(f io.ReaderAt, at, size int64) (int64, error) {
	read := func(b []byte) []byte {
		n, _ := f.ReadAt(b, at)
		return b[:min(int64(n), max(0, size-at))]
	}
	var h zstd.Header
	if err := h.Decode(read(make([]byte, zstd.HeaderMaxSize))); err != nil {
		return 0, err
	}
	at += int64(h.HeaderSize) + int64(h.SkippableSize)
	for last := h.Skippable; !last; {
		head := read(make([]byte, 3))
		if len(head) < 3 {
			return 0, io.ErrUnexpectedEOF
		}
		block := binary.LittleEndian.Uint32(append(head, 0))
		length := int64(block >> 3)
		switch block >> 1 & 3 {
		case 1: // one byte, repeated
			length = 1
		case 3:
			return 0, errors.New("a block of no kind")
		}
		at, last = at+3+length, block&1 != 0
	}
	if h.HasCheckSum {
		at += 4
	}
	if at > size {
		return 0, io.ErrUnexpectedEOF
	}
	return at, nil
}
