package codex

import (
	"bytes"
	"strings"

	"ccd/internal/transcript"
)

// line is the members of a rollout's line. Old rollouts (before 0.32) have no envelope: the line is the payload.
type line struct{ timestamp, createdAt, kind, payload, recordType, metadata transcript.Node }

// parse understands one line of a rollout. What the model sees stands in response_item lines (bare lines in old
// rollouts) and in compacted; event_msg lines are the same once more for the screen, and never items, also where their
// twin is missing: which they are cannot be told from one line, and every version that writes them writes the twins.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	var l line
	for key, v := range value.Members() {
		switch string(key) {
		case "timestamp":
			l.timestamp = v
		case "created_at":
			l.createdAt = v
		case "type":
			l.kind = v
		case "payload":
			l.payload = v
		case "record_type":
			l.recordType = v
		case "metadata":
			l.metadata = v
		}
	}
	if r.Time = transcript.Clock(l.timestamp); r.Time.IsZero() {
		r.Time = transcript.Clock(l.createdAt)
	}
	if l.payload.Is('{') {
		envelope(d, r, l)
		return
	}
	bare(d, r, l, value)
}

func envelope(d *transcript.Decoder, r *transcript.Record, l line) {
	var sub transcript.Node
	switch l.kind.Text() {
	case "response_item":
		p := readItem(l.payload)
		p.metadata, sub = l.metadata, p.kind
		response(d, r, &p)
	case "event_msg":
		sub = l.payload.Field("type")
		event(d, r, sub.Text(), l.payload)
	case "session_meta":
		meta(d, r, l.payload)
	case "turn_context":
		r.UI = true
		r.Cwd = transcript.Reuse(&d.Last.Cwd, l.payload.Field("cwd"))
		r.Model = transcript.Reuse(&d.Last.Model, l.payload.Field("model"))
	case "compacted":
		compacted(d, r, l.payload)
	case "world_state", "token_usage_record":
		r.UI = true
	case "inter_agent_communication", "inter_agent_communication_metadata":
		r.AddFirst(transcript.Item{Kind: transcript.Meta}, l.payload.Field("content"))
	default:
		r.Unknown = true
		if p := readItem(l.payload); p.content.Full() {
			d.Content(r, p.content, transcript.Voice{Role: p.role.Text()})
		}
	}
	r.Type = d.TypeName(l.kind, sub)
}

// bare understands a line without an envelope: a header, a state row, or what would now be a response_item.
func bare(d *transcript.Decoder, r *transcript.Record, l line, value transcript.Node) {
	switch {
	case l.recordType.Has():
		r.UI = true
		r.Type = d.TypeName(l.recordType, transcript.Node{})
	case l.kind.Is('"'):
		p := readItem(value)
		response(d, r, &p)
		r.Type = d.TypeName(l.kind, transcript.Node{})
	case value.Field("role").Is('"'):
		p := readItem(value)
		p.kind = transcript.Node{Raw: []byte(`"message"`)}
		response(d, r, &p)
		r.Type = "message"
	case value.Field("id").Is('"') && l.timestamp.Is('"'):
		meta(d, r, value)
		r.Type = "session_meta"
	default:
		r.Unknown = true
	}
}

// meta reads a rollout's header. A fork copies its parent's lines, header included: only the first is its own.
func meta(d *transcript.Decoder, r *transcript.Record, meta transcript.Node) {
	if d.Begun {
		return
	}
	d.Begun = true
	for key, v := range meta.Members() {
		switch string(key) {
		case "cwd":
			r.Cwd = transcript.Reuse(&d.Last.Cwd, v)
		case "cli_version":
			r.Version = transcript.Reuse(&d.Last.Version, v)
		case "git":
			r.Branch = transcript.Reuse(&d.Last.Branch, v.Field("branch"))
		case "source":
			if sub := v.Field("subagent"); sub.Has() {
				d.Class = transcript.SubAgent
				if parent := sub.Field("thread_spawn").Field("parent_thread_id"); parent.Has() {
					r.Parent = parent.Text()
				}
			}
		case "parent_thread_id":
			r.Parent = v.Text()
		case "ccd":
			r.Resumed = transcript.ReadResumed(v)
		case "thread_source":
			if v.Text() == "subagent" {
				d.Class = transcript.SubAgent
			}
		}
	}
}

func event(d *transcript.Decoder, r *transcript.Record, kind string, payload transcript.Node) {
	r.UI = true
	switch kind {
	case "thread_name_updated":
		d.Entitle(r, payload.Field("thread_name"), transcript.RankGiven)
	case "thread_rolled_back":
		r.Back = int(payload.Field("num_turns").Integer())
	case "token_count":
		info := payload.Field("info")
		total, ok := info.Field("last_token_usage").Field("total_tokens").Tokens()
		if !ok {
			total = transcript.NoCount
		}
		if total != 0 {
			window, _ := info.Field("model_context_window").Tokens()
			d.Uses(r, transcript.Usage{Context: total, Window: window})
		}
	}
}

// compacted reads the record that replaces the context. Its items in replacement_history are copies of what
// stands before, or instructions; only the summary is new.
func compacted(d *transcript.Decoder, r *transcript.Record, payload transcript.Node) {
	history := payload.Field("replacement_history")
	d.Compacted(r, transcript.Boundary{Replaced: history.Is('[')})
	if message := payload.Field("message"); message.Full() {
		r.Add(transcript.Item{Kind: transcript.Summary}, message)
		return
	}
	var last transcript.Node
	for item := range history.Elements() {
		for block := range item.Field("content").Elements() {
			if t := block.Field("text"); t.Is('"') && d.IsSummary(t.Text()) {
				last = t
			}
		}
	}
	if last.Full() {
		r.Add(transcript.Item{Kind: transcript.Summary}, last)
	}
}

// item is the members of a response_item that any item type uses.
type item struct {
	kind, role, content, message, id, callID, name, arguments, input, output, result, action transcript.Node
	function, encrypted, summary, tools, author, passthrough, metadata                       transcript.Node
	whole                                                                                    transcript.Node
}

func readItem(payload transcript.Node) (p item) {
	p.whole = payload
	for key, v := range payload.Members() {
		switch string(key) {
		case "type":
			p.kind = v
		case "role":
			p.role = v
		case "content":
			p.content = v
		case "message":
			p.message = v
		case "id":
			p.id = v
		case "call_id":
			p.callID = v
		case "name":
			p.name = v
		case "arguments":
			p.arguments = v
		case "input":
			p.input = v
		case "output":
			p.output = v
		case "result":
			p.result = v
		case "action":
			p.action = v
		case "function":
			p.function = v
		case "encrypted_content":
			p.encrypted = v
		case "summary":
			p.summary = v
		case "tools":
			p.tools = v
		case "author":
			p.author = v
		case "internal_chat_message_metadata_passthrough":
			p.passthrough = v
		}
	}
	return p
}

func response(d *transcript.Decoder, r *transcript.Record, p *item) {
	switch p.kind.Text() {
	case "message":
		message(d, r, p)
	case "reasoning":
		r.AddFirst(transcript.Item{Kind: transcript.Thinking}, p.content, p.encrypted, p.summary)
	case "function_call", "custom_tool_call", "tool_call":
		call(d, r, p, p.toolName(), p.arguments, p.input)
	case "local_shell_call":
		call(d, r, p, "local_shell", p.action)
	case "web_search_call":
		call(d, r, p, "web_search", p.action)
	case "tool_search_call":
		call(d, r, p, "tool_search", p.arguments)
	case "function_call_output", "custom_tool_call_output", "tool_result", "function_result":
		result(d, r, p, p.output, p.result)
	case "tool_search_output":
		result(d, r, p, p.tools)
	case "image_generation_call":
		r.AddFirst(transcript.Item{Kind: transcript.Image, Call: p.call(), Tool: "image_generation"}, p.result)
	case "compaction", "compaction_summary", "context_compaction":
		r.AddFirst(transcript.Item{Kind: transcript.Thinking}, p.encrypted)
	case "agent_message":
		r.Agent = p.author.Text()
		d.Content(r, p.content, transcript.Voice{Role: "agent"})
	case "ghost_snapshot", "additional_tools", "state":
		r.UI = true
	default:
		r.Unknown = true
		d.Content(r, p.content, transcript.Voice{Role: p.role.Text()})
	}
}

func message(d *transcript.Decoder, r *transcript.Record, p *item) {
	v := transcript.Voice{Role: p.role.Text(), Message: p.id.Text()}
	v.Summary = v.Role == "assistant" && p.metadata.Field("compaction_output").IsTrue()
	if p.content.Is('[') {
		parts(d, r, p, v)
		return
	}
	v.By = d.Author()
	if p.content.Is('"') {
		d.Say(r, p.content, v)
	} else if p.message.Is('"') {
		d.Say(r, p.message, v)
	}
}

// parts adds the parts of a message. New rollouts tell of each part what it is: "user.text" is typed by a person.
func parts(d *transcript.Decoder, r *transcript.Record, p *item, v transcript.Voice) {
	var kinds []string
	if v.Role == "user" {
		for kind := range p.passthrough.Field("content_item_kinds").Elements() {
			kinds = append(kinds, kind.Text())
		}
	}
	i := 0
	for part := range p.content.Elements() {
		v.By = d.Author()
		if v.By == transcript.Untold && i < len(kinds) && kinds[i] != "" && kinds[i] != "unknown" {
			v.By = transcript.Program
			if strings.HasPrefix(kinds[i], "user.") && kinds[i] != "user.heartbeat" {
				v.By = transcript.Person
			}
		}
		d.Block(r, part, v)
		i++
	}
}

func (p *item) call() string {
	if id := p.callID.Text(); id != "" {
		return id
	}
	return p.id.Text()
}

func (p *item) toolName() string {
	if name := p.name.Text(); name != "" {
		if space := p.whole.Field("namespace").Text(); space != "" {
			return space + "__" + name
		}
		return name
	}
	return p.function.Field("name").Text()
}

func call(d *transcript.Decoder, r *transcript.Record, p *item, tool string, inputs ...transcript.Node) {
	item := transcript.Item{Kind: transcript.Call, Call: p.call(), Tool: tool}
	d.Named(item.Call, item.Tool)
	r.AddFirst(item, append(inputs, p.whole)...)
}

func result(d *transcript.Decoder, r *transcript.Record, p *item, outputs ...transcript.Node) {
	item := transcript.Item{Kind: transcript.Result, Call: p.callID.Text()}
	if item.Tool = d.ToolOf(item.Call); item.Tool == "" {
		item.Tool = p.name.Text()
	}
	for _, n := range outputs {
		if n.Has() {
			item.Failed = failed(n)
			if d.Class == transcript.Main && d.Op(item.Tool) == transcript.Ask && d.BuiltIn(item.Tool) && hasAnswers(n) {
				item.Kind, item.Frame = transcript.Human, transcript.Reported
			}
			r.AddFirst(item, n)
			return
		}
	}
	r.AddFirst(item, p.whole)
}

// hasAnswers reports whether the result of a question holds answers: where it could not be asked it is a sentence.
func hasAnswers(output transcript.Node) bool {
	text := bytes.TrimSpace([]byte(transcript.PlainText(output)))
	return transcript.Valid(text) && transcript.Node{Raw: text}.Field("answers").Is('{')
}

// failed reads how a command ended from the beginning or the end of its output, where Codex writes it.
func failed(output transcript.Node) bool {
	if output.Is('{') {
		return output.Field("success").Is('f') || output.Field("exitCode").Integer() != 0
	}
	raw := output.Raw
	head, _, _ := bytes.Cut(raw[:min(len(raw), 512)], []byte(`\nOutput:`))
	if len(head) > 1 && transcript.IsHead(string(head[1:])) {
		for _, mark := range []string{"Exit code: ", "Process exited with code "} {
			if exit, ok := numberAfter(head, mark); ok {
				return exit != 0
			}
		}
	}
	if bytes.HasPrefix(raw, []byte(`"{\"output\":`)) {
		exit, ok := numberAfter(raw[max(0, len(raw)-256):], `\"exit_code\":`)
		return ok && exit != 0
	}
	for _, p := range errorTexts {
		if bytes.HasPrefix(raw, []byte(`"`+p)) {
			return true
		}
	}
	return false
}

// errorTexts begin the outputs of calls that never ran.
var errorTexts = []string{
	"unsupported call: ", "failed to parse function arguments", "apply_patch verification failed", "execution error: ",
	"exec_command failed", "write_stdin failed", "err: ", "aborted by user", "rejected by user",
	"exec command rejected by user", "patch rejected",
}

// numberAfter reads the number that follows the last mark.
func numberAfter(b []byte, mark string) (int64, bool) {
	i := bytes.LastIndex(b, []byte(mark))
	if i < 0 {
		return 0, false
	}
	b = bytes.TrimLeft(b[i+len(mark):], " ")
	end := 0
	for end < len(b) && (b[end] == '-' && end == 0 || b[end] >= '0' && b[end] <= '9') {
		end++
	}
	if end == 0 {
		return 0, false
	}
	return transcript.Node{Raw: b[:end]}.Integer(), true
}

// replacement adds the items of the new context that a line carries with it.
func replacement(d *transcript.Decoder, held *transcript.Record, line transcript.Node) {
	for one := range line.Field("payload").Field("replacement_history").Elements() {
		p := readItem(one)
		response(d, held, &p)
	}
}

// native tells a call's tool and its namespace as they stand apart in the record.
func native(r *transcript.Record, it *transcript.Item, b *transcript.Block) bool {
	if it.Kind != transcript.Call || !transcript.Valid(r.Raw) {
		return false
	}
	payload := transcript.Node{Raw: bytes.TrimSpace(r.Raw)}.Field("payload")
	if b.Space = payload.Field("namespace").Text(); b.Space != "" {
		b.Tool = payload.Field("name").Text()
	}
	return true
}
