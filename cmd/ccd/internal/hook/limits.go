package hook

import (
	"strings"
	"unicode/utf8"
)

const claude = "claude-code"

// What clients take of one answer. Measured: Claude Code holds 10,000 UTF-16 units, Codex 10,000 bytes; of more, both
// show the model only the beginning.
const (
	maxContext = 9800 // units
	maxNow     = 2000 // units, of what is told of a session whose agent still holds all of it
	maxHead    = 2000 // bytes: path and restore stand within what is shown even of a context that is too long
	maxAsk     = 1200 // bytes, of what a summarizer is told
	maxPrompt  = 300  // units, of what goes with a prompt
	maxOffer   = 900  // units, of the line that offers an earlier session
)

// units is the length of a text as the client counts it: never less than its characters.
func units(agent, text string) int {
	if agent != claude {
		return len(text)
	}
	n := 0
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// cut is the beginning of a text of at most n units, never within a marker.
func cut(agent, text string, n int) string {
	if units(agent, text) <= n {
		return text
	}
	end := 0
	for i, r := range text {
		if n -= units(agent, string(r)); n < 0 {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	text = text[:end]
	if i := strings.LastIndexByte(text, '['); i >= 0 {
		if rest := text[i:]; !strings.Contains(rest, "]") && (strings.HasPrefix(rest, "[ccd") || strings.HasPrefix("[ccd", rest)) {
			text = text[:i]
		}
	}
	return text
}
