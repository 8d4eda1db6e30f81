package gen

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"

	"github.com/google/uuid"
)

// random is a generator that is the same on every machine. The package uses no floating point, whose results may differ
// between machines.
type random struct {
	*rand.Rand
	bytes *rand.ChaCha8
}

// chance returns the generator for the n-th thing made from seed.
func chance(seed, n uint64) *random {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], n)
	source := rand.NewChaCha8(key)
	return &random{rand.New(source), source}
}

// between returns a number in [lo, hi].
func (r *random) between(lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// in returns true in p of 1000 cases.
func (r *random) in(p int) bool { return r.IntN(1000) < p }

// low returns an index in [0, n) and prefers low ones, as a language prefers some words.
func (r *random) low(n int) int { return r.IntN(1 + r.IntN(n)) }

func pick[T any](r *random, from ...T) T { return from[r.IntN(len(from))] }

// quantiles is a distribution given by some of its quantiles: pairs of (per mille, value), both increasing, from 0 to
// 1000.
type quantiles [][2]int

func (r *random) draw(from quantiles) int {
	at := r.IntN(1000)
	for i := 1; i < len(from); i++ {
		if lo, hi := from[i-1], from[i]; at < hi[0] {
			return r.between(lo[1], hi[1])
		}
	}
	return from[len(from)-1][1]
}

func (r *random) some(n int) []byte {
	b := make([]byte, n)
	r.bytes.Read(b) // it never fails
	return b
}

func (r *random) hex(n int) string { return hex.EncodeToString(r.some(n)) }

func (r *random) base64(n int) string { return base64.StdEncoding.EncodeToString(r.some(n)) }

func (r *random) uuid() string { return uuid.UUID(r.some(16)).String() }
