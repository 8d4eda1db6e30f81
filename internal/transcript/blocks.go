package transcript

import (
	"bytes"
	"strings"

	"ccd/internal/redact"
)

// Voice says who speaks in a message, so that its blocks become items of the right kinds.
type Voice struct {
	Role    string // "user", "assistant", "system", "developer", "tool", as in the record
	By      Author // of a text in the user's role
	Summary bool   // the text is the agent's summary of a compacted context
	Local   bool   // the client made up the reply, not the model
	Side    bool   // of an inline sub-agent
	Denied  string // why a call was not allowed, if the record says so
	Message string // Item.Message
}

// Gives reports whether what is attached to a message comes from a person.
func (v *Voice) Gives() bool { return v.Role == "user" && v.By != Program && !v.Side }

// Author returns who wrote the texts of a record that does not say: a program, if another session started this one.
func (d *Decoder) Author() Author {
	if d.Class != Main {
		return Program
	}
	return UnknownAuthor
}

// Content adds the items of a message's content: a string, or a list of blocks.
func (d *Decoder) Content(r *Record, content Node, v Voice) {
	if content.Is('"') {
		d.Say(r, content, v)
		return
	}
	if content.Full() && !content.Is('[') { // unknown form: keep it whole
		r.Unknown = true
		r.Add(Item{Kind: Meta, Message: v.Message, Side: v.Side}, content)
	}
	for block := range content.Elements() {
		switch {
		case block.Is('"'):
			d.Say(r, block, v)
		case d.Client.Block == nil || !d.Client.Block(d, r, block, v):
			d.Block(r, block, v)
		}
	}
}

// Say adds a text.
func (d *Decoder) Say(r *Record, text Node, v Voice) {
	if len(text.Raw) > len(`""`) {
		item := Item{Message: v.Message, Side: v.Side}
		item.Kind, item.Frame = d.kind(text, v)
		if item.Kind == Human && d.repeats(text) {
			item.Kind, item.Copy = Meta, true
		}
		r.Add(item, text)
	}
}

// shortest is the size from which on a message can be known to be one of before, and not a word that is said again.
const shortest = 16

// repeats reports whether a message stands behind a compaction once more, before the agent has said anything.
func (d *Decoder) repeats(text Node) bool {
	if d.Apart || len(text.Raw) < shortest {
		return false
	}
	key := string(text.Raw)
	known := d.said.find(key) != nil
	d.said.put(key, struct{}{})
	return known && d.fresh
}

// kind returns the kind of a text. In the user's role the record decides, or else the text. A text is only recognized
// as a summary by its wording if the agent's records have no flag for summaries.
func (d *Decoder) kind(text Node, v Voice) (Kind, Frame) {
	switch {
	case v.Summary:
		return Summary, Unframed
	case v.Local:
		return Meta, Unframed
	case v.Role == "assistant" || v.Role == "model":
		return Text, Unframed
	case v.Role == "system" || v.Role == "developer":
		return System, Unframed
	case v.Role != "user":
		return Meta, Unframed
	}
	said := text.Text()
	if v.By != Person && d.Client.IsSummary(said) {
		return Summary, Unframed
	}
	if frame, ok := d.Client.wrote(said, v.By); ok {
		return Human, frame
	}
	return Meta, Unframed
}

// Block adds the item of one content block in Anthropic's form. A block of an unknown type becomes Meta as a whole.
func (d *Decoder) Block(r *Record, block Node, v Voice) {
	b := d.Object(block)
	kind := b.Field("type").Text()
	text, item := b.Field("text"), Item{Message: v.Message, Side: v.Side}
	switch {
	case text.Is('"') && (kind == "text" || kind == "input_text" || kind == "output_text" || kind == "summary_text"):
		d.Say(r, text, v)
	case kind == "thinking" || kind == "redacted_thinking":
		item.Kind, item.Block = Thinking, block.Raw
		r.AddFirst(item, b.Field("thinking"), b.Field("data"), b.Field("signature"))
	case kind == "image" || kind == "document" || kind == "input_image":
		item.Kind, item.Given = Image, v.Gives()
		r.AddFirst(item, b.Field("source"), b.Field("image_url"))
	case kind == "tool_use" || strings.HasSuffix(kind, "_tool_use"):
		item.Call, item.Tool = b.Field("id").Text(), d.toolName(kind, b)
		d.Call(r, item, b.Field("input"), block)
	case kind == "tool_result" || strings.HasSuffix(kind, "_tool_result"):
		d.result(r, b, block, v)
	case kind == "encrypted_content":
		item.Kind = Thinking
		r.AddFirst(item, b.Field("encrypted_content"))
	case kind == "fallback": // another model took over; the model does not see this
	default:
		r.Unknown = true
		r.AddFirst(item, text, block)
	}
}

// toolName returns the tool that a call names. A tool run by a server (mcp_tool_use, server_tool_use) never counts as
// the client's own, whatever its name.
func (d *Decoder) toolName(kind string, b Object) string {
	name := b.Field("name").Text()
	switch {
	case kind == "tool_use":
	case kind == "mcp_tool_use":
		return "mcp__" + b.Field("server_name").Text() + "__" + name
	case d.Client.BuiltIn(name) || d.Client.Op(name) == Ask:
		return "server__" + name
	}
	return name
}

// Call adds a Call and remembers its tool. Without an input, the original is the whole block.
func (d *Decoder) Call(r *Record, item Item, input, block Node) {
	item.Kind = Call
	if !item.Side {
		d.tools.put(item.Call, item.Tool)
	}
	r.AddFirst(item, input, block)
}

// result adds a result. A person's answer, or reason for a refusal, becomes Human.
func (d *Decoder) result(r *Record, b Object, block Node, v Voice) {
	content := b.Field("content")
	item := Item{Kind: Result, Call: b.Field("tool_use_id").Text(), Message: v.Message, Side: v.Side, Failed: b.Field("is_error").IsTrue()}
	item.Tool = d.ToolOf(item.Call)
	item.Refused = item.Failed && v.Denied == UserRejected
	if !v.Side && d.Class == Main && d.answers(&item, content, v) {
		item.Kind, item.Frame = Human, Reported
	}
	r.AddFirst(item, content, block)
}

// answers reports whether a result contains a person's own words: an answer to the client's question, or a refusal that
// the client reports. For a server's tool only the record can say that it was refused, because the server writes the
// text.
func (d *Decoder) answers(item *Item, content Node, v Voice) bool {
	if !item.Failed {
		return d.Client.Op(item.Tool) == Ask && d.Client.BuiltIn(item.Tool) && spoken(answered, content)
	}
	if !item.Refused && (v.Denied != "" || !d.Client.BuiltIn(item.Tool)) {
		return false
	}
	return bytes.Contains(content.Raw, []byte(refusal)) && spoken(refusedWith, content)
}

// spoken reports whether words finds a person's words in a result.
func spoken(words func(string) (int, int), content Node) bool {
	from, to := words(PlainText(content))
	return from < to
}

// PlainText returns the text of a string or of a list of text blocks.
func PlainText(n Node) string {
	text, _ := plain(n)
	return string(text)
}

// Add appends an item whose original is n.
func (r *Record) Add(item Item, n Node) {
	item.Span, item.Raw, item.client = r.SpanOf(n), n.Raw, r.client
	item.exact = r.exact[item.Span.Off-r.Span.Off : item.Span.End()-r.Span.Off]
	r.Items = append(r.Items, item)
}

// SpanOf returns the span of a value of Raw in the file.
func (r *Record) SpanOf(n Node) Span {
	at := int(n.Off - r.Span.Off)
	from, to := redact.Hidden(at, r.Marks), redact.Hidden(at+len(n.Raw), r.Marks)
	return Span{r.Span.Off + int64(from), int64(to - from)}
}

// AddFirst appends an item whose original is the first of ns that is present and not empty, else the first that is
// present.
func (r *Record) AddFirst(item Item, ns ...Node) {
	var first Node
	for _, n := range ns {
		if n.Full() {
			r.Add(item, n)
			return
		} else if !first.Has() {
			first = n
		}
	}
	if first.Has() {
		r.Add(item, first)
	}
}
