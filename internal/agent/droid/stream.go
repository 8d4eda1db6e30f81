package droid

import (
	"time"

	"ccd/internal/transcript"
)

// isStreamed recognizes the output of `droid exec -o stream-json`. Its first line (system) does not count because other
// clients write the same.
func isStreamed(line transcript.Node) bool {
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

// streamed decodes a line of that output and returns false if it is no such line. The last line (completion) repeats
// the last reply, so it gives no item.
func streamed(d *transcript.Decoder, r *transcript.Record, kind string, l transcript.Object, value transcript.Node) bool {
	if !l.First("session_id", "sessionId").Is('"') {
		return false
	}
	r.Model = transcript.Reuse(&d.Last.Model, l.Field("model"))
	r.Cwd = transcript.Reuse(&d.Last.Cwd, l.Field("cwd"))
	item := transcript.Item{Call: l.First("toolCallId", "id").Text()}
	switch kind {
	case "message":
		d.Say(r, l.Field("text"), transcript.Voice{Role: l.Field("role").Text(), By: d.Author(), Message: r.UUID})
	case "tool_call":
		item.Tool = l.Field("toolName").Text()
		d.Call(r, item, l.Field("parameters"), value)
	case "tool_result":
		item.Kind, item.Tool = transcript.Result, d.ToolOf(item.Call)
		output := l.Field("value")
		item.Failed = l.Field("isError").IsTrue() || output.Field("exitCode").Integer() != 0
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
	if t := transcript.ParseTime(n); !t.IsZero() || n.Is('"') {
		return t
	}
	const maxYear = 253402300799999 // the last millisecond of the year 9999
	if ms := n.Integer(); ms > 0 && ms <= maxYear {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}
