package gemini

import (
	"hash/fnv"
	"slices"
	"strings"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// parse decodes one record: a line of a .jsonl, or an element of "messages" in a .json. A .json on a single line is one
// record with all its messages.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := d.Object(value)
	rewind, set, list := l.Field("$rewindTo"), l.Field("$set"), l.Field("messages")
	switch {
	case rewind.Is('"'): // the messages that it takes back stay in the file
		r.UI, r.Type = true, "$rewindTo"
		r.Back, r.From = d.Chain.Return("", before(rewind))
	case set.Is('{'):
		change(d, r, set)
	case l.Field("projectHash").Is('"') || list.Is('['):
		r.Type = "session"
		r.Time = transcript.ParseTime(l.Field("startTime"))
		r.Resumed = transcript.ReadResumed(l.Field("ccd"))
		header(d, r, l)
		for one := range list.Elements() {
			read(d, r, one)
		}
		r.UI = len(r.Items) == 0
	default:
		if r.Type = l.Field("type").Text(); r.Type == "" { // perhaps a new kind of change
			for key := range value.Members() {
				r.Type = strings.Clone(string(key))
				break
			}
		}
		read(d, r, value)
	}
}

// header reads the data of the session, from its first line or from a later change.
func header(d *transcript.Decoder, r *transcript.Record, meta transcript.Object) {
	if meta.Field("kind").Text() == "subagent" {
		d.Class = transcript.SubAgent
	}
	d.SetTitle(r, meta.Field("summary"), transcript.RankSummary)
	if d.Class != transcript.SubAgent && r.Resumed == nil {
		return // a main session lists only the directories that a person added, not its working directory; ccd's copies list the working directory
	}
	for dir := range meta.Field("directories").Elements() {
		r.Cwd = transcript.Reuse(&d.Last.Cwd, dir)
		return
	}
}

// change reads a change of the session's data. If it contains messages, they replace all earlier ones: a compaction if
// a new summary is among them, otherwise the same messages with long outputs cut.
func change(d *transcript.Decoder, r *transcript.Record, set transcript.Node) {
	r.Type = "$set"
	header(d, r, d.Object(set))
	r.Time = transcript.ParseTime(set.Field("lastUpdated"))
	first := true
	for one := range set.Field("messages").Elements() {
		m := readMessage(d, one)
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
		d.SetBoundary(r, transcript.Boundary{Replaced: true})
	}
	r.UI = len(r.Items) == 0
}

// workspace returns the working directory that the client's first message to the model names, or "".
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

type message struct {
	transcript.Object
	id, content transcript.Node
}

func readMessage(d *transcript.Decoder, value transcript.Node) message {
	m := message{Object: d.Object(value)}
	if m.id, m.content = m.Field("id"), m.Field("content"); !m.content.Has() {
		m.content = m.Field("parts")
	}
	return m
}

// read adds the items of a message. If a message with the same ID came before, only the new items are added.
func read(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	m := readMessage(d, value)
	r.UUID = m.id.Text()
	if r.Time.IsZero() {
		r.Time = transcript.ParseTime(m.Field("timestamp"))
	}
	first := len(r.Items)
	switch m.Field("type").Text() {
	case "user":
		r.Unknown = !m.content.Has()
		m.say(d, r)
	case "gemini", "model":
		r.Unknown = !m.content.Has() && m.First("toolCalls", "thoughts").Raw == nil
		m.reply(d, r)
	case "info", "warning", "error": // shown only on the screen
		r.UI, r.Unknown = true, !m.content.Has()
		if text := parts.Text(m.content); strings.HasPrefix(text, "[API Error") || strings.HasPrefix(text, "API Error") {
			d.Refused(r, m.content)
		}
	default:
		r.Unknown = true
		m.say(d, r)
		m.addCalls(d, r)
	}
	r.Items = append(r.Items[:first], given(d, r.Items[first:], r.UUID)...)
	for _, it := range r.Items[first:] {
		switch {
		case it.Kind == transcript.Summary && transcript.IsCopySummary(string(transcript.Original(it.Kind, it.Raw))): // the agent compacted nothing
		case it.Kind == transcript.Summary:
			d.SetBoundary(r, transcript.Boundary{})
		case it.Kind == transcript.Human && it.Call == "":
			d.Chain.MarkBefore(before(m.id))
			d.Chain.Add(r, r.UUID, "")
			return
		}
	}
}

// before returns the name of the place before a message in the chain.
func before(id transcript.Node) string { return "before " + id.Text() }

// say adds the content, in the role that the message's type gives.
func (m *message) say(d *transcript.Decoder, r *transcript.Record) {
	v := transcript.Voice{Role: m.Field("type").Text(), By: d.Author()}
	if v.Role == "gemini" || v.Role == "model" {
		v.Role, v.Message = "assistant", m.id.Text()
	}
	parts.Content(d, r, m.content, m.Field("displayContent"), v)
}

func (m *message) reply(d *transcript.Decoder, r *transcript.Record) {
	for thought := range m.Field("thoughts").Elements() {
		item := transcript.Item{Kind: transcript.Thinking, Message: m.id.Text()}
		r.AddFirst(item, thought.Field("description"), thought.Field("subject"))
	}
	m.say(d, r)
	m.addCalls(d, r)
	r.Model = transcript.Reuse(&d.Last.Model, m.Field("model"))
	used := m.Field("tokens").Object()
	d.SetUsage(r, transcript.Usage{ID: m.id.Text(), Context: parts.Tokens(used, "total", "input", "output", "thoughts", "tool"), Spent: used.Spent(counts)})
}

var counts = transcript.Counts{In: "input", Cached: "cached", Out: []string{"output", "thoughts"}, Within: true}

// addCalls adds the calls of a reply, then their results, which are the next message to the model.
func (m *message) addCalls(d *transcript.Decoder, r *transcript.Record) {
	for call := range m.Field("toolCalls").Elements() {
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
	for call := range m.Field("toolCalls").Elements() {
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

// replacement adds the items of the messages with which a change replaces all earlier ones.
func replacement(d *transcript.Decoder, held *transcript.Record, line transcript.Node) {
	for one := range line.Field("$set").Field("messages").Elements() {
		read(d, held, one)
	}
}

// maxGiven is how many items a decoder remembers. It is enough because the client rewrites only the last message.
const maxGiven = 512

// seen lists the hashes of the last items, oldest first.
type seen []uint64

// given removes the items that an earlier version of the message already gave, because each change writes the message
// whole. A call and its result are identified by the call's ID, other items by their content. Duplicates within one
// message stay.
func given(d *transcript.Decoder, items []transcript.Item, message string) []transcript.Item {
	before, _ := d.State.(seen)
	now := slices.Clone(before)
	left := items[:0]
	for _, it := range items {
		key, isCall := itemKey(&it, message)
		if key == 0 {
			left = append(left, it)
			continue
		}
		if slices.Contains(before, key) || isCall && slices.Contains(now, key) {
			continue
		}
		left, now = append(left, it), append(now, key)
	}
	d.State = now[max(0, len(now)-maxGiven):]
	return left
}

// itemKey returns the key of an item, or 0 if nothing identifies it.
func itemKey(it *transcript.Item, message string) (key uint64, isCall bool) {
	h := fnv.New64a()
	isCall = it.Call != "" && it.Kind != transcript.Image
	switch {
	case isCall && it.Kind == transcript.Call:
		h.Write([]byte("call " + it.Call))
	case isCall:
		h.Write([]byte("result " + it.Call))
	case message == "":
		return 0, false
	default:
		h.Write([]byte(it.Kind.String() + " " + message + " "))
		h.Write(it.Raw)
	}
	return h.Sum64() | 1, isCall
}
