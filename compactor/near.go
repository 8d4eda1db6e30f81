package compactor

import (
	"math"
	"strings"
)

// nearSignature tells of a text what finds near copies of it: 60 bytes, for a row to keep.
type nearSignature struct {
	head   [nearLines]uint32 // of the first lines that are not blank, 0 where there is none
	chars  uint32
	lines  uint32    // distinct lines, clamped where they are very many
	sketch [8]uint32 // the smallest hashes of its lines under eight permutations
}

// nearSignatureOf looks at a text's lines once.
func nearSignatureOf(text string) nearSignature {
	s := nearSignature{chars: uint32(runes(text))}
	for i := range s.sketch {
		s.sketch[i] = math.MaxUint32
	}
	for line := range strings.Lines(text) {
		h := lineHash(line)
		if h == 0 {
			continue
		}
		if s.lines < nearLines {
			s.head[s.lines] = h
		}
		s.lines++
		for i := range s.sketch {
			h = h*0x9e3779b1 + uint32(i)*0x85ebca6b + 1
			s.sketch[i] = min(s.sketch[i], h^h>>15)
		}
	}
	return s
}

// lineHash names a line in any case and with any white space, 0 where it is blank.
func lineHash(line string) uint32 {
	h, between := uint64(14695981039346656037), false
	empty := true
	for i := range len(line) {
		c := line[i]
		if c <= ' ' {
			between = true
			continue
		}
		if between && !empty {
			h = (h ^ ' ') * 1099511628211
		}
		h = (h ^ uint64(foldByte(c))) * 1099511628211
		between, empty = false, false
	}
	if empty {
		return 0
	}
	return uint32(h>>32) | 1
}

// mayBeNear reports whether two texts may be near copies of each other: enough of their first lines and their lengths
// agree.
func (s *nearSignature) mayBeNear(o *nearSignature) bool {
	small, large := min(s.chars, o.chars), max(s.chars, o.chars)
	if float64(small) < nearLength*float64(large) {
		return false
	}
	shared := 0
	for _, a := range s.head {
		for _, b := range o.head {
			if a == b && a != 0 {
				shared++
				break
			}
		}
	}
	return shared >= nearShared
}

// like estimates how alike the lines of two texts are, 0..1.
func (s *nearSignature) like(o *nearSignature) float64 {
	same := 0
	for i := range s.sketch {
		if s.sketch[i] == o.sketch[i] {
			same++
		}
	}
	return float64(same) / float64(len(s.sketch))
}

// alike is the Jaccard index of the distinct lines of two texts, 0..1.
func alike(a, b string) float64 {
	lines := map[uint32]uint8{}
	for line := range strings.Lines(a) {
		if h := lineHash(line); h != 0 {
			lines[h] |= 1
		}
	}
	for line := range strings.Lines(b) {
		if h := lineHash(line); h != 0 {
			lines[h] |= 2
		}
	}
	both := 0
	for _, in := range lines {
		if in == 3 {
			both++
		}
	}
	if len(lines) == 0 {
		return 0
	}
	return float64(both) / float64(len(lines))
}

// nearFinder looks for near copies among the texts given to it, newest first.
type nearFinder struct {
	least  float64            // how alike, at least
	byLine map[uint32][]int32 // the newest texts that begin with a line, nearTries at most
	all    []talk
}

func newNearFinder(all []talk, least float64) *nearFinder {
	return &nearFinder{least: least, byLine: map[uint32][]int32{}, all: all}
}

// find gives the newest text given before that this one is a near copy of, and how alike they are; -1 where there is
// none. One that has none is a candidate for those that follow.
func (f *nearFinder) find(i int) (of int, like float64) {
	sig := f.signature(i)
	seen := map[int32]bool{}
	best := int32(-1)
	for _, h := range sig.head {
		for _, j := range f.byLine[h] {
			if h == 0 || seen[j] || j < best {
				continue
			}
			seen[j] = true
			if l := f.compare(i, int(j), sig); l >= f.least {
				best, like = j, l
			}
		}
	}
	if best >= 0 {
		return int(best), like
	}
	for _, h := range sig.head {
		if list := f.byLine[h]; h != 0 && len(list) < nearTries && (len(list) == 0 || list[len(list)-1] != int32(i)) {
			f.byLine[h] = append(list, int32(i))
		}
	}
	return -1, 0
}

func (f *nearFinder) signature(i int) *nearSignature {
	if s := f.all[i].near; s != nil {
		return s
	}
	s := nearSignatureOf(f.all[i].text)
	f.all[i].near = &s
	return &s
}

// compare is how alike two texts are, counted where both are at hand, else estimated; 0 where they cannot be near.
func (f *nearFinder) compare(i, j int, sig *nearSignature) float64 {
	other := f.signature(j)
	if !sig.mayBeNear(other) {
		return 0
	}
	if f.all[i].text == "" || f.all[j].text == "" {
		return sig.like(other)
	}
	return alike(f.all[i].text, f.all[j].text)
}
