package session

import (
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
