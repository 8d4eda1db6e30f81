package scorecard

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/compactor/lexicon"
)

// The tokenizer of the grader: what counts as a statement, a sentence and a content word. It looks at characters, not
// at words of a language, so it treats languages alike.

var (
	ansi       = lazy(`\x1b\[[0-9;?]*[A-Za-z]`)
	listMark   = lazy(`^(?:[-*+•]|\d+[.)]|>|\[[ xX]\])\s+`)
	span       = lazy("`[^`\n]*`" + `|\w+://\S+`)
	plainMarks = strings.NewReplacer("**", "", "`", "")
)

// normal returns text as it is compared: without colours, emphasis and backticks, and with single spaces.
func normal(text string) string {
	if strings.IndexByte(text, '\x1b') >= 0 {
		text = ansi().ReplaceAllString(text, "")
	}
	if strings.ContainsAny(text, "*`") {
		text = plainMarks.Replace(text)
	}
	return strings.Join(strings.Fields(text), " ")
}

func long(text string, most int) bool {
	return len(text) > most && utf8.RuneCountInString(text) > most
}

// dense reports whether a character belongs to a script that is written without spaces, or with few letters per word.
func dense(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// sentences cuts a line after a full stop, question or exclamation mark that a space follows, and after their
// full-width forms.
func sentences(line string) (all []string) {
	start := 0
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch {
		case strings.ContainsRune("。！？｡．", r):
			rest := strings.TrimLeft(line[end:], `」』）”’"'`)
			end = len(line) - len(rest)
		case strings.ContainsRune(".!?।؟", r) && i-start >= 4 && strings.HasPrefix(line[end:], " "):
		default:
			continue
		}
		if end > start {
			all = append(all, line[start:end])
			start = end
		}
	}
	if strings.TrimSpace(line[start:]) != "" {
		all = append(all, line[start:])
	}
	return all
}

// statements yields the sentences and lines of a text, unchanged. It skips fenced code, headings and the rules of
// tables; a row of a table is one statement.
func statements(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fenced := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
				fenced = !fenced
				continue
			}
			if fenced || line == "" || line[0] == '#' || strings.Trim(line, "-=|:+* ─") == "" {
				continue
			}
			all := []string{line}
			if line[0] != '|' {
				all = sentences(listMark().ReplaceAllString(line, ""))
			}
			for _, s := range all {
				if s = strings.TrimSpace(s); s != "" && !yield(s) {
					return
				}
			}
		}
	}
}

// fences yields the beginnings of the fenced blocks of a text, normalized and cut to lineChars.
func fences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text = "\n" + text; ; {
			_, rest, ok := strings.Cut(text, "\n```")
			_, rest, opened := strings.Cut(rest, "\n")
			block, after, closed := strings.Cut(rest, "\n```")
			if !ok || !opened || !closed {
				return
			}
			if c := lexicon.Head(normal(lexicon.Head(block, 4*lineChars)), lineChars); strings.Contains(c, " ") && !yield(c) {
				return
			}
			text = after
		}
	}
}

// length returns how many words a statement has; two characters of a dense script count as one.
func length(text string) (n int) {
	for _, w := range strings.Fields(text) {
		n += max(1, (strings.IndexFunc(w, dense)+1)*utf8.RuneCountInString(w)/2)
	}
	return n
}

// leastLetters is the smallest number of letters of a content word.
const leastLetters = 4

// content yields the content words of a text in lower case, with their positions: words of four letters or more that
// are no names, and pairs of characters of a dense script. A word with a digit, an underscore, or an inner capital or
// full stop is a name.
func content(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		start, last := -1, -1 // of the word, of the dense character before
		for i, r := range text {
			wide := dense(r)
			in := r < utf8.RuneSelf && wordByte(byte(r)) || strings.ContainsRune(`./\@:-='’#$~+`, r) ||
				r >= utf8.RuneSelf && !wide && unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit)
			if start >= 0 && !in {
				if w := contentWord(text[start:i]); w != "" && !yield(start, w) {
					return
				}
				start = -1
			}
			if wide && last >= 0 && !yield(last, text[last:i+utf8.RuneLen(r)]) {
				return
			}
			if last = -1; wide {
				last = i
			}
			if in && start < 0 {
				start = i
			}
		}
		if start >= 0 {
			if w := contentWord(text[start:]); w != "" {
				yield(start, w)
			}
		}
	}
}

// contentWord returns a word in lower case, or "" if it is short or a name.
func contentWord(w string) string {
	w = strings.Trim(w, `./\@:-='’#$~+`)
	letters, small := 0, false
	for _, r := range w {
		switch {
		case unicode.IsUpper(r) && small:
			return ""
		case unicode.In(r, unicode.Letter, unicode.Mark):
			letters++
			small = small || unicode.IsLower(r)
		case !strings.ContainsRune(`-'’`, r):
			return ""
		default:
			small = false
		}
	}
	if letters < leastLetters {
		return ""
	}
	return strings.ToLower(w)
}

// Limits on the words around a name in its statement.
const (
	spotWords  = 12 // content words stored per name, the nearest ones
	leastWords = 3  // with fewer, the statement says nothing about the name
)

// around returns the content words nearest to a name in its statement, in their order. Code spans and addresses have
// none.
func around(statement, name string) []string {
	i := strings.Index(statement, name)
	if i < 0 {
		return nil
	}
	left, right := statement[:i], statement[i+len(name):]
	if strings.Count(left, "`")%2 == 1 { // the name is a part of a code span
		left = left[:strings.LastIndexByte(left, '`')]
		_, right, _ = strings.Cut(right, "`")
	}
	l, r := words(left), words(right)
	take := max(spotWords/2, spotWords-len(r))
	l = l[max(0, len(l)-take):]
	return append(l, r[:min(len(r), spotWords-len(l))]...)
}

// words returns the content words of a text, without code spans and addresses.
func words(text string) (all []string) {
	if strings.Contains(text, "`") || strings.Contains(text, "://") {
		text = span().ReplaceAllString(text, " . ")
	}
	for _, w := range content(text) {
		all = append(all, strings.Clone(w))
	}
	return all
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func lower(c byte) bool { return c >= 'a' && c <= 'z' }

func wordByte(c byte) bool {
	return lower(c) || c >= 'A' && c <= 'Z' || digit(c) || c == '_' || c >= utf8.RuneSelf
}
