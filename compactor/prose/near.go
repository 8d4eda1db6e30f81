package prose

import (
	"strings"

	"ccd/compactor/lexicon"
)

// nearCopy is the text that stands for a near copy, and how alike the two are.
type nearCopy struct {
	of   int
	like float64
}

// nearCopies gives the near copies of newer texts by their index. Near copies of near copies are one group, for which
// its newest text stands. Texts that are exact copies of newer ones are left out.
func nearCopies(all []Text, newest map[uint64]int, least float64) map[int]nearCopy {
	f := nearFinder{all: all, least: least, byLine: map[uint32][]int{}, heads: make([]nearHead, len(all)), newer: make([]int, len(all))}
	for i := len(all) - 1; i >= 0; i-- {
		f.newer[i] = i
		at, ok := newest[all[i].Key]
		if all[i].Chars >= DupChars && all[i].Text != "" && !(ok && at > i) {
			f.join(i)
		}
	}
	found := map[int]nearCopy{}
	for i := range all {
		if of := f.newestOf(i); of != i {
			found[i] = nearCopy{of, alike(all[i].Text, all[of].Text)}
		}
	}
	return found
}

// nearHead are the hashes of the first lines of a text that are not blank, 0 where there is none.
type nearHead [nearLines]uint32

func nearHeadOf(text string) (h nearHead) {
	n := 0
	for line := range strings.Lines(text) {
		if v := lineHash(line); v != 0 {
			h[n] = v
			if n++; n == nearLines {
				break
			}
		}
	}
	return h
}

// shared is how many of the lines two texts have in common.
func (h *nearHead) shared(o *nearHead) int {
	n := 0
	for _, a := range h {
		for _, b := range o {
			if a == b && a != 0 {
				n++
				break
			}
		}
	}
	return n
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
		h = (h ^ uint64(lexicon.Fold(c))) * 1099511628211
		between, empty = false, false
	}
	if empty {
		return 0
	}
	return uint32(h>>32) | 1
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

// nearFinder groups near copies, the newest texts first.
type nearFinder struct {
	all    []Text
	least  float64
	byLine map[uint32][]int // the last texts joined that begin with a line, nearTries at most
	heads  []nearHead
	newer  []int // a newer text of the same group; the newest one has itself
}

// newestOf is the newest text of the group that a text is in.
func (f *nearFinder) newestOf(i int) int {
	for f.newer[i] != i {
		f.newer[i] = f.newer[f.newer[i]]
		i = f.newer[i]
	}
	return i
}

// join puts a text into one group with those that it is a near copy of.
func (f *nearFinder) join(i int) {
	f.heads[i] = nearHeadOf(f.all[i].Text)
	seen := map[int]bool{i: true}
	for _, h := range f.heads[i] {
		for _, j := range f.byLine[h] {
			if seen[j] {
				continue
			}
			seen[j] = true
			if a, b := f.newestOf(i), f.newestOf(j); a != b && f.near(i, j) {
				f.newer[min(a, b)] = max(a, b)
			}
		}
	}
	for n, h := range f.heads[i] {
		if h == 0 || n > 0 && h == f.heads[i][n-1] {
			continue
		}
		list := append(f.byLine[h], i)
		f.byLine[h] = list[max(0, len(list)-nearTries):]
	}
}

// near reports whether two texts are near copies: enough of their first lines, their lengths and their lines agree.
func (f *nearFinder) near(i, j int) bool {
	small, large := min(f.all[i].Chars, f.all[j].Chars), max(f.all[i].Chars, f.all[j].Chars)
	return float64(small) >= nearLength*float64(large) && f.heads[i].shared(&f.heads[j]) >= nearShared &&
		alike(f.all[i].Text, f.all[j].Text) >= f.least
}
