package lexicon

import "strings"

// LineBulk is the minimum number of chars that a line counts.
const LineBulk = 50

// Bulk returns how much room a text takes: its chars, with a minimum per line.
func Bulk(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n += bulkOfLine(line)
	}
	return n
}

// bulkOfLine returns how much room one line takes, in chars.
func bulkOfLine(line string) int { return max(LineBulk, Chars(line)) }

// BulkHead returns the beginning of a text with a bulk of at most n: whole lines if more than one fits.
func BulkHead(text string, n int) string {
	end := 0
	for line := range strings.Lines(text) {
		b := bulkOfLine(line)
		if b > n {
			if end == 0 || n > LineBulk && n > b/3 {
				end += len(HeadAt(line, n))
			}
			break
		}
		n -= b
		end += len(line)
	}
	return strings.TrimSuffix(text[:end], "\n")
}

// BulkTail returns the end of a text with a bulk of at most n: whole lines if more than one fits.
func BulkTail(text string, n int) string {
	from := len(text)
	for from > 0 {
		start := strings.LastIndexByte(text[:from-1], '\n') + 1
		line := text[start:from]
		b := bulkOfLine(line)
		if b > n {
			if from == len(text) {
				from -= len(TailAt(line, n))
			}
			break
		}
		n -= b
		from = start
	}
	return text[from:]
}

// HeadAt returns the beginning of a text, at most n chars, up to the end of a line, sentence or word if one is near.
func HeadAt(text string, n int) string {
	h := Head(text, n)
	if len(h) == len(text) {
		return h
	}
	for _, end := range []string{"\n", ". ", "。", " "} {
		if i := strings.LastIndex(h, end); i > len(h)/2 {
			return strings.TrimRight(h[:i+len(end)], " \n")
		}
	}
	return h
}

// TailAt returns the end of a text, at most n chars, from the beginning of a line, sentence or word if one is near.
func TailAt(text string, n int) string {
	t := Tail(text, n)
	if len(t) == len(text) {
		return t
	}
	for _, end := range []string{"\n", ". ", "。", " "} {
		if i := strings.Index(t, end); i >= 0 && i < len(t)/2 {
			return strings.TrimLeft(t[i+len(end):], " \n")
		}
	}
	return t
}
