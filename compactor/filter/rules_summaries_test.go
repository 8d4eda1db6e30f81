package filter

import (
	"fmt"
	"strings"
	"testing"
)

// TestSentenceScores has what each kind of word adds to a sentence, against the same sentence without it.
func TestSentenceScores(t *testing.T) {
	for _, c := range []struct {
		name, with, without string
		want                int
	}{
		{"camelCase", "so then we open parseFeed by hand", "so then we open the gate by hand", 3},
		{"PascalCase", "so then we open RowBuffer by hand", "so then we open the gate by hand", 3},
		{"snake_case", "so then we open flush_rows by hand", "so then we open the gate by hand", 3},
		{"emphasis word", "so then it is important for us", "so then it is evening for us", 4},
		{"emphasis marks", "so then we **open** it", "so then we open it", 4},
		{"status", "so then the gate failed us", "so then the gate pleased us", 3},
		{"number", "so then we wait 40 seconds here", "so then we wait a while here", 2},
		{"number with its unit glued", "so then we wait 40ms here", "so then we wait a while here", 2},
		{"abbreviation without vowels", "so then we open the grpc gate", "so then we open the other gate", 2},
		{"file:line", "so then we open feed.go:120 here", "so then we open the gate here", 3},
		{"filler", "let me see if we open the gate", "so then we open the gate", -10},
		{"number and per cent", "so then it was 80% full", "so then it was quite full", 2},
		{"correction", "so then that is wrong here", "so then that is small here", 3},
		{"constraint", "so then we cannot open it", "so then we could open it", 3},
		{"lead-in", "so then we open these:", "so then we open these.", scoreLeadIn},
		{"decision", "so then we decided on the gate", "so then we walked on the gate", 3},
	} {
		if got := scoreOf(c.with, 30) - scoreOf(c.without, 30); got != c.want {
			t.Errorf("%s: %+d, want %+d", c.name, got, c.want)
		}
	}
	for chars, want := range map[int]int{39: 0, 40: 2, 120: 2, 121: 0} {
		if got := scoreOf("so then we open the gate", chars); got != want {
			t.Errorf("a sentence of %d chars: %+d, want %+d", chars, got, want)
		}
	}
}

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

// Names, figures and places of one sentence count four times at the most.
func TestNamesOfOneSentence(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 3, 4: 12, 5: 12, 9: 12} {
		text := "so then we open"
		for i := range n {
			text += fmt.Sprintf(" openGate%c", 'A'+i)
		}
		if got := scoreOf(text+" by hand", 30); got != want {
			t.Errorf("%d names: %+d, want %+d", n, got, want)
		}
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
