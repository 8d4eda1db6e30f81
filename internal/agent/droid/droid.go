package droid

import (
	"bytes"
	"strings"

	"ccd/internal/transcript"
)

// parse understands one line of a session. The client loads a session in the order of its file, not by the links from
// record to record: going back to an earlier message makes a new file.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	var kind, id, timestamp, message transcript.Node
	for key, v := range value.Members() {
		switch string(key) {
		case "type":
			kind = v
		case "id":
			id = v
		case "timestamp":
			timestamp = v
		case "message":
			message = v
		}
	}
	r.Time, r.UUID = clock(timestamp), id.Text()
	r.Type = d.TypeName(kind, transcript.Node{})
	switch {
	case message.Is('{'):
		said(d, r, kind, message)
	case streamed(d, r, kind.Text(), value):
	case kind.Text() == "session_start":
		header(d, r, value)
	case kind.Text() == "compaction_state":
		compacted(d, r, value)
	case bookkeeping[kind.Text()]:
		r.UI = true
	default:
		r.Unknown = true
	}
}

// bookkeeping are the record types that hold nothing that reached the model.
var bookkeeping = map[string]bool{"todo_state": true, "agent_turn_outcome": true, "session_end": true}

// header reads the first line. The parent that it names is of a fork or of what this session goes on with; only one that
// calls it started it.
func header(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	r.UI = true
	if d.Begun {
		return
	}
	d.Begun = true
	made := transcript.RankMade
	if value.Field("isSessionTitleManuallySet").IsTrue() {
		made = transcript.RankGiven
	}
	for key, v := range value.Members() {
		switch string(key) {
		case "cwd":
			r.Cwd = transcript.Reuse(&d.Last.Cwd, v)
		case "version": // a number is that of the file's form
			r.Version = transcript.Reuse(&d.Last.Version, v)
		case "title":
			d.Entitle(r, v, transcript.RankSummary)
			if strings.HasPrefix(v.Text(), "# Task Tool Invocation") { // before the header named the caller
				d.Class = transcript.SubAgent
			}
		case "sessionTitle":
			d.Entitle(r, v, made)
		case "callingSessionId":
			if v.Full() {
				r.Parent, d.Class = v.Text(), transcript.SubAgent
			}
		case "decompSessionType":
			if v.Text() == "worker" {
				d.Class = transcript.SubAgent
			}
		}
	}
}

// said reads a message. One that is for the person's eyes alone (a notice, what a hook did) never reached the model.
func said(d *transcript.Decoder, r *transcript.Record, kind, message transcript.Node) {
	var role, content, model, reasoning, sealed, told transcript.Node
	v := transcript.Voice{By: d.Author(), Message: r.UUID}
	for key, m := range message.Members() {
		switch string(key) {
		case "role":
			role = m
		case "content":
			content = m
		case "modelId", "model":
			model = m
		case "chatCompletionReasoningContent":
			reasoning = m
		case "openaiEncryptedContent":
			sealed = m
		case "openaiReasoningSummary":
			told = m
		case "visibility":
			r.UI = m.Text() == "user_only"
			if m.Text() == "llm_only" {
				v.By = transcript.Program
			}
		case "hiddenFromUserViews":
			if m.IsTrue() {
				v.By = transcript.Program
			}
		case "userMessageSource":
			if m.Text() == "automation" {
				v.By = transcript.Program
			}
		}
	}
	if r.Unknown = kind.Text() != "message" || len(content.Raw) == 0; r.Unknown {
		v.By = transcript.Program
	}
	r.Type = d.TypeName(kind, role)
	if r.UI && !r.Unknown {
		return
	}
	r.UI = false
	if v.Role = role.Text(); v.Role == "assistant" {
		r.Model = transcript.Reuse(&d.Last.Model, model)
		if !thinks(content) { // else the same once more
			r.AddFirst(transcript.Item{Kind: transcript.Thinking, Message: v.Message}, reasoning, sealed, told)
		}
	}
	d.Content(r, content, v)
	for i := range r.Items {
		it := &r.Items[i]
		it.Failed = it.Failed || it.Kind == transcript.Result && d.Op(it.Tool) == transcript.Command && failed(it.Raw)
	}
	d.Remember(r.UUID)
}

func thinks(content transcript.Node) bool {
	for block := range content.Elements() {
		switch block.Field("type").Text() {
		case "thinking", "redacted_thinking":
			return true
		}
	}
	return false
}

// failed reads how a command ended, which stands at the beginning or at the end of its output.
func failed(raw []byte) bool {
	if bytes.HasPrefix(raw, []byte(`"Error: Command failed (exit code: `)) {
		return true
	}
	_, tail, ok := bytes.Cut(raw[max(0, len(raw)-48):], []byte(`[Process exited with code `))
	return ok && !bytes.HasPrefix(tail, []byte("0]"))
}

// compacted reads the record of a compaction: what stands behind its anchor stays in the context. One that begins a new
// session has no anchor, and nothing before it.
func compacted(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	var text, info, anchor transcript.Node
	for key, v := range value.Members() {
		switch string(key) {
		case "summaryText":
			text = v
		case "systemInfoText":
			info = v
		case "anchorMessage":
			anchor = v
		}
	}
	if anchor.Is('{') {
		anchor = anchor.Field("id")
	}
	d.Compacted(r, transcript.Boundary{Preserved: d.After(anchor.Text())})
	r.AddFirst(transcript.Item{Kind: transcript.Summary}, text, value.Field("summary"))
	if info.Full() { // the reminder that is sent with it
		r.Add(transcript.Item{Kind: transcript.Meta}, info)
	}
}
