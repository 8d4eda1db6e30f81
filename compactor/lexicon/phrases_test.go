package lexicon

import "testing"

// holds reports whether a text holds one of the phrases of a book.
func holds(b *Book[int], text string) bool {
	for l := Lex(text); l.Next(); {
		for _, p := range b.Of(l.Word.Hash) {
			if is, _ := p.At(&l); is && b.May(l.Word.Hash) {
				return true
			}
		}
	}
	return false
}

func TestPhrases(t *testing.T) {
	var b Book[int]
	b.Add(1, "don't", "must", "no more than", "trade-off", "the |gate is", "error #", "not ~ but")
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
		if got := holds(&b, text); got != want {
			t.Errorf("%.40q: %v", text, got)
		}
	}
}

func TestBookTellsWhatOpens(t *testing.T) {
	var b Book[int]
	b.Add(1, "wait", "as a |result")
	for text, want := range map[string]bool{
		"wait for it": true, "So, wait for it": true, "I wait for it": false, "as a result": true, "it is as a result": false,
	} {
		got, found := false, false
		for l := Lex(text); l.Next(); {
			for _, p := range b.Of(l.Word.Hash) {
				if is, opens := p.At(&l); is {
					got, found = opens, p.Means == 1
				}
			}
		}
		if !found || got != want {
			t.Errorf("%q: found %v, opens %v", text, found, got)
		}
	}
}
