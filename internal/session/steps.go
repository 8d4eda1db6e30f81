package session

import (
	"cmp"
	"slices"
	"time"

	"ccd/internal/transcript"
)

// Step is a call with what its result added to the context.
type Step struct {
	*Call
	Tokens int64         // about, converted from the characters of the result
	Took   time.Duration // from the call to the result, 0 if it is not recorded
}

// StepOf measures a call. A step in an inline sub-agent, or without a result, has no tokens.
func (s *Session) StepOf(c *Call) Step {
	step := Step{Call: c}
	if c.Result.Zero() {
		return step
	}
	if per := s.PerToken(); per > 0 && c.Index >= 0 {
		step.Tokens = int64(float64(c.Result.Chars) / per)
	}
	if from, to := s.Time(c.At.Rec), s.Time(c.Result.Rec); !from.IsZero() && to.After(from) {
		step.Took = to.Sub(from)
	}
	return step
}

// Largest returns the n calls that added most to the context, the largest first.
func (s *Session) Largest(n int) (all []Step) {
	for _, c := range s.Calls {
		if one := s.StepOf(c); one.Tokens > 0 {
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(x, y Step) int { return cmp.Compare(y.Tokens, x.Tokens) })
	return all[:min(n, len(all))]
}

// What is what a call does, in a few words: its command, its file, or what it looks for; "" where its tool says it.
func (c *Call) What() string {
	if len(c.Files) > 0 && c.Op != transcript.Command {
		return c.Files[0].File.Path
	}
	return cmp.Or(c.Command, c.Query)
}
