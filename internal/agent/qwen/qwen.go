package qwen

import (
	"slices"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// line is the members of a record that ccd reads.
type line struct {
	kind, subtype, uuid, parent, session, timestamp, cwd, branch, version transcript.Node
	message, payload, usage, window, model, outcome, provenance           transcript.Node
	side                                                                  bool
}

func read(value transcript.Node) (l line) {
	for key, v := range value.Members() {
		switch string(key) {
		case "type":
			l.kind = v
		case "subtype":
			l.subtype = v
		case "uuid":
			l.uuid = v
		case "parentUuid":
			l.parent = v
		case "sessionId":
			l.session = v
		case "timestamp":
			l.timestamp = v
		case "cwd":
			l.cwd = v
		case "gitBranch":
			l.branch = v
		case "version":
			l.version = v
		case "message":
			l.message = v
		case "systemPayload":
			l.payload = v
		case "usageMetadata":
			l.usage = v
		case "contextWindowSize":
			l.window = v
		case "model":
			l.model = v
		case "toolCallResult":
			l.outcome = v
		case "provenance":
			l.provenance = v
		case "isSidechain":
			l.side = v.IsTrue()
		}
	}
	return l
}

// parse understands one record. What reached the model stands in user, assistant and tool_result records; the system's are
// bookkeeping, but for the one that replaces the context.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := read(value)
	r.Type = d.TypeName(l.kind, l.subtype)
	header(d, r, &l)
	switch l.kind.Text() {
	case "user":
		user(d, r, &l)
	case "assistant":
		assistant(d, r, &l)
	case "tool_result":
		result(d, r, &l)
	case "system":
		system(d, r, &l)
	default:
		r.Unknown = true
		l.say(d, r, transcript.Voice{Role: l.message.Field("role").Text()})
	}
	if l.kind.Text() == "system" && l.subtype.Text() == "rewind" {
		r.Back = d.Chain.Return(r.UUID, l.parent.Text())
	} else if !l.side {
		r.Back = d.Chain.Add(r.UUID, l.parent.Text(), slices.ContainsFunc(r.Items, typed))
	}
}

// typed reports whether a person typed an item as a message of its own.
func typed(it transcript.Item) bool { return it.Kind == transcript.Human && it.Call == "" }

func header(d *transcript.Decoder, r *transcript.Record, l *line) {
	r.UUID = l.uuid.Text()
	r.Time = transcript.Clock(l.timestamp)
	r.Cwd = transcript.Reuse(&d.Last.Cwd, l.cwd)
	r.Branch = transcript.Reuse(&d.Last.Branch, l.branch)
	r.Version = transcript.Reuse(&d.Last.Version, l.version)
	if l.side && d.Class == transcript.SubAgent { // its lines carry the session that started it
		r.Parent = transcript.Reuse(&d.Last.Session, l.session)
	}
	l.side = l.side && d.Class == transcript.Main
}

// say adds the message.
func (l *line) say(d *transcript.Decoder, r *transcript.Record, v transcript.Voice) {
	v.Side = l.side
	parts.Content(d, r, l.message.Field("parts"), l.payload.Field("displayText"), v)
}

// user adds what stands in the user's role. The subtypes are of programs, but for what a person typed while tools ran; of
// a conversation by voice the model is given nothing.
func user(d *transcript.Decoder, r *transcript.Record, l *line) {
	v := transcript.Voice{Role: "user"}
	switch l.subtype.Text() {
	case "realtime_message":
		r.UI = true
		return
	case "", "mid_turn_user_message":
		if from := l.provenance.Text(); !l.side && (from == "" || from == "real_user") {
			v.By = d.Author()
		}
	}
	l.say(d, r, v)
}

func assistant(d *transcript.Decoder, r *transcript.Record, l *line) {
	if l.subtype.Text() == "realtime_message" {
		r.UI = true
		return
	}
	if !l.side {
		r.Model = transcript.Reuse(&d.Last.Model, l.model)
	}
	l.say(d, r, transcript.Voice{Role: "assistant", Message: r.UUID})
	total := parts.Tokens(l.usage, "totalTokenCount", "promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
	if total != 0 {
		window, _ := l.window.Tokens()
		d.Uses(r, transcript.Usage{ID: r.UUID, Context: total, Window: window, Side: l.side})
	}
}

// result adds what tools answered. How a call ended is told beside the message.
func result(d *transcript.Decoder, r *transcript.Record, l *line) {
	status := l.outcome.Field("status").Text()
	for part := range l.message.Field("parts").Elements() {
		item := transcript.Item{Side: l.side, Failed: status == "error" || status == "cancelled"}
		if response := part.Field("functionResponse"); response.Is('{') {
			parts.Result(d, r, response, item)
		} else {
			parts.Content(d, r, part, transcript.Node{}, transcript.Voice{Role: "tool", Side: l.side})
		}
	}
}

// bookkeeping are the subtypes of system records that hold nothing new for the model.
var bookkeeping = map[string]bool{
	"slash_command": true, "ui_telemetry": true, "at_command": true, "attribution_snapshot": true, "rewind": true,
	"background_task_completed": true, "session_source": true, "session_execution_engine": true, "omni_recall": true,
	"session_model": true, "session_approval_mode": true, "session_notes": true, "agent_bootstrap": true,
	"agent_launch_prompt": true, "agent_retry": true, "agent_session_ready": true, "file_history_snapshot": true,
	"user_text_elements": true, "session_artifact_event": true, "session_artifact_snapshot": true,
	"session_sources_snapshot": true, "branch_checkpoint": true, "goal_state": true, "goal_turn_end": true,
	"turn_result": true,
}

func system(d *transcript.Decoder, r *transcript.Record, l *line) {
	switch subtype := l.subtype.Text(); {
	case subtype == "chat_compression":
		compressed(d, r, l)
	case subtype == "custom_title":
		r.UI = true
		rank := transcript.RankGiven
		if l.payload.Field("titleSource").Text() == "auto" {
			rank = transcript.RankMade
		}
		d.Entitle(r, l.payload.Field("customTitle"), rank)
	case subtype == "parent_session":
		r.UI = true
		r.Parent, d.Class = l.payload.Field("parentSessionId").Text(), transcript.SubAgent
	case bookkeeping[subtype]:
		r.UI = true
	default:
		r.Unknown = true
		l.say(d, r, transcript.Voice{Role: l.message.Field("role").Text()})
	}
}

// compressed reads the record that replaces the context. What it holds beside the summary are copies of what stands
// before, or what the client tells of the place where it runs.
func compressed(d *transcript.Decoder, r *transcript.Record, l *line) {
	history := l.payload.Field("compressedHistory")
	before, _ := l.payload.Field("info").Field("originalTokenCount").Tokens()
	d.Compacted(r, transcript.Boundary{Before: before, Replaced: history.Is('[')})
	if summary := summaryOf(history); summary.Full() {
		r.Add(transcript.Item{Kind: transcript.Summary}, summary)
	}
}

// summaryOf finds the summary in a compressed history: the text to which the client has the model answer in a fixed
// sentence, else the first one in the user's role.
func summaryOf(history transcript.Node) (summary transcript.Node) {
	const answer = "Got it. Thanks for the additional context!"
	var last transcript.Node
	for one := range history.Elements() {
		content := one.Field("parts")
		if one.Field("role").Text() != "user" {
			if parts.Text(content) == answer && last.Full() {
				return last
			}
			continue
		}
		last = firstText(content)
		if !summary.Full() {
			summary = last
		}
	}
	return summary
}

func firstText(content transcript.Node) transcript.Node {
	for part := range content.Elements() {
		if text := part.Field("text"); text.Full() {
			return text
		}
	}
	return transcript.Node{}
}

// replacement adds the items of the new context that a line carries with it.
func replacement(d *transcript.Decoder, held *transcript.Record, line transcript.Node) {
	history := line.Field("systemPayload").Field("compressedHistory")
	summary := summaryOf(history)
	for one := range history.Elements() {
		v := transcript.Voice{Role: one.Field("role").Text(), By: transcript.Untold}
		content := one.Field("parts")
		v.Summary = summary.Full() && firstText(content).Off == summary.Off
		parts.Content(d, held, content, transcript.Node{}, v)
	}
}
