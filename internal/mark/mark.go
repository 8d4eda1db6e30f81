// Package mark is the text grammar of a companion: IDs, markers and quoting.
//
// It owns three promises of docs/FORMAT.md. An ID is a function of the original's bytes alone. A marker is one line
// `[ccd ID kind ...]`. Quoted text is inert (nothing in it can pose as ours) and exact: Unquote(Quote(t)) == t.
// It imports nothing of ccd.
package mark

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// IDLen is the length of an ID in characters; each holds 5 bits of the hash.
const IDLen = 12

// MinPrefix is the shortest prefix of an ID that may name it.
const MinPrefix = 4

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz" // lower-case base32 without i l o u

// ID names an original: the first 60 bits of its SHA-256 in lower-case base32 (docs/FORMAT.md, "IDs").
type ID string

// Hash is the SHA-256 of an original, or of the IDs of its parts (see Combine).
type Hash [sha256.Size]byte

// Sum hashes the bytes of an original.
func Sum(original []byte) Hash { return sha256.Sum256(original) }

// Combine hashes the parts of a range or a list: their IDs in order, concatenated.
func Combine(parts []ID) Hash {
	c := NewCombiner()
	for _, p := range parts {
		c.Add(p)
	}
	return c.Hash()
}

// Combiner is Combine for parts that come one after another.
type Combiner struct {
	h     hash.Hash
	parts []byte // not written yet: the hash takes many at once faster than each
}

// NewCombiner returns a Combiner without parts.
func NewCombiner() Combiner { return Combiner{h: sha256.New()} }

// Add appends a part.
func (c *Combiner) Add(part ID) { c.added(append(c.parts, part...)) }

func (c *Combiner) added(parts []byte) {
	if c.parts = parts; len(parts) >= 16*IDLen {
		c.h.Write(parts)
		c.parts = parts[:0]
	}
}

// Hash is what Combine gives of the parts so far.
func (c *Combiner) Hash() Hash {
	c.h.Write(c.parts)
	c.parts = c.parts[:0]
	return Hash(c.h.Sum(nil))
}

// Key returns the first 8 bytes of the hash, enough to derive the ID.
func (h Hash) Key() uint64 { return binary.BigEndian.Uint64(h[:8]) }

// ID returns the ID of the original that hashes to h.
func (h Hash) ID() ID { return KeyID(h.Key()) }

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what Hash.String wrote.
func ParseHash(s string) (h Hash, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("parse hash %q: want %d hexadecimal digits", s, 2*len(h))
	}
	return Hash(b), nil
}

// KeyID returns the ID of the original whose hash begins with key.
func KeyID(key uint64) ID {
	var b [IDLen]byte
	return ID(appendID(b[:0], key))
}

func appendID(to []byte, key uint64) []byte {
	for range IDLen {
		to = append(to, alphabet[key>>59])
		key <<= 5
	}
	return to
}

// IsID reports whether s has the form of an ID.
func IsID(s string) bool { return len(s) == IDLen && isPrefix(s) }

func isPrefix(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(alphabet, s[i]) < 0 {
			return false
		}
	}
	return true
}

// PrefixRange returns the smallest and the largest hash key whose ID begins with prefix.
// Upper case is accepted. It fails for prefixes shorter than MinPrefix or with characters that no ID has.
func PrefixRange(prefix string) (lo, hi uint64, err error) {
	p := strings.ToLower(prefix)
	if len(p) < MinPrefix || len(p) > IDLen || !isPrefix(p) {
		return 0, 0, fmt.Errorf("parse id %q: expected %d to %d characters of %s", prefix, MinPrefix, IDLen, alphabet)
	}
	for i := range len(p) {
		lo |= uint64(strings.IndexByte(alphabet, p[i])) << (59 - 5*i)
	}
	return lo, lo | (1<<(64-5*len(p)) - 1), nil
}
