package session

import (
	"fmt"
	"slices"
	"strings"
)

// Ranges are ranges of record numbers, both ends included, in order and apart.
type Ranges [][2]int

// maxRanges is how many ranges are kept. Beyond that the first ones are dropped.
const maxRanges = 256

// with returns the ranges together with the records from from on that are before another one; from is 0 for none.
func (all Ranges) with(from, before int) Ranges {
	if from == 0 || from >= before {
		return all
	}
	for len(all) > 0 && all[len(all)-1][1] >= from-1 {
		from = min(from, all[len(all)-1][0])
		all = all[:len(all)-1]
	}
	all = append(all, [2]int{from, before - 1})
	return all[max(0, len(all)-maxRanges):]
}

// without returns the ranges without the records from one to another.
func (all Ranges) without(from, to int) (left Ranges) {
	for _, one := range all {
		if one[0] < from {
			left = append(left, [2]int{one[0], min(one[1], from-1)})
		}
		if one[1] > to {
			left = append(left, [2]int{max(one[0], to+1), one[1]})
		}
	}
	return left
}

// Has reports whether a record is in one of the ranges.
func (all Ranges) Has(record int) bool {
	return slices.ContainsFunc(all, func(one [2]int) bool { return record >= one[0] && record <= one[1] })
}

// String encodes the ranges for ParseRanges.
func (all Ranges) String() string {
	var b strings.Builder
	for _, one := range all {
		fmt.Fprintf(&b, "%d %d ", one[0], one[1])
	}
	return b.String()
}

// ParseRanges decodes ranges, up to what is no range.
func ParseRanges(text string) (all Ranges) {
	for in := strings.NewReader(text); ; {
		var one [2]int
		if _, err := fmt.Fscan(in, &one[0], &one[1]); err != nil {
			return all
		}
		all = append(all, one)
	}
}
