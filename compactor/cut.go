package compactor

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/compactor/lexicon"
)

// part is what a text is cut into: a sentence, or some lines.
type part struct {
	text  string
	from  int // its first line in the text, from 0
	to    int // its last line
	blank int // lines before it that say nothing
}

// Lengths at which a text is cut, in chars, and how many parts of one line are offered.
const (
	longSentence = 200
	longLine     = 240
	lineParts    = 60
)

// sentences cuts prose: at the ends of sentences and lines.
func sentences(text string) []part { return prose(text, longSentence) }

// prose cuts prose, and sentences that are longer than a number of bytes.
func prose(text string, longest int) (all []part) {
	n, blank := -1, 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimRight(line, " \t\r")
		if !hasWord(line) {
			blank++
			continue
		}
		for line != "" {
			end := lexicon.SentenceEnd(line)
			one := strings.TrimRight(line[:end], " \t")
			line = strings.TrimLeft(line[end:], " \t")
			for _, piece := range chopped(one, longest) {
				all = append(all, part{piece, n, n, blank})
			}
		}
		blank = 0
	}
	return all
}

// lines and pairs cut an output by its lines, one or two a part. A long line is cut too.
func lines(text string) []part { return grouped(strings.Split(text, "\n"), 1) }
func pairs(text string) []part { return grouped(strings.Split(text, "\n"), 2) }

// grouped makes parts of some lines each.
func grouped(rows []string, size int) (all []part) {
	open, blank := 0, 0 // lines in the last part; lines since that say nothing
	for n, line := range rows {
		line = strings.TrimRight(line, " \t\r")
		last := len(all) - 1
		switch {
		case last >= 0 && all[last].to == n-1 && open < size && len(line) <= longLine:
			all[last].text += "\n" + line
			all[last].to = n
			open++
		case !hasWord(line):
			blank++
			continue
		case len(line) > longLine:
			for _, piece := range chopped(line, longLine) {
				all = append(all, part{piece, n, n, blank})
			}
			open = size
		default:
			all = append(all, part{line, n, n, blank})
			open = 1
		}
		blank = 0
	}
	return all
}

// chopped cuts a text into pieces of about most bytes, at a blank or a comma if one is near.
func chopped(text string, most int) (all []string) {
	for len(text) > most && len(all) < lineParts {
		end := most
		for !utf8.RuneStart(text[end]) {
			end--
		}
		if i := strings.LastIndexAny(text[:end], " ,;"); i > most/2 {
			end = i + 1
		}
		all = append(all, text[:end])
		text = text[end:]
	}
	if text != "" && len(all) < lineParts {
		all = append(all, text)
	}
	return all
}

// hasWord reports whether a line has a letter or a digit.
func hasWord(line string) bool {
	return strings.IndexFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// lineCount returns how many lines a text has.
func lineCount(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(text, "\n") + 1
}
