package search

import (
	"bytes"
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
