package compactor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// script writes an invented session in the shape of Claude Code's transcripts.
type script struct {
	buf   bytes.Buffer
	at    time.Time
	n     int
	model string
	used  int64 // tokens that the next reply reports
}

func newScript() *script {
	return &script{at: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC), model: "some-model"}
}

func (s *script) line(kind string, message any, extra map[string]any) {
	s.n++
	s.at = s.at.Add(7 * time.Second)
	m := map[string]any{
		"type": kind, "uuid": fmt.Sprintf("u-%d", s.n), "timestamp": s.at.Format("2006-01-02T15:04:05.000Z"),
		"sessionId": "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b", "cwd": "/home/me/ledger", "gitBranch": "main", "version": "2.1.0",
	}
	if message != nil {
		m["message"] = message
	}
	for k, v := range extra {
		m[k] = v
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	s.buf.Write(append(data, '\n'))
}

func (s *script) human(text string) {
	s.line("user", map[string]any{"role": "user", "content": text}, nil)
}

func (s *script) reply(block map[string]any) {
	m := map[string]any{"role": "assistant", "id": fmt.Sprintf("msg-%d", s.n), "model": s.model, "content": []any{block}}
	if s.used > 0 {
		m["usage"] = map[string]any{"input_tokens": s.used, "output_tokens": 0}
	}
	s.line("assistant", m, nil)
}

func (s *script) say(text string)   { s.reply(map[string]any{"type": "text", "text": text}) }
func (s *script) think(text string) { s.reply(map[string]any{"type": "thinking", "thinking": text}) }

func (s *script) call(id, tool string, input map[string]any) {
	s.reply(map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
}

func (s *script) result(id, text string, failed bool) {
	block := map[string]any{"type": "tool_result", "tool_use_id": id, "content": text}
	if failed {
		block["is_error"] = true
	}
	s.line("user", map[string]any{"role": "user", "content": []any{block}}, nil)
}

// do is a call with its result.
func (s *script) do(tool string, input map[string]any, result string) {
	id := fmt.Sprintf("toolu_%d", s.n)
	s.call(id, tool, input)
	s.result(id, result, false)
}

func (s *script) bash(cmd, out string) { s.do("Bash", map[string]any{"command": cmd}, out) }

func (s *script) fails(cmd, out string, status int) {
	id := fmt.Sprintf("toolu_%d", s.n)
	s.call(id, "Bash", map[string]any{"command": cmd})
	s.result(id, fmt.Sprintf("Exit code %d\n%s", status, out), true)
}

func (s *script) read(path, content string) {
	s.do("Read", map[string]any{"file_path": path}, numbered(content))
}

func (s *script) edit(path, old, new string) {
	s.do("Edit", map[string]any{"file_path": path, "old_string": old, "new_string": new},
		"The file "+path+" has been updated.")
}

func (s *script) write(path, content string) {
	s.do("Write", map[string]any{"file_path": path, "content": content}, "File created successfully at: "+path)
}

func (s *script) boundary(preserved ...string) {
	s.line("system", nil, map[string]any{
		"subtype": "compact_boundary", "content": "Conversation compacted",
		"compactMetadata": map[string]any{"trigger": "auto", "preTokens": 1000, "preservedMessages": map[string]any{"uuids": preserved}},
	})
	s.line("user", map[string]any{"role": "user", "content": "This session is being continued. Summary: money was counted."},
		map[string]any{"isCompactSummary": true})
}

func numbered(content string) string {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(content) {
		n++
		fmt.Fprintf(&b, "%6d\t%s", n, l)
	}
	return b.String()
}

// day is a session of n rounds of work: reading, editing, testing, failing, mending, talking.
func day(n int) *script {
	s := newScript()
	s.human("The nightly export writes 48,212 cents where the invoice says 48,213. Find out why and fix it. Don't touch the schema.")
	for i := range n {
		s.round(i)
	}
	return s
}

func (s *script) round(i int) {
	path := fmt.Sprintf("/home/me/ledger/money%d.py", i%7)
	content := strings.Repeat(fmt.Sprintf("def cents_%d(text):\n    return round(float(text) * %d)\n", i, i), 40)
	s.think(strings.Repeat("Where does the cent go? ", 10))
	s.say(fmt.Sprintf("I'll read money%d.py, because the rounding of line %d must happen somewhere in there. %s", i%7, i, strings.Repeat("It may also be the export. ", i%9)))
	s.read(path, content)
	s.edit(path, fmt.Sprintf("def cents_%d(text):\n    return round(float(text) * %d)\n", i, i), "def exact():\n    pass\n")
	if i%3 == 0 {
		s.fails(fmt.Sprintf("pytest -q tests/test_%d.py", i), strings.Repeat("collected\n", 200)+"E   AssertionError: Money(48212) != Money(48213)\n1 failed, 37 passed in 2.1s", 1)
	}
	s.bash(fmt.Sprintf("pytest -q tests/test_%d.py", i-i%2), strings.Repeat(".....\n", 100+i%50)+fmt.Sprintf("%d passed in 1.2s", i+3))
	s.do("Grep", map[string]any{"pattern": fmt.Sprintf("float_%d", i)}, strings.Repeat(fmt.Sprintf("ledger/money.py:%d: float\n", i), 30))
	if i%11 == 5 {
		s.human(fmt.Sprintf("no, keep it integer cents everywhere, also in round %d. %s", i, strings.Repeat("Think of the auditors. ", i%13)))
	}
}

// padded appends rounds of work, so that what came before is out of the verbatim part.
func (s *script) padded() *script {
	for i := range 40 {
		s.round(1000 + i)
	}
	return s
}
