package scorecard

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// log is an invented session in the form of Claude Code's transcripts.
type log struct {
	lines []string
	dir   string
	agent string
}

func newLog() *log { return &log{dir: "/home/me/mill", agent: "claude-code"} }

func (l *log) add(kind string, block any, extra map[string]any) *log {
	m := map[string]any{
		"type": kind, "uuid": fmt.Sprintf("u-%d", len(l.lines)), "timestamp": "2026-05-06T07:08:09.000Z", "cwd": l.dir,
		"message": map[string]any{"role": kind, "content": block},
	}
	for k, v := range extra {
		m[k] = v
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	l.lines = append(l.lines, string(b))
	return l
}

func (l *log) human(text string) *log { return l.add("user", text, nil) }

func (l *log) say(text string) *log {
	return l.add("assistant", []any{map[string]any{"type": "text", "text": text}}, nil)
}

func (l *log) do(tool string, input map[string]any, result string, failed bool) *log {
	id := fmt.Sprintf("toolu_%d", len(l.lines))
	l.add("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input}}, nil)
	return l.add("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}}, nil)
}

func (l *log) bash(command, out string) *log {
	return l.do("Bash", map[string]any{"command": command}, out, false)
}

func (l *log) fails(command, out string) *log {
	return l.do("Bash", map[string]any{"command": command}, "Exit code 1\n"+out, true)
}

func (l *log) file(tool, path string) *log {
	return l.do(tool, map[string]any{"file_path": path, "content": "x"}, "done", false)
}

func (l *log) records() iter.Seq[*transcript.Record] {
	data := []byte(strings.Join(l.lines, "\n") + "\n")
	return registry.Table{}.NewDecoder(l.agent, transcript.Main).Records(transcript.Segment{Data: data, Rest: true})
}

func (l *log) facts() *Facts {
	f := New()
	for r := range l.records() {
		f.Add(r)
	}
	return f
}

// plain returns the session as the agent saw it, each call with its result.
func (l *log) plain() string {
	results := map[string]transcript.Item{}
	for r := range l.records() {
		for _, it := range r.Items {
			if it.Call != "" && it.Kind != transcript.Call {
				it.Raw = slices.Clone(it.Raw)
				results[it.Call] = it
			}
		}
	}
	var c Context
	for r := range l.records() {
		for _, it := range r.Items {
			if it.Kind == transcript.Call || it.Call == "" {
				c.Hold(&it)
			}
			if result, ok := results[it.Call]; ok && it.Kind == transcript.Call {
				c.Hold(&result)
			}
		}
	}
	return c.text.String()
}

// of returns the texts of a class, with the text or status that must be near them.
func (l *log) of(class Class) (all []string) {
	for _, one := range l.facts().all()[class] {
		text := one.text
		if one.tail != "" {
			text += " … " + one.tail
		}
		if one.status != "" {
			text += " = " + one.status
		}
		all = append(all, text)
	}
	return all
}

// restoring returns a Restore of these parts. It fails for an ID without parts.
func restoring(parts map[mark.ID][]string) Restore {
	return func(id mark.ID) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for _, p := range parts[id] {
				if !yield([]byte(p), nil) {
					return
				}
			}
			if parts[id] == nil {
				yield(nil, fmt.Errorf("restore %s: nothing", id))
			}
		}
	}
}

func grade(t *testing.T, f *Facts, text string, restore Restore) Grade {
	t.Helper()
	g := f.Grade(text, restore)
	all := Count{}
	for class, n := range g.Classes {
		if n.Facts != n.Visible+n.Recoverable+n.Lost || n.Weight < n.Shown || n.Shown < 0 {
			t.Errorf("%s does not add up: %+v", class, n)
		}
		all.Add(n)
	}
	if all.Weight, all.Shown = g.All.Weight, g.All.Shown; all != g.All { // floating-point sums depend on the order
		t.Errorf("classes add up to %+v, all is %+v", all, g.All)
	}
	return g
}
