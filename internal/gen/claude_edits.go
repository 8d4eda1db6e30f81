package gen

import (
	"io"
	"strconv"
)

// edit changes a file; the copy for the screen carries the whole file as it was, a fifth of all bytes of real homes.
func (c *claude) edit(t *tool) {
	f := c.files.files[c.r.skewed(len(c.files.files))]
	from := c.r.n(len(f.lines))
	n := min(1+c.r.skewed(12), len(f.lines)-from)
	before := &file{path: f.path, lines: f.lines}
	made := f.change(c.v, &c.r, from, n)
	t.name = "Edit"
	t.input = before.part(fill(nil, `{"replace_all":false,"file_path":"@","old_string":"`, f.path), from, n)
	t.input = append(join(append(t.input, `","new_string":"`...), made), '"', '}')
	t.content = func(b []byte) []byte {
		return fill(b, `"The file @ has been updated successfully."`, f.path)
	}
	t.copy = func(b []byte) []byte {
		b = before.part(fill(b, `{"filePath":"@","oldString":"`, f.path), from, n)
		b = join(append(b, `","newString":"`...), made)
		b = append(before.whole(append(b, `","originalFile":"`...)), '"')
		b = before.patch(b, from, n, made)
		return append(b, `,"userModified":false,"replaceAll":false}`...)
	}
}

func (f *file) patch(b []byte, from, n int, made [][]byte) []byte {
	top, end := max(0, from-3), min(len(f.lines), from+n+3)
	b = fill(b, `,"structuredPatch":[{"oldStart":@,"oldLines":@,"newStart":@,"newLines":@,"lines":[`,
		strconv.Itoa(top+1), strconv.Itoa(end-top), strconv.Itoa(top+1), strconv.Itoa(end-top-n+len(made)))
	b = signed(b, ' ', f.lines[top:from])
	b = signed(b, '-', f.lines[from:from+n])
	b = signed(b, '+', made)
	b = signed(b, ' ', f.lines[from+n:end])
	b[len(b)-1] = ']'
	return append(b, '}', ']')
}

func signed(b []byte, sign byte, lines [][]byte) []byte {
	for _, l := range lines {
		b = append(append(append(b, '"', sign), l...), '"', ',')
	}
	return b
}

func (c *claude) write(t *tool) {
	f := newWorkspace(c.v, &c.r, c.cwd, 1).files[0]
	c.files.files[c.r.n(len(c.files.files))] = f
	t.name = "Write"
	t.input = append(f.whole(fill(nil, `{"file_path":"@","content":"`, f.path)), '"', '}')
	whole := &file{path: f.path, lines: f.lines}
	t.content = func(b []byte) []byte { return fill(b, `"File created successfully at: @"`, f.path) }
	t.copy = func(b []byte) []byte {
		b = whole.whole(fill(b, `{"type":"create","filePath":"@","content":"`, f.path))
		return append(b, `","structuredPatch":[],"originalFile":null}`...)
	}
}

func (c *claude) todo(t *tool) {
	b := append([]byte(nil), '[')
	done, n := c.r.n(4), c.r.between(3, 7)
	for i := range n {
		status := "pending"
		if i < done {
			status = "completed"
		} else if i == done {
			status = "in_progress"
		}
		b = fill(c.v.prose(append(b, `{"content":"`...), &c.r, 7), `","status":"@","activeForm":"Working on @"},`, status, c.v.words[c.r.n(6000)])
	}
	b[len(b)-1] = ']'
	was := c.todos
	if was == nil {
		was = []byte("[]")
	}
	c.todos = b
	t.name, t.input = "TodoWrite", fill(nil, `{"todos":@}`, string(b))
	t.content = func(b []byte) []byte {
		return append(b, `"Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress."`...)
	}
	t.copy = func(d []byte) []byte { return fill(d, `{"oldTodos":@,"newTodos":@}`, string(was), string(b)) }
}

var pictureSize = quantiles{{0, 8000}, {500, 40000}, {900, 150000}, {1000, 700000}}

func (c *claude) picture(t *tool) {
	path := c.cwd + "/shot-" + c.r.hex(6) + ".png"
	t.name, t.input, t.image = "Read", fill(nil, `{"file_path":"@"}`, path), pictureSize.draw(&c.r)
	data := c.r.chars(nil, base64, t.image)
	c.held += 6000 // about 1500 tokens, whatever its bytes
	t.content = func(b []byte) []byte {
		b = append(append(b, `[{"type":"image","source":{"type":"base64","data":"`...), data...)
		return append(b, `","media_type":"image/png"}}]`...)
	}
	t.copy = func(b []byte) []byte {
		b = append(append(b, `{"type":"image","file":{"base64":"`...), data...)
		return fill(b, `","type":"image/png","originalSize":@}}`, strconv.Itoa(t.image*3/4))
	}
}

var subAgentSize = quantiles{{0, 8000}, {500, 69000}, {900, 400000}, {1000, 2200000}}

// task runs a sub-agent: a file of its own, and its last text as the result.
func (c *claude) task(t *tool) {
	agent, kind := c.r.hex(7), pick(&c.r, []string{"Explore", "general-purpose", "Plan"})
	prompt := string(c.v.prose(nil, &c.r, c.r.between(40, 200)))
	label := string(c.v.prose(nil, &c.r, 5))
	t.name = "Task"
	t.input = fill(nil, `{"description":"@","subagent_type":"@","prompt":"@"}`, label, kind, prompt)
	report := c.v.prose(nil, &c.r, c.r.between(80, 600))
	size := int64(subAgentSize.draw(&c.r))
	t.before = func() {
		c.aside("subagents/agent-"+agent+".jsonl", func(w io.Writer) error { return c.subAgent(w, agent, t, prompt, report, size) })
		c.aside("subagents/agent-"+agent+".meta.json", func(w io.Writer) error {
			_, err := w.Write(fill(nil, `{"agentType":"@","description":"@","toolUseId":"@"}`, kind, label, t.id))
			return err
		})
	}
	t.content = func(b []byte) []byte {
		return fill(b, `[{"type":"text","text":"@"},{"type":"text","text":"agentId: @ (for resuming to continue this agent's work if needed)"}]`, string(report), agent)
	}
	t.copy = func(b []byte) []byte {
		return fill(b, `{"status":"completed","prompt":"@","agentId":"@","content":[{"type":"text","text":"@"}],"totalDurationMs":@,"totalTokens":@,"totalToolUseCount":@}`,
			prompt, agent, string(report), strconv.Itoa(c.r.between(9000, 400000)), strconv.Itoa(int(size/6)), strconv.Itoa(int(size/9000)))
	}
}

// subAgent writes the sub-agent's file, and in older versions its messages into the parent's file as they come.
func (c *claude) subAgent(w io.Writer, agent string, t *tool, prompt string, report []byte, size int64) error {
	s := &claude{
		r: mix(c.r.next(), 3), v: c.v, out: newSink(w), files: c.files, now: c.now,
		id: c.id, cwd: c.cwd, version: c.version, branch: c.branch, model: c.model, slug: c.slug, agent: agent, old: c.old,
	}
	if c.old {
		s.mirror = &mirror{parent: c, agent: agent, call: t.id, reply: t.reply}
	}
	s.shut(fill(s.open("user"), `,"message":{"role":"user","content":"@"}`, prompt))
	for s.out.n < size && s.out.err == nil {
		s.reply()
	}
	m := s.message()
	b := append(append(append(s.block(m), `{"type":"text","text":"`...), report...), '"', '}')
	s.endBlock(m, b, `"end_turn"`)
	c.now = s.now
	return s.out.close()
}
