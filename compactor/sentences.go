package compactor

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences gives the sentences of a text in order: a line that is not prose (a bullet, a heading) is one of its own,
// and a dot within a name or a number ends nothing. Fenced code is left out. Linear in the text.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fence := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				fence = !fence
				continue
			}
			if fence {
				continue
			}
			for line != "" {
				n := sentenceEnd(line)
				s := strings.TrimSpace(line[:n])
				line = strings.TrimSpace(line[n:])
				if s = bare(s); s != "" && !yield(s) {
					return
				}
			}
		}
	}
}

// sentenceEnd is the length of the first sentence of a line.
func sentenceEnd(line string) int {
	for i := range len(line) {
		if !maybeEnd[line[i]] {
			continue
		}
		if line[i] >= 0xe3 {
			if isFullStop(line[i:]) {
				return i + len("。")
			}
			continue
		}
		if i+1 == len(line) {
			return len(line)
		}
		if line[i+1] != ' ' {
			continue
		}
		r, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[i+1:], " "))
		if !unicode.IsLower(r) && !abbreviates(line[:i]) {
			return i + 1
		}
	}
	return len(line)
}

// maybeEnd tells the bytes that may end a sentence: full stops, and the first bytes of those of other scripts.
var maybeEnd = byteSet(".!?\xe3\xef")

// isFullStop reports whether a text begins with a full stop of Chinese or Japanese, which no space follows.
func isFullStop(s string) bool {
	return strings.HasPrefix(s, "。") || strings.HasPrefix(s, "！") || strings.HasPrefix(s, "？")
}

// abbreviates reports whether what stands before a dot ends in an abbreviation, or in the number of a list item.
func abbreviates(before string) bool {
	word := before[strings.LastIndexAny(before, " (")+1:]
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "cf", "mr", "mrs", "dr", "no", "approx", "fig":
		return true
	}
	return isNumber(word) && len(word) <= 2 && strings.TrimSpace(before) == word
}

// bare is a sentence without its bullet or heading mark.
func bare(s string) string {
	s = trimBullet(s)
	if n, rest, ok := strings.Cut(s, ". "); ok && isNumber(n) && len(n) <= 3 {
		s = rest
	}
	return strings.TrimSpace(s)
}

// saysNo reports whether a sentence opens with a plain no.
func saysNo(s string) bool {
	low := lower(s[:min(len(s), 8)])
	return strings.HasPrefix(low, "no ") || strings.HasPrefix(low, "no,") || strings.HasPrefix(low, "no.") ||
		strings.HasPrefix(low, "nope") || low == "no"
}

// isCorrection and isConstraint look at one sentence of a human.
func isCorrection(s string) bool { return saysNo(s) || hasAny(s, correctionWords) }
func isConstraint(s string) bool { return hasAny(s, constraintWords) }

// anySentence reports whether one sentence of the text, within the first 64 KB, is as is says.
func anySentence(text string, is func(string) bool) bool {
	for s := range sentences(text[:min(len(text), maxSignal)]) {
		if is(s) {
			return true
		}
	}
	return false
}

// trimBullet takes the marks off that begin a list item, a heading or a quote; emphasis stays, as it is part of the text.
func trimBullet(s string) string {
	s = strings.TrimLeft(s, "#>•+ \t")
	for strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") {
		s = strings.TrimLeft(s[2:], " \t")
	}
	return s
}
