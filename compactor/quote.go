package compactor

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ccd/compactor/lexicon"
	"ccd/internal/session"
)

// rank says which sentences of a long text are quoted first.
type rank uint8

const (
	pointed rank = iota // the reply names its number
	closing             // it ends the text
	opening             // it begins the text
	shared              // it has a name or a word of the reply
	heading             // it is a heading, or begins a numbered item
	leading             // it begins a line or an item of a list
	inner
	code // a block of code or a log: only of a text that has nothing else
)

// longQuoted is how many bytes a sentence has at most that is quoted whole or not at all.
const longQuoted = 500

// gapMark stands for what a quote leaves out.
const gapMark = " … "

// leastShare is how many chars of an item, or of what begins another line, are quoted at least: less tells nobody what it says.
const leastShare = 40

// excerpt quotes a text in about most chars: all of it, else the items that reply names by their numbers, the ends of the text, what
// begins its lines, and the rest.
func (h *handover) excerpt(ref session.Ref, text string, most int, reply string) string {
	if one := joined(text); lexicon.Chars(one) <= most {
		return asText(h.proves(ref, one), 0)
	}
	text = lexicon.Unwrapped(text)
	all := prose(text, longQuoted)
	ranks := h.rank(text, all, reply)
	var counts [code + 1]int
	for _, r := range ranks {
		counts[r]++
	}
	last := inner
	if counts[code] == len(ranks) {
		last = code
	}
	taken := make([]string, len(all)) // what is quoted of each sentence
	for r := range last + 1 {
		share := max(leastShare, most/max(2, counts[r])-len(gapMark)) // of a sentence that may be cut
		for i, s := range all {
			if ranks[i] != r || most < leastCut {
				continue
			}
			switch n := lexicon.Chars(s.text); {
			case n <= min(share, most), r >= inner && n <= most:
				taken[i] = s.text
			case r < inner:
				taken[i] = strings.TrimSpace(lexicon.HeadAt(s.text, min(share, most)))
			default:
				continue
			}
			most -= lexicon.Chars(taken[i]) + len(gapMark)
		}
	}
	return h.printed(ref, all, taken)
}

// printed prints what is taken of the sentences, with a mark where something is left out.
func (h *handover) printed(ref session.Ref, all []part, taken []string) string {
	var b strings.Builder
	gap := ""
	for i, one := range taken {
		if one == "" {
			gap = gapMark
			continue
		}
		b.WriteString(gap + h.proves(ref, one))
		if gap = " "; one != all[i].text {
			gap = gapMark
		}
	}
	return asText(strings.TrimSpace(b.String()+strings.TrimRight(gap, " ")), 0)
}

// rank returns the rank of each sentence of a text.
func (h *handover) rank(text string, all []part, reply string) []rank {
	tokens := h.words.of(reply)
	rows := strings.Split(text, "\n")
	inCode, items := codeLines(rows), lastItems(rows, numbersIn(reply))
	ranks := make([]rank, len(all))
	begun, end := -1, -1 // the line of the sentence before, the last sentence that is no code
	for i, s := range all {
		begins := s.from != begun
		if strings.ContainsFunc(s.text, unicode.IsLetter) { // a number alone is no item
			begun = s.from
		}
		switch {
		case begins && items[s.from]:
			ranks[i] = pointed
		case inCode[s.from]:
			ranks[i] = code
			continue
		case end < 0:
			ranks[i] = opening
		case h.shares(s.text, tokens):
			ranks[i] = shared
		case begins && (strings.HasPrefix(rows[s.from], "#") || lexicon.NumberLen(rows[s.from]) > 0):
			ranks[i] = heading
		case begins:
			ranks[i] = leading
		default:
			ranks[i] = inner
		}
		end = i
	}
	if end > 0 && ranks[end] != pointed {
		ranks[end] = closing
	}
	return ranks
}

// shares reports whether a text has one of some values or words.
func (h *handover) shares(text string, with tokens) bool {
	if len(with.values)+len(with.words) == 0 {
		return false
	}
	t := h.words.of(text)
	return inBoth(t.values, with.values)+inBoth(t.words, with.words) > 0
}

// codeLines reports which lines are in a fenced block, or have more signs and digits than a sentence and are no item of a list.
func codeLines(rows []string) []bool {
	var fences lexicon.Fences
	all := make([]bool, len(rows))
	for i, row := range rows {
		fence, inside := fences.Line(row)
		all[i] = fence || inside || !isProse(row) && itemNumber(row) == 0
	}
	return all
}

// isProse reports whether most of a line are letters and blanks.
func isProse(line string) bool {
	words, n := 0, 0
	for _, r := range line {
		n++
		if unicode.IsLetter(r) || unicode.IsMark(r) || r == ' ' {
			words++
		}
	}
	return 3*words >= 2*n
}

var (
	itemForm   = regexp.MustCompile(`^[\s>|*#_-]*(\d{1,3})(?:[.)\]:*_|]|\s*\|)`)
	numberForm = regexp.MustCompile(`(?:^|[\s,;(#/])(\d{1,3})(?:\s*[-–—~]\s*#?(\d{1,3}))?(?:$|[\s.,;:)!?/])`)
)

// itemNumber returns the number that begins a line as that of an item in a list, 0 for none.
func itemNumber(line string) int {
	m := itemForm.FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// apart doubles what stands between two numbers: it belongs to both.
var apart = strings.NewReplacer(" ", "  ", ",", " , ", "/", " / ")

// numbersIn returns the small numbers in a text, with those of its ranges.
func numbersIn(text string) map[int]bool {
	const longest = 40 // numbers in a range
	all := map[int]bool{}
	for _, m := range numberForm.FindAllStringSubmatch(apart.Replace(text), -1) {
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		for n := from; n <= min(max(from, to), from+longest); n++ {
			all[n] = n > 0
		}
	}
	return all
}

// lastItems returns the lines that begin an item with one of some numbers, of each number the last one.
func lastItems(rows []string, numbers map[int]bool) map[int]bool {
	found, lines := map[int]bool{}, map[int]bool{}
	for i, row := range slices.Backward(rows) {
		if n := itemNumber(row); numbers[n] && !found[n] {
			found[n], lines[i] = true, true
		}
	}
	return lines
}
