package search

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"ccd/internal/mark"
)

// The length of a snippet, and how much of it may precede the match, in characters.
const (
	maxSnippet = 200
	maxLead    = 60
)

// snippet returns the line of a match, of a long one the part around it.
func snippet(text []byte, start, end int) string {
	if i := bytes.LastIndexByte(text[:start], '\n'); i >= 0 {
		text, start, end = text[i+1:], start-i-1, end-i-1
	}
	if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
		text = text[:end+i]
	}
	if line := mark.Inline(string(text[:min(len(text), 4*maxSnippet)]), 0); len(text) <= 4*maxSnippet && utf8.RuneCountInString(line) <= maxSnippet {
		return line
	}
	from := start
	for lead := maxLead; lead > 0; lead /= 2 {
		from = before(text, start, lead)
		if utf8.RuneCountInString(mark.Inline(string(text[from:start]), 0)) <= maxLead {
			break
		}
		from = start
	}
	room, cut := maxSnippet, ""
	if from > 0 {
		room, cut = room-1, "…"
	}
	return cut + mark.Inline(string(text[from:min(len(text), end+4*maxSnippet)]), room)
}

// around returns up to n lines before and after the line with a position.
func around(text []byte, at, n int) (above, below []string) {
	if n == 0 {
		return nil, nil
	}
	from, to := bytes.LastIndexByte(text[:at], '\n')+1, len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		to = at + i
	}
	line := func(b []byte) string { return mark.Inline(string(b[:min(len(b), 4*maxSnippet)]), maxSnippet) }
	for ; n > len(above) && from > 0; from = bytes.LastIndexByte(text[:from-1], '\n') + 1 {
		above = append(above, line(text[bytes.LastIndexByte(text[:from-1], '\n')+1:from-1]))
	}
	slices.Reverse(above)
	for n > len(below) && to < len(text) {
		next := len(text)
		if i := bytes.IndexByte(text[to+1:], '\n'); i >= 0 {
			next = to + 1 + i
		}
		below = append(below, line(text[to+1:next]))
		to = next
	}
	return above, below
}

// before returns the position n characters before at, or the beginning of a word soon after it.
func before(text []byte, at, n int) int {
	from := at
	for range n {
		if from == 0 {
			return 0
		}
		_, size := utf8.DecodeLastRune(text[:from])
		from -= size
	}
	for i := from; i < at && i < from+maxLead/4; i++ {
		if text[i] == ' ' || text[i] == '\n' {
			return i + 1
		}
	}
	return from
}
