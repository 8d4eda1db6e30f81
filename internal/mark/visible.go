package mark

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// mostPicture is how many bytes of joined emoji are looked at.
const mostPicture = 64

// Visible returns text with everything escaped that could control a terminal or deceive its reader: what Quote escapes,
// except newlines, tabs and the carriage return of CR LF. It cannot be reversed.
func Visible(text string) string {
	out, _ := visible(nil, []byte(text), true)
	return string(out)
}

// visible appends what Visible makes of text to dst, and returns how many bytes of text that took. Unless text ends there,
// a CR or the beginning of a character at its end is left.
func visible(dst, text []byte, ends bool) (_ []byte, taken int) {
	for i := 0; i < len(text); {
		c, rest := text[i], text[i:]
		if !ends && (c == '\r' && len(rest) == 1 || c >= utf8.RuneSelf && !utf8.FullRune(rest)) {
			return dst, i
		}
		size, plain := 1, c == '\n' || c == '\t' || c >= 0x20 && c < 0x7f || c == '\r' && len(rest) > 1 && rest[1] == '\n'
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRune(rest)
			plain = (r != utf8.RuneError || size > 1) && !hidden(r)
			if emoji(r) {
				size = picture(string(rest[:min(len(rest), mostPicture)]))
			}
		}
		if plain {
			dst = append(dst, rest[:size]...)
		} else {
			for _, b := range rest[:size] {
				dst = fmt.Appendf(dst, `\x%02x`, b)
			}
		}
		i += size
	}
	return dst, len(text)
}

// VisibleWriter writes its input to W as converted by Visible. Close writes an incomplete character at the end.
type VisibleWriter struct {
	W         io.Writer
	held, out []byte
}

// Write implements io.Writer.
func (v *VisibleWriter) Write(p []byte) (int, error) {
	if err := v.write(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close implements io.Closer. It leaves W open.
func (v *VisibleWriter) Close() error { return v.write(nil, true) }

func (v *VisibleWriter) write(p []byte, ends bool) error {
	v.held = append(v.held, p...)
	out, n := visible(v.out[:0], v.held, ends)
	v.held = v.held[:copy(v.held, v.held[n:])]
	v.out = out
	_, err := v.W.Write(out)
	return err
}
