package cursor

import "ccd/internal/transcript"

// parse understands one line of a transcript, which the client writes for people and other programs: it holds what was
// said and which calls were made, but no results, times, IDs or usage.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	var role, message, kind transcript.Node
	for key, v := range value.Members() {
		switch string(key) {
		case "role":
			role = v
		case "message":
			message = v
		case "type":
			kind = v
		case "timestamp":
			r.Time = transcript.Clock(v)
		case "model":
			r.Model = transcript.Reuse(&d.Last.Model, v)
		}
	}
	r.Type = d.TypeName(kind, role)
	if !kind.Has() {
		r.Type = d.TypeName(role, transcript.Node{})
	}
	if r.UI = kind.Text() == ended && !message.Has(); r.UI {
		return
	}
	content := message.Field("content")
	r.Unknown = kind.Has() || !content.Has()
	v := transcript.Voice{Role: role.Text(), By: d.Author()}
	if r.Unknown {
		v.By = transcript.Program
	}
	if !content.Is('[') {
		d.Content(r, content, v)
		return
	}
	for b := range content.Elements() {
		block(d, r, b, v)
	}
}

// block adds one block. A call or a result under another name than Anthropic's is one all the same.
func block(d *transcript.Decoder, r *transcript.Record, b transcript.Node, v transcript.Voice) {
	switch b.Field("type").Text() {
	case "tool_call", "tool-call":
		r.Unknown = true
		item := transcript.Item{Call: b.Field("id").Text(), Tool: b.Field("name").Text()}
		d.Call(r, item, b.Field("input"), b)
	case "tool-result":
		r.Unknown = true
		r.AddFirst(transcript.Item{Kind: transcript.Result, Tool: b.Field("name").Text()}, b.Field("content"), b)
	default:
		if b.Is('"') {
			d.Say(r, b, v)
			return
		}
		d.Block(r, b, v)
	}
}
