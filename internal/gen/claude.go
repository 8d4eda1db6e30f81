package gen

import (
	"io"
	"strconv"
	"strings"
)

// claude writes one session of Claude Code.
type claude struct {
	r     rng
	v     *vocabulary
	out   *sink
	files *workspace
	now   int64

	id, cwd, version, branch, model, slug string
	agent                                 string // ID of the sub-agent whose file this is, "" in a main session
	parent                                string // uuid of the last record of the chain
	held                                  int    // bytes that the model sees
	cached                                int    // of them in the cache, in tokens
	old                                   bool   // a version that still writes progress rows
	todos                                 []byte
	mirror                                *mirror // of a sub-agent: where its records are repeated
	beside                                func(name string) (io.WriteCloser, error)
}

// mirror repeats a sub-agent's messages in its parent's file, as versions with progress rows do.
type mirror struct {
	parent         *claude
	agent          string
	call, reply    string // IDs of the call and of the message that made it
	from, to       int    // of the message in the sub-agent's buffer
	uuid, typ, now string
}

func newClaude(id identity, v *vocabulary, out *sink) *claude {
	c := &claude{r: id.r, v: v, out: out, now: id.now}
	project := v.words[40+c.r.n(30)] + "-" + v.words[80+c.r.n(30)]
	c.id, c.cwd = c.r.uuid(), "/home/sam/src/"+project
	c.old = c.r.chance(600)
	c.version, c.model = "2.1.112", "claude-opus-4-7"
	if c.old {
		c.version, c.model = "2.1.34", "claude-opus-4-6"
	}
	c.branch = "feature/" + v.words[40+c.r.n(3000)]
	c.slug = v.words[100+c.r.n(900)] + "-" + v.words[100+c.r.n(900)] + "-" + v.words[100+c.r.n(900)]
	c.files = newWorkspace(v, &c.r, c.cwd, 30)
	return c
}

// run writes turns until the file holds size bytes.
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
		b := append(c.out.b, `{"type":"summary","summary":"`...)
		b = c.v.prose(b, &c.r, 6)
		c.out.end(fill(b, `","leafUuid":"@"}`+"\n", c.r.uuid()))
	}
	if c.old {
		c.hook("SessionStart")
		return
	}
	c.plainRecord(`{"type":"permission-mode","permissionMode":"default","sessionId":"@"}`, c.id)
	c.attachment(`{"type":"skill_listing","content":"`, 900)
}

func (c *claude) plainRecord(pattern string, args ...string) {
	c.out.end(append(fill(c.out.b, pattern, args...), '\n'))
}

// open begins a record of the chain; what follows is its own part, then shut.
func (c *claude) open(typ string) []byte {
	parent := "null"
	if c.parent != "" {
		parent = `"` + c.parent + `"`
	}
	b := fill(c.out.b, `{"parentUuid":@,"isSidechain":@,"userType":"external","cwd":"@","sessionId":"@","version":"@","gitBranch":"@"`,
		parent, strconv.FormatBool(c.agent != ""), c.cwd, c.id, c.version, c.branch)
	if c.agent != "" {
		b = fill(b, `,"agentId":"@"`, c.agent)
	}
	if c.parent != "" {
		b = fill(b, `,"slug":"@"`, c.slug)
	}
	return fill(b, `,"type":"@"`, typ)
}

// shut ends a record; extra are members behind the time, escaped, beginning with a comma.
func (c *claude) shut(b []byte, extra ...string) string {
	c.now += int64(c.r.between(20, 4000))
	uuid := c.r.uuid()
	b = fill(b, `,"uuid":"@","timestamp":"`, uuid)
	at := len(b)
	b = stamp(b, c.now)
	c.remember(uuid, b[at:])
	b = append(b, '"')
	for _, e := range extra {
		b = append(b, e...)
	}
	c.parent = uuid
	c.end(append(b, '}', '\n'))
	return uuid
}

func (c *claude) end(b []byte) {
	if c.mirror != nil && c.mirror.to > 0 {
		c.mirror.write(b)
	}
	c.out.end(b)
}

func (c *claude) remember(uuid string, now []byte) {
	if c.mirror != nil {
		c.mirror.uuid, c.mirror.now = uuid, string(now)
	}
}

// write repeats the message that stands in b as a progress row of the parent.
func (m *mirror) write(b []byte) {
	p := m.parent
	o := p.open("progress")
	o = fill(o, `,"data":{"message":{"type":"@","message":`, m.typ)
	o = append(o, b[m.from:m.to]...)
	o = fill(o, `,"uuid":"@","timestamp":"@"},"normalizedMessages":[],"type":"agent_progress","agentId":"@"},"toolUseID":"agent_@","parentToolUseID":"@"`,
		m.uuid, m.now, m.agent, m.reply, m.call)
	m.to = 0
	p.shut(o)
}

func (c *claude) hook(event string) {
	b := c.open("progress")
	c.shut(fill(b, `,"data":{"type":"hook_progress","hookEvent":"@","hookName":"@:startup","command":"make -s hook-@"},"parentToolUseID":"@","toolUseID":"@"`,
		event, event, strings.ToLower(event), c.r.uuid(), c.r.uuid()))
}

// attachment writes a record whose content, n words long, goes into the middle of body.
func (c *claude) attachment(body string, n int) {
	b := fill(c.open("attachment"), `,"attachment":@`, body)
	c.shut(append(c.v.prose(b, &c.r, n), '"', '}'))
}

// user writes a user record with a string for content.
func (c *claude) user(words int, extra ...string) {
	b := append(c.open("user"), `,"message":{"role":"user","content":"`...)
	from := len(b)
	b = c.v.prose(b, &c.r, words)
	c.held += len(b) - from
	c.shut(append(b, `"}`...), extra...)
}

var promptWords = quantiles{{0, 3}, {500, 25}, {900, 120}, {1000, 900}}

// turn is a prompt and everything until the agent rests.
func (c *claude) turn(size int64) {
	c.now += int64(c.r.between(5, 600)) * 1000
	c.user(promptWords.draw(&c.r), `,"permissionMode":"default"`)
	if c.agent == "" {
		c.snapshot()
	}
	for range 1 + c.r.skewed(24) {
		c.reply()
		if c.out.n >= size {
			break
		}
	}
	m := c.message()
	c.text(m, true)
	if c.agent != "" {
		return
	}
	if c.old {
		c.hook("Stop")
	}
	b := fill(c.open("system"), `,"subtype":"turn_duration","durationMs":@,"isMeta":false`, strconv.Itoa(c.r.between(2000, 900000)))
	c.shut(b)
}

func (c *claude) snapshot() {
	id := c.r.uuid()
	b := fill(c.out.b, `{"type":"file-history-snapshot","messageId":"@","snapshot":{"messageId":"@","trackedFileBackups":{`, id, id)
	for i := range c.r.skewed(8) {
		if i > 0 {
			b = append(b, ',')
		}
		b = fill(b, `"@":{"backupFileName":"@@v@","version":@}`, c.files.files[i].path, c.r.hex(16), "\\u0040", strconv.Itoa(i+1), strconv.Itoa(i+1))
	}
	b = append(b, `},"timestamp":"`...)
	b = stamp(b, c.now)
	c.out.end(append(b, `"},"isSnapshotUpdate":false}`+"\n"...))
}

// compact writes the agent's own compaction: the boundary, and the summary that replaces what stands before.
func (c *claude) compact() {
	last := c.parent
	c.parent = ""
	b := fill(c.open("system"), `,"logicalParentUuid":"@","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"level":"info","compactMetadata":{"trigger":"auto","preTokens":@}`,
		last, strconv.Itoa(c.tokens()))
	c.shut(b)
	c.held, c.cached = 0, 0
	b = append(c.open("user"), `,"message":{"role":"user","content":"This session is being continued from a previous conversation that ran out of context. `...)
	b = c.v.prose(b, &c.r, 1200)
	c.held += 8000
	c.shut(append(b, `"}`...), `,"isVisibleInTranscriptOnly":true,"isCompactSummary":true`)
}

// tokens is what the model holds now: about four bytes each, and what every session carries.
func (c *claude) tokens() int { return 16000 + c.held/4 }
