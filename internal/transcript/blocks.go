package transcript

import (
	"bytes"
)

// voice tells who speaks in a message, so that its blocks become items of the right kinds.
type voice struct {
	role    string // "user", "assistant", "system", "developer", "tool", as the record has it
	by      author // of a text in the user's role
	summary bool   // the text is the agent's summary of what its compaction dropped
	local   bool   // the client made up the reply: no model said it
	side    bool   // of an inline sub-agent
	denied  string // why a call was not allowed, where the record tells
	message string // Item.Message
}

// untold is who wrote the texts of a record that does not tell: in a session that another one started, a program.
func (d *Decoder) untold() author {
	if d.class != Main {
		return program
	}
	return untold
}

// content adds the items of a message's content: a string, or a list of blocks.
func (d *Decoder) content(r *Record, content node, v voice) {
	if content.is('"') {
		d.say(r, content, v)
		return
	}
	if content.full() && !content.is('[') { // of no known form: kept whole
		r.Unknown = true
		r.add(Item{Kind: Meta, Message: v.message, Side: v.side}, content)
	}
	for block := range content.elements() {
		if block.is('"') {
			d.say(r, block, v)
			continue
		}
		d.block(r, block, v)
	}
}

// say adds a text that someone says.
func (d *Decoder) say(r *Record, text node, v voice) {
	if len(text.raw) > len(`""`) {
		item := Item{Message: v.message, Side: v.side}
		item.Kind, item.Frame = d.kind(text, v)
		r.add(item, text)
	}
}

// kind tells what a text is, by who says it. In the user's role that is told by the record; where it is not, by the text.
// The words of a summary tell one only where the agent's records have no flag for it.
func (d *Decoder) kind(text node, v voice) (Kind, Frame) {
	switch {
	case v.summary:
		return Summary, Unframed
	case v.local:
		return Meta, Unframed
	case v.role == "assistant" || v.role == "model":
		return Text, Unframed
	case v.role == "system" || v.role == "developer":
		return System, Unframed
	case v.role != "user":
		return Meta, Unframed
	}
	said := text.text()
	if !d.flags && v.by != person && isSummary(said) {
		return Summary, Unframed
	}
	if frame, ok := d.client.wrote(said, v.by); ok {
		return Human, frame
	}
	return Meta, Unframed
}

// block adds the item of one content block, in Anthropic's form. A block of an unknown type is kept whole as Meta.
func (d *Decoder) block(r *Record, block node, v voice) {
	b := blockFields(block)
	item := Item{Message: v.message, Side: v.side}
	switch {
	case b.text.is('"') && (b.is("text") || b.is("input_text") || b.is("output_text") || b.is("summary_text")):
		d.say(r, b.text, v)
	case b.is("thinking") || b.is("redacted_thinking"):
		item.Kind = Thinking
		r.addFirst(item, b.thinking, b.data, b.signature)
	case b.is("image") || b.is("document") || b.is("input_image"):
		item.Kind = Image
		r.addFirst(item, b.source, b.imageURL)
	case b.is("tool_use") || b.ends("_tool_use"):
		item.Kind, item.Call, item.Tool = Call, b.id.text(), d.toolName(&b)
		d.call(r, item, b.input, block)
	case b.is("tool_result") || b.ends("_tool_result"):
		d.result(r, b, block, v)
	case b.is("encrypted_content"):
		item.Kind = Thinking
		r.addFirst(item, b.encrypted)
	case b.is("fallback"): // another model took over: nothing that it sees
	default:
		r.Unknown = true
		item.Kind = Meta
		r.addFirst(item, b.text, block)
	}
}

// fields are the members of a content block that any block type uses.
type fields struct {
	kind, text, thinking, signature, data, source, imageURL node
	id, name, input, useID, content, isError, encrypted     node
	server                                                  node
}

func blockFields(block node) (b fields) {
	for key, value := range block.members() {
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
	return len(b.kind.raw) == len(kind)+2 && string(b.kind.raw[1:len(kind)+1]) == kind
}

func (b *fields) ends(suffix string) bool { return bytes.HasSuffix(b.kind.raw, []byte(suffix+`"`)) }

// toolName is the tool that a call names. One that a server runs (mcp_tool_use, server_tool_use) is never the client's own,
// whatever it is called.
func (d *Decoder) toolName(b *fields) string {
	name := b.name.text()
	switch {
	case b.is("tool_use"):
	case b.is("mcp_tool_use"):
		return "mcp__" + b.server.text() + "__" + name
	case d.client.builtIn(name) || isAsk(name):
		return "server__" + name
	}
	return name
}

// call adds a call and remembers its tool. Where it has no input, the whole block stands for it.
func (d *Decoder) call(r *Record, item Item, input, block node) {
	item.Kind = Call
	if !item.Side {
		d.tools.put(item.Call, item.Tool)
	}
	r.addFirst(item, input, block)
}

// result adds a result; what a person answered, or said when refusing, is Human.
func (d *Decoder) result(r *Record, b fields, block node, v voice) {
	item := Item{Kind: Result, Call: b.useID.text(), Message: v.message, Side: v.side, Failed: b.isError.isTrue()}
	item.Tool = d.tools.tool(item.Call)
	item.Refused = item.Failed && v.denied == userRejected
	if !v.side && d.class == Main && d.answers(&item, b.content, v) {
		item.Kind, item.Frame = Human, Reported
	}
	r.addFirst(item, b.content, block)
}

// answers reports whether a result holds a person's own words: those of an answer to the client's own question, or of a
// refusal that the client reports. Of a server's tool the record must tell that it was refused, for the text may be the
// server's.
func (d *Decoder) answers(item *Item, content node, v voice) bool {
	if !item.Failed {
		return isAsk(item.Tool) && d.client.builtIn(item.Tool) && spoken(answered, content)
	}
	if !item.Refused && (v.denied != "" || !d.client.builtIn(item.Tool)) {
		return false
	}
	return bytes.Contains(content.raw, []byte("the user said:")) && spoken(refusedWith, content)
}

// spoken reports whether a result holds a person's words, as one of the ways to find them tells.
func spoken(words func(string) (int, int), content node) bool {
	from, to := words(plainText(content))
	return from < to
}

func plainText(n node) string {
	text, _ := plain(n)
	return string(text)
}

// add appends an item whose original is n.
func (r *Record) add(item Item, n node) {
	item.Span, item.Raw = Span{n.off, int64(len(n.raw))}, n.raw
	r.Items = append(r.Items, item)
}

// addFirst appends an item whose original is the first of ns that is there and not empty, else the first that is
// there at all.
func (r *Record) addFirst(item Item, ns ...node) {
	for _, n := range ns {
		if n.full() {
			r.add(item, n)
			return
		}
	}
	for _, n := range ns {
		if n.has() {
			r.add(item, n)
			return
		}
	}
}
