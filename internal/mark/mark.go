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
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
	}
	return Hash(h.Sum(nil))
}

// Key returns the first 8 bytes of the hash, enough to derive the ID.
func (h Hash) Key() uint64 { return binary.BigEndian.Uint64(h[:8]) }

// ID returns the ID of the original that hashes to h.
func (h Hash) ID() ID {
	var b [IDLen]byte
	key := h.Key()
	for i := range b {
		b[i] = alphabet[key>>59]
		key <<= 5
	}
	return ID(b[:])
}

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what Hash.String wrote. It fails for anything else.
func ParseHash(s string) (h Hash, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("parse hash %q: want %d hexadecimal digits", s, 2*len(h))
	}
	return Hash(b), nil
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
