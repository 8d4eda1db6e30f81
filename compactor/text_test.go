package compactor

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/internal/transcript"
)

// fencesOf gives the fenced blocks of a text as they stand, fences included.
func fencesOf(text string) (all []string) {
	fence, block := "", ""
	for line := range strings.Lines(text) {
		f := fenceOf(line, fence)
		if f == "" && fence == "" {
			continue
		}
		block += line
		switch {
		case fence == "":
			fence = f
		case f != "":
			all, fence, block = append(all, block), "", ""
		}
	}
	if block != "" {
		all = append(all, block)
	}
	return all
}

// checkText holds the laws of the text stages on any text.
func checkText(t *testing.T, text string) {
	t.Helper()
	o := Defaults()
	s := shapeOfText(text)
	if s != shapeOfText(text) {
		t.Error("two looks give two shapes")
	}
	if s.prose() > runes(text) {
		t.Errorf("%d chars of prose in %d", s.prose(), runes(text))
	}
	for _, most := range []int{0, 1, 40, 200, 1000} {
		sum := summarize([]string{text}, &o, most)
		limit := most
		if most == 0 {
			limit = o.summaryBudget(runes(text))
		}
		if n := runes(sum); n > limit {
			t.Errorf("summary of %d chars in a budget of %d", n, limit)
		}
		if strings.IndexByte(sum, '\n') >= 0 {
			t.Error("summary of two lines")
		}
	}
	for _, e := range entitiesOf(text, 5) {
		if e == "" || len(e) > longestName+40 {
			t.Errorf("entity %q", e)
		}
	}
	checkSplit(t, text, &o)
	all := []talk{{role: "a", kind: transcript.Text, text: text}, {role: "a", kind: transcript.Text, text: text + "\nActually, no."}, {role: "b", kind: transcript.Text, text: text}}
	o.NearDedup, o.Contradictions, o.KeepImportance = true, true, 0.5
	for i, d := range decide(all, &o) {
		if d.of >= len(all) || d.of == i || (d.action == deduped || d.action == nearDuped || d.action == contradicted) && d.of <= i {
			t.Errorf("item %d: %v of %d", i, d.action, d.of)
		}
	}
	importanceOf(all)
}

func checkSplit(t *testing.T, text string, o *Options) {
	t.Helper()
	got := splitCode(text, func(p string) string { return summarize([]string{p}, o, 0) })
	if runes(got) > runes(text) {
		t.Errorf("split of %d chars, text of %d", runes(got), runes(text))
	}
	if want := fencesOf(text); !slices.Equal(fencesOf(got), want) {
		t.Errorf("fences %q, want %q", fencesOf(got), want)
	}
	if same := splitCode(text, func(p string) string { return p }); same != text {
		t.Errorf("a split that shortens nothing gives %q", same)
	}
}

func FuzzText(f *testing.F) {
	f.Add("We walked. Then\n```go\na := 1\n```\nand back again, as was said before.")
	f.Add("```\nopen")
	f.Add("~~~\n```\n~~~\n    indented\n\tcode\n- a\n  - b | c | d\n| a | b |\n|---|---|")
	f.Add("名前。次の文！ \xff\xfe’don’t’")
	f.Add(strings.Repeat("PASS a\nFAIL b.go:12: x\n", 9))
	f.Add(`{"a": [1, 2, {"b": "c"}], "d": "$x^2$ \frac{a}{b} SELECT a FROM b"}`)
	f.Add("no, not that but this. as a result 404 Not Found. password: abc12345 sk-abcdefgh12345678")
	for _, text := range hardTexts(600) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkText(t, text) })
}

func TestTextLawsOnOddTexts(t *testing.T) {
	for name, text := range hardTexts(3000) {
		t.Run(name, func(t *testing.T) { checkText(t, text) })
	}
	for _, text := range []string{"", " ", "\n", "\r\n\r\n", "`", "```", "~~~~", ".", "...", "- ", "#", "|", "||", "$", "$$", `\`, "1.", "1. ", "a:", "[ccd ", "\x00\x01", "\t\t\tx"} {
		checkText(t, text)
	}
}

func TestRunesCountsAsUTF8Does(t *testing.T) {
	for _, s := range []string{"", "a", "abcdefgh", "abcdefghi", "日本語", "abcdefgh日abcdefghij", "\xff\xfeabc", "a\xe6\x97", "🙂🙂🙂", strings.Repeat("x", 63) + "é"} {
		if runes(s) != utf8.RuneCountInString(s) {
			t.Errorf("runes(%q) = %d", s, runes(s))
		}
	}
}
