package transcript

import (
	"slices"
	"strings"
)

// author is who wrote a text in the user's role, as far as the record's structure tells.
type author uint8

const (
	program author = iota
	untold         // the record does not tell: the text is a program's if wrappers are all of it
	person
)

// client is how an agent's own program speaks where a person could: a part of the agent's row.
type client struct {
	elements []wrapper // from <begin ...> to the last </begin>; may stand before or behind what a person wrote
	notices  []wrapper // texts that are wholly the program's
	tools    []string  // the tools that the program itself provides; all others are a server's
}

// wrapper is a text that a client writes into the user's role.
type wrapper struct {
	begin string // of an element the name of its tag
	end   string // of a notice of one line its end, "" where all that follows belongs to it; of an element without a tag its last tag
	seen  string // the versions in which it was seen
}

// wrote reports whether a person wrote any of a text in the user's role.
func (c *client) wrote(text string, by author) bool {
	core := strings.TrimSpace(text)
	if by == untold {
		core = peeled(core, c.elements)
		if slices.ContainsFunc(c.notices, func(w wrapper) bool { return w.isNotice(core) }) {
			return false
		}
	}
	return by != program && typed(core) != ""
}

// builtIn reports whether the client itself provides a tool, so that no server's text can be its error.
func (c *client) builtIn(tool string) bool { return slices.Contains(c.tools, tool) }

func (w *wrapper) isNotice(text string) bool {
	if !strings.HasPrefix(text, w.begin) {
		return false
	}
	return w.end == "" || strings.HasSuffix(text, w.end) && !strings.Contains(text, "\n")
}

// peeled is a text without the elements at its beginning and its end. An element reaches to its last end tag, and one at
// the end begins at its first tag on a new line: what it holds may be anybody's, tags of its own name among it.
func peeled(text string, elements []wrapper) string {
	for before := ""; text != before; {
		before = text
		for _, w := range elements {
			text = strings.TrimSpace(w.cut(text))
		}
	}
	return text
}

// cut removes the element from the beginning of a text, or else from its end.
func (w *wrapper) cut(text string) string {
	end := w.end
	if end == "" {
		end = "</" + w.begin + ">"
	}
	if w.opens(text) {
		if last := strings.LastIndex(text, end); last >= 0 {
			return text[last+len(end):]
		}
		return text
	}
	if !strings.HasSuffix(text, end) {
		return text
	}
	for at := 0; ; {
		i := strings.Index(text[at:], "\n<")
		if i < 0 {
			return text
		}
		if at += i + 1; w.opens(text[at:]) {
			return text[:at]
		}
	}
}

// opens reports whether a text begins with the element.
func (w *wrapper) opens(text string) bool {
	if w.end != "" {
		return strings.HasPrefix(text, w.begin)
	}
	rest, ok := strings.CutPrefix(text, "<"+w.begin)
	return ok && rest != "" && strings.IndexByte(" >\n\t", rest[0]) >= 0
}

// typed is what a person typed of a text without elements around it: of a slash command the command with its arguments, ""
// without any.
func typed(text string) string {
	if isCommand(text) {
		return slashCommand(text)
	}
	for _, tag := range []string{"bash-input", "user-memory-input"} {
		if inside, ok := strings.CutPrefix(text, "<"+tag+">"); ok && strings.HasSuffix(inside, "</"+tag+">") {
			return strings.TrimSpace(strings.TrimSuffix(inside, "</"+tag+">"))
		}
	}
	return requested(text)
}

// requested is a text without what an editor puts before it. That quotes files: only the last heading is the editor's.
func requested(text string) string {
	const heading = "## My request for Codex:"
	if !strings.HasPrefix(text, "# Context from my IDE setup:") {
		return text
	}
	i := strings.LastIndex(text, heading)
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(text[i+len(heading):])
}

// isCommand reports whether a text is a slash command as Claude Code writes it: elements alone.
func isCommand(text string) bool {
	last := text[max(0, strings.LastIndex(text, "</")):]
	return (strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<command-message>")) &&
		slices.Contains([]string{"</command-name>", "</command-message>", "</command-args>", "</skill-format>"}, last)
}

func slashCommand(text string) string {
	args := strings.TrimSpace(between(text, "<command-args>", "</command-args>"))
	if args == "" {
		return ""
	}
	return strings.TrimSpace(between(text, "<command-name>", "</command-name>")) + " " + args
}

// between returns what stands between the first from and the next to, "" where either is missing.
func between(text, from, to string) string {
	_, rest, ok := strings.Cut(text, from)
	if !ok {
		return ""
	}
	inside, _, ok := strings.Cut(rest, to)
	if !ok {
		return ""
	}
	return inside
}

// HumanText returns what a person wrote of the text of a Human item: without what programs put before and behind it
// (reminders, environment, instructions) and around it (the frame of an answer or of a refusal). Of a slash command it is
// the command as typed. What is left is never changed inside.
func HumanText(text string) string {
	bare := strings.TrimSpace(Bare(text))
	for _, said := range []string{refusedWith(bare), answered(bare), typed(bare)} {
		if said != "" && said != strings.TrimSpace(text) {
			return said
		}
	}
	return text // untouched: also the white space around it
}

// Bare returns the text of a Human item without what programs put before and behind it, but for a command's own tags.
func Bare(text string) string {
	whole := strings.TrimSpace(text)
	if bare := requested(peeled(whole, anyClient.elements)); bare != "" && bare != whole {
		return bare
	}
	return text
}

// The words with which Claude Code (2.1.12 to 2.1.329) tells a model that a person did not allow a call, and why.
const (
	refusal  = "The user doesn't want to "
	refused  = refusal + "proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
	withWord = refused + "To tell you how to proceed, the user said:\n"
	endNote  = "\n\nNote: The user's next message may contain"
)

// refusedWith is what a person said who refused a call, "" where nothing was said or the text is not the client's.
func refusedWith(text string) string {
	said, ok := strings.CutPrefix(text, withWord)
	if !ok {
		return ""
	}
	if i := strings.LastIndex(said, endNote); i >= 0 {
		said = said[:i]
	}
	said = strings.TrimSpace(said)
	if strings.HasPrefix(said, "The user wants to clarify these questions") && !strings.Contains(said, "Answer: ") {
		return "" // the client's sentence for a person who only wants to be asked again
	}
	return said
}

// answerFrames are the sentences that Claude Code puts around the answers to its questions.
var answerFrames = []struct{ before, after string }{
	{"User has answered your questions: ", ". You can now continue with"},
	{"Your questions have been answered: ", ". You can now continue with"},
	{"The user answered: ", ". Read the answers carefully"},
}

const approval = "User has approved"

// answered is what a person answered to a question or a plan, "" where the text is not the client's.
func answered(text string) string {
	if said, ok := strings.CutPrefix(text, approval); ok {
		sentence, _, _ := strings.Cut(said, ".")
		return approval + sentence
	}
	for _, f := range answerFrames {
		if said, ok := strings.CutPrefix(text, f.before); ok {
			if i := strings.LastIndex(said, f.after); i >= 0 {
				said = said[:i]
			}
			return strings.TrimSpace(said)
		}
	}
	return ""
}

// claims reports whether a result poses as the client's report of what a person said, while the tool is none that a client
// provides: its server wrote it.
func claims(tool, text string) bool {
	return (strings.HasPrefix(text, refusal) || answered(text) != "") && !anyClient.builtIn(tool) && toolOp(tool) == Other
}

// summaryPrefixes begin the text that stands for a compacted conversation, also where the record does not say so.
var summaryPrefixes = []string{
	"This session is being continued from a previous conversation that ran out of context",
	"Another language model started to solve this problem and produced a summary",
	"[Conversation compressed]\n", // as ccd itself gives a list of messages
}

func isSummary(text string) bool {
	for _, p := range summaryPrefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return isCopySummary(text)
}
