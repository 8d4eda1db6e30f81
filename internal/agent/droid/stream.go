package droid

import (
	"time"

	"ccd/internal/transcript"
)

// mineStreamed knows what `droid exec -o stream-json` prints. Its first line (system) may be another client's.
func mineStreamed(line transcript.Node) bool {
	if !line.Field("session_id").Is('"') && !line.Field("sessionId").Is('"') {
		return false
	}
	switch line.Field("type").Text() {
	case "message":
		return line.Field("role").Is('"') && line.Field("text").Is('"')
	case "tool_call":
		return line.Field("toolName").Is('"') && line.Field("parameters").Has()
	case "tool_result":
		return (line.Field("toolCallId").Is('"') || line.Field("toolId").Is('"')) && line.Field("value").Has()
	case "completion":
		return line.Field("finalText").Is('"')
	}
	return false
}

// streamed reads a line of that output; false where it is none. What ends it repeats the last reply.
func streamed(d *transcript.Decoder, r *transcript.Record, kind string, value transcript.Node) bool {
	var session, role, text, call, name, input, output, failed transcript.Node
	for key, v := range value.Members() {
		switch string(key) {
		case "session_id", "sessionId":
			session = v
		case "role":
			role = v
		case "text":
			text = v
		case "toolCallId":
			call = v
		case "toolName":
			name = v
		case "parameters":
			input = v
		case "value":
			output = v
		case "isError":
			failed = v
		case "model":
			r.Model = transcript.Reuse(&d.Last.Model, v)
		case "cwd":
			r.Cwd = transcript.Reuse(&d.Last.Cwd, v)
		}
	}
	if !session.Is('"') {
		r.Model, r.Cwd = "", ""
		return false
	}
	if !call.Full() {
		call = value.Field("id")
	}
	item := transcript.Item{Call: call.Text()}
	switch kind {
	case "message":
		d.Say(r, text, transcript.Voice{Role: role.Text(), By: d.Author(), Message: r.UUID})
	case "tool_call":
		item.Tool = name.Text()
		d.Call(r, item, input, value)
	case "tool_result":
		item.Kind, item.Tool = transcript.Result, d.ToolOf(item.Call)
		item.Failed = failed.IsTrue() || output.Field("exitCode").Integer() != 0
		r.AddFirst(item, output, value)
	case "system", "completion", "error":
		r.UI = true
	default:
		return false
	}
	return true
}

// clock reads a time as text, or in milliseconds since 1970.
func clock(n transcript.Node) time.Time {
	if t := transcript.Clock(n); !t.IsZero() || n.Is('"') {
		return t
	}
	const maxYear = 253402300799999 // the last millisecond of the year 9999
	if ms := n.Integer(); ms > 0 && ms <= maxYear {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}
