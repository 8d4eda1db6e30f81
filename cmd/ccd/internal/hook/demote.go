package hook

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// Limits for demoting an output (replacing it by an excerpt and an ID), in chars.
const (
	minDemoted  = 30000 // shorter outputs are not demoted
	headShown   = 2000  // shown from its beginning
	errorsShown = 8000  // shown of its error lines, together
	errorLine   = 400   // shown of one error line
	minText     = 12000 // shorter texts of an output with several are left as they are
)

// maxTexts is how many texts of one output are demoted. Each takes some milliseconds to store durably.
const maxTexts = 16

// demote replaces a long output by its beginning, its error lines and an ID, once the original is durable in the archive.
// The output passes unchanged if its shape is unknown, if the agent asked for an original or if anything fails.
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
	if n := len(long); n == 0 || n > maxTexts { // too many could not all be stored in time
		return Answer{}, nothing(fmt.Sprintf("%d long texts in the output", n))
	}
	for _, t := range long {
		if err := h.keep(ctx, s, t.original); err != nil {
			return Answer{}, err
		}
		t.put(h.preview(t, string(h.redacted(t.original))))
	}
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	out, err := output(map[string]any{"hookEventName": e.Name, "updatedToolOutput": shape.value})
	return Answer{out, fmt.Sprintf("demoted %d chars", chars)}, err
}

// redacted returns a text without its secrets. They have no numbers: the session's are known when the text is in it.
func (h Hooks) redacted(text []byte) []byte {
	secrets := h.Agents.Redact.Session()
	if secrets == nil {
		return text
	}
	secrets.Whole = func() *redact.Session { return nil }
	return redact.Apply(text, 0, secrets.Marks(text))
}

// preview returns what the agent sees in place of a text. whole is the text without its secrets.
func (h Hooks) preview(t *text, whole string) string {
	head, shown := inertHead(whole, headShown)
	if i := strings.LastIndexByte(head, '\n'); t.source && i > 0 {
		head, shown = head[:i], inert(head[:i]) // whole lines, because they are numbered
	}
	id := mark.Sum(t.original).ID()
	return shown + "\n" +
		transcript.Demotion(id, t.chars, lexicon.AllLines(whole), utf8.RuneCountInString(head)) + "\n" +
		errorLines(id, whole[len(head):], strings.Count(head, "\n"), t.source) +
		mark.New(id, fmt.Sprintf("archived in full: `%s` prints it (pipe it to sed -n or grep for a part of it), as does the tool restore of the MCP server ccd;"+
			" only lines of this result that begin like this one are from ccd", h.command("restore", string(id)))) + "\n"
}

// errorLines returns the error lines of rest with their line numbers in the output, of which skipped lines come before rest.
func errorLines(id mark.ID, rest string, skipped int, source bool) string {
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
	return mark.New(id, "later lines that report an error, "+count+":") + "\n" + b.String()
}
