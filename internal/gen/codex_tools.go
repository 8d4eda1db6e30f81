package gen

import (
	"bytes"
	"strconv"
)

var codexOutput = quantiles{{0, 1}, {300, 8}, {700, 50}, {930, 140}, {1000, 256}}

// shell runs a command: the call, what the model saw, and the copy for the screen.
func (c *codex) shell() {
	id, command := c.r.id("call_", 24), c.command()
	b := fill(c.open("response_item"), `{"type":"function_call","name":"shell_command","arguments":"{\"command\":\"`)
	b = twice(b, []byte(command))
	c.shut(fill(b, `\",\"workdir\":\"@\"}","call_id":"@"}`, c.cwd, id))
	out, exit := c.output(), "0"
	if c.r.chance(100) {
		exit = "1"
	}
	c.held += len(out)
	c.event(`{"type":"exec_command_end","call_id":"@","command":["bash","-lc","@"],"cwd":"@","aggregated_output":"@","exit_code":@,"status":"completed"}`,
		id, command, c.cwd, string(out), exit)
	b = fill(c.open("response_item"), `{"type":"function_call_output","call_id":"@","output":"`, id)
	if c.r.chance(300) {
		b = append(fill(b, `Exit code: @\nWall time: @.@ seconds\nOutput:\n`, exit, strconv.Itoa(c.r.n(30)), strconv.Itoa(c.r.n(9))), out...)
	} else {
		b = twice(append(b, `{\"output\":\"`...), out)
		b = fill(b, `\",\"metadata\":{\"exit_code\":@,\"duration_seconds\":@.@}}`, exit, strconv.Itoa(c.r.n(30)), strconv.Itoa(c.r.n(9)))
	}
	c.shut(append(b, `"}`...))
}

func (c *codex) command() string {
	f := pick(&c.r, c.files.files)
	return string(fill(nil, pick(&c.r, []string{`sed -n '1,200p' @`, `rg -n \"@\" .`, `go test ./... -run @`, `git diff -- @`, `cat @`}),
		pick(&c.r, []string{f.path, c.v.names[c.r.n(3000)]})))
}

// output is a stretch of a file, JSON, or a log, at most about 10 KB as Codex keeps it.
func (c *codex) output() []byte {
	n, kind := codexOutput.draw(&c.r), c.r.n(3)
	if kind == 0 {
		f := pick(&c.r, c.files.files)
		from := c.r.n(len(f.lines))
		return f.part(nil, from, min(n, len(f.lines)-from))
	}
	var out []byte
	for len(out) < 10000 && n > 0 {
		n--
		if kind == 1 {
			out = c.v.jsonLine(out, &c.r)
		} else {
			out = c.v.logLine(out, &c.r, c.now)
		}
		out = append(out, '\\', 'n')
	}
	return out
}

func (c *codex) patch() {
	id, f := c.r.id("call_", 24), pick(&c.r, c.files.files)
	from := c.r.n(len(f.lines))
	n := min(1+c.r.skewed(12), len(f.lines)-from)
	was := f.lines[from : from+n]
	made := f.change(c.v, &c.r, from, n)
	b := fill(c.open("response_item"), `{"type":"custom_tool_call","status":"completed","call_id":"@","name":"apply_patch","input":"*** Begin Patch\n*** Update File: @\n@@\n`, id, f.path, "@", "@")
	b = hunk(hunk(b, '-', was), '+', made)
	c.shut(append(b, `*** End Patch"}`...))
	c.shut(fill(c.open("response_item"), `{"type":"custom_tool_call_output","call_id":"@","output":"{\"output\":\"Success. Updated the following files:\\nM @\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}`, id, f.path))
}

func hunk(b []byte, sign byte, lines [][]byte) []byte {
	for _, l := range lines {
		b = append(append(append(b, sign), l...), '\\', 'n')
	}
	return b
}

func (c *codex) plan() {
	id := c.r.id("call_", 24)
	var b []byte
	for i := range c.r.between(3, 6) {
		status := "pending"
		if i == 0 {
			status = "in_progress"
		}
		b = fill(c.v.prose(append(b, `{\"step\":\"`...), &c.r, 6), `\",\"status\":\"@\"},`, status)
	}
	b = bytes.TrimSuffix(b, []byte(","))
	b = bytes.ReplaceAll(b, []byte(`\n`), []byte(` `))
	c.shut(fill(c.open("response_item"), `{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[@]}","call_id":"@"}`, string(b), id))
	c.shut(fill(c.open("response_item"), `{"type":"function_call_output","call_id":"@","output":"Plan updated"}`, id))
}
