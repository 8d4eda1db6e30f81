package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SentenceEnd is the length of the first sentence of a line.
func SentenceEnd(line string) int {
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
	return IsNumber(word) && len(word) <= 2 && strings.TrimSpace(before) == word
}
