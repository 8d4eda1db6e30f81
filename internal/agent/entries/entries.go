// Package entries decodes what Pi and OpenClaw write: the entries of a conversation's tree, one a line.
package entries

import (
	"slices"

	"ccd/internal/transcript"
)

// entry is the members of a line that any type of entry uses.
type entry struct {
	kind, id, parent, timestamp, message, summary, content, custom, name transcript.Node
	cwd, model, forked, firstKept, tail, tokens                          transcript.Node
}

func read(value transcript.Node) (e entry) {
	for key, v := range value.Members() {
		switch string(key) {
		case "type":
			e.kind = v
		case "id":
			e.id = v
		case "parentId":
			e.parent = v
		case "timestamp":
			e.timestamp = v
		case "message":
			e.message = v
		case "summary":
			e.summary = v
		case "content":
			e.content = v
		case "customType":
			e.custom = v
		case "name":
			e.name = v
		case "cwd":
			e.cwd = v
		case "modelId":
			e.model = v
		case "parentSession", "branchedFrom":
			e.forked = v
		case "firstKeptEntryId":
			e.firstKept = v
		case "retainedTail":
			e.tail = v
		case "tokensBefore":
			e.tokens = v
		}
	}
	return e
}

// Parse understands one entry. The conversation is the path from the last entry to the root; entries that a person went
// back behind stay in the file and give items like all others: only what hangs on an earlier entry tells that they were left.
func Parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	e := read(value)
	sub := e.custom
	r.Time = transcript.Clock(e.timestamp)
	if r.UUID = e.id.Text(); e.is("session") { // the header's ID is the session's
		r.UUID = ""
	}
	switch e.kind.Text() {
	case "session":
		header(d, r, &e)
	case "message":
		sub = e.message.Field("role")
		r.Unknown = !e.message.Is('{')
		speak(d, r, e.message)
	case "compaction":
		compacted(d, r, &e)
	case "branch_summary":
		r.AddFirst(transcript.Item{Kind: transcript.Summary}, e.summary)
	case "custom_message":
		content(d, r, e.content, transcript.Voice{Role: "custom"})
	case "model_change":
		r.UI = true
		r.Model = transcript.Reuse(&d.Last.Model, e.model)
	case "session_info":
		r.UI = true
		d.Entitle(r, e.name, transcript.RankGiven)
	case "thinking_level_change", "active_tools_change", "custom", "label", "leaf":
		r.UI = true
	default:
		unknown(d, r, &e)
	}
	r.Type = d.TypeName(e.kind, sub)
	d.Remember(r.UUID)
	hang(d, r, e.parent)
}

// hang takes the entry into the tree. One that hangs on an earlier entry, or on none, takes back what stood behind that;
// where its place is not told at all it stands behind the last one.
func hang(d *transcript.Decoder, r *transcript.Record, parent transcript.Node) {
	if r.UUID != "" && len(parent.Raw) > 0 {
		r.Back = d.Chain.Return(r.UUID, parent.Text())
	}
	if slices.ContainsFunc(r.Items, typed) {
		d.Chain.Add(r.UUID, parent.Text(), true)
	}
}

// typed reports whether a person typed an item.
func typed(it transcript.Item) bool { return it.Kind == transcript.Human }

func (e *entry) is(kind string) bool { return string(e.kind.Raw) == `"`+kind+`"` }

func header(d *transcript.Decoder, r *transcript.Record, e *entry) {
	r.UI = true
	r.Cwd = transcript.Reuse(&d.Last.Cwd, e.cwd)
	r.Model = transcript.Reuse(&d.Last.Model, e.model)
	if from := e.forked.Text(); from != "" {
		r.Parent = sessionOf(from)
	}
}

// compacted reads the entry behind which the context is the summary and what was kept: the entries from the first kept one
// on, or (newer) copies of their messages in the entry itself. Version 1 counts entries instead; what it kept is not told.
func compacted(d *transcript.Decoder, r *transcript.Record, e *entry) {
	b := transcript.Boundary{Before: e.tokens.Integer(), Replaced: e.tail.Is('[')}
	if first, last := e.firstKept.Text(), e.parent.Text(); first != "" && last != "" && !b.Replaced {
		b.Preserved = d.Between(first, last)
	}
	d.Compacted(r, b)
	r.AddFirst(transcript.Item{Kind: transcript.Summary}, e.summary)
}

// Retained adds the items of the new context that a compaction carries with it.
func Retained(d *transcript.Decoder, held *transcript.Record, line transcript.Node) {
	held.AddFirst(transcript.Item{Kind: transcript.Summary}, line.Field("summary"))
	for message := range line.Field("retainedTail").Elements() {
		speak(d, held, message)
	}
}

// unknown keeps an entry of a type that is not known. Where it looks like something that a model sees it gives items all
// the same; none of them is taken for a person's words.
func unknown(d *transcript.Decoder, r *transcript.Record, e *entry) {
	r.Unknown = true
	if e.message.Is('{') {
		content(d, r, e.message.Field("content"), transcript.Voice{Role: e.message.Field("role").Text()})
		return
	}
	for _, n := range []transcript.Node{e.content, e.summary} {
		if n.Full() {
			content(d, r, n, transcript.Voice{})
		}
	}
}
