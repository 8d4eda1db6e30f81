package transcript

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
	frame    Frame     // of a message in which its elements may stand beside what a person wrote
	elements []wrapper // from <begin ...> to the last </begin>
	notices  []wrapper // texts that are wholly the program's
	tools    []string  // the tools that the program itself provides; all others are a server's
}

// wrapper is a text that a client writes into the user's role.
type wrapper struct {
	begin  string // of an element the name of its tag
	end    string // of a notice of one line its end, "" where all that follows belongs to it; of an element without a tag its last tag
	beside bool   // the client itself puts the element before or behind what a person typed
	seen   string // the versions in which it was seen
}

// Frame is what a client put around a person's words in a Human item.
type Frame uint8

// The frames. A record that tells that a person wrote it has none: the whole text is theirs.
const (
	Unframed     Frame = iota
	BesideClaude       // elements of Claude Code may stand beside the words
	BesideCodex        // elements of Codex may
	BesideAny          // elements of an agent that is not known may
	Reported           // the words of an answer or a refusal stand in the client's report of them
)

// Said returns what a person wrote of the text of a Human item, and how many characters beside it a client added. Of a
// slash command it is the command as typed. What is left is never changed inside.
func (f Frame) Said(text string) (said string, added int) {
	from, to := f.Span(text)
	said = text[from:to]
	if f == Reported {
		return said, 0
	}
	if short, _, ok := typed(said); ok {
		said = short
	}
	return said, utf8.RuneCountInString(text[:from]) + utf8.RuneCountInString(text[to:])
}

// Span tells where in the text of a Human item a person's words stand: all else is a client's.
func (f Frame) Span(text string) (from, to int) {
	to = len(text)
	switch f {
	case Reported:
		if a, b, ok := reported(text); ok {
			return a, b
		}
		return 0, to
	case BesideClaude:
		from, to = claudeClient.without(text, true)
	case BesideCodex:
		from, to = codexClient.without(text, true)
	case BesideAny:
		from, to = anyClient.without(text, true)
	case Unframed:
	}
	if _, end, ok := typed(text[from:to]); ok {
		to = from + end
	}
	if len(strings.TrimSpace(text)) == to-from {
		return 0, len(text) // untouched: also the white space around it
	}
	return from, to
}

// wrote tells whether a person wrote any of a text in the user's role, and what may stand around it. A text that wrappers
// cover is a program's. A wrapper beside other words is a person's quote, unless the client puts it there itself.
func (c *client) wrote(text string, by author) (f Frame, ok bool) {
	if by == program {
		return f, false
	}
	if by == untold {
		from, to := c.without(text, false)
		core := text[from:to]
		if core == "" || slices.ContainsFunc(c.notices, func(w wrapper) bool { return w.isNotice(core) }) {
			return f, false
		}
		f = c.frame
	}
	said, _ := f.Said(text)
	return f, strings.TrimSpace(said) != ""
}

// builtIn reports whether the client itself provides a tool, so that no server's text can be its error.
func (c *client) builtIn(tool string) bool { return slices.Contains(c.tools, tool) }

func (w *wrapper) isNotice(text string) bool {
	if !strings.HasPrefix(text, w.begin) {
		return false
	}
	return w.end == "" || strings.HasSuffix(text, w.end) && !strings.Contains(text, "\n")
}

// without tells what is left of a text without the elements at its beginning and its end: all of them, or those that the
// client puts beside a person's words. An element reaches to its last end tag, and one at the end begins at its first tag
// on a new line: what it holds may be anybody's, tags of its own name among it.
func (c *client) without(text string, beside bool) (from, to int) {
	from, to = trimmed(text, 0, len(text))
	for before := -1; before != to-from; {
		before = to - from
		for i := range c.elements {
			if w := &c.elements[i]; w.beside || !beside {
				a, b := w.cut(text[from:to])
				from, to = trimmed(text, from+a, from+b)
			}
		}
	}
	return from, to
}

// trimmed narrows a part of a text by the white space around it.
func trimmed(text string, from, to int) (int, int) {
	part := strings.TrimLeftFunc(text[from:to], unicode.IsSpace)
	from = to - len(part)
	return from, from + len(strings.TrimRightFunc(part, unicode.IsSpace))
}

// cut tells what is left of a text without the element at its beginning, or else at its end.
func (w *wrapper) cut(text string) (from, to int) {
	end := w.end
	if end == "" {
		end = "</" + w.begin + ">"
	}
	if w.opens(text) {
		if last := strings.LastIndex(text, end); last >= 0 {
			from = last + len(end)
		}
		return from, len(text)
	}
	if !strings.HasSuffix(text, end) {
		return 0, len(text)
	}
	for at := 0; ; {
		i := strings.Index(text[at:], "\n<")
		if i < 0 {
			return 0, len(text)
		}
		if at += i + 1; w.opens(text[at:]) {
			return 0, at
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

// typed reads a text that is nothing but what Claude Code makes of a slash command, or of a line for the shell or the
// memory: what was typed ("" of a command without arguments), and where it ends.
func typed(text string) (said string, end int, ok bool) {
	core := strings.TrimSpace(text)
	if said, end, ok = slashCommand(core); !ok {
		for _, tag := range []string{"bash-input", "user-memory-input"} {
			inside, rest, found := cutElement(core, tag)
			if a, b := claudeClient.without(rest, false); found && a == b { // the shell's output may follow
				said, end, ok = strings.TrimSpace(inside), len(core)-len(rest), true
			}
		}
	}
	return said, end + strings.Index(text, core), ok
}

// slashCommand reads a slash command as Claude Code writes it: elements alone. The last of them may be what the command
// holds, which nobody typed.
func slashCommand(text string) (said string, end int, ok bool) {
	var name, args string
	for rest := text; rest != ""; {
		var inside, after string
		for _, tag := range []string{"command-name", "command-message", "command-args", "skill-format"} {
			if inside, after, ok = cutElement(rest, tag); !ok {
				continue
			}
			switch tag {
			case "command-name":
				name = strings.TrimSpace(inside)
			case "command-args":
				args = strings.TrimSpace(inside)
			}
			break
		}
		if !ok {
			if strings.HasPrefix(rest, "<command-contents>") && strings.HasSuffix(rest, "</command-contents>") && end > 0 {
				break
			}
			return "", 0, false
		}
		end = len(text) - len(after)
		rest = strings.TrimSpace(after)
	}
	if args != "" {
		said = name + " " + args
	}
	return strings.TrimSpace(said), end, end > 0
}

// cutElement cuts the element off that a text begins with, up to its first end tag.
func cutElement(text, tag string) (inside, rest string, ok bool) {
	if inside, ok = strings.CutPrefix(text, "<"+tag+">"); !ok {
		return "", text, false
	}
	return strings.Cut(inside, "</"+tag+">")
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

// The words with which Claude Code (2.1.12 to 2.1.329) tells a model that a person did not allow a call, and why.
const (
	refusal  = "The user doesn't want to "
	refused  = refusal + "proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
	withWord = refused + "To tell you how to proceed, the user said:\n"
	endNote  = "\n\nNote: The user's next message may contain"
)

// reported tells where in a client's report of a refusal or an answer stands what a person said; ok is false where nothing
// was said, or the text is no such report.
func reported(text string) (from, to int, ok bool) {
	for _, words := range []func(string) (int, int){refusedWith, answered} {
		if from, to = words(text); from < to {
			return from, to, true
		}
	}
	return 0, 0, false
}

// refusedWith tells where in a client's text stands what a person said who refused a call.
func refusedWith(text string) (from, to int) {
	from, to = trimmed(text, 0, len(text))
	said, ok := strings.CutPrefix(text[from:to], withWord)
	if !ok {
		return 0, 0
	}
	from = to - len(said)
	if i := strings.LastIndex(said, endNote); i >= 0 {
		to = from + i
	}
	from, to = trimmed(text, from, to)
	if said = text[from:to]; strings.HasPrefix(said, "The user wants to clarify these questions") && !strings.Contains(said, "Answer: ") {
		return 0, 0 // the client's sentence for a person who only wants to be asked again
	}
	return from, to
}

// answerFrames are the sentences that Claude Code puts around the answers to its questions.
var answerFrames = []struct{ before, after string }{
	{"User has answered your questions: ", ". You can now continue with"},
	{"Your questions have been answered: ", ". You can now continue with"},
	{"The user answered: ", ". Read the answers carefully"},
}

// approval begins the report that a plan may be carried out; behind it stands what, and the plan, in the model's words.
const approval = "User has approved"

var approvals = []string{approval + " your plan", approval + " exiting plan mode", approval}

// Approves reports whether a human item is what a client reports of a plan that the person approved.
func Approves(said string) bool { return strings.HasPrefix(said, approval) }

// Interrupts reports whether a text is what a client writes where the person interrupted the agent.
func Interrupts(text string) bool {
	return strings.HasPrefix(text, "[Request interrupted by user") || strings.HasPrefix(text, "<turn_aborted>")
}

// answered tells where in a client's text stands what a person answered to a question or a plan.
func answered(text string) (from, to int) {
	from, to = trimmed(text, 0, len(text))
	whole := text[from:to]
	for _, a := range approvals {
		if strings.HasPrefix(whole, a) {
			return from, from + len(a)
		}
	}
	for _, f := range answerFrames {
		if said, ok := strings.CutPrefix(whole, f.before); ok {
			from = to - len(said)
			if i := strings.LastIndex(said, f.after); i >= 0 {
				to = from + i
			}
			return trimmed(text, from, to)
		}
	}
	return 0, 0
}

// claims reports whether a result poses as the client's report of what a person said, while the tool is none that a client
// provides: its server wrote it.
func claims(tool, text string) bool {
	_, _, ok := reported(text)
	return (ok || strings.HasPrefix(text, refusal)) && !anyClient.builtIn(tool) && toolOp(tool) == Other
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
