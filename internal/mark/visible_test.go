package mark

import (
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "caf\u00e9 \u4e16\u754c\tx\ny\r\n", "caf\u00e9 \u4e16\u754c\tx\ny\r\n"},
		{"our own marks stay", `[ccd 4tq9] C:\x41`, `[ccd 4tq9] C:\x41`},
		{"CSI", "\x1b[2J", `\x1b[2J`},
		{"OSC 52", "\x1b]52;c;aGk=\x07", `\x1b]52;c;aGk=\x07`},
		{"C1 as UTF-8", "\u009b2J\u009d", `\xc2\x9b2J\xc2\x9d`},
		{"C1 as a byte", "\x9b2J", `\x9b2J`},
		{"CR", "safe\revil", `safe\x0devil`},
		{"CR at the end", "safe\r", `safe\x0d`},
		{"backspace, DEL, NUL", "a\b\x7f\x00", `a\x08\x7f\x00`},
		{"bidi", "a\u202eb\u2066c", `a\xe2\x80\xaeb\xe2\x81\xa6c`},
		{"half a character", "a\xe2\x80", `a\xe2\x80`},
		{"a lone surrogate", "a\xed\xa0\x80b", `a\xed\xa0\x80b`},
	} {
		if got := Visible(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		var b strings.Builder
		w := VisibleWriter{W: &b}
		for i := range len(c.in) { // a byte at a time
			if n, err := w.Write([]byte{c.in[i]}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := w.Close(); err != nil || b.String() != c.want {
			t.Errorf("%s, byte by byte: %q, %v, want %q", c.name, b.String(), err, c.want)
		}
	}
}
