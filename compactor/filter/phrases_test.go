package filter

import (
	"testing"
)

func TestPhrases(t *testing.T) {
	for text, want := range map[string]sense{
		"It MUST hold.": constraint | emphasis, "**must**": constraint | emphasis, "\"must\", he said": constraint | emphasis, "Don’t do it": constraint | correction,
		"mustard": 0, "mustä": 0, "must_hold": 0, "--must is a flag": 0, "of a/must/b": 0, "no more than two": constraint,
		"no more, than two": 0, "a trade-off of it": choice, "the fix is open": choice, "exit code 12": failure, "exit code 0": 0,
		"not the gate but the mill": correction, "not the gate, I think, but the mill": correction, "not the gate. but the mill": 0, "panic: it stopped": traceHead, "a panic of birds": 0,
		"No, go": correction, "No one": 0, "(most recent call last)": traceHead,
	} {
		if got := shapeOf(text).all; got != want {
			t.Errorf("%q: %b, want %b", text, got, want)
		}
	}
}

// Some words correct only where a sentence or a clause begins.
func TestSignalsThatOpen(t *testing.T) {
	for text, want := range map[string]bool{
		"Wait for it": true, "So, wait for it": true, "I wait for it": false, "Actually, it is open": true, "It is actually open": false,
	} {
		if got := shapeOf(text).how != ""; got != want {
			t.Errorf("%q: corrects %v", text, got)
		}
	}
}
