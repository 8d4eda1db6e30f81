package fold

import (
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// calibration measures how many chars of this session are a token: what was added between two reports of the context
// against their difference.
type calibration struct {
	total     int64 // chars of the context's items so far
	odd       bool  // since the newest report came what has tokens and no chars
	was, now  report
	intervals int
	chars     int64 // of all intervals
	tokens    int64
}

// report is what one reply reported, and the chars that there were by then.
type report struct {
	known  bool
	reply  uint64 // hash of the reply's name, 0 where it has none
	tokens int64
	chars  int64
	odd    bool // between the report before and this one came what has tokens and no chars
}

// Which intervals count, and how many are enough.
const (
	minIntervals  = 3
	minCalibrated = 4000 // chars
	leastRatio    = 0.5  // chars a token; an interval below it grew by what the transcript does not show
	mostRatio     = 12
	lowRatio      = 1.5 // what CharsPerToken gives at the least
	highRatio     = 6
)

// item counts an item of the context.
func (c *calibration) item(row *Row) {
	if row.Has(Side) {
		return
	}
	c.total += int64(row.Chars)
	if row.Kind == transcript.Image || row.Kind == transcript.File || row.Has(Pictured) {
		c.odd = true
	}
}

// take follows what a reply reports. The records of one reply report again and again, the last one counts; one without a
// name that repeats the figure before tells nothing new.
func (c *calibration) take(u *transcript.Usage) {
	if u.Context <= 0 {
		return
	}
	reply := uint64(0)
	if u.ID != "" {
		reply = hashOf(u.ID)
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

// cut begins a new interval: the context is another one.
func (c *calibration) cut() {
	c.intervals, c.chars, c.tokens = c.sums()
	c.was, c.now, c.odd = report{}, report{}, false
}

// sums are the intervals so far, the newest one with them.
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

// CharsPerToken is how many chars of this session are a real token, by its own reports: between 1.5 and 6; 0 where fewer
// than 3 intervals between reports or fewer than 4,000 chars tell it.
func (f *Fold) CharsPerToken() float64 {
	intervals, chars, tokens := f.calibration.sums()
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

// WideShare is the share of Chinese, Japanese and Korean characters in what people and the assistant said, 0..1.
func (f *Fold) WideShare() float64 {
	if f.script.all == 0 {
		return 0
	}
	return float64(f.script.wide) / float64(f.script.all)
}
