package form

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// carriedName is the section that holds what an earlier list's compressed part said.
const carriedName = "Compressed before"

// isCompressed reports whether a message is the compressed part of an earlier list, as Messages gives it.
func (m *message) isCompressed() bool {
	return m.role == "user" && len(m.blocks) == 1 && m.blocks[0].kind == isText &&
		strings.HasPrefix(string(transcript.Original(transcript.Text, m.blocks[0].value)), compressed)
}

// carried is what an earlier list's compressed part said of the state of things, in about most chars. Nothing else in
// the list has it, and it is no text to be summarised: it goes on as it was, quoted.
func (m *message) carried(most int) string {
	b := &m.blocks[0]
	said := stateOf(string(transcript.Original(transcript.Text, b.value)))
	cut := ""
	if utf8.RuneCountInString(said) > most {
		said = head(said, most)
		cut = mark.New(b.id, fmt.Sprintf("cut, %d chars", b.chars)) + "\n"
	}
	if strings.TrimSpace(said) == "" {
		return ""
	}
	return "\n## " + carriedName + "\n" + mark.Quote("", strings.TrimRight(said, "\n")) + cut
}

// stateOf is what a compressed part carries of those before it, then its own State.
func stateOf(text string) string {
	var before, state strings.Builder
	var to *strings.Builder
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			switch to = nil; strings.TrimSpace(name) {
			case carriedName:
				to = &before
			case "State":
				to = &state
			}
			continue
		}
		if to == &before && !strings.HasPrefix(line, ">") {
			continue // the marker of what was cut
		}
		if to != nil {
			to.WriteString(line)
		}
	}
	older, err := mark.Unquote(before.String())
	if err != nil || older == "" {
		return state.String()
	}
	return older + "\n" + state.String()
}
