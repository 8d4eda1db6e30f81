package gemini

import (
	"slices"
	"strings"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// parse understands one record: a line of a .jsonl, or an element of the messages of a .json. Such a file as one line is
// one record with all its messages.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	var kind, rewind, set, project, list transcript.Node
	for key, v := range value.Members() {
		switch string(key) {
		case "type":
			kind = v
		case "$rewindTo":
			rewind = v
		case "$set":
			set = v
		case "projectHash":
			project = v
		case "messages":
			list = v
		}
	}
	switch {
	case rewind.Is('"'): // what it takes back stays in the file
		r.UI, r.Type = true, "$rewindTo"
		r.Back = d.Chain.Return("", before(rewind))
	case set.Is('{'):
		change(d, r, set)
	case project.Is('"') || list.Is('['):
		r.Type = "session"
		header(d, r, value)
		for one := range list.Elements() {
			read(d, r, one)
		}
		r.UI = len(r.Items) == 0
	default:
		r.Type = d.TypeName(kind, transcript.Node{})
		read(d, r, value)
	}
}

// header reads what is told of the session: by its first line, or by changes of it.
func header(d *transcript.Decoder, r *transcript.Record, meta transcript.Node) {
	var directories transcript.Node
	for key, v := range meta.Members() {
		switch string(key) {
		case "startTime":
			r.Time = transcript.Clock(v)
		case "kind":
			if v.Text() == "subagent" {
				d.Class = transcript.SubAgent
			}
		case "summary":
			d.Entitle(r, v, transcript.RankSummary)
		case "directories":
			directories = v
		}
	}
	if d.Class != transcript.SubAgent {
		return // those of a session are what a person added, without the directory that it works in
	}
	for dir := range directories.Elements() {
		r.Cwd = transcript.Reuse(&d.Last.Cwd, dir)
		return
	}
}

// change reads a change of what is told of the session. One that holds messages replaces all that stand before: a
// compaction where a summary is new among them, else the same messages with long outputs cut.
func change(d *transcript.Decoder, r *transcript.Record, set transcript.Node) {
	r.Type = "$set"
	header(d, r, set)
	r.Time = transcript.Clock(set.Field("lastUpdated"))
	first := true
	for one := range set.Field("messages").Elements() {
		m := readMessage(one)
		if first {
			r.Cwd, first = m.workspace(d), false
		}
		held := *r
		held.Items = nil
		m.say(d, &held)
		summaries := slices.DeleteFunc(held.Items, func(it transcript.Item) bool { return it.Kind != transcript.Summary })
		r.Items = append(r.Items, given(d, summaries, m.id.Text())...)
	}
	if len(r.Items) > 0 {
		d.Compacted(r, transcript.Boundary{Replaced: true})
	}
	r.UI = len(r.Items) == 0
}

// workspace is the directory that the client works in, as its first message to the model tells it: "" where it is another.
func (m *message) workspace(d *transcript.Decoder) string {
	text, ok := strings.CutPrefix(parts.Text(m.content), "<session_context>\n")
	if _, list, told := strings.Cut(text, "\n- **Workspace Directories:**\n  - "); ok && told {
		if dir, _, _ := strings.Cut(list, "\n"); dir != d.Last.Cwd {
			d.Last.Cwd = strings.Clone(dir)
		}
		return d.Last.Cwd
	}
	return ""
}

// message is one message with the members that any type uses.
type message struct{ id, timestamp, kind, content, shown, parts, thoughts, tokens, model, calls transcript.Node }

func readMessage(value transcript.Node) (m message) {
	for key, v := range value.Members() {
		switch string(key) {
		case "id":
			m.id = v
		case "timestamp":
			m.timestamp = v
		case "type":
			m.kind = v
		case "content":
			m.content = v
		case "displayContent":
			m.shown = v
		case "parts":
			m.parts = v
		case "thoughts":
			m.thoughts = v
		case "tokens":
			m.tokens = v
		case "model":
			m.model = v
		case "toolCalls":
			m.calls = v
		}
	}
	if !m.content.Has() {
		m.content = m.parts
	}
	return m
}

// read adds what a message holds. One that has stood before with this ID gives only what is new in it.
func read(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	m := readMessage(value)
	r.UUID = m.id.Text()
	if r.Time.IsZero() {
		r.Time = transcript.Clock(m.timestamp)
	}
	first := len(r.Items)
	switch m.kind.Text() {
	case "user":
		m.say(d, r)
	case "gemini", "model":
		m.reply(d, r)
	case "info", "warning", "error": // only the screen shows them
		r.UI = true
	default:
		r.Unknown = true
		m.say(d, r)
		m.used(d, r)
	}
	r.Items = append(r.Items[:first], given(d, r.Items[first:], r.UUID)...)
	for _, it := range r.Items[first:] {
		switch {
		case it.Kind == transcript.Summary:
			d.Compacted(r, transcript.Boundary{})
		case it.Kind == transcript.Human && it.Call == "":
			d.Chain.Add(before(m.id), "", false)
			d.Chain.Add(r.UUID, "", true)
			return
		}
	}
}

// before is what the place before a message is called in the chain.
func before(id transcript.Node) string { return "before " + id.Text() }

// say adds the content, in the role that the type tells.
func (m *message) say(d *transcript.Decoder, r *transcript.Record) {
	v := transcript.Voice{Role: m.kind.Text(), By: d.Author()}
	if v.Role == "gemini" || v.Role == "model" {
		v.Role, v.Message = "assistant", m.id.Text()
	}
	parts.Content(d, r, m.content, m.shown, v)
}

func (m *message) reply(d *transcript.Decoder, r *transcript.Record) {
	for thought := range m.thoughts.Elements() {
		item := transcript.Item{Kind: transcript.Thinking, Message: m.id.Text()}
		r.AddFirst(item, thought.Field("description"), thought.Field("subject"))
	}
	m.say(d, r)
	m.used(d, r)
	r.Model = transcript.Reuse(&d.Last.Model, m.model)
	if total := parts.Tokens(m.tokens, "total", "input", "output", "thoughts", "tool"); total != 0 {
		d.Uses(r, transcript.Usage{ID: m.id.Text(), Context: total})
	}
}

// used adds the calls of a reply, and behind them what the tools answered: the next message to the model.
func (m *message) used(d *transcript.Decoder, r *transcript.Record) {
	for call := range m.calls.Elements() {
		item := transcript.Item{Call: call.Field("id").Text(), Tool: call.Field("name").Text(), Message: m.id.Text()}
		input := call.Field("args")
		if !input.Has() {
			input = call
		}
		d.Call(r, item, input, transcript.Node{})
		if agent := call.Field("agentId").Text(); agent != "" {
			r.Agent = agent
		}
	}
	for call := range m.calls.Elements() {
		item := transcript.Item{Call: call.Field("id").Text(), Tool: call.Field("name").Text()}
		status := call.Field("status").Text()
		item.Failed = status == "error" || status == "cancelled"
		result := call.Field("result")
		if !result.Is('[') {
			if result.Full() {
				item.Kind = transcript.Result
				r.Add(item, result)
			}
			continue
		}
		for part := range result.Elements() {
			if response := part.Field("functionResponse"); response.Is('{') {
				parts.Result(d, r, response, item)
			} else {
				parts.Content(d, r, part, transcript.Node{}, transcript.Voice{Role: "tool"})
			}
		}
	}
}

// replacement adds the items of the messages that a change puts in the place of all before.
func replacement(d *transcript.Decoder, held *transcript.Record, line transcript.Node) {
	for one := range line.Field("$set").Field("messages").Elements() {
		read(d, held, one)
	}
}
