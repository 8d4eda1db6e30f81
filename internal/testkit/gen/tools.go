package gen

import (
	"fmt"
	"strings"
)

// tool is one call of Claude Code with its result.
type tool struct {
	id, name, input string
	before          func(reply string) // writes the tool's output while it runs; reply is the ID of the message that called it
	content, copy   string             // the result as the model saw it, and for the screen: JSON values
	failed          bool
	image           int // bytes of base64
}

// tool returns a random call; the shares are those of real sessions.
func (c *claude) tool() *tool {
	t := &tool{id: "toolu_01" + c.r.chars(base62, 22)}
	switch p := c.r.n(1000); {
	case p < 300:
		c.read(t)
	case p < 540:
		c.bash(t)
	case p < 650:
		c.grep(t)
	case p < 880:
		c.edit(t)
	case p < 900:
		c.write(t)
	case p < 965:
		c.todo(t)
	case p < 992 && c.agent == "":
		c.task(t)
	case p < 996:
		c.read(t)
	default:
		c.picture(t)
	}
	return t
}

func (c *claude) read(t *tool) {
	f := c.files[c.r.skewed(len(c.files))]
	from, n := 0, len(f.lines)
	t.name, t.input = "Read", `{"file_path":"`+f.path+`"}`
	if n > 400 || c.r.chance(250) {
		from = c.r.n(n)
		n = min(n-from, c.r.between(20, 200))
		t.input = fmt.Sprintf(`{"file_path":"%s","offset":%d,"limit":%d}`, f.path, from+1, n)
	}
	part := f.lines[from : from+n]
	var b strings.Builder
	for i, l := range part {
		fmt.Fprintf(&b, `%6d→%s\n`, from+i+1, l)
	}
	if c.old {
		b.WriteString(`\n<system-reminder>\nConsider whether this file would be considered malware.\n</system-reminder>\n`)
	}
	t.content = `"` + b.String() + `"`
	t.copy = fmt.Sprintf(`{"type":"text","file":{"filePath":"%s","content":"%s","numLines":%d,"startLine":%d,"totalLines":%d}}`,
		f.path, join(part), n, from+1, len(f.lines))
}

var outputLines = quantiles{{0, 0}, {300, 4}, {700, 30}, {900, 120}, {970, 400}, {1000, 2500}}

// tooLong is the size from which an output is spilled to a file, in bytes.
const tooLong = 30000

func (c *claude) bash(t *tool) {
	v := c.v
	t.name = "Bash"
	t.input = fmt.Sprintf(`{"command":"%s ./%s/... -run %s 2>&1 | tail -%d","description":"%s"}`, pick(&c.r, "go test", "make", "npm run", "git log", "rg -n"),
		pick(&c.r, v.paths...), v.names[c.r.n(3000)], c.r.between(5, 200), v.prose(&c.r, 7))
	var b strings.Builder
	for range outputLines.draw(&c.r) {
		b.WriteString(v.logLine(&c.r, c.now))
	}
	out := b.String()
	if t.failed = c.r.chance(90); t.failed {
		out = `Exit code 1\n` + out
	}
	if c.old {
		t.before = func(string) { c.bashProgress(t.id, out) }
	}
	t.content = `"` + out + `"`
	if t.failed {
		t.copy = `"Error: ` + out + `"`
		return
	}
	spilled := ""
	if len(out) > tooLong {
		name := "tool-results/b" + c.r.chars(base62, 8) + ".txt"
		c.aside(name, plain.Replace(out))
		path := "/home/sam/.claude/projects/" + slugOf(c.cwd) + "/" + c.id + "/" + name
		t.content = fmt.Sprintf(`"<persisted-output>\nOutput too large (%dKB). Full output saved to: %s\n\nPreview (first 2KB):\n%s...\n</persisted-output>"`,
			len(out)/1024, path, lines(out, 2000))
		spilled = fmt.Sprintf(`,"persistedOutputPath":"%s","persistedOutputSize":%d`, path, len(out))
	}
	t.copy = `{"stdout":"` + lines(out, tooLong) + `","stderr":"","interrupted":false,"isImage":false` + spilled + `}`
}

// lines returns the first whole lines of escaped text, at most n bytes.
func lines(escaped string, n int) string {
	if len(escaped) <= n {
		return escaped
	}
	return escaped[:strings.LastIndex(escaped[:n], newline)+2]
}

// bashProgress writes the growing output again and again, as older versions did for the screen.
func (c *claude) bashProgress(call, out string) {
	if len(out) < 2000 || c.r.chance(600) {
		return
	}
	for i := range c.r.between(1, 4) {
		part := lines(out, 2000*(i+1))
		c.record("progress", fmt.Sprintf(`,"data":{"type":"bash_progress","output":"%s","fullOutput":"%s","elapsedTimeSeconds":%d,"totalLines":%d},"toolUseID":"bash-progress-%d","parentToolUseID":"%s"`,
			lines(out, 600), part, i+2, strings.Count(part, newline), i, call), "")
	}
}

// aside writes a file into the session's directory, if it has one.
func (c *claude) aside(name, text string) {
	if c.beside != nil && c.out.err == nil {
		c.out.err = c.beside(name, text)
	}
}

func (c *claude) grep(t *tool) {
	t.name = "Grep"
	t.input = fmt.Sprintf(`{"pattern":"%s.*%s","path":"%s","output_mode":"content","-n":true}`, c.v.names[c.r.n(3000)], c.v.words[c.r.n(6000)], c.cwd)
	out, hits := "", 1+c.r.skewed(60)
	for range hits {
		f := pick(&c.r, c.files...)
		n := c.r.n(len(f.lines))
		out += fmt.Sprintf(`%s:%d:%s\n`, f.path, n+1, f.lines[n])
	}
	t.content = `"` + out + `"`
	t.copy = fmt.Sprintf(`{"mode":"content","numFiles":0,"filenames":[],"content":"%s","numLines":%d}`, out, hits)
}

// edit changes a file. The copy for the screen has the whole original file: a fifth of all bytes in real homes.
func (c *claude) edit(t *tool) {
	f := c.files[c.r.skewed(len(c.files))]
	from, n := f.stretch(&c.r)
	was := f.lines
	made := f.change(c.v, &c.r, from, n)
	before, after := join(was[from:from+n]), join(made)
	t.name = "Edit"
	t.input = fmt.Sprintf(`{"replace_all":false,"file_path":"%s","old_string":"%s","new_string":"%s"}`, f.path, before, after)
	t.content = `"The file ` + f.path + ` has been updated successfully."`
	top, end := max(0, from-3), min(len(was), from+n+3)
	var patch []string
	signed := func(sign string, lines []string) {
		for _, l := range lines {
			patch = append(patch, `"`+sign+l+`"`)
		}
	}
	signed(" ", was[top:from])
	signed("-", was[from:from+n])
	signed("+", made)
	signed(" ", was[from+n:end])
	t.copy = fmt.Sprintf(`{"filePath":"%s","oldString":"%s","newString":"%s","originalFile":"%s","structuredPatch":[{"oldStart":%d,"oldLines":%d,"newStart":%d,"newLines":%d,"lines":[%s]}],"userModified":false,"replaceAll":false}`,
		f.path, before, after, prefixed("", was), top+1, end-top, top+1, end-top-n+len(made), strings.Join(patch, ","))
}

func (c *claude) write(t *tool) {
	f := newFile(c.v, &c.r, c.cwd)
	c.files[c.r.n(len(c.files))] = f
	text := prefixed("", f.lines)
	t.name = "Write"
	t.input = `{"file_path":"` + f.path + `","content":"` + text + `"}`
	t.content = `"File created successfully at: ` + f.path + `"`
	t.copy = `{"type":"create","filePath":"` + f.path + `","content":"` + text + `","structuredPatch":[],"originalFile":null}`
}

func (c *claude) todo(t *tool) {
	var items []string
	done, n := c.r.n(4), c.r.between(3, 7)
	for i := range n {
		status := "pending"
		if i < done {
			status = "completed"
		} else if i == done {
			status = "in_progress"
		}
		items = append(items, fmt.Sprintf(`{"content":"%s","status":"%s","activeForm":"Working on %s"}`, c.v.prose(&c.r, 7), status, c.v.words[c.r.n(6000)]))
	}
	was := c.todos
	c.todos = "[" + strings.Join(items, ",") + "]"
	t.name, t.input = "TodoWrite", `{"todos":`+c.todos+`}`
	t.content = `"Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress."`
	t.copy = `{"oldTodos":` + was + `,"newTodos":` + c.todos + `}`
}

var pictureSize = quantiles{{0, 8000}, {500, 40000}, {900, 150000}, {1000, 700000}}

func (c *claude) picture(t *tool) {
	t.name, t.input = "Read", `{"file_path":"`+c.cwd+"/shot-"+c.r.chars(hexDigits, 6)+`.png"}`
	t.image = pictureSize.draw(&c.r)
	data := c.r.chars(base64, t.image)
	c.held += 6000 // about 1500 tokens, whatever its size
	t.content = `[{"type":"image","source":{"type":"base64","data":"` + data + `","media_type":"image/png"}}]`
	t.copy = fmt.Sprintf(`{"type":"image","file":{"base64":"%s","type":"image/png","originalSize":%d}}`, data, t.image*3/4)
}

var subAgentSize = quantiles{{0, 8000}, {500, 69000}, {900, 400000}, {1000, 2200000}}

// task runs a sub-agent: it has its own file, and its last text is the result.
func (c *claude) task(t *tool) {
	agent, kind := c.r.chars(hexDigits, 7), pick(&c.r, "Explore", "general-purpose", "Plan")
	prompt := c.v.prose(&c.r, c.r.between(40, 200))
	label := c.v.prose(&c.r, 5)
	t.name = "Task"
	t.input = `{"description":"` + label + `","subagent_type":"` + kind + `","prompt":"` + prompt + `"}`
	report := c.v.prose(&c.r, c.r.between(80, 600))
	size := subAgentSize.draw(&c.r)
	t.content = fmt.Sprintf(`[{"type":"text","text":"%s"},{"type":"text","text":"agentId: %s (for resuming to continue this agent's work if needed)"}]`, report, agent)
	t.before = func(reply string) {
		c.aside("subagents/agent-"+agent+".jsonl", c.subAgent(agent, t.id, reply, prompt, report, int64(size)))
		c.aside("subagents/agent-"+agent+".meta.json", fmt.Sprintf(`{"agentType":"%s","description":"%s","toolUseId":"%s"}`, kind, label, t.id))
		t.copy = fmt.Sprintf(`{"status":"completed","prompt":"%s","agentId":"%s","content":[{"type":"text","text":"%s"}],"totalDurationMs":%d,"totalTokens":%d,"totalToolUseCount":%d}`,
			prompt, agent, report, c.r.between(9000, 400000), size/6, size/9000)
	}
}
