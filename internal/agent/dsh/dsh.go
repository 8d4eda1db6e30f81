// Package dsh describes DeepSeek Harness: where it stores sessions, how an event decodes, what its tools do.
package dsh

import (
	"cmp"
	"strings"

	"ccd/internal/transcript"
)

var home = transcript.Dir{Variable: "DSH_HOME", Usual: ".dsh"}

// Row returns the format of DeepSeek Harness.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "dsh", Title: "DeepSeek Harness", How: "add the MCP server `ccd mcp` to a profile of dsh",
		Roots: home.With("sessions"), Match: match,
		Client: &client, Parse: parse,
	}
}

// match accepts PROJECT/SESSION/session.jsonl and session.vN.jsonl, at any depth. A later version of the format writes its file beside
// the earlier ones.
var match = transcript.Named(transcript.Name{Form: `(?:[^/.][^/]*/)*(?P<id>[^/.][^/]*)/session(?:\.v\d+)?\.jsonl`})

// client lists the tools of DeepSeek Harness, from its documentation and from published sessions of formats 0 to 4. Plugins may
// bring tools of the same names. Who wrote a text in the user's role is in the record.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash pwsh",
		transcript.Read:    "read",
		transcript.Write:   "write",
		transcript.Edit:    "edit str_replace_editor apply_patch",
		transcript.Search:  "glob grep",
		transcript.Web:     "web_search web_fetch",
		transcript.Plan:    "todo_write todo",
		transcript.Ask:     "ask_user_question",
		transcript.Agent:   "agent",
		transcript.Other:   "skill run_code job_output job_list job_kill",
	}),
	Flags: true, Block: block,
	Exits: []transcript.Wrapper{ // a command that succeeded has none
		{Begin: "[exit code: ", End: "]"},
		{Begin: "[shell exited: code ", End: "]"},
	},
	Elements: transcript.Elements("", ""),
}

// memory is what the decoder knows of earlier events.
type memory struct {
	seed   int64 // events that a fork has from the session that it was made from
	window int64
	asked  bool              // a person asked for the compaction that runs
	names  map[string]string // of events on the surface, by their numbers: after a crash the numbers begin again
}

// maxNames is how many of them are kept.
const maxNames = 8192

// parse decodes an event. The log is only added to: an event that replaces others on the surface, which is what the model sees,
// says so. What is streamed stands in the message once more.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	e := d.Object(value)
	kind, data := e.Field("type").Text(), e.Field("data")
	r.Type = e.Field("type").Text()
	if kind == "session" {
		header(d, r, e)
		return
	}
	m := transcript.StateOf[memory](d)
	seq := e.Field("seq")
	if r.Time = transcript.ParseTime(e.Field("time")); seq.Has() {
		r.UUID = string(seq.Raw) + " " + string(e.Field("time").Raw)
	}
	r.Copied = seq.Integer() < m.seed
	switch kind {
	case "user/message":
		user(d, r, e, data)
	case "assistant/message":
		assistant(d, r, data)
	case "tool/result":
		result(d, r, e, data)
	case "tool/code-dispatch":
		dispatched(r, data)
	default:
		state(d, r, kind, data)
	}
	if !r.UI && r.UUID != "" {
		d.RememberUUID(r)
		if m.names == nil || len(m.names) == maxNames {
			m.names = map[string]string{}
		}
		m.names[string(seq.Raw)] = r.UUID
	}
}

func header(d *transcript.Decoder, r *transcript.Record, h transcript.Object) {
	r.UI, r.Time = true, transcript.ParseTime(h.Field("createdAt"))
	r.Cwd = transcript.Reuse(&d.Last.Cwd, h.Field("cwd"))
	parent := h.Field("parentSession").Text()
	if h.Field("origin").Text() == "subagent" || h.Field("delegationDepth").Integer() > 0 {
		d.Class, r.Parent = transcript.SubAgent, parent
	} else if parent != "" {
		r.Origin = parent
		transcript.StateOf[memory](d).seed = h.Field("seedLength").Integer()
	}
}

// state decodes the events that are not on the surface.
func state(d *transcript.Decoder, r *transcript.Record, kind string, data transcript.Node) {
	m := transcript.StateOf[memory](d)
	r.UI = true
	switch kind {
	case "request/header":
		r.Model = transcript.Reuse(&d.Last.Model, data.Field("header").Field("config").Field("model"))
	case "request/context":
		m.window, _ = data.Field("contextWindow").Tokens()
	case "tool/call":
		d.RememberTool(data.Field("callId").Text(), data.Field("name").Text())
	case "session/title":
		rank := transcript.RankMade
		if data.Field("source").Field("kind").Text() == "fallback" {
			rank = transcript.RankSummary
		}
		d.SetTitle(r, data.Field("title"), rank)
	case "llm/retry":
		d.Refused(r, data.Field("failure").Field("message"))
	case "compaction/start", "compact/start":
		m.asked = !data.Field("turn").Has()
	case "turn/end":
		switch reason := data.Field("reason"); reason.Field("kind").Text() {
		case "completed":
			r.TurnEnd = true
		case "aborted":
			by := reason.Field("reason").Field("kind").Text()
			r.Aborted = by == "user" || by == "legacy"
		case "error":
			d.Refused(r, reason.Field("error").Field("message"))
		}
	default:
		if !bookkeeping[kind] {
			r.UI, r.Unknown = false, true
			d.Content(r, message(data).Field("content"), transcript.Voice{})
		}
	}
}

// bookkeeping lists the other events with nothing that reached the model and is not on the surface too.
var bookkeeping = transcript.Set("text-chunks reasoning-chunks tool-call-chunks agent-preset/selected agent/inbox/spliced approval/asked " +
	"approval/decided approval/policy assistant/attempt assistant/chunk command/done command/run compact/end compact/prune compact/summary " +
	"compaction/end compaction/prune compaction/summary feedback/record goal/change hook/invoked hook/result llm/retry-started " +
	"permission/preset plan/mode sandbox/mode session/end-seed session/title-llm-request step/end step/start subagent/descriptor " +
	"system/message todo/write tool-workflow/agent-end tool-workflow/agent-start tool-workflow/run-end tool-workflow/run-start " +
	"tool/code-dispatch-start turn/start web/deepseek-search-llm-request")

// user adds a message in the user's role. One that replaces others is the summary of a compaction, whichever plugin made it.
func user(d *transcript.Decoder, r *transcript.Record, e transcript.Object, data transcript.Node) {
	m := message(data)
	v := transcript.Voice{Role: "user", By: transcript.Program}
	if replaced := e.Field("surfaceOp"); replaced.Is('{') {
		s := transcript.StateOf[memory](d)
		b := transcript.Boundary{Trigger: "auto", Preserved: d.UUIDsAfter(s.names[string(replaced.Field("end").Raw)])}
		if s.asked {
			b.Trigger = "manual"
		}
		d.SetBoundary(r, b)
		v.Summary = true
	} else if m.Field("source").Field("kind").Text() == "user" && d.Class == transcript.Main {
		v.By = transcript.Person
	}
	d.Content(r, m.Field("content"), v)
}

// message returns the message of an event: before format 1 its members are the event's.
func message(data transcript.Node) transcript.Object {
	if m := data.Field("message"); m.Is('{') {
		return m.Object()
	}
	return data.Object()
}

func assistant(d *transcript.Decoder, r *transcript.Record, data transcript.Node) {
	m := message(data)
	model := m.Field("source").Field("model")
	if !model.Has() {
		model = data.Field("provenance").Field("model")
	}
	r.Model = transcript.Reuse(&d.Last.Model, model)
	d.Content(r, m.Field("content"), transcript.Voice{Role: "assistant", Message: cmp.Or(m.Field("id").Text(), r.UUID)})
	used := data.Field("usage").Object().Tokens("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
	d.SetUsage(r, transcript.Usage{ID: r.UUID, Context: used, Window: transcript.StateOf[memory](d).window})
}

func block(d *transcript.Decoder, r *transcript.Record, b transcript.Node, v transcript.Voice) bool {
	item := transcript.Item{Message: v.Message}
	switch b.Field("type").Text() {
	case "reasoning":
		item.Kind = transcript.Thinking
		r.AddFirst(item, b.Field("text"), b)
	case "tool-call":
		item.Call, item.Tool = b.Field("id").Text(), b.Field("name").Text()
		d.Call(r, item, b.Field("arguments"), b)
	case "image", "file":
		item.Kind, item.Given = transcript.Image, v.Gives()
		r.AddFirst(item, b.Field("source"), b)
	default:
		return false
	}
	return true
}

// result adds a tool's result. One that replaces another is the same, cut.
func result(d *transcript.Decoder, r *transcript.Record, e transcript.Object, data transcript.Node) {
	if e.Field("surfaceOp").Is('{') {
		r.UI = true
		return
	}
	m := message(data)
	content, failed := m.Field("content"), m.Field("isError").IsTrue()
	item := transcript.Item{Kind: transcript.Result, Call: cmp.Or(m.Field("callId").Text(), m.Field("toolCallId").Text(), m.Field("source").Field("callId").Text())}
	for b := range content.Elements() { // formats 1 to 3 have the result in a block
		if b.Field("type").Text() == "tool-result" {
			item.Call = cmp.Or(b.Field("toolCallId").Text(), item.Call)
			content, failed = b.Field("content"), failed || b.Field("isError").IsTrue()
		}
		break
	}
	item.Tool = d.ToolOf(item.Call)
	item.Failed = failed || data.Field("error").Is('{') || d.Client.Op(item.Tool) == transcript.Command && d.ResultFailed(item.Tool, content)
	if text := strings.TrimSpace(transcript.PlainText(content)); !item.Failed && d.Class == transcript.Main &&
		d.Client.Op(item.Tool) == transcript.Ask && strings.HasPrefix(text, `{"answers"`) {
		item.Kind, item.Frame = transcript.Human, transcript.Reported
	}
	r.AddFirst(item, content, data)
}

// dispatched adds the call that a script made, and its result.
func dispatched(r *transcript.Record, data transcript.Node) {
	item := transcript.Item{Kind: transcript.Call, Inner: true, Call: data.Field("subCallId").Text(), Tool: data.Field("name").Text()}
	r.AddFirst(item, data.Field("arguments"), data)
	item.Kind, item.Failed = transcript.Result, data.Field("isError").IsTrue()
	r.AddFirst(item, data.Field("content"), data)
}
