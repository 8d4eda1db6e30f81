package mark

import (
	"fmt"
	"strings"
)

// New returns the marker `[ccd ID rest]`. Text of a transcript in rest must have been escaped with Inline.
func New(id ID, rest string) string {
	if rest == "" {
		return "[ccd " + string(id) + "]"
	}
	return "[ccd " + string(id) + " " + rest + "]"
}

// Added returns a note that the agent's client added n characters to a person's message, which are left out; "" for 0.
func Added(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (+ %d chars added by the client)", n)
}

// IDs returns the IDs of all markers in a companion, in order of appearance, without duplicates. It skips quoted lines,
// which contain no markers of ccd.
func IDs(companion string) (ids []ID) {
	seen := map[ID]bool{}
	Replace([]byte(companion), func(id ID) (string, bool) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
		return "", false
	})
	return ids
}

func isQuoted(line string) bool {
	t := strings.TrimLeft(line, " ")
	return strings.HasPrefix(t, "> ") || strings.HasPrefix(t, ">+ ") || t == ">" || t == ">\n"
}

// Replace replaces markers in a companion. with returns the replacement of an ID's marker, or false to keep it. Quoted
// lines are not changed. A marker ends at the bracket that matches its first one, or at the first closing bracket if
// none matches.
func Replace(companion []byte, with func(ID) (string, bool)) []byte {
	var b strings.Builder
	for line := range strings.Lines(string(companion)) {
		if isQuoted(line) {
			b.WriteString(line)
			continue
		}
		for {
			i := strings.Index(line, "[ccd ")
			if i < 0 {
				break
			}
			b.WriteString(line[:i])
			line = line[i:]
			n := markerEnd(line)
			id := line[len("[ccd "):min(len(line), len("[ccd ")+IDLen)]
			other, ok := "", false
			if n > len("[ccd ")+IDLen && IsID(id) && strings.IndexByte(" ]", line[len("[ccd ")+IDLen]) >= 0 {
				other, ok = with(ID(id))
			}
			if !ok {
				other, n = line[:len("[ccd ")], len("[ccd ")
			}
			b.WriteString(other)
			line = line[n:]
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}

// markerEnd returns the length of the marker at the start of line, or 0 if it has no end.
func markerEnd(line string) int {
	depth := 0
	for i := range len(line) {
		switch line[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return strings.IndexByte(line, ']') + 1
}
