package transcript

import (
	"fmt"
	"strings"

	"ccd/internal/mark"
)

// An output that a hook of ours demoted reached the agent as its beginning, one line with the ID of the whole, and more
// lines of ours. The transcript holds only that: whoever reads it must neither take our lines for the output's, nor the
// beginning for all of it.

// Demotion returns the line that stands behind what is shown of a demoted output: id names the whole, which has so many
// chars and lines; shown are its first chars.
func Demotion(id mark.ID, chars, lines, shown int) string {
	return mark.New(id, fmt.Sprintf("output, %d chars, %d lines; %s%d chars", chars, lines, demoted, shown))
}

const demoted = "above are its first "

// Demoted returns the ID of the whole of an output that a hook of ours demoted, "" where the text of a result is none.
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

// demotion is the ID of the line of a demotion that a text begins with.
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
