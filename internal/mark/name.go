package mark

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Name returns a file's name, or an ID made of one, as valid UTF-8, for JSON and front matter: a byte that is not UTF-8
// stands as `\xNN`, and a backslash that would read as the start of such an escape as `\x5c`. Two names never give the
// same text, and most names stand as they are.
func Name(name string) string {
	if utf8.ValidString(name) && !strings.Contains(name, `\x`) {
		return name
	}
	var b strings.Builder
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		if r == utf8.RuneError && size == 1 || name[0] == '\\' && looksEscaped(name) {
			fmt.Fprintf(&b, `\x%02x`, name[0])
		} else {
			b.WriteString(name[:size])
		}
		name = name[size:]
	}
	return b.String()
}

// Unname reverses Name.
func Unname(text string) string {
	var b strings.Builder
	unescape(&b, text, false)
	return b.String()
}
