package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// workday builds an invented session of Claude Code with every kind of fact.
type workday struct {
	buf                  bytes.Buffer
	at                   time.Time
	n                    int
	session, dir, branch string        // "" for the usual ones
	step                 time.Duration // between records, 0 for the usual one
	context              int           // tokens that the next reply reports, 0 for none
}

const ledgerDir = "/home/me/harbour"

func (w *workday) line(kind string, message any, extra map[string]any) {
	w.n++
	w.at = w.at.Add(cmp.Or(w.step, 41*time.Second))
	m := map[string]any{
		"type": kind, "uuid": fmt.Sprintf("u-%d", w.n), "timestamp": w.at.Format("2006-01-02T15:04:05.000Z"),
		"sessionId": cmp.Or(w.session, "7c1f0b52-3d64-4e8f-9a17-5b2e6d8c4f10"), "cwd": cmp.Or(w.dir, ledgerDir), "gitBranch": cmp.Or(w.branch, "berths"), "version": "2.1.0",
	}
	if message != nil {
		m["message"] = message
	}
	for k, v := range extra {
		m[k] = v
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	w.buf.Write(append(b, '\n'))
}

func (w *workday) human(text string) {
	w.line("user", map[string]any{"role": "user", "content": text}, nil)
}

// pasted is a message of the human with a picture.
func (w *workday) pasted(text string, picture []byte) {
	source := map[string]any{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(picture)}
	w.line("user", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": text}, map[string]any{"type": "image", "source": source},
	}}, nil)
}

func (w *workday) reply(block map[string]any) {
	message := map[string]any{"role": "assistant", "id": fmt.Sprintf("msg-%d", w.n), "model": "some-model", "content": []any{block}}
	if w.context > 0 {
		w.context += 1250
		message["model"], message["usage"] = "claude-opus-4-5", map[string]any{"input_tokens": 8, "cache_read_input_tokens": w.context, "output_tokens": 120}
	}
	w.line("assistant", message, nil)
}

func (w *workday) say(text string) { w.reply(map[string]any{"type": "text", "text": text}) }

func (w *workday) do(tool string, input map[string]any, result string) {
	id := fmt.Sprintf("toolu_%d", w.n)
	w.reply(map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
	w.line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result}}}, nil)
}

func (w *workday) bash(command, out string) {
	w.do("Bash", map[string]any{"command": command}, out)
}

func (w *workday) read(name, content string) {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(content) {
		n++
		fmt.Fprintf(&b, "%6d\t%s", n, l)
	}
	w.do("Read", map[string]any{"file_path": ledgerDir + "/" + name}, b.String())
}

func (w *workday) edit(name, before, after string) {
	p := cmp.Or(w.dir, ledgerDir) + "/" + name
	w.do("Edit", map[string]any{"file_path": p, "old_string": before, "new_string": after}, "The file "+p+" has been updated.")
}
