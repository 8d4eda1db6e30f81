// Package opencode describes the sessions that `opencode export` prints: how a message decodes, what the tools do. OpenCode's own
// store is a database, which ccd does not read.
package opencode

import (
	"ccd/internal/transcript"
)

// Row returns the format of OpenCode's exports.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "opencode", Title: "OpenCode", How: "write each session with `opencode export ID` into opencode/export",
		Roots:  transcript.Dir{Variable: "XDG_DATA_HOME", Usual: ".local/share", Below: "opencode"}.With("export"), // a person writes exports there
		Match:  match,
		Client: &client, Parse: parse, Member: "messages",
		Connect: &transcript.Connect{Name: "opencode", Dir: transcript.Dir{Variable: "XDG_CONFIG_HOME", Usual: ".config", Below: "opencode"}.Of, Guide: "AGENTS.md", Mod: "plugins"},
	}
}

// match accepts NAME.json. The ID keeps the suffix because Key.Unlined uses it to see that the file need not be JSON lines.
var match = transcript.Named(transcript.Name{Form: `(?P<id>[^/.][^/]*\.json)`})

// client lists the tools of OpenCode, from its published source of 1.x. What the client wrote itself is marked in the message.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash",
		transcript.Read:    "read",
		transcript.Write:   "write",
		transcript.Edit:    "edit multiedit patch apply_patch",
		transcript.Search:  "grep glob list lsp codesearch",
		transcript.Web:     "webfetch websearch",
		transcript.Plan:    "todowrite todoread",
		transcript.Ask:     "question",
		transcript.Agent:   "task",
		transcript.Other:   "skill batch invalid",
	}),
	Flags:    true, // a summary is marked
	Elements: transcript.Elements("", ""),
}

// memory is what the decoder knows of a compaction that a message asked for, and whose summary follows.
type memory struct {
	trigger   string
	tail, end string // the messages that stay, from and to
}

// parse decodes one message of an export. The decoder passes the elements of "messages" one by one, because an export spans
// several lines; one on a single line is one record with all its messages.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	messages, info := value.Field("messages"), value.Field("info")
	if !messages.Is('[') {
		message(d, r, info, value.Field("parts"))
		return
	}
	for one := range messages.Elements() {
		message(d, r, one.Field("info"), one.Field("parts"))
	}
	r.UI = len(r.Items) == 0
	r.Type, r.UUID, r.Time = "session", info.Field("id").Text(), transcript.ParseTime(info.Field("time").Field("created"))
	r.Cwd = transcript.Reuse(&d.Last.Cwd, info.Field("directory"))
	r.Version = transcript.Reuse(&d.Last.Version, info.Field("version"))
	d.SetTitle(r, info.Field("title"), transcript.RankMade)
	if r.Parent = info.Field("parentID").Text(); r.Parent != "" {
		r.Parent += ".json"
	}
}

func message(d *transcript.Decoder, r *transcript.Record, info, parts transcript.Node) {
	role := info.Field("role").Text()
	r.Type, r.UUID, r.Time = info.Field("role").Text(), info.Field("id").Text(), transcript.ParseTime(info.Field("time").Field("created"))
	v := transcript.Voice{Role: role, By: d.Author(), Message: r.UUID}
	switch role {
	case "user":
	case "assistant":
		reply(d, r, info)
		v.Summary = info.Field("summary").IsTrue()
	default:
		r.Unknown = true
	}
	for p := range parts.Elements() {
		part(d, r, p, v)
	}
	for p := range parts.Elements() { // results are the next message to the model
		if p.Field("type").Text() == "tool" {
			result(r, p)
		}
	}
	r.UI = len(r.Items) == 0 && !r.Unknown
	failure := info.Field("error")
	if r.Aborted = failure.Field("name").Text() == "MessageAbortedError"; !r.Aborted && failure.Is('{') {
		d.Refused(r, failure.Field("data").Field("message"))
	}
	d.RememberUUID(r)
}

// reply reads what the record of a reply says beside it.
func reply(d *transcript.Decoder, r *transcript.Record, info transcript.Node) {
	r.Model = transcript.Reuse(&d.Last.Model, info.Field("modelID"))
	r.Cwd = transcript.Reuse(&d.Last.Cwd, info.Field("path").Field("cwd"))
	r.TurnEnd = info.Field("finish").Text() == "stop"
	used, cache := info.Field("tokens"), info.Field("tokens").Field("cache")
	total := transcript.SumTokens(used.Field("input"), used.Field("output"), cache.Field("read"), cache.Field("write"))
	d.SetUsage(r, transcript.Usage{ID: r.UUID, Context: total})
	if m := transcript.StateOf[memory](d); info.Field("summary").IsTrue() {
		b := transcript.Boundary{Trigger: m.trigger}
		if m.tail != "" {
			b.Preserved = d.UUIDsBetween(m.tail, m.end)
		}
		d.SetBoundary(r, b)
	}
}

// silent lists the parts with nothing that the model sees.
var silent = transcript.Set("step-start step-finish snapshot patch agent retry")

func part(d *transcript.Decoder, r *transcript.Record, p transcript.Node, v transcript.Voice) {
	kind, item := p.Field("type").Text(), transcript.Item{Message: v.Message}
	switch {
	case kind == "text":
		if p.Field("synthetic").IsTrue() {
			v.By = transcript.Program
		}
		if !p.Field("ignored").IsTrue() {
			d.Say(r, p.Field("text"), v)
		}
	case kind == "reasoning":
		item.Kind = transcript.Thinking
		r.AddFirst(item, p.Field("text"))
	case kind == "tool":
		item.Call, item.Tool = p.Field("callID").Text(), p.Field("tool").Text()
		d.Call(r, item, p.Field("state").Field("input"), p)
	case kind == "file":
		if media, _ := transcript.ImageData(p.Field("url").Raw); media != "" {
			item.Kind, item.Given = transcript.Image, v.Gives()
		}
		r.AddFirst(item, p.Field("url"))
	case kind == "compaction":
		m := transcript.StateOf[memory](d)
		m.trigger, m.tail, m.end = "manual", p.Field("tail_start_id").Text(), r.UUID
		if p.Field("auto").IsTrue() {
			m.trigger = "auto"
		}
	case kind == "subtask":
		r.AddFirst(item, p.Field("prompt"))
	case !silent[kind]:
		r.Unknown = true
		r.AddFirst(item, p)
	}
}

// result adds the result of a call, if it has ended. How a command ended is beside its output.
func result(r *transcript.Record, p transcript.Node) {
	state := p.Field("state")
	item := transcript.Item{Kind: transcript.Result, Call: p.Field("callID").Text(), Tool: p.Field("tool").Text()}
	switch state.Field("status").Text() {
	case "completed":
		if exit := state.Field("metadata").Field("exit"); exit.Has() {
			item.Told = &transcript.Told{Ended: true, Exit: int(exit.Integer()), Piped: true}
			item.Failed = item.Told.Exit != 0
		}
		if agent := state.Field("metadata").Field("sessionId").Text(); agent != "" {
			r.Agent = agent + ".json"
		}
		r.AddFirst(item, state.Field("output"), state)
	case "error":
		item.Failed = true
		r.AddFirst(item, state.Field("error"), state)
	}
}
