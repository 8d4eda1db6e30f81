package limits

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Manual holds the options that a person set for one session's companion. The zero Manual sets none.
type Manual struct {
	Focus     []string `json:"focus,omitempty"`      // words, as returned by FocusWords
	MaxTokens int      `json:"max_tokens,omitempty"` // estimated tokens, 0 if not set
	Ratio     float64  `json:"ratio,omitempty"`      // the same as a part of the session's items, 0 if not set; not both
}

// IsZero reports whether no option is set.
func (m Manual) IsZero() bool { return len(m.Focus) == 0 && m.MaxTokens == 0 && m.Ratio == 0 }

// Over returns m with its unset options taken from earlier.
func (m Manual) Over(earlier Manual) Manual {
	if len(m.Focus) == 0 {
		m.Focus = earlier.Focus
	}
	if m.MaxTokens == 0 && m.Ratio == 0 {
		m.MaxTokens, m.Ratio = earlier.MaxTokens, earlier.Ratio
	}
	return m
}

// With returns o with the options that m sets in place of its own.
func (o Options) With(m Manual) Options {
	o.Manual = m
	m = m.Over(Manual{Focus: o.Focus, MaxTokens: o.MaxTokens, Ratio: o.MaxPart})
	o.Focus, o.MaxPart = m.Focus, m.Ratio
	if m.MaxTokens > 0 {
		o.MaxTokens = m.MaxTokens
	}
	return o
}

// The limits of a focus. Its words are in the front matter, and each is searched for in every message.
const (
	maxFocus     = 32 // words
	maxFocusWord = 64 // chars
)

// FocusWords splits a text into the words of a focus: lower case, distinct and sorted, so that the same words give the same
// options. White space, commas and semicolons separate words. It fails if there are none, more than 32, or one with more
// than 64 chars.
func FocusWords(text string) ([]string, error) {
	words := strings.FieldsFunc(strings.ToLower(strings.ToValidUTF8(text, " ")), func(r rune) bool {
		return r <= ' ' || r == ',' || r == ';' || r == 0x7f || r == 0xa0
	})
	slices.Sort(words)
	words = slices.Compact(words)
	switch {
	case len(words) == 0:
		return nil, fmt.Errorf("no word in %q", text)
	case len(words) > maxFocus:
		return nil, fmt.Errorf("%d words, at most %d are allowed", len(words), maxFocus)
	}
	for _, w := range words {
		if utf8.RuneCountInString(w) > maxFocusWord {
			return nil, fmt.Errorf("a word of %d characters, at most %d are allowed", utf8.RuneCountInString(w), maxFocusWord)
		}
	}
	return words, nil
}
