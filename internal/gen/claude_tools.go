package gen

import (
	"bytes"
	"io"
	"strconv"
)

// tool is one call with its result.
type tool struct {
	id, name      string
	record, reply string // uuid of the calling record, ID of its message
	input         []byte
	before        func()                // what the tool writes while it runs
	content, copy func(b []byte) []byte // the result as the model saw it, and for the screen: JSON values
	failed        bool
	image         int // bytes of base64
}

// tool draws a call; the shares are those of real sessions.
func (c *claude) tool() *tool {
	t := &tool{id: c.r.id("toolu_01", 22)}
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
	f := c.files.files[c.r.skewed(len(c.files.files))]
	from, n := 0, len(f.lines)
	t.name, t.input = "Read", fill(nil, `{"file_path":"@"}`, f.path)
	if n > 400 || c.r.chance(250) {
		from = c.r.n(n)
		n = min(n-from, c.r.between(20, 200))
		t.input = fill(nil, `{"file_path":"@","offset":@,"limit":@}`, f.path, strconv.Itoa(from+1), strconv.Itoa(n))
	}
	t.content = func(b []byte) []byte {
		b = f.numbered(append(b, '"'), from, n)
		if c.old {
			b = append(b, `\n<system-reminder>\nConsider whether this file would be considered malware.\n</system-reminder>\n`...)
		}
		return append(b, '"')
	}
	t.copy = func(b []byte) []byte {
		b = f.part(fill(b, `{"type":"text","file":{"filePath":"@","content":"`, f.path), from, n)
		return fill(b, `","numLines":@,"startLine":@,"totalLines":@}}`, strconv.Itoa(n), strconv.Itoa(from+1), strconv.Itoa(len(f.lines)))
	}
}

var outputLines = quantiles{{0, 0}, {300, 4}, {700, 30}, {900, 120}, {970, 400}, {1000, 2500}}

// tooLong is from where an output, in bytes, is spilled to a file.
const tooLong = 30000

func (c *claude) bash(t *tool) {
	v := c.v
	t.name = "Bash"
	t.input = fill(nil, `{"command":"@ ./@/... -run @ 2>&1 | tail -@","description":"`, pick(&c.r, []string{"go test", "make", "npm run", "git log", "rg -n"}),
		pick(&c.r, v.paths), v.names[c.r.n(3000)], strconv.Itoa(c.r.between(5, 200)))
	t.input = append(v.prose(t.input, &c.r, 7), '"', '}')
	n := outputLines.draw(&c.r)
	out := make([]byte, 0, 64*n+64)
	for range n {
		out = append(v.logLine(out, &c.r, c.now), '\\', 'n')
	}
	t.failed = c.r.chance(90)
	if c.old {
		t.before = func() { c.bashProgress(t.id, out) }
	}
	if t.failed {
		out = append([]byte(`Exit code 1\n`), out...)
		t.content = func(b []byte) []byte { return append(append(append(b, '"'), out...), '"') }
		t.copy = func(b []byte) []byte { return append(append(append(b, `"Error: `...), out...), '"') }
		return
	}
	path := ""
	if len(out) > tooLong {
		path = c.spill(out)
	}
	t.content = func(b []byte) []byte {
		if path != "" {
			b = fill(b, `"<persisted-output>\nOutput too large (@KB). Full output saved to: @\n\nPreview (first 2KB):\n`, strconv.Itoa(len(out)/1024), path)
			return append(append(b, lines(out, 2000)...), `...\n</persisted-output>"`...)
		}
		return append(append(append(b, '"'), out...), '"')
	}
	t.copy = func(b []byte) []byte {
		b = append(append(b, `{"stdout":"`...), lines(out, tooLong)...)
		b = append(b, `","stderr":"","interrupted":false,"isImage":false`...)
		if path != "" {
			b = fill(b, `,"persistedOutputPath":"@","persistedOutputSize":@`, path, strconv.Itoa(len(out)))
		}
		return append(b, '}')
	}
}

// lines returns the first whole lines of escaped text, at most n bytes.
func lines(escaped []byte, n int) []byte {
	if len(escaped) <= n {
		return escaped
	}
	return escaped[:bytes.LastIndex(escaped[:n], []byte(`\n`))+2]
}

// bashProgress repeats the growing output, as the screen of older versions was fed.
func (c *claude) bashProgress(call string, out []byte) {
	if len(out) < 2000 || c.r.chance(600) {
		return
	}
	for i := range c.r.between(1, 4) {
		part := lines(out, min(len(out), 2000*(i+1)))
		b := append(c.open("progress"), `,"data":{"type":"bash_progress","output":"`...)
		b = append(b, lines(out, 600)...)
		b = append(append(b, `","fullOutput":"`...), part...)
		c.shut(fill(b, `","elapsedTimeSeconds":@,"totalLines":@},"toolUseID":"bash-progress-@","parentToolUseID":"@"`,
			strconv.Itoa(i+2), strconv.Itoa(bytes.Count(part, []byte(`\n`))), strconv.Itoa(i), call))
	}
}

// spill writes an output to the file that the transcript names.
func (c *claude) spill(out []byte) string {
	name := "tool-results/" + c.r.id("b", 8) + ".txt"
	c.aside(name, func(w io.Writer) error {
		_, err := plain.WriteString(w, string(out))
		return err
	})
	return "/home/sam/.claude/projects/" + slugOf(c.cwd) + "/" + c.id + "/" + name
}

// aside writes a file that stands in the session's directory, where there is one.
func (c *claude) aside(name string, write func(io.Writer) error) {
	if c.beside == nil || c.out.err != nil {
		_ = write(io.Discard)
		return
	}
	w, err := c.beside(name)
	if err == nil {
		err = write(w)
		if cerr := w.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		c.out.err = err
	}
}

func (c *claude) grep(t *tool) {
	t.name = "Grep"
	t.input = fill(nil, `{"pattern":"@.*@","path":"@","output_mode":"content","-n":true}`, c.v.names[c.r.n(3000)], c.v.words[c.r.n(6000)], c.cwd)
	var out []byte
	hits := 1 + c.r.skewed(60)
	for range hits {
		f := c.files.files[c.r.n(len(c.files.files))]
		n := c.r.n(len(f.lines))
		out = append(fill(out, `@:@:`, f.path, strconv.Itoa(n+1)), f.lines[n]...)
		out = append(out, '\\', 'n')
	}
	t.content = func(b []byte) []byte { return append(append(append(b, '"'), out...), '"') }
	t.copy = func(b []byte) []byte {
		b = append(append(b, `{"mode":"content","numFiles":0,"filenames":[],"content":"`...), out...)
		return fill(b, `","numLines":@}`, strconv.Itoa(hits))
	}
}
