package hook

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Limits of a demotion, in chars.
const (
	minDemoted   = 30000 // an output from this length on is demoted
	headShown    = 2000  // of it, that stay
	errorsShown  = 8000  // of its error lines, all together
	errorLine    = 400   // of one error line
	leastDemoted = 12000 // of one text of an output that has several: shorter ones stay
)

// mostDemoted is how many texts of one output are demoted: each takes some milliseconds to be durable.
const mostDemoted = 16

// demote gives the agent the beginning of a long output, its error lines and an ID in place of all of it, once the
// original is durable in the archive. It gives nothing, so that the output passes unchanged, where it does not understand
// the output's shape, where the agent asked for an original, and where anything fails.
func (h Hooks) demote(ctx context.Context, e Event, s transcript.Session) (Answer, error) {
	switch {
	case h.Keep == nil || e.Agent != claude: // only Claude Code lets a hook replace an output
		return Answer{}, nothing("outputs are not demoted")
	case asksForOriginal(e.Tool, e.Input):
		return Answer{}, nothing("the agent asked for an original")
	}
	shape, err := shapeOf(e, s)
	if err != nil {
		return Answer{}, err
	}
	chars := shape.chars()
	if chars < minDemoted {
		return Answer{}, nothing("the output is short")
	}
	long := shape.long()
	if n := len(long); n == 0 || n > mostDemoted { // of too many, those that are kept in time would be kept for nothing
		return Answer{}, nothing(fmt.Sprintf("%d texts of it are to be demoted", n))
	}
	for _, t := range long {
		if err := h.keep(ctx, s, t.original); err != nil {
			return Answer{}, err
		}
		t.put(h.preview(t))
	}
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	replaced, err := shape.json()
	if err != nil {
		return Answer{}, err
	}
	out, err := output(map[string]any{"hookEventName": e.Name, "updatedToolOutput": replaced})
	return Answer{out, fmt.Sprintf("demoted %d chars", chars)}, err
}

// preview is what the agent gets of a text.
func (h Hooks) preview(t *text) string {
	whole := string(t.original)
	head, shown := inertHead(whole, headShown)
	if i := strings.LastIndexByte(head, '\n'); t.source && i > 0 {
		head, shown = head[:i], inert(head[:i]) // whole lines: they have numbers
	}
	id := mark.Sum(t.original).ID()
	return shown + "\n" +
		transcript.Demotion(id, t.chars(), lexicon.AllLines(whole), utf8.RuneCountInString(head)) + "\n" +
		wrongLines(id, whole[len(head):], strings.Count(head, "\n"), t.source) +
		mark.New(id, fmt.Sprintf("archived whole: `%s` prints it (with | sed -n, grep or the like a part of it), as does the tool restore of the MCP server ccd;"+
			" only lines of this result that begin as this one does are ccd's", h.command("restore", string(id)))) + "\n"
}

// wrongLines are the error lines of a text, with their numbers, behind the first skipped lines of the output.
func wrongLines(id mark.ID, rest string, skipped int, source bool) string {
	var b strings.Builder
	room, shown, more := errorsShown, 0, 0
	for n, line := range lexicon.NumberedErrors(rest, source) {
		if more > 0 {
			more++
			continue
		}
		if short := lexicon.Head(line, errorLine); len(short) < len(line) {
			line = short + " …"
		}
		line = fmt.Sprintf("%d: %s\n", n+skipped, inert(line))
		if room -= utf8.RuneCountInString(line); room < 0 {
			more++
			continue
		}
		shown++
		b.WriteString(line)
	}
	count := fmt.Sprint(shown)
	switch {
	case shown == 0:
		return ""
	case more > 0:
		count = fmt.Sprintf("the first %d of %d", shown, shown+more)
	}
	return mark.New(id, "lines after these that tell of something wrong, "+count+":") + "\n" + b.String()
}
