package claude

import (
	"bytes"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// line is a Claude Code record.
type line struct {
	transcript.Object
	side bool
}

// parse decodes one record of Claude Code. Copies for the screen and bookkeeping (toolUseResult, progress,
// api-request*, snapshots, queue operations, titles, ...) give no items, because everything that reached the model is
// in user, assistant, attachment and system/local_command records.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := line{Object: d.Object(value)}
	l.side = l.Field("isSidechain").IsTrue() && d.Class == transcript.Main
	header(d, r, &l)
	sub := l.Field("subtype")
	switch kind := l.Field("type").Text(); kind {
	case "user":
		user(d, r, &l)
	case "assistant":
		assistant(d, r, &l)
	case "attachment":
		sub = l.Field("attachment").Field("type")
		attachment(d, r, &l)
	case "system":
		system(d, r, &l)
	case "queue-operation":
		sub = l.Field("operation")
		queue(d, r, &l)
	case "progress":
		sub = l.Field("data").Field("type")
		r.UI = true
		if reply := l.Field("data").Field("message"); reply.Field("type").Text() == "assistant" { // of a sub-agent
			usage(d, r, reply.Field("message"), reply.Field("requestId"), true)
		}
	default:
		if r.UI = bookkeeping[kind]; r.UI {
			title(d, r, &l)
		} else {
			unknown(d, r, &l, kind)
		}
	}
	r.Type = transcript.TypeName(l.Field("type"), sub)
	if d.Again(r) {
		return
	}
	if !r.UI {
		d.RememberUUID(r)
	}
	chain(d, r, &l)
}

// chain adds the record to the tree. A person can go back to the beginning only in the program that has it on the screen, and
// not beyond a compaction.
func chain(d *transcript.Decoder, r *transcript.Record, l *line) {
	parent := l.Field("parentUuid")
	switch {
	case l.side:
	case string(parent.Raw) == "null" && !d.Chain.Compacted() && !l.Field("logicalParentUuid").Full() && !strings.HasPrefix(l.Field("entrypoint").Text(), "sdk"):
		d.Chain.Root(r, r.UUID)
	default:
		d.Chain.Add(r, r.UUID, parent.Text())
	}
}

// bookkeeping lists the record types with nothing that reached the model.
var bookkeeping = transcript.Set("summary custom-title ai-title agent-name agent-color agent-setting tag file-history-snapshot last-prompt " +
	"permission-mode mode pr-link worktree-state teleported-from relocated frame-link bridge-session atis-latch tools-used " +
	"cost-state api-request api-request-shape api-request-blob started result content-replacement attribution-snapshot " +
	"speculation-accept marble-origami-commit marble-origami-snapshot")

// queue decodes what happened to a message that was typed while the agent worked. "remove" means that the running turn took
// it; often it then stands nowhere else.
func queue(d *transcript.Decoder, r *transcript.Record, l *line) {
	r.UI, r.Queued = true, l.Field("content").Text()
	switch l.Field("operation").Text() {
	case "enqueue":
		content := l.Field("content")
		if text := content.Text(); text != "" && d.Class == transcript.Main && !strings.HasPrefix(strings.TrimSpace(text), "<") {
			r.Queue, r.UI = transcript.Enqueued, false
			r.Add(transcript.Item{Kind: transcript.Meta}, content)
		}
	case "remove":
		r.Queue = transcript.Delivered
	case "dequeue":
		r.Queue = transcript.Repeated
	case "popAll":
		r.Queue = transcript.Withdrawn
	default:
		r.Unknown = true
	}
	if s := transcript.StateOf[memory](d); r.Queue == transcript.Enqueued {
		s.waiting.Add(r.Queued, r.Queued)
	} else if text, ok := s.waiting.Take(r); ok {
		s.delivered = append(s.delivered[max(0, len(s.delivered)+1-maxDelivered):], text)
	}
}

// maxDelivered is how many messages are kept that a record may attach once more.
const maxDelivered = 64

// attached marks messages that were taken into the running turn before, and stand here once more.
func attached(d *transcript.Decoder, r *transcript.Record) {
	s := transcript.StateOf[memory](d)
	for i := range r.Items {
		it := &r.Items[i]
		if it.Kind != transcript.Human || it.Call != "" || len(s.delivered) == 0 {
			continue
		}
		if n := slices.Index(s.delivered, transcript.Node{Raw: it.Raw}.Text()); n >= 0 {
			s.delivered = slices.Delete(s.delivered, n, n+1)
			it.Kind, it.Copy = transcript.Meta, true
		}
	}
}

func header(d *transcript.Decoder, r *transcript.Record, l *line) {
	r.UUID = l.Field("uuid").Text()
	r.Time = transcript.ParseTime(l.Field("timestamp"))
	r.Cwd = transcript.Reuse(&d.Last.Cwd, l.Field("cwd"))
	if d.Class == transcript.SubAgent { // its lines name the session that started it
		r.Parent = transcript.Reuse(&d.Last.Session, l.Field("sessionId"))
	}
	if from := l.Field("forkedFrom").Field("sessionId").Text(); from != "" {
		r.Origin, r.Copied = from, true
	}
	r.Branch, r.Team = transcript.Reuse(&d.Last.Branch, l.Field("gitBranch")), l.Field("teamName").Text()
	r.Version = transcript.Reuse(&d.Last.Version, l.Field("version"))
}

func title(d *transcript.Decoder, r *transcript.Record, l *line) {
	d.SetSummary(r, l.Field("summary"), l.Field("leafUuid").Text()) // clients also copy those of the project's other sessions
	d.SetTitle(r, l.Field("agentName"), transcript.RankMade)
	d.SetTitle(r, l.Field("aiTitle"), transcript.RankMade)
	d.SetTitle(r, l.Field("customTitle"), transcript.RankGiven)
}

func user(d *transcript.Decoder, r *transcript.Record, l *line) {
	isSummary := l.Field("isCompactSummary").IsTrue()
	if l.Field("isVisibleInTranscriptOnly").IsTrue() && !isSummary {
		r.UI = true
		return
	}
	r.Resumed = transcript.ReadResumed(l.Field("ccd"))
	v := transcript.Voice{Role: "user", Summary: isSummary, Side: l.side, By: author(d, l, l.Field("origin")), Denied: l.denied()}
	content := l.Field("message").Field("content")
	r.Unknown = r.Unknown || len(content.Raw) == 0
	v.Summary = answered(d, r, l, content) || v.Summary
	d.Content(r, content, v)
	markCopies(d, r, l)
	attached(d, r)
	reasons(r)
	if l.Field("toolUseResult").Field("interrupted").IsTrue() {
		for i := range r.Items { // the person interrupted their calls
			if it := &r.Items[i]; it.Kind == transcript.Result {
				it.Failed, it.Told = true, &transcript.Told{Stopped: true}
			}
		}
	}
	r.Chosen = chosen(content)
	if l.Field("toolUseResult").Is('{') && len(r.Items) > 0 && d.Client.Op(r.Items[0].Tool) == transcript.Agent {
		r.Agent = l.Field("toolUseResult").Field("agentId").Text()
	}
}

// reasons gives a person's words behind the report of a refusal to the call that was refused.
func reasons(r *transcript.Record) {
	for i := 1; i < len(r.Items); i++ {
		it, before := &r.Items[i], &r.Items[i-1]
		if it.Kind == transcript.Human && it.Call == "" && before.Kind == transcript.Result && !before.Side &&
			(before.Refused || before.Explain(before.Tool, transcript.Other).Rejected) {
			it.Call = before.Call
		}
	}
}

// author returns who wrote the texts of a record with this origin. Versions that record an origin (2.1.161 and later,
// not in all modes) call what a person sent "human"; every other origin names a program.
func author(d *transcript.Decoder, l *line, origin transcript.Node) transcript.Author {
	if l.side || l.Field("isMeta").IsTrue() || d.Class != transcript.Main || l.Field("promptSource").Text() == "system" {
		return transcript.Program
	}
	switch origin.Field("kind").Text() {
	case "human":
		return transcript.Person
	case "":
	default:
		return transcript.Program
	}
	switch l.Field("turnOrigin").Text() {
	case "scheduled", "task_notification", "auto_continuation", "peer", "host_synthetic", "system":
		return transcript.Program
	}
	if l.Field("promptSource").Text() == "typed" {
		return transcript.Person
	}
	return transcript.UnknownAuthor
}

// denied returns why a call was not allowed: "accept" if it was allowed, "" if the record does not say.
func (l *line) denied() string {
	if l.Field("toolDenialKind").Full() {
		return l.Field("toolDenialKind").Text()
	}
	if decision := l.Field("permissionDecision").Field("decision").Text(); decision == "accept" {
		return decision
	}
	return ""
}

// synthetic is the model name of replies that the client wrote without a model.
const synthetic = "<synthetic>"

func assistant(d *transcript.Decoder, r *transcript.Record, l *line) {
	m := d.Object(l.Field("message"))
	content := m.Field("content")
	r.Unknown = r.Unknown || len(content.Raw) == 0
	v := transcript.Voice{Role: "assistant", Message: m.Field("id").Text(), Side: l.side}
	r.APIError = l.Field("isApiErrorMessage").IsTrue()
	if model := transcript.Reuse(&d.Last.Model, m.Field("model")); model == synthetic || r.APIError {
		v.Local = true
	} else if !l.side {
		r.Model = model
	}
	d.Content(r, content, v)
	markCopies(d, r, l)
	r.TurnEnd = !l.side && m.Field("stop_reason").Text() == "end_turn"
	if !v.Local {
		usage(d, r, l.Field("message"), l.Field("requestId"), l.side)
	}
}

// usage takes what a reply reports. Every line of a reply repeats it under one ID.
func usage(d *transcript.Decoder, r *transcript.Record, message, request transcript.Node, side bool) {
	reported := d.Object(message.Field("usage"))
	spent := reported.Spent(counts)
	if spent != nil && spent.Out < mostBegun && string(message.Field("stop_reason").Raw) == "null" {
		spent.Begun = 1
	}
	held := reported.Tokens(counts.In, counts.Out[0], counts.Written, counts.Cached)
	if in := reported.Field(counts.In); len(in.Raw) > 0 && !in.Has() { // null; the API allows that of the caches alone
		held = transcript.NoCount
	}
	d.SetUsage(r, transcript.Usage{ID: strings.TrimSpace(message.Field("id").Text() + " " + request.Text()), Context: held, Side: side, Spent: spent})
}

var counts = transcript.Counts{In: "input_tokens", Cached: "cache_read_input_tokens", Written: "cache_creation_input_tokens", Out: []string{"output_tokens"}}

// mostBegun is above the counts of an output that a stream begins with. Where no reason for its end is known, a larger one is whole.
const mostBegun = 30

// chosen returns the model that the output of /model says it set, or "".
func chosen(content transcript.Node) string {
	const answer = "<local-command-stdout>Set model to "
	if !bytes.HasPrefix(content.Raw, []byte(`"`+answer)) {
		return ""
	}
	return transcript.BetweenTexts(content.Text(), answer, "</local-command-stdout>")
}

func system(d *transcript.Decoder, r *transcript.Record, l *line) {
	switch l.Field("subtype").Text() {
	case "compact_boundary":
		if !l.side {
			boundary(d, r, l.Field("compactMetadata"))
		}
	case "local_command":
		v := transcript.Voice{Role: "user", Side: l.side}
		if d.Typed(l.Field("content").Text()) { // other texts are command output
			v.By = author(d, l, l.Field("origin"))
		}
		d.Say(r, l.Field("content"), v)
		r.Chosen = chosen(l.Field("content"))
	default:
		kind := l.Field("subtype").Text()
		r.UI, r.APIError, r.Unknown = true, kind == "api_error", kind != "" && !systemKinds[kind]
		r.TurnEnd = !l.side && (kind == "turn_duration" || kind == "stop_hook_summary" && l.Field("preventedContinuation").Has() && !l.Field("hookErrors").Full())
	}
}

// systemKinds lists the subtypes of system records with nothing that reached the model.
var systemKinds = transcript.Set("turn_duration stop_hook_summary api_error informational microcompact_boundary bridge_status away_summary memory_saved " +
	"agents_killed scheduled_task_fire permission_retry api_metrics hook_response hook_started hook_progress init status " +
	"thinking file_snapshot task_started task_progress task_notification session_start model_refusal_fallback api_refusal " +
	"error")

func boundary(d *transcript.Decoder, r *transcript.Record, compact transcript.Node) {
	b := transcript.Boundary{Trigger: compact.Field("trigger").Text(), Before: compact.Field("preTokens").Integer()}
	messages, segment := compact.Field("preservedMessages"), compact.Field("preservedSegment")
	for uuid := range messages.Field("uuids").Elements() {
		b.Preserved = append(b.Preserved, uuid.Text())
	}
	if b.Preserved == nil && segment.Is('{') {
		b.Preserved = d.UUIDsBetween(segment.Field("headUuid").Text(), segment.Field("tailUuid").Text())
	}
	d.SetBoundary(r, b)
	transcript.StateOf[memory](d).left = 0
}

// unknown decodes a record of an unknown type. If it looks like something that the model sees (a message, a call, a
// result), it gives items, but none of them counts as a person's words.
func unknown(d *transcript.Decoder, r *transcript.Record, l *line, kind string) {
	r.Unknown = true
	switch {
	case l.Field("message").Is('{'):
		d.Content(r, l.Field("message").Field("content"), transcript.Voice{Role: l.Field("message").Field("role").Text(), Side: l.side})
	case kind == "tool_use":
		d.Call(r, transcript.Item{Call: l.Field("id").Text(), Tool: l.Field("name").Text(), Side: l.side}, l.Field("input"), transcript.Node{})
	case kind == "tool_result":
		r.AddFirst(transcript.Item{Kind: transcript.Result, Tool: l.Field("name").Text(), Side: l.side}, l.Field("output"), l.Field("content"))
	}
}

// An attachment record contains what Claude Code itself adds to the context (reminders, file contents, hook output,
// listings) and what a person typed while the agent was working (queued_command). New versions put the text that was
// sent in "rendered"; in older ones it is the attachment's own text.

// silent lists the attachments that the model never sees: prompt_snapshot, for example, repeats the system prompt and
// the tools' schemas.
var silent = map[string]bool{"prompt_snapshot": true, "session_context": true}

func attachment(d *transcript.Decoder, r *transcript.Record, l *line) {
	a := d.Object(l.Field("attachment"))
	kind := a.Field("type").Text()
	if silent[kind] {
		r.UI = true
		return
	}
	item := transcript.Item{Kind: transcript.Meta, Side: l.side}
	if kind == "queued_command" {
		queued(d, r, l, a)
		return
	}
	if l.Field("rendered").Is('[') {
		for sent := range l.Field("rendered").Elements() {
			if content := sent.Field("content"); content.Full() {
				r.Add(item, content)
			}
		}
		return
	}
	if n := a.First("content", "text", "snippet", "prompt"); n.Full() {
		r.Add(item, n)
	}
}

// queued adds a prompt that waited for the agent. A person wrote it unless the record says that a program queued it.
func queued(d *transcript.Decoder, r *transcript.Record, l *line, a transcript.Object) {
	mode := a.Field("commandMode").Text()
	v := transcript.Voice{Role: "user", Side: l.side}
	origin := a.Field("origin")
	if !origin.Full() {
		origin = l.Field("origin")
	}
	if !a.Field("isMeta").IsTrue() && (mode == "prompt" || mode == "bash" || mode == "") {
		v.By = author(d, l, origin)
	}
	d.Content(r, a.Field("prompt"), v)
	attached(d, r)
	if mode == "task-notification" || a.Field("origin").Field("kind").Text() == "task-notification" {
		r.Agent = transcript.BetweenTexts(transcript.PlainText(a.Field("prompt")), "<task-id>", "</task-id>")
	}
}

// After a compaction that ccd answered, the client writes ccd's text as a message of the user's, without isCompactSummary,
// and then the newest messages once more, with new UUIDs. The text is the agent's summary, and the rest is not said twice.

// memory is what the decoder knows of earlier records.
type memory struct {
	begun     bool                       // the agent has said or done something: a fork of a compacted session begins with copies that stand nowhere else
	left      int                        // copied blocks that follow ccd's text
	waiting   transcript.Waiting[string] // what a person typed while the agent worked
	delivered []string                   // of that, what the running turn took
}

// answered reports whether a message is ccd's text: it has ccd's front matter, and nobody typed it. That does not depend on
// what was decoded before, because a search decodes single lines. In a fork the text names the session that was compacted.
func answered(d *transcript.Decoder, r *transcript.Record, l *line, content transcript.Node) bool {
	if l.side || l.Field("promptSource").Full() {
		return false
	}
	live, ok := transcript.ReadLive(content.Text())
	if s := transcript.StateOf[memory](d); ok && s.begun {
		s.left = live.Kept
	}
	if ok && live.Session != l.Field("sessionId").Text() {
		r.Origin = live.Session
	}
	return ok
}

// markCopies marks the items of a record that repeats an earlier message. The client adds to records of its own what it
// does not add to those: who made the prompt, which request gave the reply, what the tool returned.
func markCopies(d *transcript.Decoder, r *transcript.Record, l *line) {
	t := transcript.StateOf[memory](d)
	t.begun = t.begun || len(r.Items) > 0 && r.Items[0].Kind.Assistant() && !l.side
	if t.left == 0 || l.side || len(r.Items) > 0 && r.Items[0].Kind == transcript.Summary {
		return
	}
	for _, own := range []string{"promptSource", "requestRef", "requestId", "toolUseResult", "sourceToolAssistantUUID"} {
		if l.Field(own).Full() {
			t.left = 0
			return
		}
	}
	for i := range r.Items {
		if t.left > 0 {
			t.left--
			r.Items[i].Kind, r.Items[i].Copy, r.Items[i].Call = transcript.Meta, true, ""
		}
	}
}
