package transcript

import (
	"bytes"
	"strings"
	"time"
)

// claudeLine is the members of a Claude Code record that ccd reads; the rest is never looked at.
type claudeLine struct {
	kind, subtype, uuid, timestamp, session, cwd, branch, version, requestID node
	message, attachment, rendered, result, compact, content, data            node
	origin, promptSource, turnOrigin, denial, permission                     node
	name, input, output, id                                                  node
	title, aiTitle, summary, agentName, ccd                                  node
	side, meta, isSummary, transcriptOnly                                    bool
}

func readClaude(value node) (l claudeLine) {
	for key, v := range value.members() {
		switch string(key) {
		case "type":
			l.kind = v
		case "subtype":
			l.subtype = v
		case "uuid":
			l.uuid = v
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
			l.side = v.isTrue()
		case "isMeta":
			l.meta = v.isTrue()
		case "isCompactSummary":
			l.isSummary = v.isTrue()
		case "isVisibleInTranscriptOnly":
			l.transcriptOnly = v.isTrue()
		}
	}
	return l
}

// parseClaude understands one record of Claude Code. Copies for the screen and bookkeeping (toolUseResult, progress,
// api-request*, snapshots, queue operations, titles, ...) give no items: what reached the model stands in user,
// assistant, attachment and system/local_command records.
func parseClaude(d *Decoder, r *Record, value node) {
	if !value.is('{') {
		r.Unknown = true
		return
	}
	l := readClaude(value)
	sub := l.subtype
	switch kind := l.kind.text(); kind {
	case "user":
		d.claudeHeader(r, &l)
		d.claudeUser(r, &l)
	case "assistant":
		d.claudeHeader(r, &l)
		d.claudeAssistant(r, &l)
	case "attachment":
		d.claudeHeader(r, &l)
		sub = l.attachment.field("type")
		d.claudeAttachment(r, &l)
	case "system":
		d.claudeHeader(r, &l)
		d.claudeSystem(r, &l)
	case "progress":
		d.claudeHeader(r, &l)
		sub = l.data.field("type")
		r.UI = true
	default:
		d.claudeHeader(r, &l)
		if r.UI = claudeBookkeeping[kind]; r.UI {
			d.claudeTitle(r, &l)
		} else {
			d.claudeUnknown(r, &l, kind)
		}
	}
	r.Type = d.typeName(l.kind, sub)
	if !r.UI {
		d.recent.add(r.UUID)
	}
}

// claudeBookkeeping are the record types that hold nothing that reached the model.
var claudeBookkeeping = map[string]bool{
	"summary": true, "custom-title": true, "ai-title": true, "agent-name": true, "agent-color": true,
	"agent-setting": true, "tag": true, "file-history-snapshot": true, "queue-operation": true, "last-prompt": true,
	"permission-mode": true, "mode": true, "pr-link": true, "worktree-state": true, "teleported-from": true,
	"relocated": true, "frame-link": true, "bridge-session": true, "atis-latch": true, "tools-used": true,
	"cost-state": true, "api-request": true, "api-request-shape": true, "api-request-blob": true,
	"started": true, "result": true, "content-replacement": true, "attribution-snapshot": true,
	"speculation-accept": true, "marble-origami-commit": true, "marble-origami-snapshot": true,
}

func (d *Decoder) claudeHeader(r *Record, l *claudeLine) {
	r.UUID = l.uuid.text()
	r.Time = clock(l.timestamp)
	r.Cwd = same(&d.last.cwd, l.cwd)
	if d.class == SubAgent { // its lines carry the session that started it
		r.Parent = same(&d.last.session, l.session)
	}
	r.Branch = same(&d.last.branch, l.branch)
	r.Version = same(&d.last.version, l.version)
	l.side = l.side && d.class == Main
}

// clock reads an RFC 3339 time; the zero time where there is none, and of one that its offset carries out of the years
// that RFC 3339 and JSON can write.
func clock(n node) time.Time {
	if !n.is('"') {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, string(n.raw[1:len(n.raw)-1]))
	if t = t.UTC(); err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// The order in which titles win: what a person gave, before what a program made up.
const (
	rankSummary = iota + 1
	rankMade
	rankGiven
)

func (d *Decoder) claudeTitle(r *Record, l *claudeLine) {
	d.entitle(r, l.summary, rankSummary)
	d.entitle(r, l.agentName, rankMade)
	d.entitle(r, l.aiTitle, rankMade)
	d.entitle(r, l.title, rankGiven)
}

// entitle sets the record's title, unless a better one has been given before.
func (d *Decoder) entitle(r *Record, title node, rank int) {
	if title.full() && title.is('"') && rank >= d.titleRank {
		r.Title, d.titleRank = title.text(), rank
	}
}

func (d *Decoder) claudeUser(r *Record, l *claudeLine) {
	if l.transcriptOnly && !l.isSummary {
		r.UI = true
		return
	}
	r.Resumed = resumed(l.ccd)
	v := voice{role: "user", summary: l.isSummary, side: l.side, by: d.claudeAuthor(l, l.origin), denied: l.denied()}
	content := l.message.field("content")
	r.Unknown = r.Unknown || len(content.raw) == 0
	d.content(r, content, v)
	r.Chosen = chosen(content)
	if l.result.is('{') && len(r.Items) > 0 && toolOp(r.Items[0].Tool) == Agent {
		r.Agent = l.result.field("agentId").text()
	}
}

// claudeAuthor is who wrote the texts of a record with this origin. Versions that tell (2.1.161 and later, not in all modes)
// call what a person sent "human", and every other origin names a program.
func (d *Decoder) claudeAuthor(l *claudeLine, origin node) author {
	if l.side || l.meta || d.class != Main || l.promptSource.text() == "system" {
		return program
	}
	switch origin.field("kind").text() {
	case "human":
		return person
	case "":
	default:
		return program
	}
	switch l.turnOrigin.text() {
	case "scheduled", "task_notification", "auto_continuation", "peer", "host_synthetic", "system":
		return program
	}
	if l.promptSource.text() == "typed" {
		return person
	}
	return untold
}

// userRejected is why a call that the human refused was not allowed.
const userRejected = "user-rejected"

// denied tells why a call was not allowed, as the record has it: "accept" where it was, "" where nothing is told.
func (l *claudeLine) denied() string {
	if l.denial.full() {
		return l.denial.text()
	}
	if decision := l.permission.field("decision").text(); decision == "accept" {
		return decision
	}
	return ""
}

// synthetic is the model name of replies that the client made up.
const synthetic = "<synthetic>"

func (d *Decoder) claudeAssistant(r *Record, l *claudeLine) {
	var id, model, content, usage node
	for key, v := range l.message.members() {
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
	r.Unknown = r.Unknown || len(content.raw) == 0
	v := voice{role: "assistant", message: id.text(), side: l.side}
	if m := same(&d.last.model, model); m == synthetic {
		v.local = true
	} else if !l.side {
		r.Model = m
	}
	d.content(r, content, v)
	if !v.local {
		d.claudeUsage(r, l, v.message, usage)
	}
}

// chosen is the model that /model answers to have set.
func chosen(content node) string {
	const answer = "<local-command-stdout>Set model to "
	if !bytes.HasPrefix(content.raw, []byte(`"`+answer)) {
		return ""
	}
	return between(content.text(), answer, "</local-command-stdout>")
}

// claudeUsage reads what a reply reports. All lines of a reply repeat it, under one ID. All zero says nothing. One count
// that is none makes all of it doubtful.
func (d *Decoder) claudeUsage(r *Record, l *claudeLine, message string, usage node) {
	total, sound := int64(0), true
	for key, v := range usage.members() {
		switch string(key) {
		case "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens":
			count, ok := v.tokens()
			ok = ok || v.is('n') && bytes.HasPrefix(key, []byte("cache_")) // the API allows null there
			total, sound = total+count, sound && ok
		}
	}
	if !sound {
		total = NoCount
	}
	if total == 0 {
		return
	}
	d.usage = Usage{ID: strings.TrimSpace(message + " " + l.requestID.text()), Context: total, Side: l.side}
	r.Usage = &d.usage
}

func (d *Decoder) claudeSystem(r *Record, l *claudeLine) {
	switch l.subtype.text() {
	case "compact_boundary":
		if !l.side {
			r.Boundary = d.claudeBoundary(l.compact)
		}
	case "local_command":
		v := voice{role: "user", side: l.side}
		if _, _, ok := typed(l.content.text()); ok { // the rest is what commands print
			v.by = d.claudeAuthor(l, l.origin)
		}
		d.say(r, l.content, v)
		r.Chosen = chosen(l.content)
	default:
		r.UI = true
	}
}

func (d *Decoder) claudeBoundary(compact node) *Boundary {
	var messages, segment node
	d.bound = Boundary{}
	for key, v := range compact.members() {
		switch string(key) {
		case "trigger":
			d.bound.Trigger = v.text()
		case "preTokens":
			d.bound.Before = v.integer()
		case "preservedMessages":
			messages = v
		case "preservedSegment":
			segment = v
		}
	}
	for uuid := range messages.field("uuids").elements() {
		d.bound.Preserved = append(d.bound.Preserved, uuid.text())
	}
	if d.bound.Preserved == nil && segment.is('{') {
		d.bound.Preserved = d.recent.between(segment.field("headUuid").text(), segment.field("tailUuid").text())
	}
	return &d.bound
}

// claudeUnknown keeps a record of a type that is not known. Where it looks like something that a model sees (a
// message, a call, a result), it gives items all the same; none of them is taken for a person's words.
func (d *Decoder) claudeUnknown(r *Record, l *claudeLine, kind string) {
	r.Unknown = true
	switch {
	case l.message.is('{'):
		d.content(r, l.message.field("content"), voice{role: l.message.field("role").text(), side: l.side})
	case kind == "tool_use":
		d.call(r, Item{Call: l.id.text(), Tool: l.name.text(), Side: l.side}, l.input, node{})
	case kind == "tool_result":
		r.addFirst(Item{Kind: Result, Tool: l.name.text(), Side: l.side}, l.output, l.content)
	}
}
