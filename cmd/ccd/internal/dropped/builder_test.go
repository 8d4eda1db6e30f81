package dropped

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/session"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// log is an invented session, of Claude Code where its methods write it.
type log struct {
	agent string
	lines []string
}

type object = map[string]any

// claude adds a record with the UUID u-N; of extra the fields win.
func (l *log) claude(kind string, extra object, content any) {
	v := object{"type": kind, "uuid": fmt.Sprintf("u-%d", len(l.lines)+1), "timestamp": "2026-05-06T07:08:09.000Z", "cwd": "/home/me/mill"}
	if content != nil {
		v["message"] = object{"role": kind, "content": content}
	}
	maps.Copy(v, extra)
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	l.lines = append(l.lines, string(b))
}

func (l *log) human(text string) { l.claude("user", nil, text) }
func (l *log) say(text string)   { l.claude("assistant", nil, []object{{"type": "text", "text": text}}) }

// do adds a call of Claude Code and its result.
func (l *log) do(tool string, input object, result string, failed bool) {
	id := fmt.Sprintf("toolu_%d", len(l.lines))
	l.claude("assistant", nil, []object{{"type": "tool_use", "id": id, "name": tool, "input": input}})
	l.claude("user", nil, []object{{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}})
}

// run adds a command.
func (l *log) run(command, out string, exit int) {
	if exit != 0 {
		out = fmt.Sprintf("Exit code %d\n%s", exit, out)
	}
	l.do("Bash", object{"command": command}, out, exit != 0)
}

// compact adds what Claude Code writes when it compacts its context.
func (l *log) compact(summary string, preserved ...string) {
	meta := object{"trigger": "auto", "preTokens": 155000, "preservedMessages": object{"anchorUuid": "x", "uuids": preserved, "allUuids": preserved}}
	l.claude("system", object{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": meta}, nil)
	l.claude("user", object{"isCompactSummary": true, "isVisibleInTranscriptOnly": true}, "This session is being continued.\n"+summary)
}

// of reports on a compaction of the session.
func (l *log) of(by Choice) (*Report, error) {
	data := []byte(strings.Join(l.lines, "\n") + "\n")
	s := session.New(limits.Defaults(), transcript.Session{Key: transcript.Key{Agent: l.agent, ID: "s"}})
	for r := range (registry.Table{}).NewDecoder(l.agent, transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
		s.Add(r)
	}
	k, err := Find(s, by.Boundary)
	if err != nil {
		return nil, err
	}
	return Of(s, session.NewSource(s, func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil }), k, by)
}

func (l *log) report(t *testing.T, by Choice) *Report {
	t.Helper()
	out, err := l.of(by)
	testkit.Must(t, err)
	return out
}

// texts lists what a class has dropped.
func texts(r *Report, class Class) (all []string) {
	for _, c := range r.Classes {
		for _, one := range c.List {
			if c.Class == class {
				all = append(all, strings.TrimSuffix(one.Text+" = "+one.Status, " = "))
			}
		}
	}
	return all
}
