package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// block is a stretch of a stream that is stored as one zstd frame.
type block struct {
	Off  int64     // in the stream
	Len  int64     // uncompressed, at most maxFrame
	Tail bool      // a tail piece, in bucket "tail"; otherwise a frame, in "frames"
	ID   uint64    // in that bucket
	Sum  mark.Hash // of the uncompressed bytes
}

func (b block) end() int64 { return b.Off + b.Len }

func (b block) kind() kind {
	if b.Tail {
		return kindPiece
	}
	return kindFrame
}

func (b block) key() []byte { return binary.BigEndian.AppendUint64(nil, b.ID) }

// How a block is packed: the first byte after its envelope.
const (
	packedRaw  = 0 // uncompressed: zstd did not make it smaller
	packedZstd = 1
)

// envelope says where a block belongs, so that a scan finds its place without the records that lead to it. A shared frame
// names the first place only.
type envelope struct {
	Key    transcript.Key
	Class  transcript.Class
	Stream stream // its session's number and its track
	By     int    // the generation that has stored it, the last one of which it has bytes
	Off    int64
	Len    int64
	Sum    mark.Hash
}

// enclose returns the record of a block: its envelope and its packed bytes.
func (e envelope) enclose(packed []byte) []byte {
	env := append(appendString(appendString(nil, e.Key.Agent), e.Key.ID), byte(e.Class))
	for _, n := range []uint64{e.Stream.num(), uint64(e.Stream.generation()), uint64(e.By), uint64(e.Off), uint64(e.Len)} {
		env = binary.AppendUvarint(env, n)
	}
	env = append(env, e.Sum[:]...)
	record := binary.AppendUvarint(make([]byte, 0, len(env)+8+len(packed)), uint64(len(env)))
	return append(append(record, env...), packed...)
}

// parseEnvelope splits the record of a block.
func parseEnvelope(record []byte) (e envelope, packed []byte, err error) {
	d := varints{b: record}
	env := []byte(d.string())
	packed, d = d.b, varints{b: env, err: d.err}
	e.Key = transcript.Key{Agent: d.string(), ID: d.string()}
	e.Class = transcript.Class(d.byte())
	e.Stream = newStream(d.uint(), int(d.uint()))
	e.By, e.Off, e.Len = int(d.uint()), int64(d.uint()), int64(d.uint())
	if d.err != nil || len(d.b) != len(e.Sum) || e.Stream.generation() < 1 || e.Off < 0 || e.Len < 1 || e.Len > maxFrame {
		return e, nil, errors.New("envelope cannot be decoded")
	}
	e.Sum = mark.Hash(d.b)
	return e, packed, nil
}

// codec compresses blocks. The archives that one process makes from each other share it: it has megabytes of tables, which
// are made when they are first needed.
type codec struct {
	encoder func() (*zstd.Encoder, error)
	decoder func() (*zstd.Decoder, error)
}

func newCodec() *codec {
	return &codec{
		sync.OnceValues(func() (*zstd.Encoder, error) {
			return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(2),
				zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(maxFrame), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
		}),
		sync.OnceValues(func() (*zstd.Decoder, error) {
			return zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxMemory(2*maxFrame), zstd.WithDecodeAllCapLimit(true))
		}),
	}
}

// pack returns the packed form of raw, which includes its filter.
func (c *codec) pack(raw []byte, sum mark.Hash) ([]byte, error) {
	enc, err := c.encoder()
	if err != nil {
		return nil, err
	}
	packed := append(make([]byte, 0, 2+len(raw)/4), packedZstd, 0)
	packed = enc.EncodeAll(raw, append(packed, encodeFilter(raw, sum)...))
	if len(packed)-2 >= len(raw) {
		packed = append(packed[:2], raw...)
		packed[0] = packedRaw
	}
	return hideMagic(packed), nil
}

// hideMagic changes packed bytes, which may have bytes of a transcript as they are, so that no scan takes a part of them for
// an entry. The second byte says how.
func hideMagic(packed []byte) []byte {
	for mask := byte(1); bytes.Contains(packed, []byte(magic)); mask++ {
		for i := 2; i < len(packed); i++ {
			packed[i] ^= packed[1] ^ mask
		}
		packed[1] = mask
	}
	return packed
}

// unpack returns the raw bytes of the stored value of b. It checks the hash of the value and, unless the caller checks that
// of the whole generation, of the bytes. It uses buf if they fit.
func (a *Archive) unpack(b block, value, buf []byte, whole bool) ([]byte, error) {
	_, packed, err := b.open(value)
	if err != nil && !(a.unchecked && errors.Is(err, errSeal)) {
		return nil, err
	}
	raw, err := a.codec.decode(b, packed, buf)
	if err == nil && !whole && !a.unchecked && mark.Sum(raw) != b.Sum {
		return nil, errMismatch
	}
	return raw, err
}

// decode returns the raw bytes of b after checking their length.
func (c *codec) decode(b block, packed, buf []byte) ([]byte, error) {
	if len(packed) < 2 || b.Len < 0 || b.Len > maxFrame {
		return nil, fmt.Errorf("block of %d bytes", b.Len)
	}
	dec, err := c.decoder()
	if err != nil {
		return nil, err
	}
	payload := packed[2:]
	if mask := packed[1]; mask != 0 {
		payload = bytes.Clone(payload)
		for i := range payload {
			payload[i] ^= mask
		}
	}
	if int64(cap(buf)) < b.Len {
		buf = make([]byte, 0, b.Len)
	}
	var raw []byte
	switch packed[0] {
	case packedRaw:
		raw = append(buf[:0], payload...)
	case packedZstd:
		raw, err = dec.DecodeAll(payload, buf[:0:b.Len])
	default:
		err = fmt.Errorf("unknown packing %d", packed[0])
	}
	if err == nil && int64(len(raw)) != b.Len {
		err = errMismatch
	}
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// open returns the envelope and the packed bytes in the value of b.
func (b block) open(value []byte) (e envelope, packed []byte, err error) {
	record, sealed := unseal(b.kind(), b.key(), value)
	if record != nil {
		e, packed, err = parseEnvelope(record)
	}
	if sealed != nil {
		err = fmt.Errorf("block %d: %w", b.ID, sealed)
	}
	return e, packed, err
}

// value returns the stored value of b, a slice of the mapped file.
func (b block) value(tx *bolt.Tx) ([]byte, error) {
	all, key := b.kind().bucket(tx), b.key()
	v := all.Get(key)
	if own := all.Bucket(key); v == nil && own != nil {
		v = own.Get(key)
	}
	if v == nil {
		return nil, fmt.Errorf("block %d is missing", b.ID)
	}
	return v, nil
}

// remove removes the stored value of b.
func (b block) remove(tx *bolt.Tx) error {
	all, key := b.kind().bucket(tx), b.key()
	if all.Get(key) == nil && all.Bucket(key) != nil {
		return all.DeleteBucket(key)
	}
	return all.Delete(key)
}

// check checks the stored value of b without decoding it, and returns how many bytes it has read.
func (b block) check(tx *bolt.Tx) (read int64, err error) {
	v, err := b.value(tx)
	if err == nil {
		_, _, err = b.open(v)
	}
	return int64(len(v)), err
}
