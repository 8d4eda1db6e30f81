package filter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
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
		{"number with its unit", "so then we wait 40 seconds here", "so then we wait a while here", 2},
		{"number with its unit glued", "so then we wait 40ms here", "so then we wait a while here", 2},
		{"abbreviation without vowels", "so then we open the grpc gate", "so then we open the other gate", 2},
		{"file:line", "so then we open feed.go:120 here", "so then we open the gate here", 2},
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

// TestEntitiesByLength has max(3, min(len/200 rounded, 15)) entities, and every kind of them.
func TestEntitiesByLength(t *testing.T) {
	text := func(chars int) string {
		var b strings.Builder
		for i := 0; b.Len() < chars; i++ {
			fmt.Fprintf(&b, "then openGate_%d of it, ", i)
		}
		return b.String()[:chars]
	}
	for chars, want := range map[int]int{100: 3, 699: 3, 700: 4, 1000: 5, 2899: 14, 2900: 15, 20000: 15} {
		if got := len(entities(text(chars), 0)); got != want {
			t.Errorf("a text of %d chars: %d entities, want %d", chars, got, want)
		}
	}
	all := entities("Then Margaret Holt ran parseFeed over grpc for 40 seconds on /srv/feed/a.csv, see https://example.org/x and v2.14.1.", 15)
	for _, want := range []string{"Margaret Holt", "parseFeed", "grpc", "40 seconds", "/srv/feed/a.csv", "https://example.org/x", "v2.14.1"} {
		if !slices.Contains(all, want) {
			t.Errorf("no entity %q in %q", want, all)
		}
	}
}

// TestStructuredOutput has each threshold of what is taken for a machine's output.
func TestStructuredOutput(t *testing.T) {
	lines := func(structural, prose int) string {
		return strings.Repeat("PASS src/feed_test.go:12: the row is kept\n", structural) + strings.Repeat("we walked on and on and on\n", prose)
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
		"lines of 70":           {strings.Repeat("PASS "+strings.Repeat("x", 65)+"\n", 9), true},
		"blank lines count not": {lines(5, 0) + "\n\n\n\n", false},
	} {
		if got := isStructured(c.text, lexicon.Chars(c.text)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
	sum := summarize([]string{lines(20, 0) + "FAIL src/row_test.go:40: the row is lost\n"}, 200)
	if !strings.Contains(sum, "files: src/feed_test.go, src/row_test.go") || !strings.Contains(sum, "FAIL src/row_test.go:40: the row is lost") {
		t.Errorf("%q", sum)
	}
}

// TestSummaryOfProse has the shape of a summary: the best of each paragraph before the rest, in reading order.
func TestSummaryOfProse(t *testing.T) {
	first := "The bug is in parseFeed at feed.go:120. Nothing more is to be said of the weather of that day. RowBuffer drops the last row."
	second := "We walked on for some time and sat down. It was important that the fix was to keep the cursor."
	third := "- the docs still say so\n- the suite passed in 12 seconds"
	sum := summarize([]string{first + "\n\n" + second, third}, 145)
	want := "The bug is in parseFeed at feed.go:120. ... It was important that the fix was to keep the cursor. ... the suite passed in 12 seconds"
	if sum != want {
		t.Errorf("%q, want %q", sum, want)
	}
	if got := summarize([]string{first + "\n\n" + second, third}, 200); !strings.Contains(got, "RowBuffer drops the last row.") {
		t.Errorf("the rest does not come after the best: %q", got)
	}
}

// TestSentencesEndWhereTheyEnd has what ends a sentence, and what does not.
func TestSentencesEndWhereTheyEnd(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a dot in a name":          {"Open config.yaml in the editor now. Then close it again, please.", []string{"Open config.yaml in the editor now.", "Then close it again, please."}},
		"a dot in a number":        {"It took 3.5 seconds in version v1.2.3 of it. Then it was done at last.", []string{"It took 3.5 seconds in version v1.2.3 of it.", "Then it was done at last."}},
		"bullets":                  {"- open the gate of the mill\n- close the gate of the mill\n", []string{"open the gate of the mill", "close the gate of the mill"}},
		"lines without an end":     {"open the gate\n\nclose the gate\n", []string{"open the gate", "close the gate"}},
		"a line that goes on":      {"We open the gate of the mill in the morning, and then in the\nevening we close it again. That is all of it.", []string{"We open the gate of the mill in the morning, and then in the evening we close it again.", "That is all of it."}},
		"exclamation and question": {"Open the gate at once! Is it open by now? It is open.", []string{"Open the gate at once!", "Is it open by now?", "It is open."}},
	} {
		var got []string
		for _, s := range lexicon.Sentences(c.text) {
			got = append(got, s)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestCodeStaysInPlace has prose summarized around fences that stay where and as they are, without entities.
func TestCodeStaysInPlace(t *testing.T) {
	prose := "The fix is in parseFeed. " + strings.Repeat("There is more to be said about the weather of that day. ", 8)
	code := "```go\nfunc gate() bool { return open.parseFeed }\n```\n"
	text := prose + "\n" + code + prose + "\n~~~\n  raw  \n~~~\nThe end."
	got := splitCode(text, func(p string) string { return summarize([]string{p}, 120) })
	parts := strings.Split(got, code)
	if len(parts) != 2 || !strings.Contains(parts[0], "The fix is in parseFeed.") || !strings.HasSuffix(parts[1], "\n~~~\n  raw  \n~~~\nThe end.") ||
		lexicon.Chars(got) > lexicon.Chars(text)/2 {
		t.Errorf("split to %q", got)
	}
}

// A secret beside a fence is seen, and a correction is not swallowed by the merge of what stands around it.
func TestNothingIsSwallowed(t *testing.T) {
	all := []entry{
		message("assistant", orchard("gate")), message("assistant", orchard("mill")),
		message("assistant", "Sorry, that was wrong: "+orchard("mill")), message("assistant", orchard("pond")),
	}
	o := ruled(func(o *Options) { o.Contradictions = true })
	if f := apply(listed(all...), filterOptions(func(o *Options) { o.Contradictions = true }))[2]; f.Action != Preserved || f.Into >= 0 {
		t.Errorf("the correction is %v, %q, in %d", f.Action, f.Reason, f.Into)
	}
	secret := message("assistant", "The token is ghp_16C7e42F292c6912E7710c838347Ae178B4a. "+orchard("gate")+"\n```\ncode\n```\n")
	if d := decided([]entry{secret}, o)[0]; d.Action != Preserved {
		t.Errorf("a secret beside a fence is %v, %q", d.Action, d.Reason)
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
