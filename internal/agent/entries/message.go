package entries

import (
	"ccd/internal/transcript"
)

// local are the models that OpenClaw names where it speaks in the reply's place by itself: no model said it.
var local = map[string]bool{"delivery-mirror": true, "gateway-injected": true}

// message is the members that messages of any role use.
type message struct {
	role, content, callID, tool, isError, model, usage transcript.Node
	command, output, excluded, summary                 transcript.Node
}

func readMessage(value transcript.Node) (m message) {
	for key, v := range value.Members() {
		switch string(key) {
		case "role":
			m.role = v
		case "content":
			m.content = v
		case "toolCallId":
			m.callID = v
		case "toolName":
			m.tool = v
		case "isError":
			m.isError = v
		case "model":
			m.model = v
		case "usage":
			m.usage = v
		case "command":
			m.command = v
		case "output":
			m.output = v
		case "excludeFromContext":
			m.excluded = v
		case "summary":
			m.summary = v
		}
	}
	return m
}

// speak adds the items of one message. Its details are for the screen: they repeat what the content tells.
func speak(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	m := readMessage(value)
	v := transcript.Voice{Role: m.role.Text()}
	switch v.Role {
	case "user":
		v.By = d.Author()
		m.say(d, r, v)
	case "assistant":
		v.Message = r.UUID
		v.Local = local[m.model.Text()]
		if !v.Local {
			r.Model = transcript.Reuse(&d.Last.Model, m.model)
			reported(d, r, m.usage)
		}
		m.say(d, r, v)
	case "toolResult":
		m.result(d, r)
	case "bashExecution":
		m.shell(d, r)
	case "branchSummary", "compactionSummary":
		r.AddFirst(transcript.Item{Kind: transcript.Summary}, m.summary)
	case "system", "developer", "custom", "hookMessage":
		m.say(d, r, v)
	default:
		r.Unknown = true
		content(d, r, m.content, v)
	}
}

func (m *message) say(d *transcript.Decoder, r *transcript.Record, v transcript.Voice) {
	r.Unknown = r.Unknown || len(m.content.Raw) == 0
	content(d, r, m.content, v)
}

func (m *message) result(d *transcript.Decoder, r *transcript.Record) {
	item := transcript.Item{Kind: transcript.Result, Call: m.callID.Text(), Tool: m.tool.Text(), Failed: m.isError.IsTrue()}
	if item.Tool == "" {
		item.Tool = d.ToolOf(item.Call)
	}
	r.Unknown = r.Unknown || len(m.content.Raw) == 0
	r.AddFirst(item, m.content)
}

// shell reads a command that a person ran in the client (`!`), and what it printed. With `!!` the model never sees it.
func (m *message) shell(d *transcript.Decoder, r *transcript.Record) {
	if m.excluded.IsTrue() {
		r.UI = true
		return
	}
	by := transcript.Program
	if d.Class == transcript.Main {
		by = transcript.Person
	}
	d.Say(r, m.command, transcript.Voice{Role: "user", By: by})
	d.Say(r, m.output, transcript.Voice{Role: "tool"})
}

// reported reads what a reply reports; one that was broken off has only zeros.
func reported(d *transcript.Decoder, r *transcript.Record, usage transcript.Node) {
	total, sum, sound := int64(0), int64(0), true
	for key, v := range usage.Members() {
		count, ok := v.Tokens()
		switch string(key) {
		case "totalTokens":
			total, sound = count, sound && ok
		case "input", "output", "cacheRead", "cacheWrite":
			sum, sound = sum+count, sound && ok
		}
	}
	if total == 0 { // 2025 had no total
		total = sum
	}
	if !sound {
		total = transcript.NoCount
	}
	if total != 0 {
		d.Uses(r, transcript.Usage{ID: r.UUID, Context: total})
	}
}

// content adds the items of a message's content: a string, or a list of blocks.
func content(d *transcript.Decoder, r *transcript.Record, list transcript.Node, v transcript.Voice) {
	if !list.Is('[') {
		d.Content(r, list, v)
		return
	}
	for one := range list.Elements() {
		block(d, r, one, v)
	}
}

func block(d *transcript.Decoder, r *transcript.Record, one transcript.Node, v transcript.Voice) {
	item := transcript.Item{Message: v.Message}
	switch one.Field("type").Text() {
	case "toolCall":
		item.Call, item.Tool = one.Field("id").Text(), one.Field("name").Text()
		d.Call(r, item, one.Field("arguments"), one)
	case "thinking":
		item.Kind = transcript.Thinking
		r.AddFirst(item, one.Field("thinking"), one.Field("thinkingSignature"))
	case "image": // its bytes and their type stand in the block itself
		item.Kind = transcript.Image
		r.AddFirst(item, one.Field("source"), one)
	default:
		if one.Is('"') {
			d.Say(r, one, v)
			return
		}
		d.Block(r, one, v)
	}
}
