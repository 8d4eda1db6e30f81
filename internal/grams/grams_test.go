package grams

import (
	"strings"
	"testing"
)

// What JSON escapes, once or in a string of JSON, and what another case writes, is in the filter; digits and other words are not.
func TestFilter(t *testing.T) {
	f := New([]byte(`{"a":"the B\u0045RTH of \\u0049stanbul, Ł`+"Ö\u212aONOM 12345"+`"}`), 1000)
	for word, want := range map[string]bool{
		"berth": true, "istanbul": true, "łökonom": true, "erth": true, "berths": false, "quay": false, "ert": true, "12345": true,
	} {
		if got := f.May(NewWord([]rune(strings.Map(Fold, word)))); got != want {
			t.Errorf("%s: %t, want %t", word, got, want)
		}
	}
}
