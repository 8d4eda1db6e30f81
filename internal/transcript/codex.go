package transcript

import (
	"bytes"
	"strings"
)

// codexLine is the members of a rollout's line. Old rollouts (before 0.32) have no envelope: the line is the payload.
type codexLine struct{ timestamp, createdAt, kind, payload, recordType, metadata node }

// parseCodex understands one line of a rollout. What the model sees stands in response_item lines (bare lines in old
// rollouts) and in compacted; event_msg lines are the same once more for the screen, and never items, also where their
// twin is missing: which they are cannot be told from one line, and every version that writes them writes the twins.
func parseCodex(d *Decoder, r *Record, value node) {
	if !value.is('{') {
		r.Unknown = true
		return
	}
	var l codexLine
	for key, v := range value.members() {
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
	if r.Time = clock(l.timestamp); r.Time.IsZero() {
		r.Time = clock(l.createdAt)
	}
	if l.payload.is('{') {
		d.codexEnvelope(r, l)
		return
	}
	d.codexBare(r, l, value)
}

func (d *Decoder) codexEnvelope(r *Record, l codexLine) {
	var sub node
	switch l.kind.text() {
	case "response_item":
		p := readCodexItem(l.payload)
		p.metadata, sub = l.metadata, p.kind
		d.codexItem(r, &p)
	case "event_msg":
		sub = l.payload.field("type")
		d.codexEvent(r, sub.text(), l.payload)
	case "session_meta":
		d.codexMeta(r, l.payload)
	case "turn_context":
		r.UI = true
		r.Cwd = same(&d.last.cwd, l.payload.field("cwd"))
		r.Model = same(&d.last.model, l.payload.field("model"))
	case "compacted":
		d.codexCompacted(r, l.payload)
	case "world_state", "token_usage_record":
		r.UI = true
	case "inter_agent_communication", "inter_agent_communication_metadata":
		r.addFirst(Item{Kind: Meta}, l.payload.field("content"))
	default:
		r.Unknown = true
		if p := readCodexItem(l.payload); p.content.full() {
			d.content(r, p.content, voice{role: p.role.text()})
		}
	}
	r.Type = d.typeName(l.kind, sub)
}

// codexBare understands a line without an envelope: a header, a state row, or what would now be a response_item.
func (d *Decoder) codexBare(r *Record, l codexLine, value node) {
	switch {
	case l.recordType.has():
		r.UI = true
		r.Type = d.typeName(l.recordType, node{})
	case l.kind.is('"'):
		p := readCodexItem(value)
		d.codexItem(r, &p)
		r.Type = d.typeName(l.kind, node{})
	case value.field("role").is('"'):
		p := readCodexItem(value)
		p.kind = node{raw: []byte(`"message"`)}
		d.codexItem(r, &p)
		r.Type = "message"
	case value.field("id").is('"') && l.timestamp.is('"'):
		d.codexMeta(r, value)
		r.Type = "session_meta"
	default:
		r.Unknown = true
	}
}

// codexMeta reads a rollout's header. A fork copies its parent's lines, header included: only the first is its own.
func (d *Decoder) codexMeta(r *Record, meta node) {
	if d.begun {
		return
	}
	d.begun = true
	for key, v := range meta.members() {
		switch string(key) {
		case "cwd":
			r.Cwd = same(&d.last.cwd, v)
		case "cli_version":
			r.Version = same(&d.last.version, v)
		case "git":
			r.Branch = same(&d.last.branch, v.field("branch"))
		case "source":
			if sub := v.field("subagent"); sub.has() {
				d.class = SubAgent
				if parent := sub.field("thread_spawn").field("parent_thread_id"); parent.has() {
					r.Parent = parent.text()
				}
			}
		case "parent_thread_id":
			r.Parent = v.text()
		case "ccd":
			r.Resumed = resumed(v)
		case "thread_source":
			if v.text() == "subagent" {
				d.class = SubAgent
			}
		}
	}
}

func (d *Decoder) codexEvent(r *Record, kind string, payload node) {
	r.UI = true
	switch kind {
	case "thread_name_updated":
		d.entitle(r, payload.field("thread_name"), rankGiven)
	case "token_count":
		info := payload.field("info")
		total, ok := info.field("last_token_usage").field("total_tokens").tokens()
		if !ok {
			total = NoCount
		}
		if total != 0 {
			window, _ := info.field("model_context_window").tokens()
			d.usage = Usage{Context: total, Window: window}
			r.Usage = &d.usage
		}
	}
}

// codexCompacted reads the record that replaces the context. Its items in replacement_history are copies of what
// stands before, or instructions; only the summary is new.
func (d *Decoder) codexCompacted(r *Record, payload node) {
	history := payload.field("replacement_history")
	d.bound = Boundary{Replaced: history.is('[')}
	r.Boundary = &d.bound
	if message := payload.field("message"); message.full() {
		r.add(Item{Kind: Summary}, message)
		return
	}
	var last node
	for item := range history.elements() {
		for block := range item.field("content").elements() {
			if t := block.field("text"); t.is('"') && isSummary(t.text()) {
				last = t
			}
		}
	}
	if last.full() {
		r.add(Item{Kind: Summary}, last)
	}
}

// codexItem is the members of a response_item that any item type uses.
type codexItem struct {
	kind, role, content, message, id, callID, name, arguments, input, output, result, action node
	function, encrypted, summary, tools, author, passthrough, metadata                       node
	whole                                                                                    node
}

func readCodexItem(payload node) (p codexItem) {
	p.whole = payload
	for key, v := range payload.members() {
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

func (d *Decoder) codexItem(r *Record, p *codexItem) {
	switch p.kind.text() {
	case "message":
		d.codexMessage(r, p)
	case "reasoning":
		r.addFirst(Item{Kind: Thinking}, p.content, p.encrypted, p.summary)
	case "function_call", "custom_tool_call", "tool_call":
		d.codexCall(r, p, p.toolName(), p.arguments, p.input)
	case "local_shell_call":
		d.codexCall(r, p, "local_shell", p.action)
	case "web_search_call":
		d.codexCall(r, p, "web_search", p.action)
	case "tool_search_call":
		d.codexCall(r, p, "tool_search", p.arguments)
	case "function_call_output", "custom_tool_call_output", "tool_result", "function_result":
		d.codexResult(r, p, p.output, p.result)
	case "tool_search_output":
		d.codexResult(r, p, p.tools)
	case "image_generation_call":
		r.addFirst(Item{Kind: Image, Call: p.call(), Tool: "image_generation"}, p.result)
	case "compaction", "compaction_summary", "context_compaction":
		r.addFirst(Item{Kind: Thinking}, p.encrypted)
	case "agent_message":
		r.Agent = p.author.text()
		d.content(r, p.content, voice{role: "agent"})
	case "ghost_snapshot", "additional_tools", "state":
		r.UI = true
	default:
		r.Unknown = true
		d.content(r, p.content, voice{role: p.role.text()})
	}
}

func (d *Decoder) codexMessage(r *Record, p *codexItem) {
	v := voice{role: p.role.text(), message: p.id.text()}
	v.summary = v.role == "assistant" && p.metadata.field("compaction_output").isTrue()
	if p.content.is('[') {
		d.codexParts(r, p, v)
		return
	}
	v.by = d.untold()
	if p.content.is('"') {
		d.say(r, p.content, v)
	} else if p.message.is('"') {
		d.say(r, p.message, v)
	}
}

// codexParts adds the parts of a message. New rollouts tell of each part what it is: "user.text" is typed by a person.
func (d *Decoder) codexParts(r *Record, p *codexItem, v voice) {
	var kinds []string
	if v.role == "user" {
		for kind := range p.passthrough.field("content_item_kinds").elements() {
			kinds = append(kinds, kind.text())
		}
	}
	i := 0
	for part := range p.content.elements() {
		v.by = d.untold()
		if v.by == untold && i < len(kinds) && kinds[i] != "" && kinds[i] != "unknown" {
			v.by = program
			if strings.HasPrefix(kinds[i], "user.") && kinds[i] != "user.heartbeat" {
				v.by = person
			}
		}
		d.block(r, part, v)
		i++
	}
}

func (p *codexItem) call() string {
	if id := p.callID.text(); id != "" {
		return id
	}
	return p.id.text()
}

func (p *codexItem) toolName() string {
	if name := p.name.text(); name != "" {
		if space := p.whole.field("namespace").text(); space != "" {
			return space + "__" + name
		}
		return name
	}
	return p.function.field("name").text()
}

func (d *Decoder) codexCall(r *Record, p *codexItem, tool string, inputs ...node) {
	item := Item{Kind: Call, Call: p.call(), Tool: tool}
	d.tools.put(item.Call, item.Tool)
	r.addFirst(item, append(inputs, p.whole)...)
}

func (d *Decoder) codexResult(r *Record, p *codexItem, outputs ...node) {
	item := Item{Kind: Result, Call: p.callID.text()}
	if item.Tool = d.tools.tool(item.Call); item.Tool == "" {
		item.Tool = p.name.text()
	}
	for _, n := range outputs {
		if n.has() {
			item.Failed = codexFailed(n)
			if d.class == Main && isAsk(item.Tool) && d.client.builtIn(item.Tool) && hasAnswers(n) {
				item.Kind, item.Frame = Human, Reported
			}
			r.addFirst(item, n)
			return
		}
	}
	r.addFirst(item, p.whole)
}

// hasAnswers reports whether the result of a question holds answers: where it could not be asked it is a sentence.
func hasAnswers(output node) bool {
	text := bytes.TrimSpace([]byte(plainText(output)))
	return valid(text) && node{raw: text}.field("answers").is('{')
}

// codexFailed reads how a command ended from the beginning or the end of its output, where Codex writes it.
func codexFailed(output node) bool {
	if output.is('{') {
		return output.field("success").is('f') || output.field("exitCode").integer() != 0
	}
	raw := output.raw
	head, _, _ := bytes.Cut(raw[:min(len(raw), 512)], []byte(`\nOutput:`))
	if len(head) > 1 && isCodexHead(string(head[1:])) {
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
	for _, p := range codexErrors {
		if bytes.HasPrefix(raw, []byte(`"`+p)) {
			return true
		}
	}
	return false
}

// codexErrors begin the outputs of calls that never ran.
var codexErrors = []string{
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
	return node{raw: b[:end]}.integer(), true
}
