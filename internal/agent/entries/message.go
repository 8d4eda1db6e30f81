package entries

import (
	"ccd/internal/transcript"
)

// local lists the model names that OpenClaw uses for replies that it wrote without a model.
var local = map[string]bool{"delivery-mirror": true, "gateway-injected": true}

type message struct {
	transcript.Object
	content transcript.Node
}

// addMessage adds the items of one message. Its details are for the screen: they repeat the content.
func addMessage(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	m := message{Object: d.Object(value)}
	m.content = m.Field("content")
	v := transcript.Voice{Role: m.Field("role").Text()}
	switch v.Role {
	case "user":
		v.By = d.Author()
		m.say(d, r, v)
	case "assistant":
		v.Message = r.UUID
		v.Local = local[m.Field("model").Text()]
		if !v.Local {
			r.Model = transcript.Reuse(&d.Last.Model, m.Field("model"))
			r.Provider = transcript.Reuse(&d.Last.Provider, m.Field("provider"))
			addUsage(d, r, m.Field("usage"))
		}
		m.say(d, r, v)
		stop := m.Field("stopReason").Text()
		r.Aborted, r.TurnEnd = stop == "aborted", stop == "stop"
		if stop == "error" {
			d.Refused(r, m.Field("errorMessage"))
		}
	case "toolResult":
		m.result(d, r)
	case "bashExecution":
		m.shell(d, r)
	case "branchSummary", "compactionSummary":
		r.AddFirst(transcript.Item{Kind: transcript.Summary}, m.Field("summary"))
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
	item := transcript.Item{Kind: transcript.Result, Call: m.Field("toolCallId").Text(), Tool: m.Field("toolName").Text(), Failed: m.Field("isError").IsTrue()}
	if item.Tool == "" {
		item.Tool = d.ToolOf(item.Call)
	}
	r.Unknown = r.Unknown || len(m.content.Raw) == 0
	item.Told = told(m.Field("details"))
	item.Failed = item.Failed || item.Told != nil && item.Told.Exit != 0
	r.AddFirst(item, m.content)
}

// told reads how a command ended from the details of OpenClaw's exec and process: also that it goes on, and the name by which
// process gets the rest.
func told(details transcript.Node) *transcript.Told {
	exit, status := details.Field("exitCode"), details.Field("status").Text()
	switch name := details.Field("sessionId").Text(); {
	case status == "running" && name != "":
		return &transcript.Told{Running: name}
	case exit.Has() && (status == "completed" || status == "failed"):
		return &transcript.Told{Ended: true, Exit: int(exit.Integer()), Piped: true}
	}
	return nil
}

// shell adds a command that a person ran in the client (`!`) and its output: an act, and nothing said to the agent. The model
// never sees one that was run with `!!`.
func (m *message) shell(d *transcript.Decoder, r *transcript.Record) {
	if m.Field("excludeFromContext").IsTrue() {
		r.UI = true
		return
	}
	r.Shell = true
	d.Say(r, m.Field("command"), transcript.Voice{Role: "user", By: transcript.Program})
	d.Say(r, m.Field("output"), transcript.Voice{Role: "tool"})
}

// addUsage reads the usage that a reply reports; an interrupted reply has only zeros.
func addUsage(d *transcript.Decoder, r *transcript.Record, usage transcript.Node) {
	u := usage.Object()
	total := u.Tokens("totalTokens")
	if total == 0 { // versions of 2025 report no total
		total = u.Tokens("input", "output", "cacheRead", "cacheWrite")
	}
	d.SetUsage(r, transcript.Usage{ID: r.UUID, Context: total})
}

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
	case "image": // Pi puts the data and their type in the block itself
		item.Kind, item.Given = transcript.Image, v.Gives()
		r.AddFirst(item, one.Field("source"), one)
	default:
		if one.Is('"') {
			d.Say(r, one, v)
			return
		}
		d.Block(r, one, v)
	}
}
