package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
)

// blockRecord is a value of "manifest", in big-endian binary.
type blockRecord struct {
	Tail bool
	ID   uint64
	Len  uint32
	Sum  mark.Hash
}

func manifestKey(s stream, off int64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, len(s)+8), s[:]...), uint64(off))
}

// manifestOffset returns the offset in a key of "manifest".
func manifestOffset(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[len(stream{}):])) }

func putBlock(tx *bolt.Tx, s stream, b block) error {
	record, err := binary.Append(nil, binary.BigEndian, blockRecord{b.Tail, b.ID, uint32(b.Len), b.Sum})
	if err != nil {
		return err
	}
	return put(tx, kindManifest, manifestKey(s, b.Off), record)
}

func deleteBlock(tx *bolt.Tx, s stream, b block) error {
	if err := b.remove(tx); err != nil {
		return err
	}
	return tx.Bucket(bucketManifest).Delete(manifestKey(s, b.Off))
}

func parseBlock(key, v []byte) (b block, err error) {
	var r blockRecord
	record, err := unseal(kindManifest, key, v)
	if err == nil && binary.Size(r) != len(record) {
		err = errors.New("wrong size")
	}
	if err == nil {
		_, err = binary.Decode(record, binary.BigEndian, &r)
	}
	if err != nil {
		return b, fmt.Errorf("manifest: %w", err)
	}
	return block{Off: manifestOffset(key), Len: int64(r.Len), Tail: r.Tail, ID: r.ID, Sum: r.Sum}, nil
}

// findBlock returns the block of s that contains the byte at off.
func findBlock(tx *bolt.Tx, s stream, off int64) (block, error) {
	key := manifestKey(s, off)
	c := tx.Bucket(bucketManifest).Cursor()
	k, v := c.Seek(key)
	if !bytes.Equal(k, key) { // the block starts before off
		if k == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
	}
	if len(k) != len(key) || !bytes.HasPrefix(k, s[:]) {
		return block{}, fmt.Errorf("%w at offset %d", ErrMissing, off)
	}
	b, err := parseBlock(k, v)
	if err != nil {
		return block{}, err
	}
	if off < b.Off || off >= b.end() {
		return block{}, fmt.Errorf("%w at offset %d", ErrMissing, off)
	}
	return b, nil
}

const (
	pieceSmall = 16 << 10 // size below which a tail piece is small
	piecesMany = 16       // number of successive small pieces that are merged
)

// smallPieces returns where the small pieces before end begin, if they are many; otherwise end.
func smallPieces(tx *bolt.Tx, s stream, end int64) (int64, error) {
	c := tx.Bucket(bucketManifest).Cursor()
	var v []byte
	k, _ := c.Seek(manifestKey(s, end))
	if k == nil {
		k, v = c.Last()
	} else {
		k, v = c.Prev()
	}
	from := end
	for n := 0; len(k) == len(s)+8 && bytes.HasPrefix(k, s[:]); k, v = c.Prev() {
		b, err := parseBlock(k, v)
		if err != nil || !b.Tail || b.Len >= pieceSmall || b.end() != from {
			return end, err
		}
		from = b.Off
		if n++; n == piecesMany {
			return from, nil
		}
	}
	return end, nil
}

// sharedRecord is a value of "hash", in big-endian binary.
type sharedRecord struct {
	ID  uint64
	Len uint32
}

func parseShared(key, v []byte) (b block, err error) {
	var r sharedRecord
	record, err := unseal(kindHash, key, v)
	if err == nil && (binary.Size(r) != len(record) || len(key) != len(b.Sum)) {
		err = errors.New("wrong size")
	}
	if err == nil {
		_, err = binary.Decode(record, binary.BigEndian, &r)
	}
	if err != nil {
		return b, fmt.Errorf("frame index: %w", err)
	}
	return block{Len: int64(r.Len), ID: r.ID, Sum: mark.Hash(key)}, nil
}

// getShared returns the frame with this hash; its Off is not set. A damaged entry counts as none.
func getShared(tx *bolt.Tx, sum mark.Hash) (b block, ok bool) {
	v := tx.Bucket(bucketHash).Get(sum[:])
	if v == nil {
		return b, false
	}
	b, err := parseShared(sum[:], v)
	return b, err == nil
}

func putShared(tx *bolt.Tx, b block) error {
	record, err := binary.Append(nil, binary.BigEndian, sharedRecord{b.ID, uint32(b.Len)})
	if err != nil {
		return err
	}
	return put(tx, kindHash, b.Sum[:], record)
}
