package hook

import (
	"strings"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/lazy"
	"ccd/internal/mark"
)

// tagless escapes what reads as a tag in text that package mark has escaped. A hook's output reaches the model in a system
// or developer message, and a tag from a transcript could seem to end that message or to begin another. Each `<` before a
// letter, `/`, `|` or `_` is escaped as mark escapes any byte, so that mark.Unquote restores it.
func tagless(s string) string {
	return tagBegin().ReplaceAllStringFunc(s, func(begin string) string { return escapedTag + begin[1:] })
}

var tagBegin = lazy.Regexp(`<[\pL/|_]`)

// escapedTag replaces the `<` of a tag.
const escapedTag = `\x3c`

// inline escapes transcript text for use within one of ccd's lines and cuts it to n chars.
func inline(text string, n int) string { return tagless(mark.Inline(text, n)) }

// inert escapes an output so that nothing in it can pass for one of ccd's markers and no character is invisible. It escapes
// what package mark escapes except backslashes, because outputs are full of them and the original is in the archive. A text may be cut
// between the CR and the LF of a line.
func inert(s string) string {
	shown := mark.Visible(strings.ToValidUTF8(s, "\ufffd") + "\n")
	return strings.ReplaceAll(strings.TrimSuffix(shown, "\n"), "[ccd", `[\ccd`)
}

// clipped returns the first n chars of a text, with a sign that more follows.
func clipped(text string, n int) string {
	if short := lexicon.Head(text, n); len(short) < len(text) {
		return short + " …"
	}
	return text
}

// inertHead returns the longest beginning of a text that is at most n characters once escaped, and its escaped form.
func inertHead(text string, n int) (head, shown string) {
	head = lexicon.Head(text, n)
	for shown = inert(head); utf8.RuneCountInString(shown) > n; shown = inert(head) {
		head = lexicon.Head(head, n*utf8.RuneCountInString(head)/utf8.RuneCountInString(shown))
	}
	return head, shown
}
