package session

import (
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// calibration measures the chars per token of this session: the chars added between two reports of the context, divided by
// the difference of the reports.
type calibration struct {
	total     int64 // chars of the context's items so far
	odd       bool  // something with tokens but no chars came after the newest report
	was, now  report
	intervals int
	chars     int64 // of all intervals
	tokens    int64
}

// report is the context that one reply reported, and the chars up to then.
type report struct {
	known  bool
	reply  uint64 // hash of the reply's name, 0 if it has none
	tokens int64
	chars  int64
	odd    bool // something with tokens but no chars came between the previous report and this one
}

// Which intervals count, and how many are needed.
const (
	minIntervals  = 3
	minCalibrated = 4000 // chars
	leastRatio    = 0.5  // chars per token; an interval below it contains something that the transcript does not show
	mostRatio     = 12
	lowRatio      = 1.5 // minimum of CharsPerToken
	highRatio     = 6
)

// count counts an item of the context.
func (c *calibration) count(it *transcript.Item, chars int32) {
	if it.Side {
		return
	}
	c.total += int64(chars)
	if it.Kind == transcript.Image || it.Kind == transcript.File {
		c.odd = true
	}
}

// take takes the report of a reply. All records of a reply have a report, and the last one counts. A report without a reply's
// name that repeats the previous figure is ignored.
func (c *calibration) take(u *transcript.Usage) {
	if u.Context <= 0 {
		return
	}
	reply := uint64(0)
	if u.ID != "" {
		reply = transcript.Hashed(u.ID)
	}
	switch {
	case c.now.known && reply != 0 && reply == c.now.reply:
	case c.now.known && reply == 0 && u.Context == c.now.tokens:
		return
	case c.now.known:
		c.intervals, c.chars, c.tokens = c.sums()
		c.was = c.now
		c.now = report{}
	}
	c.now = report{known: true, reply: reply, tokens: u.Context, chars: c.total, odd: c.now.odd || c.odd}
	c.odd = false
}

// cut begins a new interval, because the context was replaced.
func (c *calibration) cut() {
	c.intervals, c.chars, c.tokens = c.sums()
	c.was, c.now, c.odd = report{}, report{}, false
}

// sums returns the totals of all intervals, including the newest one.
func (c *calibration) sums() (intervals int, chars, tokens int64) {
	intervals, chars, tokens = c.intervals, c.chars, c.tokens
	if !c.was.known || !c.now.known || c.now.odd {
		return intervals, chars, tokens
	}
	added, grown := c.now.chars-c.was.chars, c.now.tokens-c.was.tokens
	if added <= 0 || grown <= 0 {
		return intervals, chars, tokens
	}
	if ratio := float64(added) / float64(grown); ratio < leastRatio || ratio > mostRatio {
		return intervals, chars, tokens
	}
	return intervals + 1, chars + added, tokens + grown
}

// CharsPerToken returns the chars per real token of this session by its own reports: between 1.5 and 6, or 0 if there are
// fewer than 3 intervals between reports or fewer than 4,000 chars.
func (t *Tracker) CharsPerToken() float64 {
	intervals, chars, tokens := t.calibration.sums()
	if intervals < minIntervals || chars < minCalibrated {
		return 0
	}
	return max(lowRatio, min(highRatio, float64(chars)/float64(tokens)))
}

// script counts the chars of texts by the width of their script.
type script struct{ all, wide int64 }

// add counts the chars of a text.
func (s *script) add(text string) {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
		} else {
			r, size := utf8.DecodeRuneInString(text[i:])
			if lexicon.IsWide(r) {
				s.wide++
			}
			i += size
		}
		s.all++
	}
}

// WideShare returns the share of Chinese, Japanese and Korean characters in the messages, 0..1.
func (t *Tracker) WideShare() float64 {
	if t.script.all == 0 {
		return 0
	}
	return float64(t.script.wide) / float64(t.script.all)
}
