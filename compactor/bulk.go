package compactor

import (
	"strings"

	"ccd/compactor/prose"
	"ccd/internal/mark"
)

// One more record must leave most lines of a companion as they are. So no one thing may take more than a fixed part of
// the text, in chars and in lines, whatever else stands there: what it pushes out, and what goes with it when it goes
// itself, is then bounded too.
const (
	oneShare = 18  // the part of the text that one thing may take, as a divisor
	oneLeast = 500 // chars that it may always take
	lineBulk = 50  // chars that a line counts at least
	leastCut = 140 // room below which the oldest thing that stands in part goes
)

// oneMost is how much one thing may take of a text of so many chars.
func oneMost(chars int) int { return max(oneLeast, chars/oneShare) }

// standMost is how much one thing may take of Earlier where it stands whole.
func (d *draft) standMost() int {
	if d.narrow {
		return d.most / 2
	}
	return d.most
}

// bulk is what a text takes of the room: its chars, short lines counted as longer ones.
func bulk(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n += lineBulkOf(line)
	}
	return n
}

// cost is what a form's text takes of the room of Earlier: the lines that it quotes count as bulk does.
func cost(text string, f form) int { return prose.Chars(text) - prose.Chars(f.quote) + bulk(f.quote) }

func lineBulkOf(line string) int { return max(lineBulk, prose.Chars(line)) }

// bulkHead is the beginning of a text that takes at most n: whole lines where more than one fits.
func bulkHead(text string, n int) string {
	end := 0
	for line := range strings.Lines(text) {
		b := lineBulkOf(line)
		if b > n {
			if end == 0 || n > lineBulk && n > b/3 {
				end += len(prose.Head(line, n))
			}
			break
		}
		n -= b
		end += len(line)
	}
	return strings.TrimSuffix(text[:end], "\n")
}

// bulkTail is the end of a text that takes at most n: whole lines where more than one fits.
func bulkTail(text string, n int) string {
	from := len(text)
	for from > 0 {
		start := strings.LastIndexByte(text[:from-1], '\n') + 1
		line := text[start:from]
		b := lineBulkOf(line)
		if b > n {
			if from == len(text) {
				from -= len(tail(line, n))
			}
			break
		}
		n -= b
		from = start
	}
	return text[from:]
}

// quotedWhole is a text as quoted lines, where it takes no more than the most.
func quotedWhole(text string, most int) (quoted string, ok bool) {
	if len(text) > 4*most || bulk(text) > most {
		return "", false
	}
	q := mark.Quote("", text)
	return q, prose.Chars(q) <= most+most/4
}
