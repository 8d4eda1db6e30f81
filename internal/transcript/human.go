package transcript

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/internal/lazy"
)

// Author is who wrote a text in the user's role, according to the record.
type Author uint8

// The authors of a text.
const (
	Program       Author = iota
	UnknownAuthor        // not recorded: the text is a program's if it consists of wrappers
	Person
)

// Client describes the texts that an agent's own program writes where a person could. It is part of the agent's Format.
type Client struct {
	Ops      map[string]Op // what tools do, by lower-case name, and as "=Name" for the client's own tools
	Elements []Wrapper     // from <begin ...> to the last </begin>
	Inside   string        // tag of the element that contains what a person typed, "" if there is none
	Notices  []Wrapper     // texts written entirely by the client
	Exits    []Wrapper     // last lines of a command's output that contain its status; without one the status is unknown

	NoResults bool // records have no results: what became of a call is not recorded

	Goes []string // last lines of a command's output, or their beginnings, if it has not ended

	DropsNewline bool // an edit that replaces a text by nothing also removes the newline after it

	// Bare returns a file's text from the output of a reading tool without line numbers. It is nil if lines have
	// numbers, or if the output may differ from the file.
	Bare func(a *Action, text string) Content

	Summaries []string // beginnings of texts that replace a compacted conversation
	Flags     bool     // records have a flag for summaries, so that no text is one by its wording

	Reports []string // beginnings of texts that pass on what a sub-agent, a background command or another session reports
	Prints  []string // beginnings of what a person's own command printed
	Local   []string // beginnings of what a slash command printed that the client itself ran
	Memory  []string // beginnings of a text that a person only had remembered
	Sent    []string // beginnings of a slash command that the client sends to the model
	// Typed returns what was typed in a text that is only a command to the client ("" for one without arguments), and where it
	// ends; Ran the command that a person ran in the client's own shell, and what it printed. Both get texts without white space
	// around them. They are nil if the client has no form for that.
	Typed func(c *Client, text string) (said string, end int, ok bool)
	Ran   func(text string) (command, output string, ok bool)

	// Unwrap returns the calls that a tool makes which only calls other tools, nil for other tools. It is nil if the client
	// has no such tool. Input is valid JSON.
	Unwrap func(tool string, input []byte) []Called
	// Block adds a block of a message's content that only this client writes so, or returns false. It may be nil.
	Block func(d *Decoder, r *Record, block Node, v Voice) bool
	// Replacement appends the items of the new context in a line to held; nil if lines do not contain one.
	Replacement func(d *Decoder, held *Record, line Node)
	// Native completes an item's block as the agent itself would write it, or returns false. It may be nil.
	Native func(r *Record, it *Item, b *Block) bool
}

// Wrapper is a text that a client writes into the user's role.
type Wrapper struct {
	Begin  string   // of an element: its tag
	End    string   // of a one-line notice: its end, "" if it extends to the end of the text; of an element without a tag: its last tag
	Beside bool     // the client puts the element before or after what a person typed
	First  bool     // the element ends at the first End, which its content cannot contain
	Tails  []string // beginnings of lines that the client may write behind the element
}

// Tools returns Client.Ops for a client's own tools, given their names.
func Tools(names map[Op]string) map[string]Op {
	ops := map[string]Op{}
	for op, list := range names {
		for name := range strings.FieldsSeq(list) {
			ops[strings.ToLower(name)], ops["="+name] = op, op
		}
	}
	return ops
}

// Elements returns Client.Elements for tags that occur beside a person's words, for tags that occur alone, and for
// others.
func Elements(beside, alone string, others ...Wrapper) []Wrapper {
	for tag := range strings.FieldsSeq(beside + common) {
		others = append(others, Wrapper{Begin: tag, Beside: true})
	}
	for tag := range strings.FieldsSeq(alone) {
		others = append(others, Wrapper{Begin: tag})
	}
	return append(others, everywhere...)
}

// What extensions and hooks put beside a person's words in several clients: elements, also the tags around a picture that is a part
// of its own, and reports.
const common = " reminder system-reminder system_reminder system-notification system_notification"

var everywhere = []Wrapper{
	{Begin: "<image name=", End: ">", First: true, Beside: true},
	{Begin: "<image>", End: ">", First: true, Beside: true},
	{Begin: "</image>", End: ">", First: true, Beside: true},
	notification,
}

// Frame is what a client put around a person's words in a Human item.
type Frame uint8

// The frames. Text that a record attributes to a person as a whole has none.
const (
	Unframed Frame = iota
	Beside         // client elements may occur beside the words
	Reported       // the words are inside a client's report of an answer or a refusal
	Within         // the words are inside an element; everything outside it is the client's
)

// Said returns the person's words in the text of a Human item, and how many characters a client added. For a slash
// command it is the command as typed. The words themselves are never changed.
func (c *Client) Said(f Frame, text string) (said string, added int) {
	from, to := c.Span(f, text)
	said = text[from:to]
	if f == Reported {
		return said, 0
	}
	if f == Within {
		whole := utf8.RuneCountInString(said)
		said = c.joined(said)
		added = whole - utf8.RuneCountInString(said)
	}
	if short, _, ok := c.typed(said); ok {
		said = short
	}
	return said, added + utf8.RuneCountInString(text[:from]) + utf8.RuneCountInString(text[to:])
}

// joined removes what a client put between elements that contain what a person typed.
func (c *Client) joined(text string) string {
	tag, end := "<"+c.Inside+">", "</"+c.Inside+">"
	for at := 0; ; {
		i := strings.Index(text[at:], end)
		if i < 0 {
			return text
		}
		i += at
		at = i + len(end)
		between, next, more := strings.Cut(text[at:], tag)
		if from, to := c.without(between, false); more && from == to { // otherwise the person typed the tag
			text = strings.TrimSpace(text[:i]) + "\n\n" + strings.TrimSpace(next)
			at = i
		}
	}
}

// Span returns the range of the person's words in the text of a Human item. The rest is the client's.
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
	if i := strings.LastIndex(text[from:to], "[ccd "); i >= 0 && addedLine().MatchString(text[from+i:to]) {
		to = from + len(strings.TrimRightFunc(text[from:from+i], unicode.IsSpace))
	}
	if len(strings.TrimSpace(text)) == to-from {
		return 0, len(text) // unchanged, including white space
	}
	return from, to
}

// addedLine is the line at the end of a person's words with which a copy that ccd wrote names what a client added to them.
var addedLine = lazy.Regexp(`^\[ccd [0-9a-z]+ \d+ chars added by the client\]\s*$`)

// wrote reports whether a person wrote any part of a text in the user's role, and the frame. A text that consists of
// wrappers is a program's. A wrapper beside other words is a person's quote, unless the client puts it there.
func (c *Client) wrote(text string, by Author) (f Frame, ok bool) {
	if _, _, isShell := c.RanBy(text); by == Program || isShell {
		return f, false
	}
	if _, _, within := c.inside(text); within && by == UnknownAuthor {
		f = Within
	} else if by == UnknownAuthor {
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

// BuiltIn reports whether the client itself provides a tool, so that its results are the client's own texts.
func (c *Client) BuiltIn(tool string) bool {
	if c == nil {
		return false
	}
	_, ok := c.Ops["="+tool] // case-sensitive: a server's tool may differ only in case
	return ok
}

// inside returns the range of what a person typed if the client puts it into an element. The tag must begin a line or
// follow another tag; elsewhere the person typed it.
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

// without returns the range of a text without the elements at its beginning and end: all of them, or only those that
// the client puts beside a person's words. An element extends to its last end tag, and one at the end of the text
// begins at its first tag on a new line, because its content may contain the same tags.
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

// trimmed narrows a range of a text by its surrounding white space.
func trimmed(text string, from, to int) (int, int) {
	part := strings.TrimLeftFunc(text[from:to], unicode.IsSpace)
	from = to - len(part)
	return from, from + len(strings.TrimRightFunc(part, unicode.IsSpace))
}

// cut returns the range of a text without the element at its beginning, or else at its end.
func (w *Wrapper) cut(text string) (from, to int) {
	end := w.End
	end = cmp.Or(end, "</"+w.Begin+">")
	if w.opens(text) {
		last := strings.LastIndex(text, end)
		if w.First {
			last = strings.Index(text, end)
		}
		if last >= 0 {
			from = w.tail(text, last+len(end))
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
		if at += i + 1; w.opens(text[at:]) && !(w.First && strings.Index(text[at:], end) < len(text)-at-len(end)) {
			return 0, at
		}
	}
}

// tail returns where the client's lines behind the element end.
func (w *Wrapper) tail(text string, from int) int {
	for from < len(text) {
		line, _, _ := strings.Cut(text[from:], "\n")
		said := strings.TrimSpace(line)
		if said != "" && !Begins(said, w.Tails) || len(w.Tails) == 0 {
			break
		}
		from = min(len(text), from+len(line)+1)
	}
	return from
}

// opens reports whether a text begins with the element.
func (w *Wrapper) opens(text string) bool {
	if w.End != "" {
		return strings.HasPrefix(text, w.Begin)
	}
	rest, ok := strings.CutPrefix(text, "<"+w.Begin)
	return ok && rest != "" && strings.IndexByte(" >\n\t", rest[0]) >= 0
}

// ToClient reports whether a Human item is a command to the client: a slash command or a shell line. Only what follows it
// tells whether it reached the model.
func (it *Item) ToClient() bool {
	text := string(Original(it.Kind, it.Raw))
	from, to := it.Client().Span(it.Frame, text)
	if core := strings.TrimSpace(text[from:to]); !strings.HasPrefix(core, "/") {
		_, _, ok := it.Client().typed(core)
		return ok && !Begins(core, it.Client().Memory) && !Begins(core, it.Client().Sent)
	} else {
		name, _, _ := strings.Cut(core[1:], " ")
		name, _, _ = strings.Cut(name, "\n")
		return !strings.Contains(name, "/")
	}
}

// typed returns what was typed in a text that is only a command to the client, and where it ends.
func (c *Client) typed(text string) (said string, end int, ok bool) {
	core := strings.TrimSpace(text)
	if c.Typed != nil {
		said, end, ok = c.Typed(c, core)
	}
	return said, end + strings.Index(text, core), ok
}

// RanBy returns the command that a person ran in the client's own shell, and what it printed if the same text says so; ok is false for
// other texts.
func (c *Client) RanBy(text string) (command, output string, ok bool) {
	if c.Ran == nil {
		return "", "", false
	}
	return c.Ran(strings.TrimSpace(text))
}

// OnlyElements reports whether a text consists of the client's elements.
func (c *Client) OnlyElements(text string) bool {
	from, to := c.without(text, false)
	return from == to
}

// Begins reports whether a text begins with one of some texts.
func Begins(text string, with []string) bool {
	return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(text, w) })
}

// CutElement removes the element at the beginning of a text, up to its first end tag.
func CutElement(text, tag string) (inside, rest string, ok bool) {
	if inside, ok = strings.CutPrefix(text, "<"+tag+">"); !ok {
		return "", text, false
	}
	return strings.Cut(inside, "</"+tag+">")
}

// BetweenTexts returns the text between the first from and the next to, "" if either is missing.
func BetweenTexts(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	inside, _, ok := strings.Cut(rest, to)
	if !ok {
		return ""
	}
	return inside
}

// Texts of Claude Code (2.1.12 to 2.1.329) that report to the model that a person refused a call, and why.
const (
	refusal  = "The user doesn't want to "
	refused  = refusal + "proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
	withWord = refused + "To tell you how to proceed, the user said:\n"
	stop     = refused + "STOP what you are doing and wait for the user to tell you how to proceed.\n" // and the words in a block of their own
	endNote  = "\n\nNote: The user's next message may contain"
)

// reported returns the range of a person's words in a client's report of a refusal or an answer; ok is false if there
// are none, or if the text is no such report.
func reported(text string) (from, to int, ok bool) {
	for _, words := range []func(string) (int, int){refusedWith, answered} {
		if from, to = words(text); from < to {
			return from, to, true
		}
	}
	return 0, 0, false
}

// refusedWith returns the range of a person's words in the report of a refusal.
func refusedWith(text string) (from, to int) {
	from, to = trimmed(text, 0, len(text))
	said, ok := strings.CutPrefix(text[from:to], withWord)
	if !ok {
		said, ok = strings.CutPrefix(text[from:to], stop)
	}
	if !ok {
		return 0, 0
	}
	from = to - len(said)
	if i := strings.LastIndex(said, endNote); i >= 0 {
		to = from + i
	}
	from, to = trimmed(text, from, to)
	if said = text[from:to]; strings.HasPrefix(said, "The user wants to clarify these questions") && !strings.Contains(said, "Answer: ") {
		return 0, 0 // the client's sentence if the person gave no reason
	}
	return from, to
}

// answerFrames are the sentences that Claude Code, and in the last case Qwen Code, puts around answers to its
// questions.
var answerFrames = []struct{ before, after string }{
	{"User has answered your questions: ", ". You can now continue with"},
	{"Your questions have been answered: ", ". You can now continue with"},
	{"The user answered: ", ". Read the answers carefully"},
	{"User has provided the following answers:", ""},
}

// approval begins the report that a person approved a plan. What follows it was written by the model.
const approval = "User has approved"

var approvals = []string{approval + " your plan", approval + " exiting plan mode", approval}

// Approves reports whether a human item is the client's report that a person approved a plan.
func Approves(said string) bool { return strings.HasPrefix(said, approval) }

// Interrupts reports whether a text is the client's report that the person interrupted the agent.
func Interrupts(text string) bool {
	return strings.HasPrefix(text, "[Request interrupted by user") || strings.HasPrefix(text, "<turn_aborted>")
}

// answered returns the range of a person's answer to a question or a plan.
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

// fakesReport reports whether a result reads like a client's report of a person's words although the tool belongs to a
// server, which wrote the text.
func (c *Client) fakesReport(tool, text string) bool {
	_, _, ok := reported(text)
	return (ok || strings.HasPrefix(text, refusal)) && !c.BuiltIn(tool) && c.Op(tool) == Other
}

// IsSummary reports whether the wording of a text in the user's role shows that it replaces a compacted conversation.
func (c *Client) IsSummary(text string) bool {
	if c.Flags {
		return false
	}
	return Begins(text, c.Summaries) || strings.HasPrefix(text, listSummary) || IsCopySummary(text)
}

// listSummary begins the text with which ccd replaces the older messages of a list.
const listSummary = "[Conversation compressed]\n"
