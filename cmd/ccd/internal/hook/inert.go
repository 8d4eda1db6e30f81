package hook

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// tagless is text that package mark has escaped, without anything that reads as a tag: what a hook says reaches the model
// in a message of the system's or the developer's, where a tag that a transcript holds could seem to end that, or to begin
// another. Each `<` before a letter, `/`, `|` or `_` stands as mark writes any byte, so that mark.Unquote gives it back.
func tagless(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if r, _ := utf8.DecodeRuneInString(rest); unicode.IsLetter(r) || r == '/' || r == '|' || r == '_' {
			b.WriteString(escapedTag)
		} else {
			b.WriteByte('<')
		}
		s = rest
	}
}

// escapedTag stands for the `<` of a tag.
const escapedTag = `\x3c`

// inline is text of a transcript within a line of ours, of at most n chars.
func inline(text string, n int) string { return tagless(mark.Inline(text, n)) }

// inert is text of an output in which nothing poses as a marker of ours, and nothing hides: what package mark escapes
// stands as it writes it. A backslash stays as it is, for outputs are full of them; the original has all of it as it was.
func inert(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n', r == '\t', r >= ' ' && r < 0x7f:
			b.WriteByte(byte(r))
		case r == '\r' && (i+1 == len(s) || s[i+1] == '\n'): // the end of a line
			b.WriteByte('\r')
		case r == '\r':
			b.WriteString(`\x0d`)
		default:
			b.WriteString(mark.Inline(string(r), 0))
		}
	}
	return strings.ReplaceAll(b.String(), "[ccd", `[\ccd`)
}

// inertHead is as much of the beginning of a text as is at most n characters when it is inert; shown is that.
func inertHead(text string, n int) (head, shown string) {
	head = lexicon.Head(text, n)
	for shown = inert(head); utf8.RuneCountInString(shown) > n; shown = inert(head) {
		head = lexicon.Head(head, n*utf8.RuneCountInString(head)/utf8.RuneCountInString(shown))
	}
	return head, shown
}
