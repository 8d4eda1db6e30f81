package dropped

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// log is an invented session, in the shape of one agent's transcripts.
type log struct {
	agent string
	lines []string
}

func (l *log) line(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	l.lines = append(l.lines, string(b))
	return fmt.Sprintf("u-%d", len(l.lines))
}

func (l *log) claude(kind string, extra map[string]any, content any) string {
	m := map[string]any{
		"type": kind, "uuid": fmt.Sprintf("u-%d", len(l.lines)+1), "timestamp": "2026-05-06T07:08:09.000Z", "cwd": "/home/me/mill",
	}
	if content != nil {
		m["message"] = map[string]any{"role": kind, "content": content}
	}
	for k, v := range extra {
		m[k] = v
	}
	return l.line(m)
}

func (l *log) codex(kind string, payload map[string]any) string {
	return l.line(map[string]any{"timestamp": "2026-05-06T07:08:09.000Z", "type": kind, "payload": payload})
}

func message(role, text string) map[string]any {
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	return map[string]any{"type": "message", "role": role, "content": []any{map[string]any{"type": kind, "text": text}}}
}

func (l *log) human(text string) string {
	if l.agent == "codex" {
		return l.codex("response_item", message("user", text))
	}
	return l.claude("user", nil, text)
}

func (l *log) say(text string) string {
	if l.agent == "codex" {
		return l.codex("response_item", message("assistant", text))
	}
	return l.claude("assistant", nil, []any{map[string]any{"type": "text", "text": text}})
}

// do adds a call of Claude Code and its result.
func (l *log) do(tool string, input map[string]any, result string, failed bool) (call, answer string) {
	id := fmt.Sprintf("toolu_%d", len(l.lines))
	call = l.claude("assistant", nil, []any{map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input}})
	return call, l.claude("user", nil, []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}})
}

// run runs a command, in either agent's way.
func (l *log) run(command, out string, exit int) {
	if l.agent != "codex" {
		if exit != 0 {
			out = fmt.Sprintf("Exit code %d\n%s", exit, out)
		}
		l.do("Bash", map[string]any{"command": command}, out, exit != 0)
		return
	}
	id := fmt.Sprintf("call_%d", len(l.lines))
	args, _ := json.Marshal(map[string]any{"cmd": command})
	l.codex("response_item", map[string]any{"type": "function_call", "name": "exec_command", "arguments": string(args), "call_id": id})
	out = fmt.Sprintf("Chunk ID: a1b2c3\nWall time: 0.1 seconds\nProcess exited with code %d\nOutput:\n%s", exit, out)
	l.codex("response_item", map[string]any{"type": "function_call_output", "call_id": id, "output": out})
}

// compact adds what Claude Code writes when it compacts its context.
func (l *log) compact(summary string, preserved ...string) {
	meta := map[string]any{"trigger": "auto", "preTokens": 155000}
	if len(preserved) > 0 {
		meta["preservedMessages"] = map[string]any{"anchorUuid": "x", "uuids": preserved, "allUuids": preserved}
	}
	l.claude("system", map[string]any{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": meta}, nil)
	l.claude("user", map[string]any{"isCompactSummary": true, "isVisibleInTranscriptOnly": true}, "This session is being continued.\n"+summary)
}

// replace adds what Codex writes when it does.
func (l *log) replace(summary string, history ...map[string]any) {
	payload := map[string]any{"message": summary}
	if history != nil {
		payload["replacement_history"] = history
	}
	l.codex("compacted", payload)
}

func (l *log) bytes() []byte { return []byte(strings.Join(l.lines, "\n") + "\n") }

func (l *log) records() iter.Seq[*transcript.Record] {
	data := l.bytes()
	d := registry.Table{}.NewDecoder(l.agent, transcript.Main)
	return func(yield func(*transcript.Record) bool) {
		for r := range d.Records(transcript.Segment{Data: data, Rest: true}) {
			if !yield(r) {
				return
			}
		}
	}
}

// of reports on a compaction of the session.
func (l *log) of(by Choice) (*Report, error) {
	data := l.bytes()
	s := session.New(limits.Defaults(), transcript.Session{Key: transcript.Key{Agent: l.agent, ID: "s"}})
	for r := range l.records() {
		s.Add(r)
	}
	return Of(s, session.NewSource(s, func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil }), by)
}

func (l *log) report(t *testing.T, by Choice) *Report {
	t.Helper()
	out, err := l.of(by)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// texts lists what a class has dropped.
func texts(r *Report, class Class) (all []string) {
	for _, c := range r.Classes {
		if c.Class == class {
			for _, one := range c.List {
				text := one.Text
				if one.Status != "" {
					text += " = " + one.Status
				}
				all = append(all, text)
			}
		}
	}
	return all
}

func isNone(err error) bool {
	var none *NoneError
	return errors.As(err, &none)
}
