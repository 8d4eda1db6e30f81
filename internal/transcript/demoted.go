package transcript

import (
	"fmt"
	"strings"

	"ccd/internal/mark"
)

// An output demoted by ccd's hook reached the agent as its beginning, one line with the ID of the whole, and more lines
// of ccd. The transcript contains only that, so readers must separate ccd's lines from the output, and know that it is
// incomplete.

// Demotion returns the line after the visible beginning of a demoted output: id names the whole, with its chars and
// lines; shown is the number of visible chars.
func Demotion(id mark.ID, chars, lines, shown int) string {
	return mark.New(id, fmt.Sprintf("output, %d chars, %d lines; %s%d chars", chars, lines, demoted, shown))
}

const demoted = "above are its first "

// Demoted returns the ID of the whole of an output that ccd's hook demoted, or "".
func Demoted(text string) mark.ID {
	for rest := text; ; {
		i := strings.Index(rest, "[ccd ")
		if i < 0 {
			return ""
		}
		if id := demotion(rest[i:]); id != "" {
			return id
		}
		rest = rest[i+1:]
	}
}

// demotion returns the ID if the text begins with such a line.
func demotion(text string) mark.ID {
	rest, ok := strings.CutPrefix(text, "[ccd ")
	if !ok || len(rest) < mark.IDLen || !mark.IsID(rest[:mark.IDLen]) {
		return ""
	}
	line, _, _ := strings.Cut(rest[mark.IDLen:], "\n")
	if !strings.HasPrefix(line, " output, ") || !strings.Contains(line, "; "+demoted) || !strings.HasSuffix(line, "]") {
		return ""
	}
	return mark.ID(rest[:mark.IDLen])
}
