package compactor

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// tells returns the lines about one record.
var tells = regexp.MustCompile(`(?m)^(?:- |Open: |Under way: |### \d+ · |\w+ last \(|- ".*" \()?#(\d+)[ )].*$`)

// TestBeside: the records that a reader has otherwise are only named; everything before them is told, within the budget,
// and every ID has its pointer.
func TestBeside(t *testing.T) {
	for _, first := range []int{1, 40, 200, 1 << 20} {
		f := folding(t, day(60).buf.Bytes(), Defaults())
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
		}
		for _, at := range tells.FindAllStringSubmatch(body, -1) {
			if n, _ := strconv.Atoi(at[1]); n >= first {
				t.Errorf("first %d: what the reader has is told: %s", first, at[0])
			}
		}
		if chars > 15_000 {
			t.Errorf("first %d: %d chars, want 15000 at most", first, chars)
		}
		if want := min(first, n+1); got.Verbatim != want {
			t.Errorf("first %d: got %d, want %d", first, got.Verbatim, want)
		}
		if ids := mark.IDs(body); len(ids) != len(got.Pointers) {
			t.Errorf("first %d: %d IDs, %d pointers", first, len(ids), len(got.Pointers))
		}
		if got.Header.KeyInformation.Lost > 0 {
			t.Errorf("first %d: %d records are under no ID", first, got.Header.KeyInformation.Lost)
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

// TestBesideKeepsItsRoom: many short turns, most of which the reader has otherwise, take no more than the room that they
// have, headings included.
func TestBesideKeepsItsRoom(t *testing.T) {
	s := newScript()
	for n := range 200 {
		s.human("Look at gate " + strconv.Itoa(n) + strings.Repeat(" and at its hinge", 8) + ".")
		s.bash("make gate"+strconv.Itoa(n), strings.Repeat("a line of it\n", 12))
		s.say("Gate " + strconv.Itoa(n) + " is closed.")
	}
	f := folding(t, s.buf.Bytes(), Defaults())
	for _, first := range []int{100, 400, 780} {
		for _, room := range []int{2000, 4500, 9000, 24000} {
			got, err := f.Compactor.Beside(first, room*4/3, f.text(), nil)
			if err != nil {
				t.Fatal(err)
			}
			chars := 0
			for _, s := range got.Sections {
				chars += lexicon.Chars(s.Body) + len("\n## \n") + len(s.Name)
			}
			if chars > room || chars < room/2 && first > 300 {
				t.Errorf("first %d: %d chars in a room of %d", first, chars, room)
			}
		}
	}
}
