package transcript

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Author is who wrote a text in the user's role, as far as the record's structure tells.
type Author uint8

// The authors.
const (
	Program Author = iota
	Untold         // the record does not tell: the text is a program's if wrappers are all of it
	Person
)

// Client is how an agent's own program speaks where a person could: a part of the agent's row.
type Client struct {
	Ops      map[string]Op // what its tools do, by name in small letters
	Elements []Wrapper     // from <begin ...> to the last </begin>
	Inside   string        // the tag of the element in which the client puts what a person typed, "" where it has none
	Notices  []Wrapper     // texts that are wholly the program's
	Tools    []string      // the tools that the program itself provides; all others are a server's
	Exits    []Wrapper     // the last line of a command's output, which ends with its status; where it is missing none is told

	Summaries []string // begin the texts that stand for a compacted conversation
	Flags     bool     // the records themselves say of a summary that it is one: no text is one by its words

	// Replacement adds the items of the new context that a line carries with it to held; nil where lines carry none.
	Replacement func(d *Decoder, held *Record, line Node)
	// Native completes the block of an item as the agent itself would write it; false where it cannot. May be nil.
	Native func(r *Record, it *Item, b *Block) bool
}

// Wrapper is a text that a client writes into the user's role.
type Wrapper struct {
	Begin  string // of an element the name of its tag
	End    string // of a notice of one line its end, "" where all that follows belongs to it; of an element without a tag its last tag
	Beside bool   // the client itself puts the element before or behind what a person typed
	First  bool   // the element ends with the first End: what it holds cannot have one
	Seen   string // the versions in which it was seen
}

// Frame is what a client put around a person's words in a Human item.
type Frame uint8

// The frames. A record that tells that a person wrote it has none: the whole text is theirs.
const (
	Unframed Frame = iota
	Beside         // elements of the client may stand beside the words
	Reported       // the words of an answer or a refusal stand in the client's report of them
	Within         // the words stand in an element of the client's, beside which all is a client's
)

// Said returns what a person wrote of the text of a Human item, and how many characters beside it a client added. Of a
// slash command it is the command as typed. What is left is never changed inside.
func (c *Client) Said(f Frame, text string) (said string, added int) {
	from, to := c.Span(f, text)
	said = text[from:to]
	if f == Reported {
		return said, 0
	}
	if short, _, ok := c.typed(said); ok {
		said = short
	}
	return said, utf8.RuneCountInString(text[:from]) + utf8.RuneCountInString(text[to:])
}

// Span tells where in the text of a Human item a person's words stand: all else is a client's.
func (c *Client) Span(f Frame, text string) (from, to int) {
	to = len(text)
	switch f {
	case Reported:
		if a, b, ok := reported(text); ok {
			return a, b
		}
		return 0, to
	case Beside:
		from, to = c.without(text, true)
	case Within:
		from, to, _ = c.inside(text)
	case Unframed:
	}
	if _, end, ok := c.typed(text[from:to]); ok {
		to = from + end
	}
	if len(strings.TrimSpace(text)) == to-from {
		return 0, len(text) // untouched: also the white space around it
	}
	return from, to
}

// wrote tells whether a person wrote any of a text in the user's role, and what may stand around it. A text that wrappers
// cover is a program's. A wrapper beside other words is a person's quote, unless the client puts it there itself.
func (c *Client) wrote(text string, by Author) (f Frame, ok bool) {
	if by == Program {
		return f, false
	}
	if _, _, within := c.inside(text); within && by == Untold {
		f = Within
	} else if by == Untold {
		from, to := c.without(text, false)
		core := text[from:to]
		if core == "" || slices.ContainsFunc(c.Notices, func(w Wrapper) bool { return w.isNotice(core) }) {
			return f, false
		}
		f = Beside
	}
	said, _ := c.Said(f, text)
	return f, strings.TrimSpace(said) != ""
}

// BuiltIn reports whether the client itself provides a tool, so that no server's text can be its error.
func (c *Client) BuiltIn(tool string) bool { return c != nil && slices.Contains(c.Tools, tool) }

// inside tells where in a text stands what a person typed, by the element that the client puts around it. Its tag begins a
// line, or follows another: elsewhere it is a word of the person's.
func (c *Client) inside(text string) (from, to int, ok bool) {
	if c.Inside == "" {
		return 0, len(text), false
	}
	tag, end := "<"+c.Inside+">", strings.LastIndex(text, "</"+c.Inside+">")
	for at := 0; ; {
		i := strings.Index(text[at:], tag)
		if i < 0 {
			return 0, len(text), false
		}
		i += at
		if at = i + len(tag); at > end {
			return 0, len(text), false
		}
		if i == 0 || strings.IndexByte("\n>", text[i-1]) >= 0 {
			from, to = trimmed(text, at, end)
			return from, to, true
		}
	}
}

func (w *Wrapper) isNotice(text string) bool {
	if !strings.HasPrefix(text, w.Begin) {
		return false
	}
	return w.End == "" || strings.HasSuffix(text, w.End) && !strings.Contains(text, "\n")
}

// without tells what is left of a text without the elements at its beginning and its end: all of them, or those that the
// client puts beside a person's words. An element reaches to its last end tag, and one at the end begins at its first tag
// on a new line: what it holds may be anybody's, tags of its own name among it.
func (c *Client) without(text string, beside bool) (from, to int) {
	from, to = trimmed(text, 0, len(text))
	for before := -1; before != to-from; {
		before = to - from
		for i := range c.Elements {
			if w := &c.Elements[i]; w.Beside || !beside {
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
func (w *Wrapper) cut(text string) (from, to int) {
	end := w.End
	if end == "" {
		end = "</" + w.Begin + ">"
	}
	if w.opens(text) {
		last := strings.LastIndex(text, end)
		if w.First {
			last = strings.Index(text, end)
		}
		if last >= 0 {
			from = last + len(end)
		}
		return from, len(text)
	}
	if !strings.HasSuffix(text, end) {
		return 0, len(text)
	}
	begin := "\n<"
	if w.End != "" {
		begin = "\n" + w.Begin
	}
	for at := 0; ; {
		i := strings.Index(text[at:], begin)
		if i < 0 {
			return 0, len(text)
		}
		if at += i + 1; w.opens(text[at:]) {
			return 0, at
		}
	}
}

// opens reports whether a text begins with the element.
func (w *Wrapper) opens(text string) bool {
	if w.End != "" {
		return strings.HasPrefix(text, w.Begin)
	}
	rest, ok := strings.CutPrefix(text, "<"+w.Begin)
	return ok && rest != "" && strings.IndexByte(" >\n\t", rest[0]) >= 0
}

// typed reads a text that is nothing but what Claude Code makes of a slash command, or of a line for the shell or the
// memory: what was typed ("" of a command without arguments), and where it ends.
func (c *Client) typed(text string) (said string, end int, ok bool) {
	core := strings.TrimSpace(text)
	if said, end, ok = slashCommand(core); !ok {
		for _, tag := range []string{"bash-input", "user-memory-input"} {
			inside, rest, found := cutElement(core, tag)
			if a, b := c.without(rest, false); found && a == b { // the shell's output may follow
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

// BetweenTexts returns what stands between the first from and the next to, "" where either is missing.
func BetweenTexts(text, from, to string) string {
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

// answerFrames are the sentences that Claude Code, and the last one that Qwen Code, puts around the answers to its questions.
var answerFrames = []struct{ before, after string }{
	{"User has answered your questions: ", ". You can now continue with"},
	{"Your questions have been answered: ", ". You can now continue with"},
	{"The user answered: ", ". Read the answers carefully"},
	{"User has provided the following answers:", ""},
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
func (c *Client) claims(tool, text string) bool {
	_, _, ok := reported(text)
	return (ok || strings.HasPrefix(text, refusal)) && !c.BuiltIn(tool) && c.Op(tool) == Other
}

// isSummary reports whether a text in the user's role stands for a compacted conversation, where no record says so.
func (c *Client) isSummary(text string) bool {
	if c.Flags {
		return false
	}
	for _, p := range c.Summaries {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return strings.HasPrefix(text, listSummary) || isCopySummary(text)
}

// listSummary begins the text by which ccd itself stands in for the older messages of a list.
const listSummary = "[Conversation compressed]\n"
