package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
)

// chunkSize is the size of a value in "frames" and "tail": two values and bbolt's headers fill exactly eight pages of
// 4096 bytes.
const chunkSize = 16<<10 - 34

// block is a stretch of a stream that is stored as one zstd frame.
type block struct {
	Off  int64     // in the stream
	Len  int64     // uncompressed, at most maxFrame
	Tail bool      // a tail piece, in bucket "tail"; otherwise a frame, in "frames"
	ID   uint64    // in that bucket
	Sum  mark.Hash // of the uncompressed bytes
}

func (b block) end() int64 { return b.Off + b.Len }

func (b block) bucket(tx *bolt.Tx) *bolt.Bucket {
	if b.Tail {
		return tx.Bucket(bucketTail)
	}
	return tx.Bucket(bucketFrames)
}

// The first byte of a stored block: how it is packed.
const (
	packedRaw  = 0 // uncompressed: zstd did not make it smaller
	packedZstd = 1
)

func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(maxFrame), zstd.WithEncoderCRC(false),
		zstd.WithSingleSegment(true))
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(2*maxFrame), zstd.WithDecodeAllCapLimit(true))
}

// pack returns the stored form of raw.
func (a *Archive) pack(raw []byte) []byte {
	stored := a.enc.EncodeAll(raw, append(make([]byte, 0, 1+len(raw)/4), packedZstd))
	if len(stored) > len(raw) {
		stored = append(append(stored[:0], packedRaw), raw...)
	}
	return stored
}

// unpack returns the raw bytes of b after checking length and hash. It uses buf if they fit.
func (a *Archive) unpack(b block, stored, buf []byte) ([]byte, error) {
	if b.Len < 0 || b.Len > maxFrame || len(stored) == 0 {
		return nil, fmt.Errorf("block of %d bytes, stored in %d", b.Len, len(stored))
	}
	if int64(cap(buf)) < b.Len {
		buf = make([]byte, 0, b.Len)
	}
	var raw []byte
	var err error
	switch stored[0] {
	case packedRaw:
		raw = append(buf[:0], stored[1:]...)
	case packedZstd:
		raw, err = a.dec.DecodeAll(stored[1:], buf[:0:b.Len])
	default:
		err = fmt.Errorf("unknown packing %d", stored[0])
	}
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) != b.Len || !a.checkSum(b, raw) {
		return nil, errors.New("hash mismatch")
	}
	return raw, nil
}

// checkSum reports whether raw has b's hash.
func (a *Archive) checkSum(b block, raw []byte) bool { return a.unchecked || mark.Sum(raw) == b.Sum }

func chunkKey(id uint64, chunk int) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(nil, id), uint16(chunk))
}

// putChunks stores a block under id. stored must not change before the commit.
func putChunks(b *bolt.Bucket, id uint64, stored []byte) error {
	b.FillPercent = 0.95 // keys only increase
	for i := 0; len(stored) > 0; i++ {
		n := min(len(stored), chunkSize)
		if err := b.Put(chunkKey(id, i), stored[:n]); err != nil {
			return err
		}
		stored = stored[n:]
	}
	return nil
}

// getChunks appends the stored form of the block id to dst.
func getChunks(b *bolt.Bucket, id uint64, dst []byte) ([]byte, error) {
	prefix := chunkKey(id, 0)[:8]
	c := b.Cursor()
	n := 0
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if len(k) != 10 || int(binary.BigEndian.Uint16(k[8:])) != n || len(v) > chunkSize || n > maxFrame/chunkSize+1 {
			return nil, fmt.Errorf("chunk %d of block %d is damaged", n, id)
		}
		dst = append(dst, v...)
		n++
	}
	if n == 0 {
		return nil, fmt.Errorf("block %d is missing", id)
	}
	return dst, nil
}

// deleteChunks removes the block id, a tail piece of a few chunks.
func deleteChunks(b *bolt.Bucket, id uint64) error {
	prefix := chunkKey(id, 0)[:8]
	c := b.Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Seek(prefix) {
		if err := c.Delete(); err != nil {
			return err
		}
	}
	return nil
}
