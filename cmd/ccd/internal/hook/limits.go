package hook

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	claude  = "claude-code"
	gemini  = "gemini-cli"
	qwen    = "qwen-code"
	copilot = "copilot-cli"
)

// Limits of one answer. Measured: Claude Code accepts 10,000 UTF-16 units and Codex 10,000 bytes. Both show the model only
// the beginning of a longer answer.
const (
	maxContext = 9800 // units
	maxNow     = 2000 // units, for an agent that still has its whole session in context
	maxHead    = 2000 // bytes; clients show at least so much even of an answer that is too long
	maxAsk     = 1200 // bytes, of the request to a summarizer
	maxPrompt  = 300  // units, of the warning beside a prompt
	maxOffer   = 900  // units, of the line that offers an earlier session
)

// units returns the length of a text as the client counts it, which is never less than its number of characters.
func units(agent, text string) int {
	if agent != claude {
		return len(text)
	}
	n := 0
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// cut returns the beginning of a text, at most n units long, and never splits a marker.
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
