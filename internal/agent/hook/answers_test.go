package hook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ccd/internal/mark"
)

// answered is a State of so many messages, each with an answer that is quoted whole or told in chosen sentences.
func answered(turns int, whole bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Asked (%d of %d, in order)\n", turns, turns)
	for n := range turns {
		fmt.Fprintf(&b, "%d. #%d 11:40Z\n%s", n+1, 2*n+1, mark.Quote("   ", fmt.Sprintf("Look at gate %d, please.", n)))
		first, last := fmt.Sprintf("Gate %d hangs low.", n), fmt.Sprintf("Next I would oil hinge %d.", n)
		var middle []string
		for i := range 20 {
			middle = append(middle, fmt.Sprintf("On day %d the keeper of gate %d saw a <b>cloud</b>.", i, n))
		}
		id := mark.Sum([]byte(first)).ID()
		if whole {
			fmt.Fprintf(&b, "   #%d %s\n%s", 2*n+2, mark.New(id, "answer"), mark.Quote("   ", first+"\n\n"+strings.Join(middle, " ")+"\n\n"+last))
		} else {
			fmt.Fprintf(&b, "   #%d %s\n", 2*n+2, mark.New(id, "answer: "+first+" ... "+strings.Join(middle, " ... ")+" ... "+last))
		}
	}
	return b.String()
}

// toldOf is what an agent is told when a session with that State goes on.
func toldOf(t *testing.T, state string) string {
	t.Helper()
	p := newPlace(t)
	path := p.claude(uuid1)
	p.write(path, "{}\n", time.Hour)
	p.companion(path, state, nil)
	a, err := p.ask(Event{Name: SessionStart, Source: "resume", Session: uuid1, Transcript: path})
	if err != nil {
		t.Fatal(err)
	}
	return contextOf(t, a)
}

// Where not all answers fit, each keeps its first and its last sentence and its ID before any keeps more.
func TestAnswersAreShortened(t *testing.T) {
	for _, whole := range []bool{true, false} {
		text := toldOf(t, answered(20, whole))
		for n := range 20 {
			wants(t, text, fmt.Sprintf("> Look at gate %d, please.", n), fmt.Sprintf("answer: Gate %d hangs low. ... ", n), fmt.Sprintf("Next I would oil hinge %d.", n))
		}
		if first, last := strings.Count(text, "keeper of gate 0 "), strings.Count(text, "keeper of gate 19 "); first >= last {
			t.Errorf("whole %t: the oldest answer has %d sentences, the newest %d", whole, first, last)
		}
		if tag.MatchString(text) {
			t.Error("a tag of an answer stands in the context")
		}
		if n := units(claude, text); n > maxContext || n < maxContext*8/10 {
			t.Errorf("whole %t: %d units of %d", whole, n, maxContext)
		}
	}
}

// The last message is what the human said, not what was answered.
func TestLastAskedIsNoAnswer(t *testing.T) {
	for _, whole := range []bool{true, false} {
		if got := lastAsked(answered(2, whole)); got != "Look at gate 1, please." {
			t.Errorf("last asked: %q", got)
		}
	}
}
