// Package entries decodes the entries that Pi and OpenClaw write: the nodes of a conversation's tree, one per line.
package entries

import (
	"ccd/internal/transcript"
)

// Parse decodes one entry. The conversation is the path from the last entry to the root. Entries that a person
// abandoned by going back stay in the file and give items like all others; only a later entry with an earlier parent
// shows that they were abandoned.
func Parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	e := d.Object(value)
	kind, sub := e.Field("type"), e.Field("customType")
	r.Time = transcript.ParseTime(e.Field("timestamp"))
	r.UUID = e.Field("id").Text()
	switch kind.Text() {
	case "session":
		r.UUID = "" // the header's ID is that of the session
		header(d, r, e)
	case "message":
		sub = e.Field("message").Field("role")
		r.Unknown = !e.Field("message").Is('{')
		addMessage(d, r, e.Field("message"))
	case "compaction":
		compacted(d, r, e)
	case "branch_summary":
		r.AddFirst(transcript.Item{Kind: transcript.Summary}, e.Field("summary"))
	case "custom_message":
		content(d, r, e.Field("content"), transcript.Voice{Role: "custom", Summary: sub.Text() == CopySummary})
	case "model_change":
		r.UI = true
		r.Model = transcript.Reuse(&d.Last.Model, e.Field("modelId"))
	case "session_info":
		r.UI = true
		d.SetTitle(r, e.Field("name"), transcript.RankGiven)
	case "thinking_level_change", "active_tools_change", "custom", "label", "leaf":
		r.UI = true
	default:
		unknown(d, r, e)
	}
	if r.Type = d.TypeName(kind, sub); d.Again(r) {
		return
	}
	d.RememberUUID(r)
	chain(d, r, e)
}

// CopySummary is the type of the first message in a copy that ccd wrote.
const CopySummary = "ccd"

// chooses lists the entries with which a person may choose where to go on, before typing there. Others, and those of
// extensions, only follow what was said.
var chooses = map[string]bool{
	"branch_summary": true, "model_change": true, "thinking_level_change": true, "label": true, "session_info": true, "leaf": true,
}

// chain adds the entry to the tree. If a person types behind an earlier entry, or behind none, the entries after that one are
// taken back. An entry without parentId follows the last one.
func chain(d *transcript.Decoder, r *transcript.Record, e transcript.Object) {
	parent := e.Field("parentId")
	switch {
	case r.UUID == "" && !r.Typed():
	case chooses[e.Field("type").Text()] && !e.Field("fromHook").IsTrue():
		d.Chain.Alias(r.UUID, parent.Text())
	case string(parent.Raw) == "null":
		d.Chain.Root(r, r.UUID)
	default:
		d.Chain.Add(r, r.UUID, parent.Text())
	}
}

func header(d *transcript.Decoder, r *transcript.Record, e transcript.Object) {
	r.UI = true
	r.Resumed = transcript.ReadResumed(e.Field("ccd"))
	r.Cwd = transcript.Reuse(&d.Last.Cwd, e.Field("cwd"))
	r.Model = transcript.Reuse(&d.Last.Model, e.Field("modelId"))
	if from := e.First("parentSession", "branchedFrom").Text(); from != "" {
		r.Origin = sessionOf(from)
	}
}

// compacted reads an entry after which the context is the summary and what was kept: the entries from firstKeptEntryId
// on or, in newer versions, copies of their messages in the entry itself. Version 1 has a count of entries instead, so
// what it kept is unknown.
func compacted(d *transcript.Decoder, r *transcript.Record, e transcript.Object) {
	b := transcript.Boundary{Before: e.Field("tokensBefore").Integer(), Replaced: e.Field("retainedTail").Is('[')}
	if first, last := e.Field("firstKeptEntryId").Text(), e.Field("parentId").Text(); first != "" && last != "" && !b.Replaced {
		b.Preserved = d.UUIDsBetween(first, last)
	}
	d.SetBoundary(r, b)
	r.AddFirst(transcript.Item{Kind: transcript.Summary}, e.Field("summary"))
}

// Retained adds the items of the new context that a compaction entry contains.
func Retained(d *transcript.Decoder, held *transcript.Record, line transcript.Node) {
	held.AddFirst(transcript.Item{Kind: transcript.Summary}, line.Field("summary"))
	for message := range line.Field("retainedTail").Elements() {
		addMessage(d, held, message)
	}
}

// unknown decodes an entry of an unknown type. If it looks like something that the model sees it gives items, but none
// of them counts as a person's words.
func unknown(d *transcript.Decoder, r *transcript.Record, e transcript.Object) {
	r.Unknown = true
	if e.Field("message").Is('{') {
		content(d, r, e.Field("message").Field("content"), transcript.Voice{Role: e.Field("message").Field("role").Text()})
		return
	}
	for _, n := range []transcript.Node{e.Field("content"), e.Field("summary")} {
		if n.Full() {
			content(d, r, n, transcript.Voice{})
		}
	}
}
