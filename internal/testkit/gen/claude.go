package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// claude writes one session of Claude Code.
type claude struct {
	*session
	branch string
	agent  string                        // ID of the sub-agent whose file this is, "" in a main session
	parent any                           // uuid of the last record of the chain, nil at first
	cached int                           // tokens in the cache
	others int64                         // bytes of the sub-agents' transcripts
	beside func(name, text string) error // writes a file into the session's directory; nil if it has none
}

func newClaude(s *session) *claude {
	return &claude{session: s, branch: "feature/" + s.words[40+s.IntN(3000)]}
}

// run writes turns until the file has size bytes.
func (c *claude) run(size int64) {
	c.line(object{"type": "permission-mode", "permissionMode": "default", "sessionId": c.id})
	c.record("attachment", object{"attachment": object{"type": "skill_listing", "content": c.prose(c.random, 900)}})
	c.turns(size, func() {
		c.turn(size)
		if c.held/4 > 150000 {
			c.compact()
		}
	})
}

// record writes a record of the chain, with these members, and returns its uuid.
func (c *claude) record(typ string, with object) string {
	id := c.uuid()
	r := object{
		"type": typ, "uuid": id, "parentUuid": c.parent, "isSidechain": c.agent != "", "userType": "external", "cwd": c.cwd,
		"sessionId": c.id, "version": "2.1.112", "gitBranch": c.branch,
	}
	if c.agent != "" {
		r["agentId"] = c.agent
	}
	maps.Copy(r, with)
	c.parent = id
	c.line(r)
	return id
}

// user writes a message in the user's role.
func (c *claude) user(content any, with object) {
	r := object{"message": object{"role": "user", "content": content}}
	maps.Copy(r, with)
	c.record("user", r)
}

// turn writes a prompt and everything until the agent stops.
func (c *claude) turn(size int64) {
	c.user(c.said(c.draw(promptWords)), object{"permissionMode": "default"})
	for range 1 + c.low(24) {
		if c.reply(); c.n >= size {
			break
		}
	}
	c.text(c.reach(), "end_turn", c.between(30, 300))
	c.record("system", object{"subtype": "turn_duration", "durationMs": c.between(2000, 900000), "isMeta": false})
}

// compact writes the agent's own compaction: the boundary, and the summary that replaces the earlier messages.
func (c *claude) compact() {
	last := c.parent
	c.parent = nil
	c.record("system", object{
		"subtype": "compact_boundary", "logicalParentUuid": last, "content": "Conversation compacted", "isMeta": false,
		"compactMetadata": object{"trigger": "auto", "preTokens": c.tokens()},
	})
	c.held, c.cached = 8000, 0
	c.user("This session is being continued from a previous conversation that ran out of context. "+c.prose(c.random, 1200),
		object{"isVisibleInTranscriptOnly": true, "isCompactSummary": true})
}

// tokens returns the size of the context: one token per four bytes, and a part that every session has.
func (c *claude) tokens() int { return 16000 + c.held/4 }

// reach returns the first part of a reply of the model: a record for each block has it.
func (c *claude) reach() object {
	fresh := max(0, c.tokens()-c.cached)
	usage := object{
		"input_tokens": c.between(2, 10), "cache_creation_input_tokens": fresh, "cache_read_input_tokens": c.cached,
		"output_tokens": c.between(1, 900), "service_tier": "standard",
	}
	c.cached = c.tokens()
	return object{"model": "claude-opus-4-7", "id": "msg_01" + c.hex(11), "type": "message", "role": "assistant", "usage": usage, "stop_sequence": nil}
}

// block writes the record of one content block of a reply.
func (c *claude) block(reply, content object, stop any) string {
	m := maps.Clone(reply)
	m["content"], m["stop_reason"] = []object{content}, stop
	return c.record("assistant", object{"message": m, "requestId": fmt.Sprint("req_", m["id"])})
}

func (c *claude) text(reply object, stop any, words int) {
	text := c.said(words)
	if c.in(66) {
		text += "```go\n" + strings.Join(c.listing(pick(c.random, c.files...), c.between(3, 20)), "\n") + "\n```\n"
	}
	c.block(reply, object{"type": "text", "text": text}, stop)
}

var thinkingWords = quantiles{{0, 0}, {300, 20}, {800, 120}, {1000, 900}}

// reply writes one reply that calls tools, and their results.
func (c *claude) reply() {
	m := c.reach()
	if c.in(450) {
		c.block(m, object{"type": "thinking", "thinking": c.prose(c.random, c.draw(thinkingWords)), "signature": c.base64(c.between(200, 1100))}, nil)
	}
	if c.in(350) {
		c.text(m, nil, c.between(6, 60))
	}
	for range 1 + c.low(3) {
		t := c.tool()
		id := "toolu_01" + c.hex(11)
		called := c.block(m, object{"type": "tool_use", "id": id, "name": t.name, "input": t.input}, nil)
		result := object{"type": "tool_result", "tool_use_id": id, "content": t.content}
		if t.failed {
			result["is_error"] = true
		}
		if text, ok := t.content.(string); ok {
			c.held += len(text)
		}
		c.user([]object{result}, object{"toolUseResult": t.copy, "sourceToolAssistantUUID": called})
	}
}

// tool is one call with its result.
type tool struct {
	name          string
	input         object
	content, copy any // the result as the model saw it, and for the screen
	failed        bool
}

// tool returns a random call; the shares are those of real sessions.
func (c *claude) tool() tool {
	switch p := c.IntN(1000); {
	case p < 340:
		return c.read()
	case p < 670:
		return c.bash()
	case p < 965:
		return c.change()
	case p < 992 && c.agent == "":
		return c.task()
	case p < 996:
		return c.read()
	}
	return c.picture()
}

func (c *claude) read() tool {
	f := c.files[c.low(len(c.files))]
	from, n := 0, len(f.lines)
	input := object{"file_path": f.path}
	if n > 400 || c.in(250) {
		from = c.IntN(n)
		n = min(n-from, c.between(20, 200))
		input["offset"], input["limit"] = from+1, n
	}
	part := f.lines[from : from+n]
	var b strings.Builder
	for i, l := range part {
		fmt.Fprintf(&b, "%6d→%s\n", from+i+1, l)
	}
	shown := object{"filePath": f.path, "content": strings.Join(part, "\n"), "numLines": n, "startLine": from + 1, "totalLines": len(f.lines)}
	return tool{name: "Read", input: input, content: b.String(), copy: object{"type": "text", "file": shown}}
}

var outputLines = quantiles{{0, 0}, {300, 4}, {700, 30}, {900, 120}, {970, 400}, {1000, 2500}}

// tooLong is the size from which an output is spilled to a file, in bytes.
const tooLong = 30000

func (c *claude) bash() tool {
	t := tool{name: "Bash", input: object{"command": c.command(pick(c.random, c.files...)), "description": c.prose(c.random, 7)}}
	out := c.output(c.draw(outputLines))
	if t.failed = c.in(90); t.failed {
		t.content = "Exit code 1\n" + out
		t.copy = fmt.Sprint("Error: ", t.content)
		return t
	}
	copied := object{"stdout": out[:min(len(out), tooLong)], "stderr": "", "interrupted": false, "isImage": false}
	if t.content = out; len(out) > tooLong {
		name := "tool-results/b" + c.hex(4) + ".txt"
		c.aside(name, out)
		path := "/home/sam/.claude/projects/" + slugOf(c.cwd) + "/" + c.id + "/" + name
		t.content = fmt.Sprintf("<persisted-output>\nOutput too large (%dKB). Full output saved to: %s\n\nPreview (first 2KB):\n%s...\n</persisted-output>",
			len(out)/1024, path, out[:strings.LastIndex(out[:2000], "\n")+1])
		copied["persistedOutputPath"], copied["persistedOutputSize"] = path, len(out)
	}
	t.copy = copied
	return t
}

// aside writes a file into the session's directory, if it has one.
func (c *claude) aside(name, text string) {
	if c.beside != nil && c.err == nil {
		c.err = c.beside(name, text)
	}
}

// change edits a file. The copy for the screen has the whole original file: a fifth of all bytes in real homes.
func (c *claude) change() tool {
	f := c.files[c.low(len(c.files))]
	original := f.lines
	was, made := c.edit(f)
	before, after := strings.Join(was, "\n"), strings.Join(made, "\n")
	return tool{
		name: "Edit", input: object{"replace_all": false, "file_path": f.path, "old_string": before, "new_string": after},
		content: "The file " + f.path + " has been updated successfully.",
		copy: object{
			"filePath": f.path, "oldString": before, "newString": after, "originalFile": strings.Join(original, "\n") + "\n",
			"structuredPatch": []object{}, "userModified": false, "replaceAll": false,
		},
	}
}

var pictureSize = quantiles{{0, 6000}, {500, 30000}, {900, 110000}, {1000, 500000}}

func (c *claude) picture() tool {
	size := c.draw(pictureSize)
	data := c.base64(size)
	c.held += 6000 // about 1500 tokens, whatever its size
	return tool{
		name: "Read", input: object{"file_path": c.cwd + "/shot-" + c.hex(3) + ".png"},
		content: []object{{"type": "image", "source": object{"type": "base64", "data": data, "media_type": "image/png"}}},
		copy:    object{"type": "image", "file": object{"base64": data, "type": "image/png", "originalSize": size}},
	}
}

var subAgentSize = quantiles{{0, 8000}, {500, 69000}, {900, 400000}, {1000, 2200000}}

// task runs a sub-agent: it has its own file, and its last text is the result.
func (c *claude) task() tool {
	label, prompt, kind, id := c.prose(c.random, 5), c.prose(c.random, c.between(40, 200)), pick(c.random, "Explore", "general-purpose", "Plan"), c.hex(4)
	var text bytes.Buffer
	s := &claude{session: newSession(&text, c.vocabulary, chance(c.Uint64(), 3), c.now), branch: c.branch, agent: id}
	s.id, s.cwd, s.files = c.id, c.cwd, c.files
	s.user(prompt, nil)
	for size := int64(c.draw(subAgentSize)); s.n < size; {
		s.reply()
	}
	report := c.prose(c.random, c.between(80, 600))
	s.block(s.reach(), object{"type": "text", "text": report}, "end_turn")
	c.now = s.now
	c.others += s.n
	meta, _ := json.Marshal(object{"agentType": kind, "description": label}) // strings always have a JSON form
	c.aside("subagents/agent-"+id+".jsonl", text.String())
	c.aside("subagents/agent-"+id+".meta.json", string(meta))
	parts := []object{{"type": "text", "text": report}, {"type": "text", "text": "agentId: " + id + " (for resuming to continue this agent's work if needed)"}}
	return tool{
		name: "Task", input: object{"description": label, "subagent_type": kind, "prompt": prompt}, content: parts,
		copy: object{"status": "completed", "prompt": prompt, "agentId": id, "content": parts[:1], "totalDurationMs": s.now.Sub(epoch).Milliseconds(), "totalTokens": s.n / 6},
	}
}

// slugOf returns the name of the directory that Claude Code makes for a working directory.
func slugOf(cwd string) string { return strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(cwd) }
