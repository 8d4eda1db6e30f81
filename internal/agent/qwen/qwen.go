package qwen

import (
	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

type line struct {
	transcript.Object
	side bool
}

// parse decodes one record. What reached the model is in user, assistant and tool_result records. System records are
// bookkeeping, except the one that replaces the context.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := line{Object: d.Object(value)}
	l.side = l.Field("isSidechain").IsTrue()
	r.Type = transcript.TypeName(l.Field("type"), l.Field("subtype"))
	header(d, r, &l)
	switch l.Field("type").Text() {
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
		l.say(d, r, transcript.Voice{Role: l.Field("message").Field("role").Text()})
	}
	if d.Again(r) {
		return
	}
	if l.Field("type").Text() == "system" && l.Field("subtype").Text() == "rewind" {
		r.Back, r.From = d.Chain.Return(r.UUID, l.Field("parentUuid").Text())
	} else if !l.side {
		d.Chain.Add(r, r.UUID, l.Field("parentUuid").Text())
	}
}

func header(d *transcript.Decoder, r *transcript.Record, l *line) {
	r.UUID = l.Field("uuid").Text()
	r.Time = transcript.ParseTime(l.Field("timestamp"))
	r.Cwd = transcript.Reuse(&d.Last.Cwd, l.Field("cwd"))
	r.Branch = transcript.Reuse(&d.Last.Branch, l.Field("gitBranch"))
	r.Version = transcript.Reuse(&d.Last.Version, l.Field("version"))
	if l.side && d.Class == transcript.SubAgent { // its lines name the session that started it
		r.Parent = transcript.Reuse(&d.Last.Session, l.Field("sessionId"))
	}
	l.side = l.side && d.Class == transcript.Main
}

func (l *line) say(d *transcript.Decoder, r *transcript.Record, v transcript.Voice) {
	v.Side = l.side
	parts.Content(d, r, l.Field("message").Field("parts"), l.Field("systemPayload").Field("displayText"), v)
}

// user adds a message in the user's role. Records with a subtype are a program's, except what a person typed while
// tools ran. The model never sees the messages of a voice conversation.
func user(d *transcript.Decoder, r *transcript.Record, l *line) {
	r.Resumed = transcript.ReadResumed(l.Field("ccd"))
	v := transcript.Voice{Role: "user", Summary: r.Resumed != nil}
	switch l.Field("subtype").Text() {
	case "realtime_message":
		r.UI = true
		return
	case "", "mid_turn_user_message":
		if from := l.Field("provenance").Text(); !l.side && (from == "" || from == "real_user") {
			v.By = d.Author()
		}
	}
	l.say(d, r, v)
}

func assistant(d *transcript.Decoder, r *transcript.Record, l *line) {
	if l.Field("subtype").Text() == "realtime_message" {
		r.UI = true
		return
	}
	if !l.side {
		r.Model = transcript.Reuse(&d.Last.Model, l.Field("model"))
	}
	l.say(d, r, transcript.Voice{Role: "assistant", Message: r.UUID})
	window, _ := l.Field("contextWindowSize").Tokens()
	total := parts.Tokens(l.Field("usageMetadata"), "totalTokenCount", "promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
	d.SetUsage(r, transcript.Usage{ID: r.UUID, Context: total, Window: window, Side: l.side})
}

// result adds the results of tools. The status of a call is outside the message.
func result(d *transcript.Decoder, r *transcript.Record, l *line) {
	status := l.Field("toolCallResult").Field("status").Text()
	for part := range l.Field("message").Field("parts").Elements() {
		item := transcript.Item{Side: l.side, Failed: status == "error" || status == "cancelled"}
		if response := part.Field("functionResponse"); response.Is('{') {
			parts.Result(d, r, response, item)
		} else {
			parts.Content(d, r, part, transcript.Node{}, transcript.Voice{Role: "tool", Side: l.side})
		}
	}
}

// bookkeeping lists the subtypes of system records with nothing new for the model.
var bookkeeping = transcript.Set("slash_command ui_telemetry at_command attribution_snapshot rewind background_task_completed session_source " +
	"session_execution_engine omni_recall session_model session_approval_mode session_notes agent_bootstrap " +
	"agent_launch_prompt agent_retry agent_session_ready file_history_snapshot user_text_elements session_artifact_event " +
	"session_artifact_snapshot session_sources_snapshot branch_checkpoint goal_state goal_turn_end turn_result")

func system(d *transcript.Decoder, r *transcript.Record, l *line) {
	switch subtype := l.Field("subtype").Text(); {
	case subtype == "chat_compression":
		compressed(d, r, l)
	case subtype == "custom_title":
		r.UI = true
		rank := transcript.RankGiven
		if l.Field("systemPayload").Field("titleSource").Text() == "auto" {
			rank = transcript.RankMade
		}
		d.SetTitle(r, l.Field("systemPayload").Field("customTitle"), rank)
	case subtype == "parent_session":
		r.UI = true
		r.Parent, d.Class = l.Field("systemPayload").Field("parentSessionId").Text(), transcript.SubAgent
	case bookkeeping[subtype]:
		r.UI = true
		if event := l.Field("systemPayload").Field("uiEvent"); event.Field("event.name").Text() == "qwen-code.api_error" && !l.side {
			d.Refused(r, event.Field("error_message"))
		}
	default:
		r.Unknown = true
		l.say(d, r, transcript.Voice{Role: l.Field("message").Field("role").Text()})
	}
}

// compressed reads the record that replaces the context. Besides the summary it has only copies of earlier messages and
// what the client says about its environment.
func compressed(d *transcript.Decoder, r *transcript.Record, l *line) {
	history := l.Field("systemPayload").Field("compressedHistory")
	before, _ := l.Field("systemPayload").Field("info").Field("originalTokenCount").Tokens()
	d.SetBoundary(r, transcript.Boundary{Before: before, Replaced: history.Is('[')})
	if summary := summaryOf(history); summary.Full() {
		r.Add(transcript.Item{Kind: transcript.Summary}, summary)
	}
}

// summaryOf returns the summary in a compressed history: the text before the client's fixed answer, or else the first
// one in the user's role.
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

// replacement adds the items of the new context that a line contains.
func replacement(d *transcript.Decoder, held *transcript.Record, line transcript.Node) {
	history := line.Field("systemPayload").Field("compressedHistory")
	summary := summaryOf(history)
	for one := range history.Elements() {
		v := transcript.Voice{Role: one.Field("role").Text(), By: transcript.UnknownAuthor}
		content := one.Field("parts")
		v.Summary = summary.Full() && firstText(content).Off == summary.Off
		parts.Content(d, held, content, transcript.Node{}, v)
	}
}
