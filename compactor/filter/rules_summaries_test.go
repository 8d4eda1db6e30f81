package filter

import (
	"strings"
	"testing"
)

// TestStructuredOutput has each threshold of what is taken for a machine's output.
func TestStructuredOutput(t *testing.T) {
	lines := func(structural, prose int) string {
		return strings.Repeat("PASS src/feed_test.go:12: the row is kept\n", structural) + strings.Repeat("we walked on and on and on.\n", prose)
	}
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"6 lines":               {lines(6, 0), true},
		"5 lines":               {lines(5, 0), false},
		"over half of them":     {lines(7, 6), true},
		"half of them":          {lines(6, 6), false},
		"long lines":            {strings.Repeat("PASS "+strings.Repeat("x", 90)+"\n", 9), false},
		"blank lines count not": {lines(5, 0) + "\n\n\n\n", false},
	} {
		if got := (&entry{shape: shapeOf(c.text)}).isPrinted(); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
	sum := summarize(lines(20, 0)+"FAIL src/row_test.go:40: the row is lost\n", 200, true)
	if sum != "FAIL src/row_test.go:40: the row is lost | src/feed_test.go" {
		t.Errorf("%q", sum)
	}
}

// Prose of fewer than 120 chars between fences stays as it is.
func TestShortProseStays(t *testing.T) {
	for chars, want := range map[int]bool{119: true, 120: false} {
		text := strings.Repeat("x", chars-1) + "."
		if got := splitCode("```\na\n```\n"+text+"\n```\nb\n```\n", func(string) string { return "short" }); strings.Contains(got, text) != want {
			t.Errorf("prose of %d chars: %q", chars, got)
		}
	}
}
