package status

import (
	"cmp"
	"fmt"

	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/words"
)

// Size is how many real tokens a session has in its agent's context. It is the one number for a session's size that
// people are shown.
type Size struct {
	Tokens int64 // as the model reported last, else converted from the estimate
	About  bool  // converted
	Window int64 // tokens that the context takes, 0 where that is not known
}

// SizeOf is the size of a session: what its model reported, else about so many real tokens, else, where an older ccd kept
// neither, a quarter of the estimate.
func SizeOf(reported, about, estimate, window int64) Size {
	return Size{Tokens: cmp.Or(reported, about, estimate/4), About: reported == 0, Window: window}
}

func sizeOf(e *reader.Entry) Size {
	return SizeOf(e.Kept.Reported, e.Kept.About, e.Kept.Estimate, e.Kept.Window)
}

// Share is the part of the window that the session takes, 0 where that is not known.
func (s Size) Share() float64 {
	if s.Window <= 0 {
		return 0
	}
	return float64(s.Tokens) / float64(s.Window)
}

// Short is the size without its share of the window: "58K", "about 58K".
func (s Size) Short() string {
	if s.About && s.Tokens > 0 {
		return "about " + words.Tokens(s.Tokens)
	}
	return words.Tokens(s.Tokens)
}

// String is the size with its share of the window: "about 58K, 29%".
func (s Size) String() string {
	if s.Window <= 0 {
		return s.Short()
	}
	return fmt.Sprintf("%s, %.0f%%", s.Short(), 100*s.Share())
}

// Filled is the share of the window that the session takes, "~" before one that is converted: "~29%". Without a window it
// is the size.
func (s Size) Filled() string {
	switch {
	case s.Window <= 0 || s.Tokens == 0:
		return s.Short()
	case s.About:
		return fmt.Sprintf("~%.0f%%", 100*s.Share())
	}
	return fmt.Sprintf("%.0f%%", 100*s.Share())
}

// Shrunk says what size messages had and have now, both converted. Where nothing tells the size that they had, it is not told.
func Shrunk(before, after int64) string {
	if before <= 0 {
		return fmt.Sprintf("about %s tokens", words.Tokens(after))
	}
	line := fmt.Sprintf("about %s -> %s tokens of messages", words.Tokens(before), words.Tokens(after))
	if 100*after > 99*before {
		return line + ", not smaller"
	}
	return fmt.Sprintf("%s, %.0f%% smaller", line, 100*(1-float64(after)/float64(before)))
}
