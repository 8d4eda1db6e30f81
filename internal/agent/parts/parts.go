// Package parts decodes the parts of a message in the form of the Gemini API. Gemini CLI and Qwen Code store them in
// their transcripts as they sent them.
package parts

import (
	"bytes"
	"cmp"
	"strings"

	"ccd/internal/transcript"
)

// Content adds the items of a message: a string, one part, or a list of parts. shown is what the client showed of the
// message on the screen, if the record has that: a person did not type a text in the user's role that does not contain
// it.
func Content(d *transcript.Decoder, r *transcript.Record, content, shown transcript.Node, v transcript.Voice) {
	m := message{d: d, r: r, voice: v, shown: strings.TrimSpace(Text(shown))}
	if content.Is('[') {
		for part := range content.Elements() {
			m.part(part)
		}
		return
	}
	if content.Has() {
		m.part(content)
	}
}

// message is the message that is being decoded.
type message struct {
	d     *transcript.Decoder
	r     *transcript.Record
	voice transcript.Voice
	shown string
	files bool // the rest are the contents of the files that the person named
}

// FilesBegin and FilesEnd enclose the contents of the files that a person named with @.
const (
	FilesBegin = "--- Content from referenced files ---"
	FilesEnd   = "--- End of content ---"
)

// part adds the items of one part. It keeps the whole of an unknown part.
func (m *message) part(part transcript.Node) {
	p := m.d.Object(part)
	text, call, response := p.Field("text"), p.Field("functionCall"), p.Field("functionResponse")
	thought, inline := p.Field("thought"), p.Field("inlineData")
	item := transcript.Item{Message: m.voice.Message, Side: m.voice.Side}
	switch {
	case part.Is('"'):
		m.say(part)
	case call.Is('{'):
		item.Call, item.Tool = call.Field("id").Text(), call.Field("name").Text()
		input := call.Field("args")
		if !input.Has() {
			input = call
		}
		m.d.Call(m.r, item, input, transcript.Node{})
	case response.Is('{'):
		Result(m.d, m.r, response, transcript.Item{Side: m.voice.Side})
	case text.Full() && thought.IsTrue():
		item.Kind = transcript.Thinking
		m.r.Add(item, text)
	case text.Is('"'):
		m.say(text)
	case inline.Is('{'):
		item.Kind, item.Given = transcript.Image, m.voice.Gives()
		m.r.Add(item, inline)
	case p.Field("fileData").Is('{'), p.Field("executableCode").Is('{'), p.Field("codeExecutionResult").Is('{'):
		m.r.Add(item, part)
	case thought.Has(), p.Field("thoughtSignature").Has(): // reasoning without its text
	default:
		m.r.Unknown = true
		m.r.Add(item, part)
	}
}

// say adds a text. What the client adds to a person's message comes as further parts: the files that the message names,
// and everything after them.
func (m *message) say(text transcript.Node) {
	v := m.voice
	if v.Role == "user" {
		said := text.Text()
		m.files = m.files || strings.HasPrefix(strings.TrimSpace(said), FilesBegin)
		if m.files || !strings.Contains(said, m.shown) {
			v.By = transcript.Program
		}
	}
	m.d.Say(m.r, text, v)
}

// Result adds a tool's result: the text in the function's response that the model sees, and the images with it.
func Result(d *transcript.Decoder, r *transcript.Record, response transcript.Node, item transcript.Item) {
	o := d.Object(response)
	item.Call, item.Tool = cmp.Or(o.Field("id").Text(), item.Call), cmp.Or(o.Field("name").Text(), item.Tool)
	body := o.Field("response")
	output, failure := body.Field("output"), body.Field("error")
	if tool := d.ToolOf(item.Call); tool != "" {
		item.Tool = tool
	}
	item.Kind = transcript.Result
	item.Failed = item.Failed || failure.Has() && !output.Has()
	original := response
	for _, n := range []transcript.Node{output, failure, body} {
		if n.Has() {
			original = n
			break
		}
	}
	classify(d, &item, original)
	r.Add(item, original)
	for part := range o.Field("parts").Elements() {
		if image := part.Field("inlineData"); image.Is('{') {
			r.Add(transcript.Item{Kind: transcript.Image, Call: item.Call, Tool: item.Tool, Side: item.Side}, image)
		}
	}
}

// classify sets whether a command failed, whether a person refused the call, or whether a person answered a question.
func classify(d *transcript.Decoder, item *transcript.Item, original transcript.Node) {
	switch op := d.Client.Op(item.Tool); {
	case item.Failed:
		item.Refused = bytes.Contains(original.Raw, []byte("User did not allow tool call"))
	case op == transcript.Command:
		item.Failed = strings.HasPrefix(original.Text(), blocked) || d.ResultFailed(item.Tool, original)
	case op == transcript.Ask && d.Client.BuiltIn(item.Tool) && d.Class == transcript.Main && !item.Side && answered(original.Text()):
		item.Kind, item.Frame = transcript.Human, transcript.Reported
	}
}

// blocked is the prefix of the text that replaces a command's output if the client refused to run it.
const blocked = "Command injection detected: "

// answered reports whether the result of a question contains answers. If nobody answered, it is a sentence.
func answered(text string) bool {
	if strings.HasPrefix(text, "User has provided the following answers:") {
		return true
	}
	return strings.HasPrefix(text, "{") && transcript.Valid([]byte(text)) && transcript.Node{Raw: []byte(text)}.Field("answers").Full()
}

// Text returns the text of a message: all its parts, joined.
func Text(content transcript.Node) string {
	switch {
	case content.Is('"'):
		return content.Text()
	case content.Is('{'):
		return content.Field("text").Text()
	}
	var b strings.Builder
	for part := range content.Elements() {
		b.WriteString(Text(part))
	}
	return b.String()
}

// Tokens returns the size of the context after a reply: the total, or the sum of its parts if there is no total.
func Tokens(u transcript.Object, total string, parts ...string) int64 {
	if held := u.Tokens(total); held != 0 {
		return held
	}
	return u.Tokens(parts...)
}

// Part returns a block of a draft as the part of a message.
func Part(b *transcript.Block) string {
	switch b.Kind {
	case transcript.Call:
		return `{"functionCall":{"id":` + transcript.QuoteText(b.Call) + `,"name":` + transcript.QuoteText(b.Tool) + `,"args":` + string(b.Raw) + `}}`
	case transcript.Result:
		return `{"functionResponse":{"id":` + transcript.QuoteText(b.Call) + `,"name":` + transcript.QuoteText(b.Tool) + `,"response":{"output":` + string(b.Raw) + `}}}`
	}
	return `{"text":` + string(b.Raw) + `}`
}
