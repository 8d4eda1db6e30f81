package gen

import (
	"fmt"
	"strings"
)

// codex writes one session of Codex.
type codex struct {
	r     rng
	v     *vocabulary
	out   *sink
	files []*file
	now   int64
	id    string
	cwd   string
	bare  bool // the first generation: items without an envelope
	held  int  // bytes in the model's context
	total int  // tokens billed so far
}

func newCodex(r rng, now int64, v *vocabulary, out *sink) *codex {
	c := &codex{r: r, v: v, out: out, now: now}
	c.id, c.bare = c.r.uuid(), c.r.chance(80)
	c.cwd = "/home/sam/src/" + v.words[40+c.r.n(30)] + "-" + v.words[80+c.r.n(30)]
	c.files = newFiles(v, &c.r, c.cwd, 20)
	return c
}

// window is the context window, in tokens.
const window = 258400

func (c *codex) run(size int64) {
	c.begin()
	for first := true; first || c.out.n < size && c.out.err == nil; first = false {
		c.turn(size)
		if !c.bare && c.held/4 > window*8/10 { // the first generation never compacted
			c.compact()
		}
	}
}

// tick advances the time to that of the next line.
func (c *codex) tick() { c.now += int64(c.r.between(5, 2500)) }

// line writes a line with the time of the last tick.
func (c *codex) line(typ, payload string) {
	if !c.bare {
		payload = `{"timestamp":"` + stamp(c.now) + `","type":"` + typ + `","payload":` + payload + `}`
	}
	c.out.line(payload)
}

// item writes an item of the conversation.
func (c *codex) item(payload string) {
	c.tick()
	c.line("response_item", payload)
}

// event writes a copy for the screen, which the first generation does not have.
func (c *codex) event(format string, args ...any) {
	if !c.bare {
		c.tick()
		c.line("event_msg", fmt.Sprintf(format, args...))
	}
}

func (c *codex) begin() {
	git := `"git":{"commit_hash":"` + c.r.chars(hexDigits, 40) + `","branch":"main"}}`
	c.tick()
	meta := fmt.Sprintf(`{"id":"%s","timestamp":"%s",`, c.id, stamp(c.now))
	if c.bare {
		meta += `"instructions":"` + c.v.manual + `",`
	} else {
		meta += fmt.Sprintf(`"cwd":"%s","originator":"codex_cli_rs","cli_version":"0.124.0","source":"cli","model_provider":"openai","base_instructions":{"text":"%s"},`, c.cwd, c.v.manual)
	}
	c.line("session_meta", meta+git)
	c.say("developer", "input_text", `<permissions instructions>\nFilesystem sandboxing is on.\n</permissions instructions>`)
	c.say("user", "input_text", `# AGENTS.md instructions for `+c.cwd+`\n\n<INSTRUCTIONS>\n`+c.v.manual[:2000]+`</INSTRUCTIONS>`)
	c.say("user", "input_text", `<environment_context>\n  <cwd>`+c.cwd+`</cwd>\n  <shell>bash</shell>\n</environment_context>`)
}

// say writes a message item.
func (c *codex) say(role, typ, text string) {
	c.held += len(text)
	c.item(fmt.Sprintf(`{"type":"message","role":"%s","content":[{"type":"%s","text":"%s"}]}`, role, typ, text))
}

func (c *codex) turn(size int64) {
	c.now += int64(c.r.between(5, 600)) * 1000
	c.event(`{"type":"task_started","turn_id":"%s","model_context_window":%d}`, c.r.uuid(), window)
	if !c.bare {
		c.tick()
		c.line("turn_context", fmt.Sprintf(`{"cwd":"%s","approval_policy":"on-request","sandbox_policy":{"mode":"workspace-write","network_access":false},"model":"gpt-5.4-codex","effort":"high","summary":"auto","user_instructions":"%s"}`,
			c.cwd, c.v.manual[:4000]))
	}
	prompt := c.v.prose(&c.r, promptWords.draw(&c.r))
	c.say("user", "input_text", prompt)
	c.event(`{"type":"user_message","message":"%s","images":[]}`, prompt)
	for range 1 + c.r.skewed(30) {
		c.step()
		if c.out.n >= size {
			break
		}
	}
	answer := c.v.prose(&c.r, c.r.between(30, 300))
	c.event(`{"type":"agent_message","message":"%s"}`, answer)
	c.say("assistant", "output_text", answer)
	c.event(`{"type":"task_complete","last_agent_message":"%s"}`, answer)
}

// step writes one reply of the model and the results of its calls.
func (c *codex) step() {
	if c.r.chance(600) {
		title := c.v.prose(&c.r, 5)
		c.event(`{"type":"agent_reasoning","text":"**%s**"}`, title)
		c.tick()
		c.line("response_item", fmt.Sprintf(`{"type":"reasoning","summary":[{"type":"summary_text","text":"**%s**"}],"content":null,"encrypted_content":"gAAAAAB%s=="}`,
			title, c.r.chars(base64, c.r.between(400, 2400))))
	}
	switch {
	case c.r.chance(120):
		c.patch()
	case c.r.chance(60):
		c.plan()
	default:
		c.shell()
	}
	c.count()
	if c.bare {
		c.out.line(`{"record_type":"state"}`)
	}
}

// count writes the usage, and writes it twice in one of four cases.
func (c *codex) count() {
	held := 9000 + c.held/4
	out := c.r.between(50, 900)
	c.total += held + out
	for range 1 + c.r.n(4)/3 {
		c.event(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d},"last_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d},"model_context_window":%d},"rate_limits":null}`,
			c.total, out, c.total, held, held*9/10, out, held+out, window)
	}
}

// compact writes the agent's own compaction: the whole new context in one record.
func (c *codex) compact() {
	summary := c.v.prose(&c.r, 900)
	c.tick()
	c.line("compacted", fmt.Sprintf(`{"message":"%s","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Another language model started to solve this problem and produced a summary of its thinking process. %s"}]}]}`, summary, summary))
	c.event(`{"type":"context_compacted"}`)
	c.held = 2 * len(summary)
}

var codexOutput = quantiles{{0, 1}, {300, 8}, {700, 50}, {930, 140}, {1000, 256}}

// shell writes a command: the call, what the model saw, and the copy for the screen.
func (c *codex) shell() {
	id, f := c.callID(), pick(&c.r, c.files...)
	command := pick(&c.r, `sed -n '1,200p' @`, `rg -n \"@\" .`, `go test ./... -run @`, `git diff -- @`, `cat @`)
	command = strings.Replace(command, "@", pick(&c.r, f.path, c.v.names[c.r.n(3000)]), 1)
	c.item(fmt.Sprintf(`{"type":"function_call","name":"shell_command","arguments":"{\"command\":\"%s\",\"workdir\":\"%s\"}","call_id":"%s"}`, twice.Replace(command), c.cwd, id))
	out, exit := c.output(), 0
	if c.r.chance(100) {
		exit = 1
	}
	c.held += len(out)
	c.event(`{"type":"exec_command_end","call_id":"%s","command":["bash","-lc","%s"],"cwd":"%s","aggregated_output":"%s","exit_code":%d,"status":"completed"}`, id, command, c.cwd, out, exit)
	c.tick()
	told := ""
	if c.r.chance(300) {
		told = fmt.Sprintf(`Exit code: %d\nWall time: %d.%d seconds\nOutput:\n%s`, exit, c.r.n(30), c.r.n(9), out)
	} else {
		told = fmt.Sprintf(`{\"output\":\"%s\",\"metadata\":{\"exit_code\":%d,\"duration_seconds\":%d.%d}}`, twice.Replace(out), exit, c.r.n(30), c.r.n(9))
	}
	c.line("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"%s","output":"%s"}`, id, told))
}

func (c *codex) callID() string { return "call_" + c.r.chars(base62, 24) }

// output returns a part of a file, JSON, or a log, of at most about 10 KB, which is Codex's limit.
func (c *codex) output() string {
	n, kind := codexOutput.draw(&c.r), c.r.n(3)
	if kind == 0 {
		f := pick(&c.r, c.files...)
		from := c.r.n(len(f.lines))
		return join(f.lines[from:min(from+n, len(f.lines))])
	}
	var out strings.Builder
	for ; out.Len() < 10000 && n > 0; n-- {
		if kind == 1 {
			fmt.Fprintf(&out, `  \"%s\": \"%s %s\",\n`, c.v.names[c.r.skewed(300)], c.v.words[c.r.skewed(6000)], c.v.words[c.r.skewed(6000)])
		} else {
			out.WriteString(c.v.logLine(&c.r, c.now))
		}
	}
	return out.String()
}

func (c *codex) patch() {
	id, f := c.callID(), pick(&c.r, c.files...)
	from, n := f.stretch(&c.r)
	was := f.lines[from : from+n]
	made := f.change(c.v, &c.r, from, n)
	c.item(fmt.Sprintf(`{"type":"custom_tool_call","status":"completed","call_id":"%s","name":"apply_patch","input":"*** Begin Patch\n*** Update File: %s\n@@\n%s%s*** End Patch"}`,
		id, f.path, prefixed("-", was), prefixed("+", made)))
	c.item(fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":"%s","output":"{\"output\":\"Success. Updated the following files:\\nM %s\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}`, id, f.path))
}

func (c *codex) plan() {
	id := c.callID()
	var steps []string
	for i := range c.r.between(3, 6) {
		status := "pending"
		if i == 0 {
			status = "in_progress"
		}
		steps = append(steps, fmt.Sprintf(`{\"step\":\"%s\",\"status\":\"%s\"}`, strings.ReplaceAll(c.v.prose(&c.r, 6), newline, " "), status))
	}
	c.item(fmt.Sprintf(`{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[%s]}","call_id":"%s"}`, strings.Join(steps, ","), id))
	c.item(fmt.Sprintf(`{"type":"function_call_output","call_id":"%s","output":"Plan updated"}`, id))
}
