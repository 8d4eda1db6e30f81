package lexicon

import (
	"testing"
)

func TestAllLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2} {
		if got := AllLines(text); got != want {
			t.Errorf("AllLines(%q) = %d, want %d", text, got, want)
		}
	}
}
