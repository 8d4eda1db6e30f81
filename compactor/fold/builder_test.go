package fold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// session writes an invented session in the shape of Claude Code's transcripts.
type session struct {
	buf   bytes.Buffer
	at    time.Time
	n     int
	model string
	used  int64 // tokens that the next reply reports; each one a few more
}

func newSession() *session {
	return &session{at: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC), model: "some-model"}
}

func (s *session) line(kind string, message any, extra map[string]any) {
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

func (s *session) human(text string) {
	s.line("user", map[string]any{"role": "user", "content": text}, nil)
}

func (s *session) reply(block map[string]any) {
	m := map[string]any{"role": "assistant", "id": fmt.Sprintf("msg-%d", s.n), "model": s.model, "content": []any{block}}
	if s.used > 0 {
		m["usage"] = map[string]any{"input_tokens": s.used, "output_tokens": 0}
		s.used += 50
	}
	s.line("assistant", m, nil)
}

func (s *session) say(text string)   { s.reply(map[string]any{"type": "text", "text": text}) }
func (s *session) think(text string) { s.reply(map[string]any{"type": "thinking", "thinking": text}) }

func (s *session) call(id, tool string, input map[string]any) {
	s.reply(map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
}

func (s *session) result(id, text string, failed bool) {
	block := map[string]any{"type": "tool_result", "tool_use_id": id, "content": text}
	if failed {
		block["is_error"] = true
	}
	s.line("user", map[string]any{"role": "user", "content": []any{block}}, nil)
}

// do is a call with its result.
func (s *session) do(tool string, input map[string]any, result string) {
	id := fmt.Sprintf("toolu_%d", s.n)
	s.call(id, tool, input)
	s.result(id, result, false)
}

func (s *session) bash(cmd, out string) { s.do("Bash", map[string]any{"command": cmd}, out) }

func (s *session) fails(cmd, out string, status int) {
	id := fmt.Sprintf("toolu_%d", s.n)
	s.call(id, "Bash", map[string]any{"command": cmd})
	s.result(id, fmt.Sprintf("Exit code %d\n%s", status, out), true)
}

func (s *session) read(path, content string) {
	s.do("Read", map[string]any{"file_path": path}, numbered(content))
}

func (s *session) edit(path, old, new string) {
	s.do("Edit", map[string]any{"file_path": path, "old_string": old, "new_string": new},
		"The file "+path+" has been updated.")
}

func (s *session) write(path, content string) {
	s.do("Write", map[string]any{"file_path": path, "content": content}, "File created successfully at: "+path)
}

func (s *session) boundary(preserved ...string) {
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

// fold folds what was written so far, at once.
func (s *session) fold(t testing.TB) *Fold {
	t.Helper()
	return s.inPieces(t, s.buf.Len(), nil)
}

// inPieces folds what was written so far in pieces of so many bytes; asked is called now and then in between.
func (s *session) inPieces(t testing.TB, size int, asked func(*Fold)) *Fold {
	t.Helper()
	f := New(limits.Defaults(), transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "s"}})
	d, data := registry.Table{}.NewDecoder("claude-code", transcript.Main), s.buf.Bytes()
	n := 0
	for off := 0; off < len(data); off += size {
		end := min(off+size, len(data))
		for r := range d.Records(transcript.Segment{Start: transcript.Cursor{Offset: int64(off)}, Data: data[off:end], Rest: end == len(data)}) {
			f.Add(r)
			if n++; asked != nil && n%20 == 0 {
				asked(f)
			}
		}
	}
	return f
}
