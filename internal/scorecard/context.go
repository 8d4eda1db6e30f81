package scorecard

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Fact is one key fact of a collection, with the ID of its original.
type Fact struct {
	Class  Class   `json:"-"`
	Text   string  `json:"text"`      // on one line, as in the transcript, not escaped; of a long text the beginning
	Tail   string  `json:"tail"`      // the end of a long text, or ""
	Status string  `json:"status"`    // how a command ended ("0", "failed", "" if unknown), or the state of a plan item
	Record int     `json:"record"`    // number of the newest record with it
	ID     mark.ID `json:"id"`        // of the original in that record
	Output mark.ID `json:"output_id"` // of a command: its last result, or ""
	Strong bool    `json:"strong"`    // a person named it, or it occurs at least twice

	fact *fact
}

// All yields every key fact, class by class, of each class in order of appearance.
func (f *Facts) All() iter.Seq[Fact] {
	return func(yield func(Fact) bool) {
		all := f.all()
		for _, class := range Classes() {
			for _, one := range all[class] {
				if !yield(one.placed(class)) {
					return
				}
			}
		}
	}
}

// placed returns a fact with its newest original.
func (one *fact) placed(class Class) Fact {
	at := one.sources[len(one.sources)-1]
	out := Fact{
		Class: class, Text: one.text, Tail: one.tail, Status: one.status, Strong: one.strong, fact: one,
		Record: at.record, ID: mark.KeyID(at.raw),
	}
	if one.output != (source{}) && one.output.raw != at.raw {
		out.Output = mark.KeyID(one.output.raw)
	}
	return out
}

func normalLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Context is the text that an agent has in its context. The zero Context is empty. It needs as much memory as its
// texts, and is not safe for concurrent use.
type Context struct {
	text  strings.Builder
	kept  map[uint64]bool // originals that are whole, by the hash of their raw span and of what the agent saw
	calls map[string]call
	page  *page // of text, made when needed
}

// Hold adds an item. It skips thinking and images, which show no facts. It keeps nothing of the item but text.
func (c *Context) Hold(it *transcript.Item) {
	switch it.Kind {
	case transcript.Thinking, transcript.Image, transcript.File:
		return
	}
	seen := transcript.Original(it.Kind, it.Raw)
	if c.kept == nil {
		c.kept, c.calls = map[uint64]bool{}, map[string]call{}
	}
	c.kept[it.Sum().Key()], c.kept[mark.Sum(seen).Key()] = true, true
	c.page = nil
	switch it.Kind {
	case transcript.Call:
		one := call{tool: strings.Clone(it.Tool), action: it.Understand()}
		c.calls[strings.Clone(it.Call)] = one
		c.write(one.tool + ": " + cmp.Or(normalLine(one.action.Command), string(seen)))
	case transcript.Result:
		c.addResult(it)
	default:
		c.write(string(seen))
	}
}

// addResult adds a result, with its status first so that it is next to the command.
func (c *Context) addResult(it *transcript.Item) {
	one := c.calls[it.Call]
	out := it.Explain(cmp.Or(one.tool, it.Tool), one.action.Op)
	if out.HasExit && one.action.Op == transcript.Command {
		c.write("exit " + strconv.Itoa(out.Exit))
	}
	c.write(out.Text)
}

func (c *Context) write(text string) { c.text.WriteString(text + "\n") }

// TextContext returns a context with a text that ccd wrote: a companion, or what a hook adds.
func TextContext(text string) *Context {
	p := newPage(text)
	return &Context{page: &p}
}

// Chars returns the number of characters of the texts.
func (c *Context) Chars() int { return c.read().chars }

func (c *Context) read() *page {
	if c.page == nil {
		p := plainPage(c.text.String())
		c.page = &p
	}
	return c.page
}

// Shows reports whether a fact is visible by the rules of Facts.Grade, or an original that it was taken from is whole
// in the context.
func (c *Context) Shows(one Fact) bool {
	held := func(s source) bool { return c.kept[s.raw] || c.kept[s.seen] }
	if slices.ContainsFunc(one.fact.sources, held) {
		return true
	}
	return c.read().shows(one.Class, one.fact)
}
