package filter

import (
	"testing"

	"ccd/compactor/lexicon"
)

// holds reports whether one of the phrases begins at a word of a text.
func holds(text string, list []string) bool {
	for l := lexicon.Lex(text); l.Next(); {
		for _, p := range list {
			if startsWithPhrase(l.Text[l.Word.Head:], p) {
				return true
			}
		}
	}
	return false
}

func TestPhrases(t *testing.T) {
	list := []string{"dont", "must", "no more than", "trade-off", "the gate is", "error #", "not ~ but"}
	for text, want := range map[string]bool{
		"":                           false,
		"It MUST hold.":              true,
		"**must**":                   true,
		"\"must\", he said":          true,
		"mustard":                    false,
		"mustä":                      false,
		"must_hold":                  false,
		"--must is a flag":           false,
		"of a/must/b":                false,
		"don't":                      true,
		"Don’t do it":                true,
		"dont":                       true,
		"no more than two":           true,
		"no more\n   than two":       true,
		"no more, than two":          false,
		"a trade-off of it":          true,
		"so the gate is open":        true,
		"a gate is open":             false,
		"error 12":                   true,
		"error 0":                    false,
		"not the gate but the mill":  true,
		"not the gate. but the mill": false,
	} {
		if got := holds(text, list); got != want {
			t.Errorf("%.40q: %v", text, got)
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
