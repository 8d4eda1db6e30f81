package amp

import (
	"encoding/hex"
	"strings"
	"time"

	"ccd/internal/transcript"
)

// parse understands one message of a thread: of a file on several lines it is given each element of messages, and nothing
// else. A thread that stands on one line is one record with all its messages.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	messages := value.Field("messages")
	if !messages.Is('[') {
		message(d, r, value)
		return
	}
	for one := range messages.Elements() {
		message(d, r, one)
	}
	r.UI = len(r.Items) == 0
	r.Type, r.UUID = "thread", value.Field("id").Text()
	r.Time = clock(value.Field("created"))
	d.Entitle(r, value.Field("title"), transcript.RankMade)
	where := value.Field("env").Field("initial")
	r.Version = transcript.Reuse(&d.Last.Version, where.Field("platform").Field("clientVersion"))
	for tree := range where.Field("trees").Elements() {
		r.Cwd = local(tree.Field("uri").Text())
		r.Branch = strings.TrimPrefix(tree.Field("repository").Field("ref").Text(), "refs/heads/")
		break
	}
}

func message(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	var role, id, content, usage, meta transcript.Node
	for key, v := range value.Members() {
		switch string(key) {
		case "role":
			role = v
		case "messageId":
			id = v
		case "content":
			content = v
		case "usage":
			usage = v
		case "meta":
			meta = v
		}
	}
	r.Type = d.TypeName(role, transcript.Node{})
	if r.UUID = id.Text(); id.Has() && !id.Is('"') {
		r.UUID = string(id.Raw)
	}
	if r.Time = clock(meta.Field("sentAt")); r.Time.IsZero() {
		r.Time = transcript.Clock(usage.Field("timestamp"))
	}
	v := transcript.Voice{Role: role.Text(), Message: r.UUID, By: d.Author()}
	switch v.Role {
	case "user", "assistant", "info":
		r.Unknown = r.Unknown || len(content.Raw) == 0
	default:
		r.Unknown = true
	}
	if v.Role == "assistant" {
		used(d, r, usage)
	}
	if !content.Is('[') {
		d.Content(r, content, v)
		return
	}
	for b := range content.Elements() {
		block(d, r, b, v)
	}
	r.UI = v.Role == "info" && len(r.Items) == 0
}

func block(d *transcript.Decoder, r *transcript.Record, b transcript.Node, v transcript.Voice) {
	kind, hidden := b.Field("type").Text(), b.Field("hidden").IsTrue()
	if hidden {
		v.By = transcript.Program
	}
	switch {
	case b.Is('"'):
		d.Say(r, b, v)
	case kind == "tool_result" && b.Field("run").Is('{'):
		result(d, r, b, v)
	case kind == "manual_bash_invocation": // what a person ran beside the agent, who sees it unless it is hidden
		if !hidden {
			r.Add(transcript.Item{Kind: transcript.Meta, Message: v.Message}, b)
		}
	case kind == "summary":
		d.Compacted(r, transcript.Boundary{})
		summary := b.Field("summary")
		r.AddFirst(transcript.Item{Kind: transcript.Summary, Message: v.Message}, summary.Field("summary"), summary, b)
	default:
		d.Block(r, b, v)
	}
}

// result adds what came of a call. Of an object the whole is kept: it tells how a command ended.
func result(d *transcript.Decoder, r *transcript.Record, b transcript.Node, v transcript.Voice) {
	var output, problem, reason, progress transcript.Node
	item := transcript.Item{Kind: transcript.Result, Call: b.Field("toolUseID").Text(), Message: v.Message}
	item.Tool = d.ToolOf(item.Call)
	for key, n := range b.Field("run").Members() {
		switch string(key) {
		case "status":
			switch n.Text() {
			case "rejected-by-user":
				item.Refused, item.Failed = true, true
			case "error", "cancelled":
				item.Failed = true
			}
		case "result":
			output = n
		case "error":
			problem = n
		case "reason":
			reason = n
		case "progress":
			progress = n
		}
	}
	item.Failed = item.Failed || output.Field("exitCode").Integer() != 0
	if message := problem.Field("message"); message.Full() {
		problem = message
	}
	r.AddFirst(item, output, problem, reason, progress, b)
}

// used reads what a reply reports. One count that is none makes all of it doubtful.
func used(d *transcript.Decoder, r *transcript.Record, usage transcript.Node) {
	r.Model = transcript.Reuse(&d.Last.Model, usage.Field("model"))
	total, sound := int64(0), true
	for _, name := range []string{"inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens"} {
		n := usage.Field(name)
		count, ok := n.Tokens()
		total, sound = total+count, sound && (ok || n.Is('n'))
	}
	if !sound {
		total = transcript.NoCount
	}
	if total != 0 {
		window, _ := usage.Field("maxInputTokens").Tokens()
		d.Uses(r, transcript.Usage{ID: r.UUID, Context: total, Window: window})
	}
}

// local is the path that a file's URI names, "" where it names none of this machine. The package net/url is not for rows: it
// belongs to those that may use the network.
func local(uri string) string {
	rest, ok := strings.CutPrefix(uri, "file://")
	if !ok || !strings.HasPrefix(rest, "/") {
		return ""
	}
	var path []byte
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		if c == '%' {
			b, err := hex.DecodeString(rest[i+1 : min(i+3, len(rest))])
			if err != nil || len(b) != 1 {
				return ""
			}
			c, i = b[0], i+2
		}
		path = append(path, c)
	}
	return string(path)
}

// clock reads a time in milliseconds since 1970.
func clock(n transcript.Node) time.Time {
	const maxYear = 253402300799999 // the last millisecond of the year 9999
	if ms := n.Integer(); ms > 0 && ms <= maxYear {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}
