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
	lineParts     = 60
	firstLines    = 160
	lastLines     = 80
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
		begun := len(all)
		for line != "" {
			end := lexicon.SentenceEnd(line)
			one := strings.TrimRight(line[:end], " \t")
			line = strings.TrimLeft(line[end:], " \t")
			if k := len(all); k > begun && len(one) < shortSentence && len(all[k-1].text) < longSentence/2 {
				all[k-1].text += " " + one
				continue
			}
			for _, piece := range chopped(one, longest) {
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

// grouping cuts a text into parts of some lines.
type grouping struct {
	all   []part
	size  int // lines of a part
	open  int // lines in the last part
	blank int // lines since that say nothing
}

func grouped(text string, size int) []part {
	g, rows := grouping{size: size}, strings.Split(text, "\n")
	for n, line := range rows {
		line = strings.TrimRight(line, " \t\r")
		switch {
		case n >= firstLines && n < len(rows)-lastLines && !lexicon.IsError(line, true):
			g.open, g.blank = size, 0
		case hasWord(line):
			g.add(line, n)
		default:
			g.blank++
		}
	}
	return g.all
}

// add adds a line that says something.
func (g *grouping) add(line string, n int) {
	last := len(g.all) - 1
	switch {
	case len(line) > longLine:
		for _, piece := range chopped(line, longLine) {
			g.all = append(g.all, part{piece, n, n, g.blank})
		}
		g.open = g.size
	case last >= 0 && g.all[last].to == n-1 && g.open < g.size:
		g.all[last].text += "\n" + line
		g.all[last].to = n
		g.open++
	default:
		g.all = append(g.all, part{line, n, n, g.blank})
		g.open = 1
	}
	g.blank = 0
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
