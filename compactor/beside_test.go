package compactor

import (
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// TestBeside: the records that a reader has otherwise are only named; everything before them is told, within the budget,
// and every ID has its pointer.
func TestBeside(t *testing.T) {
	for _, first := range []int{1, 40, 200, 1 << 20} {
		f := fold(t, day(60).buf.Bytes(), Defaults())
		c, text := f.Compactor, f.text()
		n := c.Status().Records
		got, err := c.Beside(first, 20_000, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		chars, body := 0, ""
		for _, s := range got.Sections {
			chars += lexicon.Chars(s.Body)
			body += s.Body
			for line := range strings.Lines(s.Body) {
				if s.Name == "Recent" && !strings.HasPrefix(line, "Whole, with what is not shown here: ") {
					t.Errorf("first %d: Recent says %q", first, line)
				}
			}
		}
		if chars > 15_000 {
			t.Errorf("first %d: %d chars, want 15000 at most", first, chars)
		}
		if want := min(first, n+1); got.Verbatim.First != want {
			t.Errorf("first %d: got %d, want %d", first, got.Verbatim.First, want)
		}
		if ids := mark.IDs(body); len(ids) != len(got.Pointers) {
			t.Errorf("first %d: %d IDs, %d pointers", first, len(ids), len(got.Pointers))
		}
		if got.Header.KeyInformation.Lost > 0 {
			t.Errorf("first %d: %d items are under no ID", first, got.Header.KeyInformation.Lost)
		}
		again, err := c.Beside(first, 20_000, text, nil)
		if err != nil || len(again.Sections) != len(got.Sections) || again.Sections[0] != got.Sections[0] {
			t.Errorf("first %d: the second time it differs", first)
		}
		if c.o.MaxTokens != Defaults().MaxTokens {
			t.Error("the fold's own options were changed")
		}
	}
}
