package gen

import "strconv"

// codex writes one session of Codex.
type codex struct {
	r     rng
	v     *vocabulary
	out   *sink
	files *workspace
	now   int64
	id    string
	cwd   string
	bare  bool // the first generation: items without an envelope
	held  int  // bytes that the model sees
	total int  // tokens billed so far
}

func newCodex(id identity, v *vocabulary, out *sink) *codex {
	c := &codex{r: id.r, v: v, out: out, now: id.now}
	c.id, c.bare = c.r.uuid(), c.r.chance(80)
	c.cwd = "/home/sam/src/" + v.words[40+c.r.n(30)] + "-" + v.words[80+c.r.n(30)]
	c.files = newWorkspace(v, &c.r, c.cwd, 20)
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

// open begins a line up to its payload; close it with shut.
func (c *codex) open(typ string) []byte {
	c.now += int64(c.r.between(5, 2500))
	if c.bare {
		return c.out.b
	}
	b := append(c.out.b, `{"timestamp":"`...)
	return fill(stamp(b, c.now), `","type":"@","payload":`, typ)
}

func (c *codex) shut(b []byte) {
	if !c.bare {
		b = append(b, '}')
	}
	c.out.end(append(b, '\n'))
}

// event writes a copy for the screen; the first generation had none.
func (c *codex) event(pattern string, args ...string) {
	if !c.bare {
		c.shut(fill(c.open("event_msg"), pattern, args...))
	}
}

func (c *codex) begin() {
	commit := c.r.hex(40)
	b := c.open("session_meta")
	b = fill(b, `{"id":"@","timestamp":"`, c.id)
	b = stamp(b, c.now)
	if c.bare {
		b = append(append(b, `","instructions":"`...), c.v.manual...)
		c.shut(fill(b, `","git":{"commit_hash":"@","branch":"main"}}`, commit))
	} else {
		b = fill(b, `","cwd":"@","originator":"codex_cli_rs","cli_version":"0.124.0","source":"cli","model_provider":"openai","base_instructions":{"text":"`, c.cwd)
		b = append(b, c.v.manual...)
		c.shut(fill(b, `"},"git":{"commit_hash":"@","branch":"main"}}`, commit))
	}
	c.say("developer", "input_text", []byte(`<permissions instructions>\nFilesystem sandboxing is on.\n</permissions instructions>`))
	c.say("user", "input_text", fill(nil, `# AGENTS.md instructions for @\n\n<INSTRUCTIONS>\n@</INSTRUCTIONS>`, c.cwd, string(c.v.manual[:2000])))
	c.say("user", "input_text", fill(nil, `<environment_context>\n  <cwd>@</cwd>\n  <shell>bash</shell>\n</environment_context>`, c.cwd))
}

// say writes a message item.
func (c *codex) say(role, typ string, text []byte) {
	c.held += len(text)
	b := fill(c.open("response_item"), `{"type":"message","role":"@","content":[{"type":"@","text":"`, role, typ)
	c.shut(append(append(b, text...), `"}]}`...))
}

func (c *codex) turn(size int64) {
	c.now += int64(c.r.between(5, 600)) * 1000
	c.event(`{"type":"task_started","turn_id":"@","model_context_window":@}`, c.r.uuid(), strconv.Itoa(window))
	if !c.bare {
		b := fill(c.open("turn_context"), `{"cwd":"@","approval_policy":"on-request","sandbox_policy":{"mode":"workspace-write","network_access":false},"model":"gpt-5.4-codex","effort":"high","summary":"auto","user_instructions":"`, c.cwd)
		c.shut(append(append(b, c.v.manual[:4000]...), `"}`...))
	}
	prompt := c.v.prose(nil, &c.r, promptWords.draw(&c.r))
	c.say("user", "input_text", prompt)
	c.event(`{"type":"user_message","message":"@","images":[]}`, string(prompt))
	for range 1 + c.r.skewed(30) {
		c.step()
		if c.out.n >= size {
			break
		}
	}
	answer := c.v.prose(nil, &c.r, c.r.between(30, 300))
	c.event(`{"type":"agent_message","message":"@"}`, string(answer))
	c.say("assistant", "output_text", answer)
	c.event(`{"type":"task_complete","last_agent_message":"@"}`, string(answer))
}

// step is one reply of the model and what it leads to.
func (c *codex) step() {
	if c.r.chance(600) {
		c.reasoning()
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
		c.out.end(append(c.out.b, `{"record_type":"state"}`+"\n"...))
	}
}

func (c *codex) reasoning() {
	title := string(c.v.prose(nil, &c.r, 5))
	c.event(`{"type":"agent_reasoning","text":"**@**"}`, title)
	b := fill(c.open("response_item"), `{"type":"reasoning","summary":[{"type":"summary_text","text":"**@**"}],"content":null,"encrypted_content":"gAAAAAB`, title)
	c.shut(append(c.r.chars(b, base64, c.r.between(400, 2400)), `=="}`...))
}

// count reports the usage, and every fourth time once more.
func (c *codex) count() {
	held := 9000 + c.held/4
	out := c.r.between(50, 900)
	c.total += held + out
	for range 1 + c.r.n(4)/3 {
		c.event(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":@,"cached_input_tokens":0,"output_tokens":@,"reasoning_output_tokens":0,"total_tokens":@},"last_token_usage":{"input_tokens":@,"cached_input_tokens":@,"output_tokens":@,"reasoning_output_tokens":0,"total_tokens":@},"model_context_window":@},"rate_limits":null}`,
			strconv.Itoa(c.total), strconv.Itoa(out), strconv.Itoa(c.total), strconv.Itoa(held), strconv.Itoa(held*9/10), strconv.Itoa(out), strconv.Itoa(held+out), strconv.Itoa(window))
	}
}

// compact writes the agent's own compaction: the whole new context in one record.
func (c *codex) compact() {
	summary := string(c.v.prose(nil, &c.r, 900))
	c.shut(fill(c.open("compacted"), `{"message":"@","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Another language model started to solve this problem and produced a summary of its thinking process. @"}]}]}`, summary, summary))
	c.event(`{"type":"context_compacted"}`)
	c.held = 2 * len(summary)
}
