package session

import "slices"

// Curve is the agent's context over the records of a session, in at most mostStretches stretches.
type Curve struct {
	Step        int     // records of a stretch
	Tokens      []int64 // of the largest context in each, in real tokens: as reported, else estimated
	Compactions []int   // by the agent in each
}

// mostStretches bounds a curve, which every stored state of a session has.
const mostStretches = 64

// add takes a record. When the curve is full, each two stretches become one.
func (c *Curve) add(record int, tokens int64, compacted bool) {
	c.Step = max(c.Step, 1)
	for (record-1)/c.Step >= mostStretches {
		half := len(c.Tokens) / 2
		for i := range half {
			c.Tokens[i] = max(c.Tokens[2*i], c.Tokens[2*i+1])
			c.Compactions[i] = c.Compactions[2*i] + c.Compactions[2*i+1]
		}
		c.Tokens, c.Compactions = c.Tokens[:half], c.Compactions[:half]
		c.Step *= 2
	}
	i := (record - 1) / c.Step
	for len(c.Tokens) <= i {
		c.Tokens, c.Compactions = append(c.Tokens, 0), append(c.Compactions, 0)
	}
	if c.Tokens[i] = max(c.Tokens[i], tokens); compacted {
		c.Compactions[i]++
	}
}

// Clone returns a copy that stays as it is when records are added.
func (c Curve) Clone() Curve {
	return Curve{c.Step, slices.Clone(c.Tokens), slices.Clone(c.Compactions)}
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
