package mark

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Name returns a file name, or an ID made of one, as valid UTF-8 for JSON and front matter. It replaces bytes that are
// not UTF-8 by `\xNN`, and a backslash that could be read as the start of such an escape by `\x5c`. Different names
// give different texts.
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
