package compactor

import (
	"fmt"
	"strings"
	"testing"
)

// A term that is mentioned again later makes the message important that brought it up.
func TestReferencesMakeImportant(t *testing.T) {
	s := newScript()
	s.human("Go on.")
	s.say("We have splitCents to think of.")
	s.say("We have the weather to think of.")
	for i := range 10 {
		s.say(fmt.Sprintf("Step %d: splitCents again.", i))
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	if named, other := d.importance(1), d.importance(2); named < other+0.3 {
		t.Errorf("importance is %.2f where later messages refer, %.2f where none does", named, other)
	}
}

// Failures that were made good stand apart from the open ones, and only once.
func TestMendedErrors(t *testing.T) {
	s := newScript()
	s.human("Make it build.")
	s.fails("make all", "main.c:3: error: unknown type name 'foo'", 2)
	s.fails("make all", "main.c:3: error: unknown type name 'foo'", 2)
	s.bash("make all", "fine")
	s.fails("make docs", "docs.c:9: error: no rule", 2)
	text := stateOf(t, s.padded())
	_, mended, _ := strings.Cut(text, "### Errors made good since")
	mended, _, _ = strings.Cut(mended, "###")
	wants(t, mended, "unknown type name 'foo'")
	wantsNot(t, mended, "no rule")
	if strings.Count(mended, "unknown type name") != 1 {
		t.Errorf("said more than once:\n%s", mended)
	}
}
