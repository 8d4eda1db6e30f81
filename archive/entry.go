package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	bolt "go.etcd.io/bbolt"
)

// Every value of every bucket, except the schema and the file's number, is an entry. bbolt writes a key just before its
// value, so each entry stands in consecutive bytes of the file:
//
//	key | magic, kind, length of the key, length of the record, version | hash | record
//
// The hash is over all the rest. So a scan finds each intact entry, whatever the pages around it say (see rebuild.go). Of
// two entries with the same key the one with the higher version is newer: an earlier one may stand in a page that is free.
const magic = "\xcc\xcda" + schema // no text has it: it is not UTF-8

const (
	sealSize  = 8        // bytes of SHA-256 in an entry
	maxRecord = 32 << 20 // bytes; a longer record is damaged
	headMost  = len(magic) + 1 + 3*binary.MaxVarintLen64
)

// kind is what an entry is, and in which bucket.
type kind byte

const (
	kindMeta       kind = 'A'
	kindSession    kind = 'S'
	kindGeneration kind = 'G'
	kindState      kind = 'T'
	kindBlock      kind = 'B'
	kindHash       kind = 'H'
	kindID         kind = 'I'
	kindSummary    kind = 'U'
)

// buckets are the names of the buckets.
var buckets = map[kind][]byte{
	kindMeta:       []byte("meta"),        // "schema" -> version, "id" -> 16 random bytes, "file" -> 8, "base" -> version
	kindSession:    []byte("sessions"),    // agent, 0, id -> sessionRecord
	kindGeneration: []byte("generations"), // key of the session, number in 4 bytes -> generationRecord
	kindState:      []byte("state"),       // agent, 0, id -> the caller's bytes
	kindBlock:      []byte("blocks"),      // id -> envelope and packed bytes of a frame or a piece
	kindHash:       []byte("hash"),        // SHA-256 of a frame's raw bytes -> its id
	kindID:         []byte("ids"),         // hash, shape -> pointerRecord
	kindSummary:    []byte("summaries"),   // hash of an input -> Summary
}

func (k kind) bucket(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket(buckets[k]) }

// counted reports whether the bucket's sequence is how many entries it has. bbolt reads a page with a damaged count without
// an error and returns too few entries; what is only listed has no other witness.
func (k kind) counted() bool {
	return k == kindSession || k == kindState || k == kindID || k == kindSummary
}

// fill is how full bbolt leaves a page when it splits it: most keys come in order.
func (k kind) fill() float64 {
	if k != kindMeta && k != kindBlock {
		return bolt.DefaultFillPercent
	}
	return 0.9
}

// header is the beginning of an entry's value.
type header struct {
	kind        kind
	key, record int // their lengths
	version     uint64
	size        int // of the header, without the hash
}

// parseHeader reads the header at the beginning of b.
func parseHeader(b []byte) (h header, ok bool) {
	if len(b) <= len(magic) || string(b[:len(magic)]) != magic {
		return h, false
	}
	d := varints{b: b[len(magic):min(len(b), headMost)]}
	before := len(d.b)
	h.kind = kind(d.byte())
	key, record := d.uint(), d.uint()
	h.version = d.uint()
	if d.err != nil || key > bolt.MaxKeySize || record > maxRecord {
		return h, false
	}
	h.key, h.record, h.size = int(key), int(record), len(magic)+before-len(d.b)
	return h, true
}

// value returns the length of the entry's value.
func (h header) value() int { return h.size + sealSize + h.record }

// seal returns the value of an entry.
func seal(k kind, version uint64, key, record []byte) []byte {
	head := append(append(make([]byte, 0, headMost+sealSize+len(record)), magic...), byte(k))
	head = binary.AppendUvarint(binary.AppendUvarint(head, uint64(len(key))), uint64(len(record)))
	head = binary.AppendUvarint(head, version)
	sum := sealOf(head, key, record)
	return append(append(head, sum[:]...), record...)
}

// sealOf returns the beginning of the hash of some parts. Their lengths must be known from the first one.
func sealOf(parts ...[]byte) [sealSize]byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return [sealSize]byte(h.Sum(nil))
}

// errSeal is the cause if an entry is not what was written.
var errSeal = errors.New("record has wrong hash")

// unseal returns the record of an entry, a slice of value; with errSeal the one that is damaged.
func unseal(k kind, key, value []byte) ([]byte, error) {
	h, ok := parseHeader(value)
	if !ok || h.kind != k || h.key != len(key) || h.value() != len(value) {
		return nil, errors.New("record has wrong size")
	}
	record := value[h.size+sealSize:]
	if sealOf(value[:h.size], key, record) != [sealSize]byte(value[h.size:]) {
		return record, errSeal
	}
	return record, nil
}

// get returns the record of a key, nil if there is none.
func get(tx *bolt.Tx, k kind, key []byte) ([]byte, error) {
	v := k.bucket(tx).Get(key)
	if v == nil {
		return nil, nil
	}
	return unseal(k, key, v)
}

// put stores an entry. A file that an earlier version of ccd rebuilt has later versions than its transactions: they go on from its base.
func put(tx *bolt.Tx, k kind, key, record []byte) error {
	version := uint64(tx.ID())
	switch base, err := get(tx, kindMeta, keyBase); {
	case err != nil:
		return err
	case len(base) == 8:
		version += binary.BigEndian.Uint64(base)
	}
	b, value := k.bucket(tx), seal(k, version, key, record)
	b.FillPercent = k.fill()
	if k.counted() && b.Get(key) == nil {
		if err := b.SetSequence(b.Sequence() + 1); err != nil {
			return err
		}
	}
	if k == kindBlock && len(value) > ownBucket {
		own, err := b.CreateBucketIfNotExists(key)
		if err != nil {
			return err
		}
		return own.Put(key, value)
	}
	return b.Put(key, value)
}

// ownBucket is the size in bytes above which a block has a bucket of its own, below its key: bbolt writes all large values of
// a page, up to four, again when it adds one there.
const ownBucket = 16 << 10
