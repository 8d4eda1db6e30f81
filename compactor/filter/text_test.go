package filter

import (
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
)

// fencesOf gives the fenced blocks of a text as they stand, fences included.
func fencesOf(text string) (all []string) {
	fence, block := "", ""
	for line := range strings.Lines(text) {
		f := lexicon.FenceOf(line, fence)
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
	o := shipped()
	s := shapeOf(text)
	if s.prose > lexicon.Chars(text) {
		t.Errorf("%d chars of prose in %d", s.prose, lexicon.Chars(text))
	}
	for _, most := range []int{1, 40, 200, 1000} {
		sum := summarize(text, most, most > 100)
		if n := lexicon.Chars(sum); n > most {
			t.Errorf("summary of %d chars in a budget of %d", n, most)
		}
		if strings.IndexByte(sum, '\n') >= 0 {
			t.Error("summary of two lines")
		}
	}
	for _, e := range entities(text) {
		if e == "" || len(e) > LongestName+40 {
			t.Errorf("entity %q", e)
		}
	}
	checkSplit(t, text)
	all := []entry{message("a", text), message("a", text+"\nActually, no."), message("b", text)}
	o.NearDedup, o.Contradictions, o.KeepImportance = true, true, 0.5
	for i, d := range decided(all, o) {
		if d.Of >= len(all) || d.Of == i || (d.Action == Deduped || d.Action == NearDuped || d.Action == Contradicted) && d.Of <= i {
			t.Errorf("item %d: %v of %d", i, d.Action, d.Of)
		}
	}
}

func checkSplit(t *testing.T, text string) {
	t.Helper()
	got := splitCode(text, func(p string) string { return summarize(p, 300, false) })
	if lexicon.Chars(got) > lexicon.Chars(text) {
		t.Errorf("split of %d chars, text of %d", lexicon.Chars(got), lexicon.Chars(text))
	}
	if want := fencesOf(text); !slices.Equal(fencesOf(got), want) {
		t.Errorf("fences %q, want %q", fencesOf(got), want)
	}
	if same := splitCode(text, func(p string) string { return p }); same != text {
		t.Errorf("a Split that shortens nothing gives %q", same)
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
