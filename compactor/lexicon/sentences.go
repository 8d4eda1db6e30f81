package lexicon

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SentenceEnd is the length of the first sentence of a line, in bytes: up to a full stop, a question or an exclamation
// mark that a space follows, or up to one of a script that puts no space behind it. A dot within a name, a number or an
// abbreviation ends nothing.
func SentenceEnd(line string) int {
	for i := 0; i < len(line); i++ {
		if maybeEnd[line[i]] {
			if n := endAt(line, i); n > 0 {
				return n
			}
		}
	}
	return len(line)
}

// endAt is the length of a sentence that ends with the character at i, 0 where none does.
func endAt(line string, i int) int {
	switch {
	case line[i] >= utf8.RuneSelf:
		if n := foreignEnd(line[i:]); n > 0 {
			return i + n
		}
		return 0
	case i+1 == len(line):
		return len(line)
	case line[i+1] != ' ':
		return 0
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[i+1:], " "))
	if unicode.IsLower(r) || abbreviates(line[:i]) {
		return 0
	}
	return i + 1
}

// maybeEnd tells the bytes that may end a sentence: full stops, and the first bytes of those of other scripts.
var maybeEnd = byteSet(".!?\xd8\xe0\xe3\xef")

// closers are the quotes and brackets that belong to the full stop before them.
const closers = `」』）”’"'`

// foreignEnd is how many bytes a full stop of another script at the beginning of a text takes, with the quotes and
// brackets behind it; 0 where there is none.
func foreignEnd(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	rest := s[n:]
	switch r {
	case '。', '！', '？', '｡':
	case '．':
		if next, _ := utf8.DecodeRuneInString(rest); unicode.IsDigit(next) {
			return 0
		}
	case '।', '؟': // a space follows, as in the Latin script
		if rest == "" || rest[0] == ' ' {
			return n
		}
		return 0
	default:
		return 0
	}
	return len(s) - len(strings.TrimLeft(rest, closers))
}

// EndsSentence reports whether a text ends as a sentence does, in any script; a colon counts too.
func EndsSentence(s string) bool {
	switch r, _ := utf8.DecodeLastRuneInString(s); r {
	case '.', '!', '?', ':', '…', '。', '！', '？', '｡', '．', '।', '؟', '：':
		return true
	}
	return false
}

// abbreviates reports whether what stands before a dot ends in an abbreviation, or in the number of a list item.
func abbreviates(before string) bool {
	word := before[strings.LastIndexAny(before, " (")+1:]
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "cf", "mr", "mrs", "dr", "no", "approx", "fig":
		return true
	}
	return IsNumber(word) && len(word) <= mostDigits && strings.TrimSpace(before) == word
}

// Sentences gives the sentences of a text in order: a line that is not prose (a bullet, a heading) is one of its own,
// and a dot within a name or a number ends nothing. Fenced code is left out. Linear in the text.
func Sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var fences Fences
		for line := range strings.Lines(text) {
			if fence, code := fences.Line(line); fence || code {
				continue
			}
			line = strings.TrimSpace(line)
			for line != "" {
				n := SentenceEnd(line)
				s := strings.TrimSpace(line[:n])
				line = strings.TrimSpace(line[n:])
				if s = bare(s); s != "" && !yield(s) {
					return
				}
			}
		}
	}
}

// bare is a sentence without its bullet or heading mark; "" where nothing but marks is there.
func bare(s string) string {
	if strings.Trim(s, "#>•*+- ") == "" {
		return ""
	}
	return strings.TrimSpace(s[LeadLen(s):])
}

// SentenceHead is a line of text in at most n chars: up to the end of a sentence where one is near, else of a word.
func SentenceHead(s string, n int) string {
	if Chars(s) <= n {
		return s
	}
	h := Head(s, max(0, n-1))
	end := 0
	for i := 0; i < len(h); {
		step := SentenceEnd(h[i:])
		if i+step == len(h) {
			break
		}
		i += step
		end = i
		for i < len(h) && h[i] == ' ' {
			i++
		}
	}
	if end > len(h)/2 {
		return h[:end]
	}
	if i := strings.LastIndexByte(h, ' '); i > len(h)/2 {
		h = h[:i]
	}
	return h + "…"
}
