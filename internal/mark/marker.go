package mark

import "strings"

// New returns the marker `[ccd ID rest]`. Rest is ours: text of a transcript in it must have gone through Inline.
func New(id ID, rest string) string {
	if rest == "" {
		return "[ccd " + string(id) + "]"
	}
	return "[ccd " + string(id) + " " + rest + "]"
}

// IDs returns the IDs of all markers in a companion, in order of appearance, repeated ones once.
// Quoted lines are skipped: no marker of ours stands there.
func IDs(companion string) []ID {
	var ids []ID
	seen := map[ID]bool{}
	for line := range strings.Lines(companion) {
		if isQuoted(line) {
			continue
		}
		for rest := line; ; {
			i := strings.Index(rest, "[ccd ")
			if i < 0 {
				break
			}
			rest = rest[i+len("[ccd "):]
			if len(rest) <= IDLen || !IsID(rest[:IDLen]) || (rest[IDLen] != ' ' && rest[IDLen] != ']') {
				continue
			}
			if id := ID(rest[:IDLen]); !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func isQuoted(line string) bool {
	t := strings.TrimLeft(line, " ")
	return strings.HasPrefix(t, "> ") || strings.HasPrefix(t, ">+ ") || t == ">" || t == ">\n"
}
