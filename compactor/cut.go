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

// Lengths at which a text is cut, in chars, and how many lines of one are offered, from both ends.
const (
	longSentence  = 200
	shortSentence = 12
	longLine      = 240
	shortLine     = 4 // of a line without a word that stays with the line before it, such as a bracket
	lineParts     = 60
	firstLines    = 160
	lastLines     = 80
)

// sentences cuts prose: at the ends of sentences and lines.
func sentences(text string) (all []part) {
	n, blank := -1, 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimRight(line, " \t\r")
		if !hasWord(line) {
			blank++
			continue
		}
		begun := len(all)
		for line != "" {
			end := lexicon.SentenceEnd(line)
			one := strings.TrimRight(line[:end], " \t")
			line = strings.TrimLeft(line[end:], " \t")
			if k := len(all); k > begun && len(one) < shortSentence && len(all[k-1].text) < longSentence/2 {
				all[k-1].text += " " + one
				continue
			}
			for _, piece := range chopped(one, longSentence) {
				all = append(all, part{piece, n, n, blank})
			}
		}
		blank = 0
	}
	return all
}

// lines, pairs and threes cut an output or a change by its lines. A long line is cut too. Of very many lines the first and the
// last ones are offered.
func lines(text string) []part  { return grouped(text, 1) }
func pairs(text string) []part  { return grouped(text, 2) }
func threes(text string) []part { return grouped(text, 3) }

func grouped(text string, size int) (all []part) {
	rows := strings.Split(text, "\n")
	open, blank, lead := 0, 0, "" // lines in the last part; blank lines since; brackets since
	for n, line := range rows {
		if n >= firstLines && n < len(rows)-lastLines && !lexicon.IsError(line, true) {
			open, blank, lead = size, 0, ""
			continue
		}
		line = strings.TrimRight(line, " \t\r")
		k := len(all) - 1
		follows := k >= 0 && all[k].to == n-1
		switch {
		case !hasWord(line):
			switch short := strings.TrimSpace(line); {
			case short == "" || len(short) > shortLine:
				blank, lead = blank+1+lineCount(lead), ""
			case follows:
				all[k].text += "\n" + line
				all[k].to = n
			case lead == "":
				lead = line
			default:
				lead += "\n" + line
			}
			continue
		case len(line) > longLine:
			blank, lead = blank+lineCount(lead), ""
			for _, piece := range chopped(line, longLine) {
				all = append(all, part{piece, n, n, blank})
			}
			open = size
		case follows && open < size:
			all[k].text += "\n" + line
			all[k].to = n
			open++
		case lead != "":
			all = append(all, part{lead + "\n" + line, n - lineCount(lead), n, blank})
			open, lead = 1, ""
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
