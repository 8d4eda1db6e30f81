package mark

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxLine is the longest line of a companion, in characters.
const MaxLine = 2000

const (
	first = "> "  // begins a line of quoted text
	more  = ">+ " // continues a line that would exceed MaxLine
)

// Quote returns text as lines that start with indent and "> ", escaped so that nothing in them can pass for ccd's own
// text. A line of more than MaxLine characters continues in lines that start with ">+ ". Every line ends with a
// newline. Unquote reverses it.
func Quote(indent, text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16 + len(indent) + 8)
	for {
		line, rest, found := strings.Cut(text, "\n")
		quoteLine(&b, indent, line)
		if !found {
			return b.String()
		}
		text = rest
	}
}

func quoteLine(b *strings.Builder, indent, line string) {
	b.WriteString(indent)
	b.WriteString(first)
	room := MaxLine - len(indent) - len(more)
	n := 0
	for len(line) > 0 {
		if p := plain(line[:min(len(line), room-n)]); p > 0 {
			b.WriteString(line[:p])
			n += p
			line = line[p:]
			continue
		}
		piece, size := escapeNext(line)
		w := utf8.RuneCountInString(piece)
		if n+w > room {
			b.WriteString("\n" + indent + more)
			n = 0
		}
		b.WriteString(piece)
		n += w
		line = line[size:]
	}
	b.WriteByte('\n')
}

// plain returns the length of the prefix of text that needs no escapes, with one byte per character.
func plain(text string) int {
	for i := range len(text) {
		if c := text[i]; (c < 0x20 && c != '\t') || c >= 0x7f || c == '[' || c == '\\' {
			return i
		}
	}
	return len(text)
}

// Inline returns text for use inside a line of ccd: escaped as by Quote, with white space collapsed to single spaces,
// and truncated to max characters with an ellipsis (max <= 0: not truncated).
func Inline(text string, max int) string {
	if (max <= 0 || len(text) <= max) && plain(text) == len(text) && !strings.Contains(text, "  ") && !strings.Contains(text, "\t") && strings.TrimSpace(text) == text {
		return text // as most are
	}
	var b strings.Builder
	n, space := 0, false
	for len(text) > 0 {
		switch text[0] {
		case ' ', '\t', '\n', '\r':
			space = b.Len() > 0
			text = text[1:]
			continue
		}
		piece, size := escapeNext(text)
		w := utf8.RuneCountInString(piece)
		if space {
			w++
		}
		if max > 0 && n+w > max-1 && (n+w > max || strings.Trim(text[size:], " \t\n\r") != "") {
			b.WriteString("…")
			return b.String()
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteString(piece)
		n += w
		text = text[size:]
	}
	return b.String()
}

// escapeNext returns the escaped form of the start of text, and how many bytes of text that replaces. It escapes what
// docs/FORMAT.md lists: the start of a marker, control characters except tab, bidi and zero-width characters, bytes
// that are not UTF-8, and a backslash that could be read as one of these escapes. A joiner between two emoji stays.
func escapeNext(text string) (string, int) {
	switch c := text[0]; {
	case c == '[' && strings.HasPrefix(text, "[ccd"):
		return `[\ccd`, 4
	case c == '[' && strings.HasPrefix(text, `[\ccd`):
		return `[\x5cccd`, 5
	case c == '\\' && looksEscaped(text):
		return `\x5c`, 1
	case c == '\t':
		return "\t", 1
	case c < 0x20 || c == 0x7f:
		return fmt.Sprintf(`\x%02x`, c), 1
	case c < utf8.RuneSelf:
		return text[:1], 1
	}
	r, size := utf8.DecodeRuneInString(text)
	if (r == utf8.RuneError && size == 1) || hidden(r) {
		var b strings.Builder
		for i := range size {
			fmt.Fprintf(&b, `\x%02x`, text[i])
		}
		return b.String(), size
	}
	size = max(size, picture(text))
	return text[:size], size
}

// picture returns the length in bytes of the emoji with which text begins, together with those that are joined to it; 0 if there is none.
func picture(text string) (size int) {
	for {
		r, n := utf8.DecodeRuneInString(text[size:])
		if !emoji(r) {
			return size
		}
		size += n
		rest, joined := strings.CutPrefix(strings.TrimPrefix(text[size:], "\ufe0f"), "\u200d")
		if next, _ := utf8.DecodeRuneInString(rest); !joined || !emoji(next) {
			return size
		}
		size = len(text) - len(rest)
	}
}

// emoji reports whether r is in the blocks of pictures, without letters and signs of other scripts.
func emoji(r rune) bool { return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff }

// looksEscaped reports whether Unquote would decode the backslash at the beginning of text.
func looksEscaped(text string) bool {
	return len(text) >= 4 && text[1] == 'x' && isHex(text[2]) && isHex(text[3])
}

// isHex accepts upper case, which Quote never writes, because another reader may decode `\xAB`.
func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// hidden reports whether r is a C1 control, a bidi control, a zero-width character or a line separator: invisible
// characters that change how a line reads.
func hidden(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f,
		r == 0x00ad, r == 0x034f, r == 0x061c, r == 0x180e,
		r >= 0x200b && r <= 0x200f,
		r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f,
		r == 0xfeff,
		r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// Unquote returns the text that Quote was given. It fails if a line is not quoted.
func Unquote(lines string) (string, error) {
	var b strings.Builder
	begun := false
	for line := range strings.Lines(lines) {
		line = strings.TrimLeft(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case strings.HasPrefix(line, more):
			line = line[len(more):]
		case strings.HasPrefix(line, first):
			if begun {
				b.WriteByte('\n')
			}
			line = line[len(first):]
		default:
			return "", fmt.Errorf("unquote line %q: it is not quoted", line)
		}
		begun = true
		unescape(&b, line, true)
	}
	return b.String(), nil
}

// unescape reverses escapeNext; without markers, it reverses only `\x` escapes, as Unname needs.
func unescape(b *strings.Builder, line string, markers bool) {
	for len(line) > 0 {
		switch {
		case markers && strings.HasPrefix(line, `[\ccd`):
			b.WriteString("[ccd")
			line = line[len(`[\ccd`):]
		case line[0] == '\\' && looksEscaped(line):
			b.WriteByte(unhex(line[2])<<4 | unhex(line[3]))
			line = line[4:]
		default:
			b.WriteByte(line[0])
			line = line[1:]
		}
	}
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return (c | 0x20) - 'a' + 10
}

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

// Write implements io.Writer. It fails if W does.
func (v *VisibleWriter) Write(p []byte) (int, error) {
	if err := v.write(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close implements io.Closer. It leaves W open, and fails if W does.
func (v *VisibleWriter) Close() error { return v.write(nil, true) }

func (v *VisibleWriter) write(p []byte, ends bool) error {
	v.held = append(v.held, p...)
	out, n := visible(v.out[:0], v.held, ends)
	v.held = v.held[:copy(v.held, v.held[n:])]
	v.out = out
	_, err := v.W.Write(out)
	return err
}
