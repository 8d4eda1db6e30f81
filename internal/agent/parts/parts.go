// Package parts reads the parts of a message as the Gemini API has them. Gemini CLI and Qwen Code keep them in their
// transcripts as they were sent.
package parts

import (
	"bytes"
	"strconv"
	"strings"

	"ccd/internal/transcript"
)

// Content adds the items of a message: a string, one part, or a list of parts. shown is what the client's screen showed of
// it, where the record has that: a text in the user's role that does not hold it, nobody typed.
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

// message is one that is being read.
type message struct {
	d     *transcript.Decoder
	r     *transcript.Record
	voice transcript.Voice
	shown string
	files bool // the contents of the files that the person named follow
}

// The lines between which the client puts the contents of the files that a person named with @.
const (
	FilesBegin = "--- Content from referenced files ---"
	FilesEnd   = "--- End of content ---"
)

// part adds the items of one part. One of an unknown kind is kept whole.
func (m *message) part(part transcript.Node) {
	p := read(part)
	item := transcript.Item{Message: m.voice.Message, Side: m.voice.Side}
	switch {
	case part.Is('"'):
		m.say(part)
	case p.call.Is('{'):
		item.Call, item.Tool = p.call.Field("id").Text(), p.call.Field("name").Text()
		input := p.call.Field("args")
		if !input.Has() {
			input = p.call
		}
		m.d.Call(m.r, item, input, transcript.Node{})
	case p.response.Is('{'):
		Result(m.d, m.r, p.response, transcript.Item{Side: m.voice.Side})
	case p.text.Full() && p.thought.IsTrue():
		item.Kind = transcript.Thinking
		m.r.Add(item, p.text)
	case p.text.Is('"'):
		m.say(p.text)
	case p.inline.Is('{'):
		item.Kind = transcript.Image
		m.r.Add(item, p.inline)
	case p.file.Is('{'), p.code.Is('{'), p.output.Is('{'):
		m.r.Add(item, part)
	case p.thought.Has(), p.signature.Has(): // reasoning of which nothing is told
	default:
		m.r.Unknown = true
		m.r.Add(item, part)
	}
}

// say adds a text. What a client adds to a person's words comes as further parts: the files that they name, and all that
// follows these.
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

// Result adds what a tool answered: of a function's response the text that the model is given, and the images with it.
func Result(d *transcript.Decoder, r *transcript.Record, response transcript.Node, item transcript.Item) {
	var body, output, failure, media transcript.Node
	for key, v := range response.Members() {
		switch string(key) {
		case "id":
			item.Call = v.Text()
		case "name":
			item.Tool = v.Text()
		case "response":
			body = v
		case "parts":
			media = v
		}
	}
	for key, v := range body.Members() {
		switch string(key) {
		case "output":
			output = v
		case "error":
			failure = v
		}
	}
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
	for part := range media.Elements() {
		if image := part.Field("inlineData"); image.Is('{') {
			r.Add(transcript.Item{Kind: transcript.Image, Call: item.Call, Tool: item.Tool, Side: item.Side}, image)
		}
	}
}

// classify tells how a result came out: whether a command failed, or a person refused the call or answered a question.
func classify(d *transcript.Decoder, item *transcript.Item, original transcript.Node) {
	switch op := d.Op(item.Tool); {
	case item.Failed:
		item.Refused = bytes.Contains(original.Raw, []byte("User did not allow tool call"))
	case op == transcript.Command:
		text := original.Text()
		item.Failed = exit(text) != 0 || strings.HasPrefix(text, blocked)
	case op == transcript.Ask && d.BuiltIn(item.Tool) && d.Class == transcript.Main && !item.Side && answered(original.Text()):
		item.Kind, item.Frame = transcript.Human, transcript.Reported
	}
}

// blocked begins what stands in the place of a command's output where the client did not run it.
const blocked = "Command injection detected: "

// exit reads the status behind the output of a command, 0 where none is told.
func exit(output string) int {
	const mark = "\nExit Code: "
	i := strings.LastIndex(output, mark)
	if i < 0 {
		return 0
	}
	digits, _, _ := strings.Cut(output[i+len(mark):], "\n")
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	if err != nil {
		return 0
	}
	return n
}

// answered reports whether the result of a question holds answers: where nobody gave any it is a sentence.
func answered(text string) bool {
	if strings.HasPrefix(text, "User has provided the following answers:") {
		return true
	}
	return strings.HasPrefix(text, "{") && transcript.Valid([]byte(text)) && transcript.Node{Raw: []byte(text)}.Field("answers").Full()
}

// Text returns the texts of a message's parts, joined.
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

// Tokens returns what the model held for a reply: the total, or where none is told the sum of its parts. All zero says
// nothing, and one count that is none makes all of it doubtful.
func Tokens(usage transcript.Node, total string, parts ...string) int64 {
	sum, sound := int64(0), true
	for _, name := range append([]string{total}, parts...) {
		count, ok := usage.Field(name).Tokens()
		if sum, sound = sum+count, sound && ok; name == total && count > 0 {
			break
		}
	}
	if !sound {
		return transcript.NoCount
	}
	return sum
}

// fields are the members of a part that any kind of part uses.
type fields struct{ text, thought, signature, inline, file, call, response, code, output transcript.Node }

func read(part transcript.Node) (p fields) {
	for key, v := range part.Members() {
		switch string(key) {
		case "text":
			p.text = v
		case "thought":
			p.thought = v
		case "thoughtSignature":
			p.signature = v
		case "inlineData":
			p.inline = v
		case "fileData":
			p.file = v
		case "functionCall":
			p.call = v
		case "functionResponse":
			p.response = v
		case "executableCode":
			p.code = v
		case "codeExecutionResult":
			p.output = v
		}
	}
	return p
}
