package archive

import (
	"bytes"
	"math/bits"
)

// deltaUnit is the size of the indexed units: an unchanged stretch of twice that size is always found.
const deltaUnit = 512

// match is a stretch that occurs in both the new and the old bytes.
type match struct{ old, new, len int }

// matches returns non-overlapping stretches of new that occur in old, in the order of new. It finds units of old with a
// rolling hash over new, and extends each match as far as possible. Time is linear in both, memory is a few bytes per
// unit of old.
func matches(old, new []byte) (all []match) {
	index := newUnits(old)
	done, shift := 0, 0 // new bytes before done are matched; shift is the offset difference of the last match
	take := func(from, at int) bool {
		if from < 0 || from+deltaUnit > len(old) || !bytes.Equal(old[from:from+deltaUnit], new[at:at+deltaUnit]) {
			return false
		}
		for at > done && from > 0 && old[from-1] == new[at-1] {
			from, at = from-1, at-1
		}
		m := match{from, at, commonPrefix(old[from:], new[at:])}
		all = append(all, m)
		done, shift = at+m.len, from-at
		return true
	}
	for at := 0; at+deltaUnit <= len(new); at = done {
		h := index.hash(new[at : at+deltaUnit])
		for !take(at+shift, at) && !take(index.find(h), at) {
			if at+deltaUnit == len(new) {
				return all
			}
			h = index.roll(h, new[at], new[at+deltaUnit])
			at++
		}
	}
	return all
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) (n int) {
	const step = 4096
	for len(a) >= n+step && len(b) >= n+step && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// units maps the hash of a unit to its position. For equal hashes it keeps the first unit.
type units struct {
	at    []int32 // 1 + number of the unit, 0 for none
	shift int     // maps a hash to an index of at
	power uint32  // factor of a unit's first byte
}

const hashBase = 0x01000193

func newUnits(data []byte) units {
	n := len(data) / deltaUnit
	u := units{at: make([]int32, 1<<bits.Len(uint(2*n))), shift: 32 - bits.Len(uint(2*n)), power: 1}
	for range deltaUnit - 1 {
		u.power *= hashBase
	}
	for i := range n {
		if slot := u.slot(u.hash(data[i*deltaUnit : (i+1)*deltaUnit])); u.at[slot] == 0 {
			u.at[slot] = int32(i + 1)
		}
	}
	return u
}

func (u units) hash(unit []byte) (h uint32) {
	for _, b := range unit {
		h = h*hashBase + uint32(b)
	}
	return h
}

// roll returns the hash of the unit one byte further.
func (u units) roll(h uint32, out, in byte) uint32 {
	return (h-uint32(out)*u.power)*hashBase + uint32(in)
}

func (u units) slot(h uint32) uint32 { return h * 0x9e3779b1 >> u.shift }

// find returns where a unit with this hash may be, negative if nowhere.
func (u units) find(h uint32) int { return (int(u.at[u.slot(h)]) - 1) * deltaUnit }
