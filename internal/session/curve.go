package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Stretch is the agent's context over some records of a session.
type Stretch struct {
	Tokens      int64 // the largest context in it, in real tokens: as reported, else estimated
	Compactions int   // by the agent
}

// Curve is the agent's context over the records of a session, in at most mostStretches stretches.
type Curve struct {
	Step      int // records of a stretch
	Stretches []Stretch
}

// mostStretches bounds a curve, which every stored state of a session has.
const mostStretches = 64

// add takes a record. When the curve is full, each two stretches become one.
func (c *Curve) add(record int, tokens int64, compacted bool) {
	c.Step = max(c.Step, 1)
	for (record-1)/c.Step >= mostStretches {
		for i := range len(c.Stretches) / 2 {
			a, b := c.Stretches[2*i], c.Stretches[2*i+1]
			c.Stretches[i] = Stretch{max(a.Tokens, b.Tokens), a.Compactions + b.Compactions}
		}
		c.Stretches = c.Stretches[:len(c.Stretches)/2]
		c.Step *= 2
	}
	i := (record - 1) / c.Step
	for len(c.Stretches) <= i {
		c.Stretches = append(c.Stretches, Stretch{})
	}
	s := &c.Stretches[i]
	s.Tokens = max(s.Tokens, tokens)
	if compacted {
		s.Compactions++
	}
}

// Encode returns the curve as a text for a session's state: Step and the stretches, as in "4 1a0 2b7! 9c", in base 36,
// with a mark for each compaction.
func (c Curve) Encode() string {
	if len(c.Stretches) == 0 {
		return ""
	}
	b := strconv.AppendInt(nil, int64(c.Step), curveBase)
	for _, s := range c.Stretches {
		b = strconv.AppendInt(append(b, ' '), max(s.Tokens, 0), curveBase)
		for range s.Compactions {
			b = append(b, '!')
		}
	}
	return string(b)
}

const curveBase = 36

// DecodeCurve returns the curve that Encode has encoded, or what can be read of it.
func DecodeCurve(text string) (c Curve) {
	for i, field := range strings.Fields(text) {
		digits := strings.TrimRight(field, "!")
		n, err := strconv.ParseInt(digits, curveBase, 64)
		switch {
		case err != nil || i > mostStretches:
			return c
		case i == 0:
			c.Step = int(n)
		default:
			c.Stretches = append(c.Stretches, Stretch{n, len(field) - len(digits)})
		}
	}
	return c
}

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
