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
	listed              // it is an item of the last list before the reply
	opening             // it begins the text
	shared              // it has a name or a word of the reply
	heading             // it is a heading, or begins a numbered item that stands in none
	leading             // it begins a line or an item of a list
	inner
	code // a block of code or a log: only of a text that has nothing else
)

// longQuoted is how many bytes a sentence has at most that is quoted whole or not at all.
const longQuoted = 500

// gapMark stands for what a quote leaves out.
const gapMark = " … "

// excerpt quotes a text in about most chars: all of it, else the sentences that reply is about, if there is one, then the ends of the
// text, what begins its lines, and the rest.
func (h *handover) excerpt(ref session.Ref, text string, most int, reply string) string {
	if one := joined(text); lexicon.Chars(one) <= most {
		return asText(h.proves(ref, one), 0)
	}
	text = lexicon.Unwrapped(text)
	all := prose(text, longQuoted)
	ranks := h.rank(text, all, reply)
	taken := make([]extent, len(all))
	var counts [code + 1]int
	for _, r := range ranks {
		counts[r]++
	}
	last := inner
	if counts[code] == len(ranks) {
		last = code
	}
	for r := range last + 1 {
		share := most/max(2, counts[r]) - len(gapMark) // of a sentence, if it may be cut
		cuts := r <= opening || r >= heading && r <= leading && share >= leastShare
		if share = max(leastShare, share); !cuts {
			share = most
		}
		for i := range all {
			if ranks[i] != r || most < leastCut {
				continue
			}
			n := lexicon.Chars(all[i].text)
			switch {
			case n <= min(share, most):
				taken[i] = whole
			case cuts:
				all[i].text, taken[i] = strings.TrimSpace(lexicon.HeadAt(all[i].text, min(share, most))), begun
				n = lexicon.Chars(all[i].text)
			default:
				continue
			}
			most -= n + len(gapMark)
		}
	}
	return h.printed(ref, all, taken)
}

// leastShare is how many chars of an item, or of what begins another line, are quoted at least: less tells nobody what it says.
const leastShare = 40

// extent says how much of a sentence is quoted.
type extent uint8

const (
	none extent = iota
	begun
	whole
)

// printed prints the sentences that are taken, with a mark where something is left out.
func (h *handover) printed(ref session.Ref, all []part, taken []extent) string {
	var b strings.Builder
	gap := ""
	for i, s := range all {
		if taken[i] == none {
			gap = gapMark
			continue
		}
		b.WriteString(gap + h.proves(ref, s.text))
		if gap = " "; taken[i] == begun {
			gap = gapMark
		}
	}
	if gap == gapMark {
		b.WriteString(strings.TrimRight(gap, " "))
	}
	return asText(strings.TrimLeft(b.String(), " "), 0)
}

// rank returns the rank of each sentence of a text.
func (h *handover) rank(text string, all []part, reply string) []rank {
	rows := strings.Split(text, "\n")
	inCode := codeLines(rows)
	tokens := h.words.of(reply)
	ranks := make([]rank, len(all))
	items, list := lastItems(rows, numbersIn(reply)), map[int]bool{}
	if reply != "" {
		list = lastList(rows)
	}
	begun, end := -1, -1 // the line of the sentence before, the last sentence that is no code
	for i, s := range all {
		begins := s.from != begun
		if strings.ContainsFunc(s.text, unicode.IsLetter) { // a number alone is no item
			begun = s.from
		}
		switch {
		case begins && items[s.from]:
			ranks[i] = pointed
		case begins && list[s.from]:
			ranks[i] = listed
		case inCode[s.from]:
			ranks[i] = code
			continue
		case end < 0:
			ranks[i] = opening
		case h.shares(s.text, tokens):
			ranks[i] = shared
		case begins:
			ranks[i] = beginning(rows[s.from])
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

// beginning is the rank of what begins a line.
func beginning(line string) rank {
	if strings.HasPrefix(line, "#") || lexicon.NumberLen(line) > 0 {
		return heading
	}
	return leading
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

// betweenItems is how many lines may stand between two items of a numbered list.
const betweenItems = 15

// list is the last list of a text, found from its end.
type list struct {
	lines  map[int]bool // those that begin an item, and the one that leads to the first
	first  int          // line of the first item so far, -1 before one is found
	number int          // of that item, 0 for a bullet
}

// lastList returns the lines of the last list in a text.
func lastList(rows []string) map[int]bool {
	l := list{lines: map[int]bool{}, first: -1}
	for i, row := range slices.Backward(rows) {
		if trimmed := strings.TrimSpace(row); trimmed != "" && !l.takes(i, row, trimmed) {
			break
		}
	}
	return l.lines
}

// takes looks at the line before those that it has seen, and returns false if the list begins after it.
func (l *list) takes(i int, row, trimmed string) bool {
	n := itemNumber(row)
	item := n > 0 || lexicon.BulletLen(trimmed) > 0 || strings.HasPrefix(trimmed, "| ")
	switch {
	case item && l.number > 0 && n == 0: // below an item
		return true
	case item && l.number > 0 && n >= l.number: // another list
		return false
	case item:
		if n > 0 && l.number == 0 { // the bullets were below items
			clear(l.lines)
		}
		l.lines[i], l.first, l.number = true, i, n
		return true
	case l.first < 0, strings.HasPrefix(row, "  "), l.number > 1 && l.first-i <= betweenItems:
		return true
	}
	l.lines[i] = lexicon.Leads(trimmed)
	return false
}

// pointsAt reports whether a text names the number of an item in a list that the agent wrote.
func (h *handover) pointsAt(text string, words *event) bool {
	numbers := numbersIn(text)
	return len(numbers) > 0 && len(lastItems(strings.Split(h.src.Text(words.Ref), "\n"), numbers)) > 0
}
