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

func blockKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// envelope says where a block belongs, so that a scan finds its place without the records that lead to it. A shared frame
// names the first place only.
type envelope struct {
	generationOf
	Class transcript.Class
	Off   int64
	Len   int64
	Sum   mark.Hash // of the uncompressed bytes
	Words []byte    // their filter (words.go)
}

func (e envelope) end() int64 { return e.Off + e.Len }

// enclose returns the record of a block: its envelope and its packed bytes.
func (e envelope) enclose(packed []byte) []byte {
	env := append(appendString(appendString(nil, e.Key.Agent), e.Key.ID), byte(e.Class))
	env = appendUints(env, uint64(e.n), uint64(e.Off), uint64(e.Len))
	env = append(append(env, e.Sum[:]...), e.Words...)
	record := appendUints(make([]byte, 0, len(env)+8+len(packed)), uint64(len(env)))
	return append(append(record, env...), packed...)
}

// parseEnvelope splits the record of a block.
func parseEnvelope(record []byte) (e envelope, packed []byte, err error) {
	d := varints{b: record}
	env := d.bytes(int(min(d.uint(), maxRecord)))
	packed, d = d.b, varints{b: env, err: d.err}
	e.Key = transcript.Key{Agent: d.string(), ID: d.string()}
	e.Class = transcript.Class(d.byte())
	e.n, e.Off, e.Len = int(d.uint()), int64(d.uint()), int64(d.uint())
	copy(e.Sum[:], d.bytes(len(e.Sum)))
	if e.Words = d.b; d.err != nil || e.n < 1 || e.Off < 0 || e.Len < 1 || e.Len > maxFrame || e.end() < 0 {
		return e, nil, errors.New("envelope cannot be decoded")
	}
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
		encoder: sync.OnceValues(func() (*zstd.Encoder, error) {
			return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
				zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(maxFrame), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
		}),
		decoder: sync.OnceValues(func() (*zstd.Decoder, error) {
			return zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxMemory(2*maxFrame), zstd.WithDecodeAllCapLimit(true))
		}),
	}
}

// pack returns the packed form of raw.
func (c *codec) pack(raw []byte) ([]byte, error) {
	enc, err := c.encoder()
	if err != nil {
		return nil, err
	}
	return hideMagic(enc.EncodeAll(raw, make([]byte, 1, 1+len(raw)/4))), nil
}

// hideMagic changes packed bytes, which may have bytes of a transcript as they are, so that no scan takes a part of them for
// an entry. The first byte says how.
func hideMagic(packed []byte) []byte {
	for mask := byte(1); bytes.Contains(packed, []byte(magic)); mask++ {
		for i := 1; i < len(packed); i++ {
			packed[i] ^= packed[0] ^ mask
		}
		packed[0] = mask
	}
	return packed
}

// unpack returns the raw bytes of the stored value of b, and checks the hash of the value and theirs.
func (a *Archive) unpack(b block, value []byte) ([]byte, error) {
	e, packed, err := openBlock(b.ID, value)
	if err != nil && !(a.unchecked && errors.Is(err, errSeal)) {
		return nil, err
	}
	if e.Len != b.Len {
		return nil, errMismatch
	}
	raw, err := a.codec.decode(e.Len, packed)
	if err == nil && !a.unchecked && mark.Sum(raw) != e.Sum {
		return nil, errMismatch
	}
	return raw, err
}

// decode returns the raw bytes of a block, of which there are size.
func (c *codec) decode(size int64, packed []byte) ([]byte, error) {
	if len(packed) == 0 || size < 0 || size > maxFrame {
		return nil, fmt.Errorf("block of %d bytes", size)
	}
	dec, err := c.decoder()
	if err != nil {
		return nil, err
	}
	payload := packed[1:]
	if mask := packed[0]; mask != 0 {
		payload = bytes.Clone(payload)
		for i := range payload {
			payload[i] ^= mask
		}
	}
	raw, err := dec.DecodeAll(payload, make([]byte, 0, size))
	if err == nil && int64(len(raw)) != size {
		err = errMismatch
	}
	return raw, err
}

// openBlock returns the envelope and the packed bytes in the value of a block.
func openBlock(id uint64, value []byte) (e envelope, packed []byte, err error) {
	record, sealed := unseal(kindBlock, blockKey(id), value)
	if record != nil {
		e, packed, err = parseEnvelope(record)
	}
	if sealed != nil {
		err = fmt.Errorf("block %d: %w", id, sealed)
	}
	return e, packed, err
}

// getBlock returns the stored value of a block, a slice of the mapped file.
func getBlock(tx *bolt.Tx, id uint64) ([]byte, error) {
	if id == 0 {
		return nil, ErrMissing
	}
	all, key := kindBlock.bucket(tx), blockKey(id)
	v := all.Get(key)
	if own := all.Bucket(key); v == nil && own != nil {
		v = own.Get(key)
	}
	if v == nil {
		return nil, fmt.Errorf("block %d is missing", id)
	}
	return v, nil
}

// removeBlock removes the stored value of a block.
func removeBlock(tx *bolt.Tx, id uint64) error {
	all, key := kindBlock.bucket(tx), blockKey(id)
	if all.Get(key) == nil && all.Bucket(key) != nil {
		return all.DeleteBucket(key)
	}
	return all.Delete(key)
}
