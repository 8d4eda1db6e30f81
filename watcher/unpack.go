package watcher

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Limits for a .zst: a file of a few bytes can unpack to more than the disk can store.
const (
	maxWindow   = 32 << 20 // memory; more than any agent's compression level needs
	maxUnpacked = 16 << 30
	maxRatio    = 2000 // checked above ratioFrom bytes
	ratioFrom   = 64 << 20
)

// unpacker decompresses a .zst within these limits.
type unpacker struct {
	dec      *zstd.Decoder
	size     int64
	unpacked int64
}

func unpack(f io.ReaderAt, size int64) (*unpacker, error) {
	dec, err := zstd.NewReader(io.NewSectionReader(f, 0, size), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return &unpacker{dec: dec, size: size}, nil
}

// Read reads unpacked bytes. It fails if there are far more of them than packed ones.
func (u *unpacker) Read(b []byte) (int, error) {
	n, err := u.dec.Read(b)
	u.unpacked += int64(n)
	if u.unpacked > maxUnpacked || u.unpacked > ratioFrom && u.unpacked > maxRatio*u.size {
		return n, fmt.Errorf("unpack: %d compressed bytes exceed %d bytes", u.size, u.unpacked)
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("unpack: %w", err)
	}
	return n, err
}

// Close frees what the decoder holds; the packed file stays open.
func (u *unpacker) Close() { u.dec.Close() }
