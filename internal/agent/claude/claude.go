package claude

import (
	"bytes"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// line is the members of a Claude Code record that ccd reads; the rest is never looked at.
type line struct {
	kind, subtype, uuid, parent, timestamp, session, cwd, branch, version, requestID transcript.Node
	message, attachment, rendered, result, compact, content, data                    transcript.Node
	origin, promptSource, turnOrigin, denial, permission                             transcript.Node
	name, input, output, id                                                          transcript.Node
	title, aiTitle, summary, agentName, ccd                                          transcript.Node
	side, meta, isSummary, transcriptOnly                                            bool
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
		case "timestamp":
			l.timestamp = v
		case "sessionId":
			l.session = v
		case "cwd":
			l.cwd = v
		case "gitBranch":
			l.branch = v
		case "version":
			l.version = v
		case "requestId":
			l.requestID = v
		case "message":
			l.message = v
		case "attachment":
			l.attachment = v
		case "rendered":
			l.rendered = v
		case "toolUseResult":
			l.result = v
		case "compactMetadata":
			l.compact = v
		case "content":
			l.content = v
		case "data":
			l.data = v
		case "origin":
			l.origin = v
		case "promptSource":
			l.promptSource = v
		case "turnOrigin":
			l.turnOrigin = v
		case "toolDenialKind":
			l.denial = v
		case "permissionDecision":
			l.permission = v
		case "name":
			l.name = v
		case "input":
			l.input = v
		case "output":
			l.output = v
		case "id":
			l.id = v
		case "customTitle":
			l.title = v
		case "aiTitle":
			l.aiTitle = v
		case "summary":
			l.summary = v
		case "agentName":
			l.agentName = v
		case "ccd":
			l.ccd = v
		case "isSidechain":
			l.side = v.IsTrue()
		case "isMeta":
			l.meta = v.IsTrue()
		case "isCompactSummary":
			l.isSummary = v.IsTrue()
		case "isVisibleInTranscriptOnly":
			l.transcriptOnly = v.IsTrue()
		}
	}
	return l
}

// parse understands one record of Claude Code. Copies for the screen and bookkeeping (toolUseResult, progress,
// api-request*, snapshots, queue operations, titles, ...) give no items: what reached the model stands in user,
// assistant, attachment and system/local_command records.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := read(value)
	sub := l.subtype
	switch kind := l.kind.Text(); kind {
	case "user":
		header(d, r, &l)
		user(d, r, &l)
	case "assistant":
		header(d, r, &l)
		assistant(d, r, &l)
	case "attachment":
		header(d, r, &l)
		sub = l.attachment.Field("type")
		attachment(d, r, &l)
	case "system":
		header(d, r, &l)
		system(d, r, &l)
	case "progress":
		header(d, r, &l)
		sub = l.data.Field("type")
		r.UI = true
	default:
		header(d, r, &l)
		if r.UI = bookkeeping[kind]; r.UI {
			title(d, r, &l)
		} else {
			unknown(d, r, &l, kind)
		}
	}
	r.Type = d.TypeName(l.kind, sub)
	if !r.UI {
		d.Remember(r.UUID)
	}
	if !l.side {
		r.Back = d.Chain.Add(r.UUID, l.parent.Text(), slices.ContainsFunc(r.Items, typed))
	}
}

// typed reports whether a person typed an item as a message of its own.
func typed(it transcript.Item) bool { return it.Kind == transcript.Human && it.Call == "" }

// bookkeeping are the record types that hold nothing that reached the model.
var bookkeeping = map[string]bool{
	"summary": true, "custom-title": true, "ai-title": true, "agent-name": true, "agent-color": true,
	"agent-setting": true, "tag": true, "file-history-snapshot": true, "queue-operation": true, "last-prompt": true,
	"permission-mode": true, "mode": true, "pr-link": true, "worktree-state": true, "teleported-from": true,
	"relocated": true, "frame-link": true, "bridge-session": true, "atis-latch": true, "tools-used": true,
	"cost-state": true, "api-request": true, "api-request-shape": true, "api-request-blob": true,
	"started": true, "result": true, "content-replacement": true, "attribution-snapshot": true,
	"speculation-accept": true, "marble-origami-commit": true, "marble-origami-snapshot": true,
}

func header(d *transcript.Decoder, r *transcript.Record, l *line) {
	r.UUID = l.uuid.Text()
	r.Time = transcript.Clock(l.timestamp)
	r.Cwd = transcript.Reuse(&d.Last.Cwd, l.cwd)
	if d.Class == transcript.SubAgent { // its lines carry the session that started it
		r.Parent = transcript.Reuse(&d.Last.Session, l.session)
	}
	r.Branch = transcript.Reuse(&d.Last.Branch, l.branch)
	r.Version = transcript.Reuse(&d.Last.Version, l.version)
	l.side = l.side && d.Class == transcript.Main
}

func title(d *transcript.Decoder, r *transcript.Record, l *line) {
	d.Entitle(r, l.summary, transcript.RankSummary)
	d.Entitle(r, l.agentName, transcript.RankMade)
	d.Entitle(r, l.aiTitle, transcript.RankMade)
	d.Entitle(r, l.title, transcript.RankGiven)
}

func user(d *transcript.Decoder, r *transcript.Record, l *line) {
	if l.transcriptOnly && !l.isSummary {
		r.UI = true
		return
	}
	r.Resumed = transcript.ReadResumed(l.ccd)
	v := transcript.Voice{Role: "user", Summary: l.isSummary, Side: l.side, By: author(d, l, l.origin), Denied: l.denied()}
	content := l.message.Field("content")
	r.Unknown = r.Unknown || len(content.Raw) == 0
	d.Content(r, content, v)
	r.Chosen = chosen(content)
	if l.result.Is('{') && len(r.Items) > 0 && d.Op(r.Items[0].Tool) == transcript.Agent {
		r.Agent = l.result.Field("agentId").Text()
	}
}

// author is who wrote the texts of a record with this origin. Versions that tell (2.1.161 and later, not in all modes)
// call what a person sent "human", and every other origin names a program.
func author(d *transcript.Decoder, l *line, origin transcript.Node) transcript.Author {
	if l.side || l.meta || d.Class != transcript.Main || l.promptSource.Text() == "system" {
		return transcript.Program
	}
	switch origin.Field("kind").Text() {
	case "human":
		return transcript.Person
	case "":
	default:
		return transcript.Program
	}
	switch l.turnOrigin.Text() {
	case "scheduled", "task_notification", "auto_continuation", "peer", "host_synthetic", "system":
		return transcript.Program
	}
	if l.promptSource.Text() == "typed" {
		return transcript.Person
	}
	return transcript.Untold
}

// denied tells why a call was not allowed, as the record has it: "accept" where it was, "" where nothing is told.
func (l *line) denied() string {
	if l.denial.Full() {
		return l.denial.Text()
	}
	if decision := l.permission.Field("decision").Text(); decision == "accept" {
		return decision
	}
	return ""
}

// synthetic is the model name of replies that the client made up.
const synthetic = "<synthetic>"

func assistant(d *transcript.Decoder, r *transcript.Record, l *line) {
	var id, model, content, usage transcript.Node
	for key, v := range l.message.Members() {
		switch string(key) {
		case "id":
			id = v
		case "model":
			model = v
		case "content":
			content = v
		case "usage":
			usage = v
		}
	}
	r.Unknown = r.Unknown || len(content.Raw) == 0
	v := transcript.Voice{Role: "assistant", Message: id.Text(), Side: l.side}
	if m := transcript.Reuse(&d.Last.Model, model); m == synthetic {
		v.Local = true
	} else if !l.side {
		r.Model = m
	}
	d.Content(r, content, v)
	if !v.Local {
		reported(d, r, l, v.Message, usage)
	}
}

// chosen is the model that /model answers to have set.
func chosen(content transcript.Node) string {
	const answer = "<local-command-stdout>Set model to "
	if !bytes.HasPrefix(content.Raw, []byte(`"`+answer)) {
		return ""
	}
	return transcript.BetweenTexts(content.Text(), answer, "</local-command-stdout>")
}

// reported reads what a reply reports. All lines of a reply repeat it, under one ID. All zero says nothing. One count
// that is none makes all of it doubtful.
func reported(d *transcript.Decoder, r *transcript.Record, l *line, message string, usage transcript.Node) {
	total, sound := int64(0), true
	for key, v := range usage.Members() {
		switch string(key) {
		case "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens":
			count, ok := v.Tokens()
			ok = ok || v.Is('n') && bytes.HasPrefix(key, []byte("cache_")) // the API allows null there
			total, sound = total+count, sound && ok
		}
	}
	if !sound {
		total = transcript.NoCount
	}
	if total == 0 {
		return
	}
	d.Uses(r, transcript.Usage{ID: strings.TrimSpace(message + " " + l.requestID.Text()), Context: total, Side: l.side})
}

func system(d *transcript.Decoder, r *transcript.Record, l *line) {
	switch l.subtype.Text() {
	case "compact_boundary":
		if !l.side {
			boundary(d, r, l.compact)
		}
	case "local_command":
		v := transcript.Voice{Role: "user", Side: l.side}
		if d.Typed(l.content.Text()) { // the rest is what commands print
			v.By = author(d, l, l.origin)
		}
		d.Say(r, l.content, v)
		r.Chosen = chosen(l.content)
	default:
		r.UI = true
	}
}

func boundary(d *transcript.Decoder, r *transcript.Record, compact transcript.Node) {
	var messages, segment transcript.Node
	b := transcript.Boundary{}
	for key, v := range compact.Members() {
		switch string(key) {
		case "trigger":
			b.Trigger = v.Text()
		case "preTokens":
			b.Before = v.Integer()
		case "preservedMessages":
			messages = v
		case "preservedSegment":
			segment = v
		}
	}
	for uuid := range messages.Field("uuids").Elements() {
		b.Preserved = append(b.Preserved, uuid.Text())
	}
	if b.Preserved == nil && segment.Is('{') {
		b.Preserved = d.Between(segment.Field("headUuid").Text(), segment.Field("tailUuid").Text())
	}
	d.Compacted(r, b)
}

// unknown keeps a record of a type that is not known. Where it looks like something that a model sees (a
// message, a call, a result), it gives items all the same; none of them is taken for a person's words.
func unknown(d *transcript.Decoder, r *transcript.Record, l *line, kind string) {
	r.Unknown = true
	switch {
	case l.message.Is('{'):
		d.Content(r, l.message.Field("content"), transcript.Voice{Role: l.message.Field("role").Text(), Side: l.side})
	case kind == "tool_use":
		d.Call(r, transcript.Item{Call: l.id.Text(), Tool: l.name.Text(), Side: l.side}, l.input, transcript.Node{})
	case kind == "tool_result":
		r.AddFirst(transcript.Item{Kind: transcript.Result, Tool: l.name.Text(), Side: l.side}, l.output, l.content)
	}
}
