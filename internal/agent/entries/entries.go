// Package entries decodes the entries that Pi and OpenClaw write: the nodes of a conversation's tree, one per line.
package entries

import (
	"cmp"
	"path/filepath"
	"strings"

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
		d.Content(r, e.Field("content"), transcript.Voice{Role: "custom", Summary: sub.Text() == CopySummary})
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
	if r.Type = transcript.TypeName(kind, sub); d.Again(r) {
		return
	}
	d.RememberUUID(r)
	chain(d, r, e)
}

// CopySummary is the type of the first message in a copy that ccd wrote.
const CopySummary = "ccd"

// chooses lists the entries with which a person may choose where to go on, before typing there. Others, and those of
// extensions, only follow what was said.
var chooses = transcript.Set("branch_summary model_change thinking_level_change label session_info leaf")

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
		stem := strings.TrimSuffix(transcript.Base(from), ".jsonl")
		r.Origin = cmp.Or(SessionID(stem), stem)
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
		d.Content(r, e.Field("message").Field("content"), transcript.Voice{Role: e.Field("message").Field("role").Text()})
		return
	}
	d.Content(r, e.Field("content"), transcript.Voice{})
	d.Content(r, e.Field("summary"), transcript.Voice{})
}

// local lists the model names that OpenClaw uses for replies that it wrote without a model.
var local = map[string]bool{"delivery-mirror": true, "gateway-injected": true}

type message struct {
	transcript.Object
	content transcript.Node
}

// addMessage adds the items of one message. Its details are for the screen: they repeat the content.
func addMessage(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	m := message{Object: d.Object(value)}
	m.content = m.Field("content")
	v := transcript.Voice{Role: m.Field("role").Text()}
	switch v.Role {
	case "user":
		v.By = d.Author()
		m.say(d, r, v)
	case "assistant":
		v.Message = r.UUID
		v.Local = local[m.Field("model").Text()]
		if !v.Local {
			r.Model = transcript.Reuse(&d.Last.Model, m.Field("model"))
			r.Provider = transcript.Reuse(&d.Last.Provider, m.Field("provider"))
			addUsage(d, r, m.Field("usage"))
		}
		m.say(d, r, v)
		stop := m.Field("stopReason").Text()
		r.Aborted, r.TurnEnd = stop == "aborted", stop == "stop"
		if stop == "error" {
			d.Refused(r, m.Field("errorMessage"))
		}
	case "toolResult":
		m.result(d, r)
	case "bashExecution":
		m.shell(d, r)
	case "branchSummary", "compactionSummary":
		r.AddFirst(transcript.Item{Kind: transcript.Summary}, m.Field("summary"))
	case "system", "developer", "custom", "hookMessage":
		m.say(d, r, v)
	default:
		r.Unknown = true
		d.Content(r, m.content, v)
	}
}

func (m *message) say(d *transcript.Decoder, r *transcript.Record, v transcript.Voice) {
	r.Unknown = r.Unknown || len(m.content.Raw) == 0
	d.Content(r, m.content, v)
}

func (m *message) result(d *transcript.Decoder, r *transcript.Record) {
	item := transcript.Item{Kind: transcript.Result, Call: m.Field("toolCallId").Text(), Tool: m.Field("toolName").Text(), Failed: m.Field("isError").IsTrue()}
	item.Tool = cmp.Or(item.Tool, d.ToolOf(item.Call))
	r.Unknown = r.Unknown || len(m.content.Raw) == 0
	item.Told = told(m.Field("details"))
	item.Failed = item.Failed || item.Told != nil && item.Told.Exit != 0
	r.AddFirst(item, m.content)
}

// told reads how a command ended from the details of OpenClaw's exec and process: also that it goes on, and the name by which
// process gets the rest.
func told(details transcript.Node) *transcript.Told {
	exit, status := details.Field("exitCode"), details.Field("status").Text()
	switch name := details.Field("sessionId").Text(); {
	case status == "running" && name != "":
		return &transcript.Told{Running: name}
	case exit.Has() && (status == "completed" || status == "failed"):
		return &transcript.Told{Ended: true, Exit: int(exit.Integer()), Piped: true}
	}
	return nil
}

// shell adds a command that a person ran in the client (`!`) and its output: an act, and nothing said to the agent. The model
// never sees one that was run with `!!`.
func (m *message) shell(d *transcript.Decoder, r *transcript.Record) {
	if m.Field("excludeFromContext").IsTrue() {
		r.UI = true
		return
	}
	r.Shell = true
	d.Say(r, m.Field("command"), transcript.Voice{Role: "user", By: transcript.Program})
	d.Say(r, m.Field("output"), transcript.Voice{Role: "tool"})
}

// addUsage reads the usage that a reply reports; an interrupted reply has only zeros.
func addUsage(d *transcript.Decoder, r *transcript.Record, usage transcript.Node) {
	u := usage.Object()
	total := u.Tokens("totalTokens")
	if total == 0 { // versions of 2025 report no total
		total = u.Tokens("input", "output", "cacheRead", "cacheWrite")
	}
	d.SetUsage(r, transcript.Usage{ID: r.UUID, Context: total, Spent: u.Spent(counts)})
}

var counts = transcript.Counts{In: "input", Cached: "cacheRead", Written: "cacheWrite", Out: []string{"output"}}

// Block is the Client.Block of the clients that write entries.
func Block(d *transcript.Decoder, r *transcript.Record, one transcript.Node, v transcript.Voice) bool {
	item := transcript.Item{Message: v.Message}
	switch one.Field("type").Text() {
	case "toolCall":
		item.Call, item.Tool = one.Field("id").Text(), one.Field("name").Text()
		d.Call(r, item, one.Field("arguments"), one)
	case "thinking":
		item.Kind = transcript.Thinking
		r.AddFirst(item, one.Field("thinking"), one.Field("thinkingSignature"))
	case "image": // Pi puts the data and their type in the block itself
		item.Kind, item.Given = transcript.Image, v.Gives()
		r.AddFirst(item, one.Field("source"), one)
	default:
		return false
	}
	return true
}

// Dir returns a directory that an environment variable names. Both clients expand "~" at its beginning.
func Dir(named, home string) string {
	if rest, ok := strings.CutPrefix(named, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return filepath.Join(home, rest)
	}
	return named
}

// SessionID returns the UUID at the end of the name of a session file, or "". Pi puts the time before it.
func SessionID(stem string) string {
	if id := stem[strings.LastIndexByte(stem, '_')+1:]; transcript.IsUUID(id) {
		return id
	}
	return ""
}
