package lexicon

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SentenceEnd returns the length of the first sentence of a line, in bytes: up to a full stop, question mark or exclamation mark
// followed by a space, or up to one of a script that uses no spaces. A dot in a name, number or abbreviation does not end a
// sentence.
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

// endAt returns the length of the sentence that ends with the character at i, 0 if none does.
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

// maybeEnd contains the bytes that may end a sentence: full stops, and the first bytes of those of other scripts.
var maybeEnd = ByteSet(".!?\xd8\xe0\xe3\xef")

// closers are the quotes and brackets that belong to a preceding full stop.
const closers = `」』）”’"'`

// foreignEnd returns the length in bytes of a full stop of another script at the beginning of a text, with following quotes and
// brackets; 0 if there is none.
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

// abbreviates reports whether the text before a dot ends in an abbreviation, in the number of a list item, or in one that may be the
// day of a date: 20. Februar.
func abbreviates(before string) bool {
	word := before[strings.LastIndexAny(before, " (")+1:]
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "cf", "mr", "mrs", "dr", "no", "approx", "fig":
		return true
	}
	return IsNumber(word) && (len(word) <= 2 || len(word) <= mostDigits && strings.TrimSpace(before) == word)
}

// Lines between these lengths, in bytes, may have been wrapped. They are joined with the next line up to a limit.
const (
	leastWrapped = 50
	mostWrapped  = 200
	mostJoined   = 1000
)

// Unwrapped returns a text in which lines that were wrapped are one: a long line that ends no sentence, with the next one, if that
// goes on in lower case or with a digit. Fenced code stays as it is.
func Unwrapped(text string) string {
	var fences Fences
	var out strings.Builder
	open := 0 // bytes of the line so far, if it may go on
	for line := range strings.Lines(text) {
		fence, code := fences.Line(line)
		end := strings.TrimRight(line, " \t\r\n")
		if t := strings.TrimSpace(line); open > 0 && !fence && goesOn(t) {
			out.WriteString(" " + strings.TrimLeft(end, " \t"))
		} else {
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(end)
			open = 0
		}
		if open += len(end); code || fence || EndsSentence(end) || len(end) < leastWrapped || len(end) > mostWrapped || open > mostJoined {
			open = 0
		}
	}
	return out.String()
}

// goesOn reports whether a trimmed line can be the rest of a wrapped one.
func goesOn(t string) bool {
	first, n := utf8.DecodeRuneInString(t)
	next, _ := utf8.DecodeRuneInString(t[n:])
	switch {
	case unicode.IsLower(first), unicode.IsDigit(first):
		return NumberLen(t) == 0
	case first == '$', first == '(':
		return unicode.IsLetter(next)
	}
	return false
}

// Sentences yields the sentences of a text in order, each with the number of its paragraph. A line that is not prose (a bullet,
// a heading) is a sentence of its own, wrapped lines are joined, and a dot in a name or number does not end a sentence. It
// omits fenced code. Linear in the text.
func Sentences(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var fences Fences
		part := 0
		for line := range strings.Lines(Unwrapped(text)) {
			fence, code := fences.Line(line)
			if fence || code {
				continue
			}
			t := strings.TrimSpace(line)
			if t == "" {
				part++
			}
			for t != "" {
				n := SentenceEnd(t)
				if s := bare(strings.TrimSpace(t[:n])); s != "" && !yield(part, s) {
					return
				}
				t = strings.TrimSpace(t[n:])
			}
		}
	}
}

// bare returns a sentence without its bullet or heading mark, "" if there is nothing else.
func bare(s string) string {
	if strings.Trim(s, "#>•") == "" || IsRule(s) {
		return ""
	}
	return strings.TrimSpace(s[LeadLen(s):])
}

// SentenceHead returns the beginning of a line, at most n chars, up to the end of a sentence if one is near, else of a word.
func SentenceHead(s string, n int) string {
	h := HeadAt(s, max(0, n-1))
	if len(h) == len(s) || EndsSentence(h) {
		return h
	}
	return h + "…"
}
