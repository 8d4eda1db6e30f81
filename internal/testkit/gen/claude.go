package gen

import (
	"bufio"
	"fmt"
	"strings"
)

// claude writes one session of Claude Code.
type claude struct {
	r     rng
	v     *vocabulary
	out   *sink
	files []*file
	now   int64

	id, cwd, version, branch, model, slug string
	agent                                 string // ID of the sub-agent whose file this is, "" in a main session
	parent                                string // uuid of the last record of the chain
	held                                  int    // bytes in the model's context
	cached                                int    // tokens of them in the cache
	old                                   bool   // a version that still writes progress records
	todos                                 string

	echo   func(typ, message, uuid string) // of a sub-agent: repeats a message in its parent's file, as versions with progress records do
	beside func(name, text string) error   // writes a file into the session's directory; nil if it has none
}

func newClaude(r rng, now int64, v *vocabulary, out *sink) *claude {
	c := &claude{r: r, v: v, out: out, now: now, todos: "[]"}
	project := v.words[40+c.r.n(30)] + "-" + v.words[80+c.r.n(30)]
	c.id, c.cwd = c.r.uuid(), "/home/sam/src/"+project
	c.version, c.model = "2.1.112", "claude-opus-4-7"
	if c.old = c.r.chance(600); c.old {
		c.version, c.model = "2.1.34", "claude-opus-4-6"
	}
	c.branch = "feature/" + v.words[40+c.r.n(3000)]
	c.slug = v.words[100+c.r.n(900)] + "-" + v.words[100+c.r.n(900)] + "-" + v.words[100+c.r.n(900)]
	c.files = newFiles(v, &c.r, c.cwd, 30)
	return c
}

// run writes turns until the file has size bytes.
func (c *claude) run(size int64) {
	c.begin()
	for first := true; first || c.out.n < size && c.out.err == nil; first = false {
		c.turn(size)
		if c.held/4 > 150000 {
			c.compact()
		}
	}
}

func (c *claude) begin() {
	if c.r.chance(200) {
		c.out.line(`{"type":"summary","summary":"` + c.v.prose(&c.r, 6) + `","leafUuid":"` + c.r.uuid() + `"}`)
	}
	if c.old {
		c.hook("SessionStart")
		return
	}
	c.out.line(`{"type":"permission-mode","permissionMode":"default","sessionId":"` + c.id + `"}`)
	c.record("attachment", `,"attachment":{"type":"skill_listing","content":"`+c.v.prose(&c.r, 900)+`"}`, "")
}

// record writes a record of the chain and returns its uuid. body and extra are members, each with a comma before it;
// body comes before the time and extra after it.
func (c *claude) record(typ, body, extra string) string {
	parent, agent, slug := "null", "", ""
	if c.agent != "" {
		agent = `,"agentId":"` + c.agent + `"`
	}
	if c.parent != "" {
		parent, slug = `"`+c.parent+`"`, `,"slug":"`+c.slug+`"`
	}
	c.now += int64(c.r.between(20, 4000))
	c.parent = c.r.uuid()
	c.out.line(fmt.Sprintf(`{"parentUuid":%s,"isSidechain":%t,"userType":"external","cwd":"%s","sessionId":"%s","version":"%s","gitBranch":"%s"%s%s,"type":"%s"%s,"uuid":"%s","timestamp":"%s"%s}`,
		parent, c.agent != "", c.cwd, c.id, c.version, c.branch, agent, slug, typ, body, c.parent, stamp(c.now), extra))
	return c.parent
}

// say writes a record with a message, and repeats it in the parent's file if there is one.
func (c *claude) say(typ, message, rest, extra string) string {
	uuid := c.record(typ, `,"message":`+message+rest, extra)
	if c.echo != nil {
		c.echo(typ, message, uuid)
	}
	return uuid
}

func (c *claude) hook(event string) {
	c.record("progress", fmt.Sprintf(`,"data":{"type":"hook_progress","hookEvent":"%s","hookName":"%s:startup","command":"make -s hook-%s"},"parentToolUseID":"%s","toolUseID":"%s"`,
		event, event, strings.ToLower(event), c.r.uuid(), c.r.uuid()), "")
}

var promptWords = quantiles{{0, 3}, {500, 25}, {900, 120}, {1000, 900}}

// turn writes a prompt and everything until the agent stops.
func (c *claude) turn(size int64) {
	c.now += int64(c.r.between(5, 600)) * 1000
	prompt := c.v.prose(&c.r, promptWords.draw(&c.r))
	c.held += len(prompt)
	c.record("user", `,"message":{"role":"user","content":"`+prompt+`"}`, `,"permissionMode":"default"`)
	c.snapshot()
	for range 1 + c.r.skewed(24) {
		c.reply()
		if c.out.n >= size {
			break
		}
	}
	c.text(c.message(), true)
	if c.old {
		c.hook("Stop")
	}
	c.record("system", fmt.Sprintf(`,"subtype":"turn_duration","durationMs":%d,"isMeta":false`, c.r.between(2000, 900000)), "")
}

func (c *claude) snapshot() {
	id := c.r.uuid()
	var backups []string
	for i := range c.r.skewed(8) {
		backups = append(backups, fmt.Sprintf(`"%s":{"backupFileName":"%s\u0040v%d","version":%d}`, c.files[i].path, c.r.chars(hexDigits, 16), i+1, i+1))
	}
	c.out.line(fmt.Sprintf(`{"type":"file-history-snapshot","messageId":"%s","snapshot":{"messageId":"%s","trackedFileBackups":{%s},"timestamp":"%s"},"isSnapshotUpdate":false}`,
		id, id, strings.Join(backups, ","), stamp(c.now)))
}

// compact writes the agent's own compaction: the boundary, and the summary that replaces the earlier messages.
func (c *claude) compact() {
	last := c.parent
	c.parent = ""
	c.record("system", fmt.Sprintf(`,"logicalParentUuid":"%s","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"level":"info","compactMetadata":{"trigger":"auto","preTokens":%d}`,
		last, c.tokens()), "")
	c.held, c.cached = 8000, 0
	c.record("user", `,"message":{"role":"user","content":"This session is being continued from a previous conversation that ran out of context. `+c.v.prose(&c.r, 1200)+`"}`,
		`,"isVisibleInTranscriptOnly":true,"isCompactSummary":true`)
}

// tokens returns the size of the context: one token per four bytes, and a part that every session has.
func (c *claude) tokens() int { return 16000 + c.held/4 }

// message is one reply of the model: one record per block, all with the same IDs.
type message struct {
	id, request string
	fresh       int // tokens new to the cache
	n           int // blocks so far
}

func (c *claude) message() *message {
	m := &message{id: "msg_01" + c.r.chars(base62, 22), request: "req_011C" + c.r.chars(base62, 20), fresh: max(0, c.tokens()-c.cached)}
	c.cached = c.tokens()
	return m
}

// block writes an assistant record of m with one content block.
func (c *claude) block(m *message, content, stop string) string {
	m.n++
	return c.say("assistant", fmt.Sprintf(`{"model":"%s","id":"%s","type":"message","role":"assistant","content":[%s],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":0},"output_tokens":%d,"service_tier":"standard"}}`,
		c.model, m.id, content, stop, c.r.between(2, 10), m.fresh, c.cached-m.fresh, m.fresh, m.n*c.r.between(1, 300)), `,"requestId":"`+m.request+`"`, "")
}

func (c *claude) text(m *message, last bool) {
	stop, words := "null", c.r.between(6, 60)
	if last {
		stop, words = `"end_turn"`, c.r.between(30, 300)
	}
	text := c.v.prose(&c.r, words)
	if c.r.chance(66) {
		dialect := c.v.dialect(&c.r)
		text += "```go" + newline + prefixed("", c.v.listing(&c.r, dialect, c.r.between(3, 20))) + "```" + newline
	}
	c.held += len(text)
	c.block(m, `{"type":"text","text":"`+text+`"}`, stop)
}

var thinkingWords = quantiles{{0, 0}, {300, 20}, {800, 120}, {1000, 900}}

// reply writes one reply that calls tools, and their results.
func (c *claude) reply() {
	m := c.message()
	if c.r.chance(450) {
		thought := c.v.prose(&c.r, thinkingWords.draw(&c.r))
		c.block(m, `{"type":"thinking","thinking":"`+thought+`","signature":"`+c.r.chars(base64, c.r.between(300, 1400))+`=="}`, "null")
	}
	if c.r.chance(350) {
		c.text(m, false)
	}
	for range 1 + c.r.skewed(3) {
		t := c.tool()
		c.held += len(t.input) + 1
		called := c.block(m, `{"type":"tool_use","id":"`+t.id+`","name":"`+t.name+`","input":`+t.input+`}`, "null")
		if t.before != nil {
			t.before(m.id)
		}
		if t.image == 0 {
			c.held += len(t.content)
		}
		failed := ""
		if t.failed {
			failed = `,"is_error":true`
		}
		c.say("user", `{"role":"user","content":[{"tool_use_id":"`+t.id+`","type":"tool_result","content":`+t.content+failed+`}]}`,
			`,"toolUseResult":`+t.copy, `,"sourceToolAssistantUUID":"`+called+`"`)
	}
}

// subAgent returns the text of the sub-agent's file. Older versions also write its messages into the parent's file as
// they come.
func (c *claude) subAgent(agent, call, reply, prompt, report string, size int64) string {
	var text strings.Builder
	s := &claude{
		r: mix(c.r.next(), 3), v: c.v, out: &sink{w: bufio.NewWriter(&text)}, files: c.files, now: c.now, todos: "[]",
		id: c.id, cwd: c.cwd, version: c.version, branch: c.branch, model: c.model, slug: c.slug, agent: agent, old: c.old,
	}
	if c.old {
		s.echo = func(typ, message, uuid string) {
			c.record("progress", fmt.Sprintf(`,"data":{"message":{"type":"%s","message":%s,"uuid":"%s","timestamp":"%s"},"normalizedMessages":[],"type":"agent_progress","agentId":"%s"},"toolUseID":"agent_%s","parentToolUseID":"%s"`,
				typ, message, uuid, stamp(s.now), agent, reply, call), "")
		}
	}
	s.record("user", `,"message":{"role":"user","content":"`+prompt+`"}`, "")
	for s.out.n < size {
		s.reply()
	}
	s.block(s.message(), `{"type":"text","text":"`+report+`"}`, `"end_turn"`)
	c.now = s.now
	s.out.w.Flush() // a strings.Builder never fails
	return text.String()
}
