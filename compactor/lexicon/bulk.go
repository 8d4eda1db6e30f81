package lexicon

import "strings"

// LineBulk is how many chars a line counts at least.
const LineBulk = 50

// Bulk is what a text takes of the room: its chars, short lines counted as longer ones.
func Bulk(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n += bulkOfLine(line)
	}
	return n
}

// bulkOfLine is what one line takes, in chars.
func bulkOfLine(line string) int { return max(LineBulk, Chars(line)) }

// BulkHead is the beginning of a text that takes at most n: whole lines where more than one fits.
func BulkHead(text string, n int) string {
	end := 0
	for line := range strings.Lines(text) {
		b := bulkOfLine(line)
		if b > n {
			if end == 0 || n > LineBulk && n > b/3 {
				end += len(Head(line, n))
			}
			break
		}
		n -= b
		end += len(line)
	}
	return strings.TrimSuffix(text[:end], "\n")
}

// BulkTail is the end of a text that takes at most n: whole lines where more than one fits.
func BulkTail(text string, n int) string {
	from := len(text)
	for from > 0 {
		start := strings.LastIndexByte(text[:from-1], '\n') + 1
		line := text[start:from]
		b := bulkOfLine(line)
		if b > n {
			if from == len(text) {
				from -= len(Tail(line, n))
			}
			break
		}
		n -= b
		from = start
	}
	return text[from:]
}
