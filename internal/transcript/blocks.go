package transcript

import (
	"bytes"
)

// Voice tells who speaks in a message, so that its blocks become items of the right kinds.
type Voice struct {
	Role    string // "user", "assistant", "system", "developer", "tool", as the record has it
	By      Author // of a text in the user's role
	Summary bool   // the text is the agent's summary of what its compaction dropped
	Local   bool   // the client made up the reply: no model said it
	Side    bool   // of an inline sub-agent
	Denied  string // why a call was not allowed, where the record tells
	Message string // Item.Message
}

// Author is who wrote the texts of a record that does not tell: in a session that another one started, a program.
func (d *Decoder) Author() Author {
	if d.Class != Main {
		return Program
	}
	return Untold
}

// Content adds the items of a message's Content: a string, or a list of blocks.
func (d *Decoder) Content(r *Record, content Node, v Voice) {
	if content.Is('"') {
		d.Say(r, content, v)
		return
	}
	if content.Full() && !content.Is('[') { // of no known form: kept whole
		r.Unknown = true
		r.Add(Item{Kind: Meta, Message: v.Message, Side: v.Side}, content)
	}
	for block := range content.Elements() {
		if block.Is('"') {
			d.Say(r, block, v)
			continue
		}
		d.Block(r, block, v)
	}
}

// Say adds a text that someone says.
func (d *Decoder) Say(r *Record, text Node, v Voice) {
	if len(text.Raw) > len(`""`) {
		item := Item{Message: v.Message, Side: v.Side}
		item.Kind, item.Frame = d.kind(text, v)
		r.Add(item, text)
	}
}

// kind tells what a text is, by who says it. In the user's role that is told by the record; where it is not, by the text.
// The words of a summary tell one only where the agent's records have no flag for it.
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
	if v.By != Person && d.client.isSummary(said) {
		return Summary, Unframed
	}
	if frame, ok := d.client.wrote(said, v.By); ok {
		return Human, frame
	}
	return Meta, Unframed
}

// Block adds the item of one content Block, in Anthropic's form. A Block of an unknown type is kept whole as Meta.
func (d *Decoder) Block(r *Record, block Node, v Voice) {
	b := blockFields(block)
	item := Item{Message: v.Message, Side: v.Side}
	switch {
	case b.text.Is('"') && (b.is("text") || b.is("input_text") || b.is("output_text") || b.is("summary_text")):
		d.Say(r, b.text, v)
	case b.is("thinking") || b.is("redacted_thinking"):
		item.Kind = Thinking
		r.AddFirst(item, b.thinking, b.data, b.signature)
	case b.is("image") || b.is("document") || b.is("input_image"):
		item.Kind = Image
		r.AddFirst(item, b.source, b.imageURL)
	case b.is("tool_use") || b.ends("_tool_use"):
		item.Kind, item.Call, item.Tool = Call, b.id.Text(), d.toolName(&b)
		d.Call(r, item, b.input, block)
	case b.is("tool_result") || b.ends("_tool_result"):
		d.result(r, b, block, v)
	case b.is("encrypted_content"):
		item.Kind = Thinking
		r.AddFirst(item, b.encrypted)
	case b.is("fallback"): // another model took over: nothing that it sees
	default:
		r.Unknown = true
		item.Kind = Meta
		r.AddFirst(item, b.text, block)
	}
}

// fields are the members of a content block that any block type uses.
type fields struct {
	kind, text, thinking, signature, data, source, imageURL Node
	id, name, input, useID, content, isError, encrypted     Node
	server                                                  Node
}

func blockFields(block Node) (b fields) {
	for key, value := range block.Members() {
		switch string(key) {
		case "type":
			b.kind = value
		case "text":
			b.text = value
		case "thinking":
			b.thinking = value
		case "signature":
			b.signature = value
		case "data":
			b.data = value
		case "source":
			b.source = value
		case "image_url":
			b.imageURL = value
		case "id":
			b.id = value
		case "name":
			b.name = value
		case "input":
			b.input = value
		case "tool_use_id":
			b.useID = value
		case "content":
			b.content = value
		case "is_error":
			b.isError = value
		case "encrypted_content":
			b.encrypted = value
		case "server_name":
			b.server = value
		}
	}
	return b
}

func (b *fields) is(kind string) bool {
	return len(b.kind.Raw) == len(kind)+2 && string(b.kind.Raw[1:len(kind)+1]) == kind
}

func (b *fields) ends(suffix string) bool { return bytes.HasSuffix(b.kind.Raw, []byte(suffix+`"`)) }

// toolName is the tool that a call names. One that a server runs (mcp_tool_use, server_tool_use) is never the client's own,
// whatever it is called.
func (d *Decoder) toolName(b *fields) string {
	name := b.name.Text()
	switch {
	case b.is("tool_use"):
	case b.is("mcp_tool_use"):
		return "mcp__" + b.server.Text() + "__" + name
	case d.client.BuiltIn(name) || d.Op(name) == Ask:
		return "server__" + name
	}
	return name
}

// Call adds a Call and remembers its tool. Where it has no input, the whole block stands for it.
func (d *Decoder) Call(r *Record, item Item, input, block Node) {
	item.Kind = Call
	if !item.Side {
		d.tools.put(item.Call, item.Tool)
	}
	r.AddFirst(item, input, block)
}

// result adds a result; what a person answered, or said when refusing, is Human.
func (d *Decoder) result(r *Record, b fields, block Node, v Voice) {
	item := Item{Kind: Result, Call: b.useID.Text(), Message: v.Message, Side: v.Side, Failed: b.isError.IsTrue()}
	item.Tool = d.tools.tool(item.Call)
	item.Refused = item.Failed && v.Denied == UserRejected
	if !v.Side && d.Class == Main && d.answers(&item, b.content, v) {
		item.Kind, item.Frame = Human, Reported
	}
	r.AddFirst(item, b.content, block)
}

// answers reports whether a result holds a person's own words: those of an answer to the client's own question, or of a
// refusal that the client reports. Of a server's tool the record must tell that it was refused, for the text may be the
// server's.
func (d *Decoder) answers(item *Item, content Node, v Voice) bool {
	if !item.Failed {
		return d.Op(item.Tool) == Ask && d.client.BuiltIn(item.Tool) && spoken(answered, content)
	}
	if !item.Refused && (v.Denied != "" || !d.client.BuiltIn(item.Tool)) {
		return false
	}
	return bytes.Contains(content.Raw, []byte("the user said:")) && spoken(refusedWith, content)
}

// spoken reports whether a result holds a person's words, as one of the ways to find them tells.
func spoken(words func(string) (int, int), content Node) bool {
	from, to := words(PlainText(content))
	return from < to
}

// PlainText is the text of a string or of a list of text blocks.
func PlainText(n Node) string {
	text, _ := plain(n)
	return string(text)
}

// Add appends an item whose original is n.
func (r *Record) Add(item Item, n Node) {
	item.Span, item.Raw, item.client = Span{n.Off, int64(len(n.Raw))}, n.Raw, r.client
	r.Items = append(r.Items, item)
}

// AddFirst appends an item whose original is the first of ns that is there and not empty, else the first that is
// there at all.
func (r *Record) AddFirst(item Item, ns ...Node) {
	for _, n := range ns {
		if n.Full() {
			r.Add(item, n)
			return
		}
	}
	for _, n := range ns {
		if n.Has() {
			r.Add(item, n)
			return
		}
	}
}
