package watcher

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
)

// wholeFrames returns how many bytes of a file compressed with zstd are whole frames. A client that appends a frame at each turn may
// be killed in the last one. It returns size if there is no whole frame, or anything else in the file: then reading it tells.
func wholeFrames(f io.ReaderAt, size int64) int64 {
	r := &frameReader{file: f, size: size, in: bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 4<<10)}
	end := int64(0)
	for r.frame() {
		end = r.at
	}
	if end == 0 || r.strange {
		return size
	}
	return end
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

type frameReader struct {
	file    io.ReaderAt
	size    int64
	in      *bufio.Reader // the file from at
	at      int64
	strange bool // what is there is no frame
}

// afterFlags returns the length of a frame's head after the byte of its flags.
func afterFlags(flags uint32) int64 {
	length := int64([4]int{0, 1, 2, 4}[flags&3]) // the ID of a dictionary
	single, size := flags&0x20 != 0, flags>>6
	if size > 0 {
		length += 1 << size // the size of the content
	}
	if !single || size == 0 { // the size of the window; a single segment has none, but always that of its content
		length++
	}
	return length
}

// frame goes past the next frame; false if there is no whole one.
func (r *frameReader) frame() bool {
	const magic, skippable = 0xFD2FB528, 0x184D2A50
	head, ok := r.number(4)
	if !ok {
		return false
	}
	if head&^15 == skippable {
		length, ok := r.number(4)
		return ok && r.skip(int64(length))
	}
	if head != magic {
		r.strange = true
		return false
	}
	flags, ok := r.number(1)
	if !ok {
		return false
	}
	for last := !r.skip(afterFlags(flags)); !last; {
		block, ok := r.number(3)
		if !ok {
			return false
		}
		length := int64(block >> 3)
		switch block >> 1 & 3 {
		case 1: // one byte, repeated
			length = 1
		case 3:
			r.strange = true
			return false
		}
		if !r.skip(length) {
			return false
		}
		if last = block&1 != 0; last {
			return flags&4 == 0 || r.skip(4) // the checksum
		}
	}
	return false
}

func (r *frameReader) number(bytes int) (uint32, bool) {
	var b [4]byte
	n, err := io.ReadFull(r.in, b[:bytes])
	r.at += int64(n)
	return binary.LittleEndian.Uint32(b[:]), err == nil
}

// skip goes past n bytes without reading them; false if there are fewer.
func (r *frameReader) skip(n int64) bool {
	if n > r.size-r.at {
		return false
	}
	r.at += n
	if n <= int64(r.in.Buffered()) {
		_, err := r.in.Discard(int(n))
		return err == nil
	}
	r.in.Reset(io.NewSectionReader(r.file, r.at, r.size-r.at))
	return true
}
