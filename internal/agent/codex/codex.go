package codex

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// parse decodes one line of a rollout. Before 0.32 lines have no envelope: the line is the payload. What the model sees
// is in response_item lines (bare lines in old rollouts) and in compacted lines. event_msg lines repeat it for the
// screen and give no items, even if their response_item is missing: one line cannot show that, and every version that
// writes events also writes the response_item lines. Only what a script did that cannot be read is taken from them.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := d.Object(value)
	if r.Time = transcript.ParseTime(l.Field("timestamp")); r.Time.IsZero() {
		r.Time = transcript.ParseTime(l.Field("created_at"))
	}
	if payload := l.Field("payload"); payload.Is('{') {
		envelope(d, r, l, payload)
	} else {
		bare(d, r, l, value)
	}
	d.Chain.Add(r, "", "")
}

func envelope(d *transcript.Decoder, r *transcript.Record, l transcript.Object, payload transcript.Node) {
	var sub transcript.Node
	switch l.Field("type").Text() {
	case "response_item":
		p := readItem(d, payload)
		p.metadata, sub = l.Field("metadata"), p.kind
		response(d, r, &p)
	case "event_msg":
		sub = payload.Field("type")
		event(d, r, sub.Text(), payload)
	case "session_meta":
		meta(d, r, payload)
	case "turn_context":
		r.UI = true
		r.Cwd = transcript.Reuse(&d.Last.Cwd, payload.Field("cwd"))
		r.Model = transcript.Reuse(&d.Last.Model, payload.Field("model"))
	case "compacted":
		compacted(d, r, payload)
	case "world_state", "token_usage_record":
		r.UI = true
	case "inter_agent_communication", "inter_agent_communication_metadata":
		r.AddFirst(transcript.Item{Kind: transcript.Meta}, payload.Field("content"))
	default:
		r.Unknown = true
		if p := readItem(d, payload); p.content.Full() {
			d.Content(r, p.content, transcript.Voice{Role: p.Field("role").Text()})
		}
	}
	r.Type = transcript.TypeName(l.Field("type"), sub)
}

// bare decodes a line without an envelope: a header, a state row, or what newer versions write as a response_item.
func bare(d *transcript.Decoder, r *transcript.Record, l transcript.Object, value transcript.Node) {
	switch {
	case l.Field("record_type").Has():
		r.UI = true
		r.Type = l.Field("record_type").Text()
	case l.Field("type").Is('"'):
		p := readItem(d, value)
		response(d, r, &p)
		r.Type = l.Field("type").Text()
	case value.Field("role").Is('"') && (l.Field("content").Is('[') || l.First("timestamp", "created_at").Has()): // else any list of messages
		p := readItem(d, value)
		p.kind = transcript.Node{Raw: []byte(`"message"`)}
		response(d, r, &p)
		r.Type = "message"
	case value.Field("id").Is('"') && l.Field("timestamp").Is('"'):
		meta(d, r, value)
		r.Type = "session_meta"
	default:
		r.Unknown = true
	}
}

// meta reads a rollout's header. A fork copies its parent's lines, including the header, so only the first header is
// the rollout's own.
func meta(d *transcript.Decoder, r *transcript.Record, meta transcript.Node) {
	m := d.Object(meta)
	id := m.Field("id").Text()
	if d.Begun {
		if id != "" && id == d.Last.Session { // it was resumed, perhaps on another branch
			r.Branch = transcript.Reuse(&d.Last.Branch, m.Field("git").Field("branch"))
		}
		return
	}
	d.Begun, d.Last.Session = true, id
	r.Cwd = transcript.Reuse(&d.Last.Cwd, m.Field("cwd"))
	r.Version = transcript.Reuse(&d.Last.Version, m.Field("cli_version"))
	r.Branch = transcript.Reuse(&d.Last.Branch, m.Field("git").Field("branch"))
	r.Resumed = transcript.ReadResumed(m.Field("ccd"))
	d.SetTitle(r, m.Field("thread_name"), transcript.RankMade) // of a copy that ccd wrote
	r.Origin = m.Field("forked_from_id").Text()
	sub := m.Field("source").Field("subagent")
	if sub.Has() || m.Field("thread_source").Text() == "subagent" {
		d.Class = transcript.SubAgent
	}
	r.Parent = cmp.Or(sub.Field("thread_spawn").Field("parent_thread_id").Text(), m.Field("parent_thread_id").Text())
}

func event(d *transcript.Decoder, r *transcript.Record, kind string, payload transcript.Node) {
	r.UI = true
	switch kind {
	case "thread_name_updated":
		d.SetTitle(r, payload.Field("thread_name"), transcript.RankGiven)
	case "task_complete", "turn_complete":
		r.TurnEnd = true
	case "error":
		d.Refused(r, payload.Field("message"))
	case "item_completed", "exec_command_end", "patch_apply_end":
		reports(d, r, payload)
	case "thread_rolled_back":
		r.Back, r.From = d.Chain.TakeBack(int(payload.Field("num_turns").Integer()))
	case "token_count":
		info := payload.Field("info")
		used := info.Field("last_token_usage").Object()
		window, _ := info.Field("model_context_window").Tokens()
		sum, _ := info.Field("total_token_usage").Field("total_tokens").Tokens()
		d.SetUsage(r, transcript.Usage{Context: used.Tokens("total_tokens"), Window: window, Spent: used.Spent(counts), Sum: sum})
	default:
		r.Unknown = !events[kind]
	}
}

var counts = transcript.Counts{In: "input_tokens", Cached: "cached_input_tokens", Written: "cache_write_input_tokens", Out: []string{"output_tokens"}, Within: true}

// events lists the other events that clients store. What they say, other records say too.
var events = transcript.Set("user_message agent_message agent_message_delta agent_reasoning agent_reasoning_delta agent_reasoning_raw_content " +
	"agent_reasoning_raw_content_delta agent_reasoning_section_break task_started turn_started turn_aborted turn_diff plan_update " +
	"thread_goal_updated thread_settings_applied entered_review_mode exited_review_mode context_compacted mcp_tool_call_begin " +
	"mcp_tool_call_end web_search_begin web_search_end image_generation_end view_image_tool_call sub_agent_activity " +
	"collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin collab_agent_interaction_end collab_waiting_begin " +
	"collab_waiting_end collab_close_begin collab_close_end collab_resume_begin collab_resume_end dynamic_tool_call_request " +
	"dynamic_tool_call_response guardian_assessment exec_command_begin patch_apply_begin item_started hook_started hook_completed " +
	"warning stream_error background_event undo_started undo_completed deprecation_notice shutdown_complete")

// compacted reads the record that replaces the context. The items in its replacement_history are copies of earlier ones
// or instructions; only the summary is new.
func compacted(d *transcript.Decoder, r *transcript.Record, payload transcript.Node) {
	history := payload.Field("replacement_history")
	d.SetBoundary(r, transcript.Boundary{Replaced: history.Is('[')})
	if message := payload.Field("message"); message.Full() {
		r.Add(transcript.Item{Kind: transcript.Summary}, message)
		return
	}
	var last transcript.Node
	for item := range history.Elements() {
		for block := range item.Field("content").Elements() {
			if t := block.Field("text"); t.Is('"') && d.Client.IsSummary(t.Text()) {
				last = t
			}
		}
	}
	if last.Full() {
		r.Add(transcript.Item{Kind: transcript.Summary}, last)
	}
}

type item struct {
	transcript.Object
	kind, content, metadata, whole transcript.Node
}

func readItem(d *transcript.Decoder, payload transcript.Node) item {
	o := d.Object(payload)
	return item{Object: o, kind: o.Field("type"), content: o.Field("content"), whole: payload}
}

func response(d *transcript.Decoder, r *transcript.Record, p *item) {
	switch p.kind.Text() {
	case "message":
		message(d, r, p)
	case "reasoning":
		r.AddFirst(transcript.Item{Kind: transcript.Thinking}, p.content, p.Field("encrypted_content"), p.Field("summary"))
	case "function_call", "custom_tool_call", "tool_call":
		call(d, r, p, p.toolName(), p.Field("arguments"), p.Field("input"))
	case "local_shell_call":
		call(d, r, p, "local_shell", p.Field("action"))
	case "web_search_call":
		call(d, r, p, "web_search", p.Field("action"))
	case "tool_search_call":
		call(d, r, p, "tool_search", p.Field("arguments"))
	case "function_call_output", "custom_tool_call_output", "tool_result", "function_result":
		result(d, r, p, p.Field("output"), p.Field("result"))
	case "tool_search_output":
		result(d, r, p, p.Field("tools"))
	case "image_generation_call":
		r.AddFirst(transcript.Item{Kind: transcript.Image, Call: p.call(), Tool: "image_generation"}, p.Field("result"))
	case "compaction", "compaction_summary", "context_compaction":
		r.AddFirst(transcript.Item{Kind: transcript.Thinking}, p.Field("encrypted_content"))
	case "agent_message":
		r.Agent = p.Field("author").Text()
		d.Content(r, p.content, transcript.Voice{Role: "agent"})
	case "ghost_snapshot", "additional_tools", "state":
		r.UI = true
	default:
		r.Unknown = true
		d.Content(r, p.content, transcript.Voice{Role: p.Field("role").Text()})
	}
}

func message(d *transcript.Decoder, r *transcript.Record, p *item) {
	v := transcript.Voice{Role: p.Field("role").Text(), Message: p.Field("id").Text()}
	v.Summary = v.Role == "assistant" && p.metadata.Field("compaction_output").IsTrue()
	if p.content.Is('[') {
		parts(d, r, p, v)
		return
	}
	v.By = d.Author()
	if text := p.First("content", "message"); text.Is('"') {
		d.Say(r, text, v)
	}
}

// parts adds the parts of a message. New rollouts give each part a kind; "user.text" was typed by a person.
func parts(d *transcript.Decoder, r *transcript.Record, p *item, v transcript.Voice) {
	var kinds []string
	if v.Role == "user" {
		for kind := range p.Field("internal_chat_message_metadata_passthrough").Field("content_item_kinds").Elements() {
			kinds = append(kinds, kind.Text())
		}
	}
	i := 0
	for part := range p.content.Elements() {
		v.By = d.Author()
		if v.By == transcript.UnknownAuthor && i < len(kinds) && kinds[i] != "" && kinds[i] != "unknown" {
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
	return cmp.Or(p.Field("call_id").Text(), p.Field("id").Text())
}

func (p *item) toolName() string {
	if name := p.Field("name").Text(); name != "" {
		if space := p.Field("namespace").Text(); space != "" {
			return space + "__" + name
		}
		return name
	}
	return p.Field("function").Field("name").Text()
}

func call(d *transcript.Decoder, r *transcript.Record, p *item, tool string, inputs ...transcript.Node) {
	item := transcript.Item{Kind: transcript.Call, Call: p.call(), Tool: tool}
	d.RememberTool(item.Call, item.Tool)
	r.AddFirst(item, append(inputs, p.whole)...)
	if i := slices.IndexFunc(inputs, transcript.Node.Has); i >= 0 {
		called(d, &item, inputs[i])
	}
}

func result(d *transcript.Decoder, r *transcript.Record, p *item, outputs ...transcript.Node) {
	item := transcript.Item{Kind: transcript.Result, Call: p.Field("call_id").Text()}
	if item.Tool = d.ToolOf(item.Call); item.Tool == "" {
		item.Tool = p.Field("name").Text()
	}
	n := p.whole
	if i := slices.IndexFunc(outputs, transcript.Node.Has); i >= 0 {
		n = outputs[i]
		item.Failed = failed(d, item.Tool, n)
		ended(d, &item, n)
		if d.Class == transcript.Main && d.Client.Op(item.Tool) == transcript.Ask && d.Client.BuiltIn(item.Tool) && hasAnswers(n) {
			item.Kind, item.Frame = transcript.Human, transcript.Reported
		}
	}
	r.AddFirst(item, n)
}

// hasAnswers reports whether the result of a question contains answers. If the client could not ask, the result is a
// sentence.
func hasAnswers(output transcript.Node) bool {
	text := bytes.TrimSpace([]byte(transcript.PlainText(output)))
	return transcript.Valid(text) && transcript.Node{Raw: text}.Field("answers").Is('{')
}

// failed reports whether a call failed, by its output or by the exit status of its command.
func failed(d *transcript.Decoder, tool string, output transcript.Node) bool {
	if head := output.Raw[:min(len(output.Raw), maxError)]; output.Is('"') && transcript.Begins(string(head[1:]), errorTexts) {
		return true
	}
	return output.Is('{') && output.Field("success").Is('f') || d.ResultFailed(tool, output)
}

// maxError is longer than any of errorTexts, in bytes.
const maxError = 64

// errorTexts are prefixes of the outputs of calls that never ran.
var errorTexts = []string{
	"unsupported call: ", "failed to parse function arguments", "apply_patch verification failed", "execution error: ",
	"exec_command failed", "write_stdin failed", "err: ", "aborted by user", "rejected by user",
	"exec command rejected by user", "patch rejected",
}

// replacement adds the items of the new context that a compacted line contains.
func replacement(d *transcript.Decoder, held *transcript.Record, line transcript.Node) {
	for one := range line.Field("payload").Field("replacement_history").Elements() {
		p := readItem(d, one)
		response(d, held, &p)
	}
}

// native sets a call's tool and its namespace separately, as the record has them.
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
