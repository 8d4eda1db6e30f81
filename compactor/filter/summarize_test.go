package filter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
)

func shortened(text string, most int) string {
	return summarize(text, most, (&entry{shape: shapeOf(text)}).isPrinted())
}

func TestSummaryTakesTheBestOfEachParagraphFirst(t *testing.T) {
	text := "The morning was quiet and long. The gate failed at openGate in 12 seconds. Nobody came along.\n\n" +
		"Later the mill was seen. It must never run dry, said the keeper of it.\n\nThe third part says nothing of note at all."
	want := "The gate failed at openGate in 12 seconds. ... It must never run dry, said the keeper of it. ... The third part says nothing of note at all."
	if got := shortened(text, 150); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := shortened(text, 60); got != "The gate failed at openGate in 12 seconds." {
		t.Errorf("the best alone: %q", got)
	}
	if got := shortened(text, 30); got != "The gate failed at ..." && lexicon.Chars(got) > 30 {
		t.Errorf("a cut one: %q", got)
	}
	if got := shortened(text, 2000); strings.Count(got, between) != 5 || strings.ReplaceAll(got, between, " ") != strings.ReplaceAll(text, "\n\n", " ") {
		t.Errorf("all in reading order: %q", got)
	}
}

func TestSummaryOfWhatIsNoSentence(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unterminated line":   {"first line without an end\nsecond line without an end", "first line without an end ... second line without an end"},
		"bullets":             {"- the gate is shut\n* the mill is open\n+ the door is gone\n3. the roof is new", "the gate is shut ... the mill is open ... the door is gone ... the roof is new"},
		"dots in names":       {"See config.yaml and v1.2.3 of mill.go for it. Then go on with that.", "See config.yaml and v1.2.3 of mill.go for it. ... Then go on with that."},
		"abbreviations":       {"Take one, e.g. the mill, or two. Then go on with that.", "Take one, e.g. the mill, or two. ... Then go on with that."},
		"wrapped lines":       {"The keeper of the mill has gone home for the night,\nas he always does. Nobody else is there by then.", "The keeper of the mill has gone home for the night, as he always does. ... Nobody else is there by then."},
		"only fillers":        {"Sure, that can be done for you here. Okay, then we go on with all of it.", "Sure, that can be done for you here."},
		"said twice":          {"The gate is shut by now. The gate is shut by now. The mill is open.", "The gate is shut by now. ... The mill is open."},
		"headings and quotes": {"# The plan of it\n\n> we go on as it was said", "The plan of it ... we go on as it was said"},
		"a fence":             {"Before it all is quiet.\n```go\na := 1\n```\nAfter it too, as was said.", "Before it all is quiet. ... After it too, as was said."},
		"other full stops":    {"水車は夜に止まる。門は朝に開く。", "水車は夜に止まる。 ... 門は朝に開く。"},
		"nothing":             {"", ""},
	} {
		if got := shortened(c.text, 400); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestStructuredSummaries(t *testing.T) {
	grep := strings.Repeat("src/gate.go:12: opened\nsrc/mill.go:7: closed\n", 6) + "src/roof.go:1: new\nsrc/door.go:2: old\n"
	tests := "PASS the gate opens\nPASS the gate closes\nFAIL the mill turns\nPASS the gate opens\nSKIP the roof\nTests: 3 passed, 1 failed\n"
	for name, c := range map[string]struct{ text, want string }{
		"files":      {grep, "src/gate.go:12: opened | src/mill.go:7: closed | src/gate.go:12: opened | ... | src/door.go:2: old (14 lines) | src/roof.go"},
		"status":     {tests, "FAIL the mill turns | Tests: 3 passed, 1 failed"},
		"neither":    {"gate is white\nmill is grey\nroof is red\ndoor is old\npath is new\nyard is wet\n", "gate is white | mill is grey | roof is red | ... | yard is wet (6 lines)"},
		"five lines": {"PASS a1\nPASS a2\nPASS a3\nPASS a4\nPASS a5\n", "PASS a1 ... PASS a2 ... PASS a3 ... PASS a4 ... PASS a5"},
		"prose":      {strings.Repeat("It was a long day at the mill and nobody came by to see it turn at all today\n", 8), "It was a long day at the mill and nobody came by to see it turn at all today"},
	} {
		if got := shortened(c.text, 300); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestEntities(t *testing.T) {
	text := "The keeper told Anna Berg that openGate in src/gate.go:12 takes 40ms since v1.2.3, and openGate waits. " +
		"See https://example.org/mill, mail dock@example.org, the grpc client and [the plan](https://example.org/plan). " + strings.Repeat("It is so. ", 200)
	want := []string{"v1.2.3", "openGate", "src/gate.go:12", "40ms", "https://example.org/mill", "dock@example.org", "grpc", "https://example.org/plan", "Anna Berg"}
	if got := entities(text); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for chars, most := range map[int]int{100: 3, 700: 4, 2000: 10, 9000: 15} {
		var b strings.Builder
		for i := 0; b.Len() < chars; i++ {
			fmt.Fprintf(&b, "gateKeeper%d ", i)
		}
		if got := entities(b.String()[:chars]); len(got) != most {
			t.Errorf("%d of %d chars, want %d", len(got), chars, most)
		}
	}
	for _, plain := range []string{"Nothing is here. People came. And then they went, 12 of them.", ""} {
		if got := entities(plain); len(got) != 0 {
			t.Errorf("%q of %q", got, plain)
		}
	}
}

func TestSplitTakesNoLongerProse(t *testing.T) {
	prose := strings.Repeat("This is what was said of it. ", 6)
	text := prose + "\n\n```go\na := 1\n\n```\n" + prose + "\n  ~~~~\n  b\n  ```\n  ~~~~\nshort end.\n\n````\nopen"
	got := splitCode(text, func(p string) string { return "<" + p[:10] + ">" })
	want := "<This is wh> \n\n```go\na := 1\n\n```\n<This is wh> \n  ~~~~\n  b\n  ```\n  ~~~~\nshort end.\n\n````\nopen"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// What would be longer, or would open a fence, is not taken.
	for _, bad := range []string{prose + "and more of it", "```\n"} {
		if got := splitCode(text, func(string) string { return bad }); got != text {
			t.Errorf("%q is taken: %q", bad, got)
		}
	}
}
