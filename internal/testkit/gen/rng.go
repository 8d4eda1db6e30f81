package gen

import (
	"encoding/binary"
	"fmt"
)

// rng is splitmix64: small, fast and the same on every machine. The package uses no floating point, whose results may
// differ between machines.
type rng uint64

// mix returns the generator for the n-th thing made from seed.
func mix(seed, n uint64) rng {
	r := rng(seed*0x9e3779b97f4a7c15 ^ n*0xd1342543de82ef95)
	r.next()
	return r
}

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n returns a number in [0, n).
func (r *rng) n(n int) int { return int(r.next() >> 32 * uint64(n) >> 32) }

// between returns a number in [lo, hi].
func (r *rng) between(lo, hi int) int { return lo + r.n(hi-lo+1) }

// chance returns true in p of 1000 cases.
func (r *rng) chance(p int) bool { return r.n(1000) < p }

// skewed returns an index in [0, n) and prefers low ones, as a language prefers some words.
func (r *rng) skewed(n int) int {
	x := r.next()
	a := x >> 32 * uint64(n) >> 32
	return int(a * (x & 0xffffffff) >> 32)
}

func pick[T any](r *rng, from ...T) T { return from[r.n(len(from))] }

// quantiles is a distribution given by some of its quantiles: pairs of (per mille, value), both increasing, from 0 to
// 1000.
type quantiles [][2]int

func (q quantiles) draw(r *rng) int {
	at := r.n(1000)
	for i := 1; i < len(q); i++ {
		lo, hi := q[i-1], q[i]
		if at < hi[0] {
			return lo[1] + r.n(hi[1]-lo[1]+1)
		}
	}
	return q[len(q)-1][1]
}

const (
	hexDigits = "0123456789abcdef"
	base64    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	base62    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789aa"
)

func (r *rng) chars(alphabet string, n int) string {
	b := make([]byte, 0, n)
	for n > 0 {
		x := r.next()
		for range min(n, 10) {
			b = append(b, alphabet[x%uint64(len(alphabet))])
			x /= uint64(len(alphabet))
		}
		n -= 10
	}
	return string(b)
}

// uuid returns a version 4 UUID.
func (r *rng) uuid() string {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:], r.next())
	binary.BigEndian.PutUint64(raw[8:], r.next())
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
}
