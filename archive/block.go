package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// chunkSize is the size of a value in "frames" and "tail": two values and bbolt's headers fill exactly eight pages of
// 4096 bytes.
const chunkSize = 16<<10 - 34

// tailID is set in the IDs of tail pieces since schema 3, so that no frame has the same one: Salvage may find chunks
// without their bucket.
const tailID = 1 << 63

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

// The first byte of a stored block: how it is packed, and what follows.
const (
	packedRaw  = 0 // uncompressed: zstd did not make it smaller
	packedZstd = 1
	enveloped  = 2 // added to the others since schema 3
	summed     = 4 // added since schema 4: a checksum precedes the envelope
)

// envelope says where a block belongs, so that Salvage can find its place without the records and pages that lead to it.
// A shared frame names the first place only.
type envelope struct {
	Key        transcript.Key
	Class      transcript.Class
	Generation int   // the track
	Off, Len   int64 // in the track
}

// encode returns the stored form of the envelope of a block with this hash: its fields and a seal of them.
func (e envelope) encode(sum mark.Hash) []byte {
	b := append(appendString(appendString(nil, e.Key.Agent), e.Key.ID), byte(e.Class))
	for _, n := range []int64{int64(e.Generation), e.Off, e.Len} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	check := sealOf(sum[:], b)
	return append(b, check[:]...)
}

// parseEnvelope returns the envelope of a block, whose hash sealed then checks.
func parseEnvelope(b []byte) (e envelope, sealed func(sum mark.Hash) bool, err error) {
	if len(b) < sealSize {
		return e, nil, errors.New("envelope has wrong size")
	}
	fields, check := b[:len(b)-sealSize], b[len(b)-sealSize:]
	d := varints{b: fields}
	e.Key = transcript.Key{Agent: d.string(), ID: d.string()}
	e.Class, e.Generation = transcript.Class(d.byte()), int(d.uint())
	e.Off, e.Len = int64(d.uint()), int64(d.uint())
	if d.err != nil || e.Generation < 1 || e.Off < 0 || e.Len < 1 || e.Len > maxFrame {
		return e, nil, errors.New("envelope cannot be decoded")
	}
	return e, func(sum mark.Hash) bool { return sealOf(sum[:], fields) == [sealSize]byte(check) }, nil
}

// checksum is the CRC-32C of a block's hash and its stored bytes without the checksum itself. It detects damage by the
// storage without decoding the block.
type checksum struct {
	want, got uint32
	ok        bool // there is one
}

const checksumSize = 4

// begin adds the beginning of a stored block, which includes the checksum.
func (c *checksum) begin(sum mark.Hash, stored []byte) {
	if c.ok = len(stored) > checksumSize && stored[0]&summed != 0; c.ok {
		c.want = binary.BigEndian.Uint32(stored[1:])
		c.got = crc32.Update(crc32.Checksum(sum[:], castagnoli), castagnoli, stored[:1])
		c.add(stored[1+checksumSize:])
	}
}

func (c *checksum) add(stored []byte) { c.got = crc32.Update(c.got, castagnoli, stored) }

// matches reports whether there is a checksum and it is right.
func (c *checksum) matches() bool { return c.ok && c.got == c.want }

// withChecksum adds the checksum to a stored block that has none.
func withChecksum(stored []byte, sum mark.Hash) []byte {
	if stored[0]&summed != 0 {
		return stored
	}
	stored = slices.Insert(stored, 1, make([]byte, checksumSize)...)
	stored[0] |= summed
	var c checksum
	c.begin(sum, stored)
	binary.BigEndian.PutUint32(stored[1:], c.got)
	return stored
}

// splitStored splits a stored block into how it is packed, its envelope (nil for none) and its packed bytes.
func splitStored(stored []byte) (packing byte, env, payload []byte, err error) {
	if len(stored) == 0 {
		return 0, nil, nil, errors.New("block is empty")
	}
	packing, payload = stored[0], stored[1:]
	if packing&summed != 0 {
		if len(payload) < checksumSize {
			return 0, nil, nil, errors.New("checksum has wrong size")
		}
		payload = payload[checksumSize:]
	}
	if packing&enveloped != 0 {
		n, size := binary.Uvarint(payload)
		if size <= 0 || n > uint64(len(payload)-size) {
			return 0, nil, nil, errors.New("envelope has wrong size")
		}
		env, payload = payload[size:size+int(n)], payload[size+int(n):]
	}
	return packing &^ (enveloped | summed), env, payload, nil
}

// The archives of a process share these: each has megabytes of tables.
var (
	fastest = sync.OnceValues(func() (*zstd.Encoder, error) { return newEncoder(zstd.SpeedFastest) })
	better  = sync.OnceValues(func() (*zstd.Encoder, error) { return newEncoder(zstd.SpeedBetterCompression) })
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) { return newDecoder() })
)

func newEncoder(level zstd.EncoderLevel) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(2),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(maxFrame), zstd.WithEncoderCRC(false),
		zstd.WithSingleSegment(true))
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(2*maxFrame), zstd.WithDecodeAllCapLimit(true))
}

// pack returns the stored form of raw, with an envelope and a filter.
func (a *Archive) pack(raw []byte, e envelope, sum mark.Hash) []byte {
	return a.packWith(a.enc, raw, e, sum)
}

// bestFrom is the size from which a block is always packed with the better encoder. It pays for the filters.
const bestFrom = 64 << 10

func (a *Archive) packWith(enc *zstd.Encoder, raw []byte, e envelope, sum mark.Hash) []byte {
	if len(raw) >= bestFrom {
		enc = a.best
	}
	env := e.encode(sum)
	head := append(binary.AppendUvarint(append(make([]byte, 0, len(env)+8+len(raw)/4), packedZstd|enveloped), uint64(len(env))), env...)
	n := len(head)
	stored := enc.EncodeAll(raw, append(head, encodeFilter(raw, sum)...))
	if len(stored)-n >= len(raw) {
		stored = append(stored[:n], raw...)
		stored[0] = packedRaw | enveloped
	}
	return withChecksum(stored, sum)
}

// unpack returns the raw bytes of b after checking length and hash. It uses buf if they fit.
func (a *Archive) unpack(b block, stored, buf []byte) ([]byte, error) {
	raw, err := a.decode(b, stored, buf)
	if err == nil && !a.unchecked && mark.Sum(raw) != b.Sum {
		return nil, errors.New("hash mismatch")
	}
	return raw, err
}

// decode returns the raw bytes of b after checking their length.
func (a *Archive) decode(b block, stored, buf []byte) ([]byte, error) {
	packing, _, payload, err := splitStored(stored)
	if err == nil && (b.Len < 0 || b.Len > maxFrame) {
		err = fmt.Errorf("block of %d bytes", b.Len)
	}
	if err != nil {
		return nil, err
	}
	if int64(cap(buf)) < b.Len {
		buf = make([]byte, 0, b.Len)
	}
	var raw []byte
	switch packing {
	case packedRaw:
		raw = append(buf[:0], payload...)
	case packedZstd:
		raw, err = a.dec.DecodeAll(payload, buf[:0:b.Len])
	default:
		err = fmt.Errorf("unknown packing %d", packing)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) != b.Len {
		return nil, errors.New("hash mismatch")
	}
	return raw, nil
}

// checkStored checks a stored block by its checksum, and by its hash if it has none or that differs. It returns how many
// bytes it has read or decoded.
func (a *Archive) checkStored(tx *bolt.Tx, b block) (read int64, err error) {
	var c checksum
	err = eachChunk(b.bucket(tx), b.ID, func(chunk []byte) {
		if read == 0 {
			c.begin(b.Sum, chunk)
		} else {
			c.add(chunk)
		}
		read += int64(len(chunk))
	})
	if err != nil || c.matches() {
		return read, err
	}
	stored, err := getChunks(b.bucket(tx), b.ID, nil)
	if err == nil {
		_, err = a.unpack(b, stored, nil)
	}
	return b.Len, err
}

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

// eachChunk calls fn with the chunks of the block id.
func eachChunk(b *bolt.Bucket, id uint64, fn func(chunk []byte)) error {
	prefix := chunkKey(id, 0)[:8]
	c := b.Cursor()
	n := 0
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if len(k) != 10 || int(binary.BigEndian.Uint16(k[8:])) != n || len(v) > chunkSize || n > maxFrame/chunkSize+1 {
			return fmt.Errorf("chunk %d of block %d is damaged", n, id)
		}
		fn(v)
		n++
	}
	if n == 0 {
		return fmt.Errorf("block %d is missing", id)
	}
	return nil
}

// getChunks appends the stored form of the block id to dst.
func getChunks(b *bolt.Bucket, id uint64, dst []byte) ([]byte, error) {
	err := eachChunk(b, id, func(chunk []byte) { dst = append(dst, chunk...) })
	return dst, err
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
