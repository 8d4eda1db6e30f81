package mark

import (
	"testing"
	"unicode/utf8"
)

func FuzzName(f *testing.F) {
	for _, s := range []string{"", "a", "é", "a\xff", `a\xff`, `a\x5cxff`, "\\\xff", `\\xff`, `C:\xed`, "\xe2\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := Name(s)
		if !utf8.ValidString(text) || Unname(text) != s {
			t.Errorf("Name(%q) = %q, and back %q", s, text, Unname(text))
		}
	})
}
