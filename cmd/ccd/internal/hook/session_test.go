package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// session builds an invented transcript of either client.
type session struct {
	t     testing.TB
	agent string
	lines strings.Builder
	n     int // records
	calls int
}

func newSession(t testing.TB, agent string) *session {
	s := &session{t: t, agent: agent}
	if agent == codex {
		s.rollout("session_meta", map[string]any{"id": uuid1, "cwd": "/home/me/mill", "originator": "codex", "cli_version": "1"})
	}
	return s
}

const codex = "codex"

func (s *session) line(v map[string]any) {
	s.n++
	v["timestamp"] = time.Date(2026, 3, 1, 9, 0, s.n, 0, time.UTC).Format(time.RFC3339)
	b, err := json.Marshal(v)
	testkit.Must(s.t, err)
	s.lines.Write(append(b, '\n'))
}

func (s *session) rollout(kind string, payload map[string]any) {
	s.line(map[string]any{"type": kind, "payload": payload})
}

func (s *session) claude(kind string, message, extra map[string]any) {
	v := map[string]any{"type": kind, "uuid": fmt.Sprintf("u%d", s.n+1), "cwd": "/home/me/mill", "sessionId": uuid1}
	if message != nil {
		v["message"] = message
	}
	for k, x := range extra {
		v[k] = x
	}
	s.line(v)
}

func (s *session) asks(text string) {
	if s.agent == codex {
		s.rollout("response_item", map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": text}}})
		return
	}
	s.claude("user", map[string]any{"role": "user", "content": text}, nil)
}

func (s *session) says(text string) {
	if s.agent == codex {
		s.rollout("response_item", map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": text}}})
		return
	}
	s.reply(map[string]any{"type": "text", "text": text})
}

func (s *session) reply(block map[string]any) {
	s.claude("assistant", map[string]any{"id": fmt.Sprintf("m%d", s.n), "role": "assistant", "model": "some-model", "content": []any{block}}, nil)
}

// runs adds a command with its outcome.
func (s *session) runs(command, outcome string, failed bool) {
	s.calls++
	id := fmt.Sprintf("call%d", s.calls)
	if s.agent == codex {
		arguments, err := json.Marshal(map[string]any{"cmd": command})
		testkit.Must(s.t, err)
		status := 0
		if failed {
			status = 1
		}
		s.rollout("response_item", map[string]any{"type": "function_call", "name": "exec_command", "arguments": string(arguments), "call_id": id})
		s.rollout("response_item", map[string]any{"type": "function_call_output", "call_id": id, "output": fmt.Sprintf("Process exited with code %d\nOutput:\n%s", status, outcome)})
		return
	}
	s.reply(map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": command}})
	if failed {
		outcome = "Exit code 1\n" + outcome
	}
	s.claude("user", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": id, "content": outcome, "is_error": failed},
	}}, nil)
}

// compacts adds the client's boundary and summary, with the last records preserved.
func (s *session) compacts(summary string, preserved int) {
	if s.agent == codex {
		s.rollout("compacted", map[string]any{"message": summary, "replacement_history": []any{
			map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": summary}}},
		}})
		return
	}
	kept := []string{}
	for i := range preserved {
		kept = append(kept, fmt.Sprintf("u%d", s.n-i))
	}
	s.claude("system", nil, map[string]any{
		"subtype": "compact_boundary", "content": "Conversation compacted",
		"compactMetadata": map[string]any{"trigger": "auto", "preTokens": 160000, "preservedMessages": map[string]any{"uuids": kept, "allUuids": kept}},
	})
	s.claude("user", map[string]any{"role": "user", "content": summary}, map[string]any{"isCompactSummary": true})
}

// hears adds what a hook printed, as the client records it.
func (s *session) hears(text string) {
	if s.agent == codex {
		s.rollout("response_item", map[string]any{"type": "message", "role": "developer", "content": []any{map[string]any{"type": "input_text", "text": text}}})
		return
	}
	s.claude("attachment", nil, map[string]any{"attachment": map[string]any{"type": "hook_additional_context", "content": []string{text}}})
}

// mill is a session in some script: requests with a rule, answers, commands, an open problem.
func mill(t testing.TB, agent string, turns int, word func(n int) string) *session {
	s := newSession(t, agent)
	for n := range turns {
		s.asks(fmt.Sprintf("Please mend sluice %d. %s", n, word(n)))
		s.runs(fmt.Sprintf("make sluice-%d", n), fmt.Sprintf("ok sluice %d: %s", n, word(n)), false)
		s.says(fmt.Sprintf("Sluice %d is mended: %s I rejected oak, because it swells. Next I would oil wheel %d.", n, word(n), n))
	}
	s.asks("No, never touch the weir: always leave it as it is.")
	s.runs("make test-wheel", "FAIL: wheel 7 stands still\n"+word(7), true)
	s.says("The wheel stands still. " + word(9))
	return s
}

// given writes a session as a transcript of the place and lets hooks read it.
func (p *place) given(s *session) string {
	path := p.claude(uuid1)
	if s.agent == codex {
		path = p.codex("2026/03/01", uuid1)
	}
	p.write(path, s.lines.String(), time.Hour)
	p.Compactor = func(_ context.Context, one transcript.Session, m compactor.Manual, _ func(*transcript.Record)) (*compactor.Compactor, compactor.Text, func(), error) {
		f, text := modelOf(p.t, one, m)
		return f, text, func() {}, nil
	}
	return path
}

func modelOf(t testing.TB, s transcript.Session, m compactor.Manual) (*compactor.Compactor, compactor.Text) {
	t.Helper()
	data := testkit.Read(t, s.Path)
	f := compactor.New(compactor.Defaults().With(m), s)
	seg := transcript.Segment{Data: data, End: transcript.Cursor{Generation: 1, Offset: int64(len(data))}}
	for r := range (registry.Table{}).NewDecoder(s.Agent, s.Class).Records(seg) {
		f.Add(r)
	}
	return f, func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil }
}

// told returns what the SessionStart hook adds.
func (p *place) told(source, path string) string {
	p.t.Helper()
	a, err := p.ask(Event{Name: SessionStart, Source: source, Session: uuid1, Transcript: path})
	testkit.Must(p.t, err)
	return contextOf(p.t, a)
}
