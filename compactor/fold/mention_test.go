package fold

import (
	"fmt"
	"testing"
)

// A term that is mentioned again later is a reference to the message that brought it up.
func TestMentionsAreReferences(t *testing.T) {
	s := newSession()
	s.human("Go on.")
	s.say("We have splitCents to think of.")
	s.say("We have the weather to think of.")
	for i := range 10 {
		s.say(fmt.Sprintf("Step %d: splitCents again, and splitCents once more.", i))
	}
	f := s.fold(t)
	if got := f.Text(1).Refs; got != 10 || f.MostRefs() != 10 {
		t.Errorf("%d later messages refer to it, the most is %d, want 10", got, f.MostRefs())
	}
	if got := f.Text(2).Refs; got != 0 {
		t.Errorf("%d messages refer to what nobody took up", got)
	}
	if count, first := f.Term("splitCents"); count != 11 || first != 1 {
		t.Errorf("%d messages mention it, the first in row %d", count, first)
	}
}
