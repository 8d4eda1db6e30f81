package limits

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Manual is what a person asks of one session's companion by hand. The zero Manual asks for nothing.
type Manual struct {
	Focus     []string `json:"focus,omitempty"`      // words, as FocusWords gives them
	Level     Level    `json:"level,omitempty"`      // ByPressure: not asked for
	MaxTokens int      `json:"max_tokens,omitempty"` // estimated tokens; 0: not asked for
}

// IsZero reports whether nothing is asked for.
func (m Manual) IsZero() bool { return len(m.Focus) == 0 && m.Level == ByPressure && m.MaxTokens == 0 }

// Over returns m, and what it does not ask for as earlier asked for it.
func (m Manual) Over(earlier Manual) Manual {
	if len(m.Focus) == 0 {
		m.Focus = earlier.Focus
	}
	if m.Level == ByPressure {
		m.Level = earlier.Level
	}
	if m.MaxTokens == 0 {
		m.MaxTokens = earlier.MaxTokens
	}
	return m
}

// With returns the options with what is asked for by hand in the place of their own.
func (o Options) With(m Manual) Options {
	own := Manual{Focus: o.Focus, Level: o.Level, MaxTokens: o.MaxTokens}
	o.Manual = m
	m = m.Over(own)
	o.Focus, o.Level, o.MaxTokens = m.Focus, m.Level, m.MaxTokens
	return o
}

// ParseLevel returns the level of a name as Level.String gives it. It fails for any other name, and for by-pressure:
// that is what stands where no level is asked for.
func ParseLevel(name string) (Level, error) {
	i := slices.Index(levelNames[:], name)
	if i <= int(ByPressure) {
		return ByPressure, fmt.Errorf("unknown level %q, want one of %s", name, strings.Join(levelNames[Gentle:], ", "))
	}
	return Level(i), nil
}

// What a focus may hold: its words stand in the front matter, and each is looked for in every message.
const (
	maxFocus     = 32 // words
	maxFocusWord = 64 // chars
)

// FocusWords takes a text apart into the words of a focus: lower case, each once, in the order of the alphabet, so that
// the same words are the same options. Words end at white space, commas and semicolons. It fails where there is none,
// where there are more than 32, and where one has more than 64 chars.
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
		return nil, fmt.Errorf("%d words, want %d at most", len(words), maxFocus)
	}
	for _, w := range words {
		if utf8.RuneCountInString(w) > maxFocusWord {
			return nil, fmt.Errorf("a word of %d characters, want %d at most", utf8.RuneCountInString(w), maxFocusWord)
		}
	}
	return words, nil
}
