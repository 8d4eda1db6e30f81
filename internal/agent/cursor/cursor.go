package cursor

import "ccd/internal/transcript"

// parse decodes one line of a transcript. Cursor writes it for people and other programs: it has the messages and the
// calls, but no results, times, IDs or usage.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := d.Object(value)
	role, message, kind := l.Field("role"), l.Field("message"), l.Field("type")
	r.Time = transcript.ParseTime(l.Field("timestamp"))
	r.Model = transcript.Reuse(&d.Last.Model, l.Field("model"))
	r.Type = transcript.TypeName(kind, role)
	if !kind.Has() {
		r.Type = role.Text()
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
	d.Content(r, content, v)
}

// block adds calls and results whose type is spelled differently from Anthropic's.
func block(d *transcript.Decoder, r *transcript.Record, b transcript.Node, _ transcript.Voice) bool {
	switch b.Field("type").Text() {
	case "tool_call", "tool-call":
		r.Unknown = true
		item := transcript.Item{Call: b.Field("id").Text(), Tool: b.Field("name").Text()}
		d.Call(r, item, b.Field("input"), b)
	case "tool-result":
		r.Unknown = true
		r.AddFirst(transcript.Item{Kind: transcript.Result, Tool: b.Field("name").Text()}, b.Field("content"), b)
	default:
		return false
	}
	return true
}
