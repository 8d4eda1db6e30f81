package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
	"ccd/internal/words"
)

// panicky is a stdin that panics.
type panicky struct{}

func (panicky) Read([]byte) (int, error) { panic("read") }

type endless struct{ text string }

func (e endless) Read(b []byte) (int, error) { return copy(b, e.text), nil }

// TestHooksNeverFail: whatever the input and command line, the exit status is 0, nothing is printed, and the log gets a
// line.
func TestHooksNeverFail(t *testing.T) {
	silent, w := io.Pipe()
	defer w.Close()
	cases := map[string]struct {
		in   io.Reader
		args string
	}{
		"a panic":            {panicky{}, "SessionStart"},
		"nobody writes":      {silent, "SessionStart --within 1ms"},
		"one endless value":  {io.MultiReader(strings.NewReader(`{"x":"`), endless{"y"}), "UserPromptSubmit"},
		"endless blanks":     {endless{"  "}, "PreCompact --within 50ms"},
		"endless objects":    {endless{"{}"}, "ToolResult --agent claude-code --within 100ms"},
		"no event":           {strings.NewReader("{}"), ""},
		"a flag of nobody":   {strings.NewReader("{}"), "SessionStart --fast"},
		"a flag of no value": {strings.NewReader("{}"), "SessionStart --within"},
		"a bad value":        {strings.NewReader("{}"), "SessionStart --within soon"},
		"nobody to serve":    {strings.NewReader("{}"), "Serve --agent nosuch"},
		"bytes":              {strings.NewReader("\xff\x00"), "SessionStart"},
		"deep":               {strings.NewReader(strings.Repeat("[", 1<<20)), "SessionStart"},
	}
	for _, name := range testkit.Sample(t, slices.Sorted(maps.Keys(cases)), 5) {
		c := cases[name]
		home := t.TempDir()
		var out, talk bytes.Buffer
		code := run(context.Background(), append([]string{"hook"}, strings.Fields(c.args)...), std(c.in, &out, &talk), []string{"HOME=" + home, "USERPROFILE=" + home})
		if code != words.ExitDone || out.Len() > 0 || talk.Len() > 0 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, code, out.String(), talk.String())
		}
		log, err := filepath.Glob(filepath.Join(home, "*", "*", "*", "hook.log"))
		if more, _ := filepath.Glob(filepath.Join(home, "*", "*", "hook.log")); err != nil || len(log)+len(more) != 1 {
			t.Errorf("%s: no line in the log", name)
		}
	}
}

const hooked = "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f"

// hookPlace is a home with one transcript of Claude Code.
type hookPlace struct {
	t          *testing.T
	home, path string
}

func newHookPlace(t *testing.T, data []byte) hookPlace {
	t.Helper()
	home := t.TempDir()
	p := hookPlace{t, home, filepath.Join(home, ".claude", "projects", "-home-me-harbour", hooked+".jsonl")}
	p.write(data)
	return p
}

func (p hookPlace) write(data []byte) {
	p.t.Helper()
	put(p.t, p.path, string(data))
}

// ccd runs a command that must exit with code.
func (p hookPlace) ccd(code int, in string, args ...string) string {
	p.t.Helper()
	got, out, said := ccdIn(p.home, in, args...)
	if got != code {
		p.t.Errorf("ccd %s: exit %d, %s", strings.Join(args, " "), got, said)
	}
	return out
}

// hookContext returns what the SessionStart hook adds after a compaction, or "".
func (p hookPlace) hookContext(args ...string) string {
	p.t.Helper()
	event, err := json.Marshal(map[string]string{"session_id": hooked, "transcript_path": p.path, "source": "compact"})
	must(p.t, err)
	answer := p.ccd(words.ExitDone, string(event), append([]string{"hook", "SessionStart", "--agent", "claude-code"}, args...)...)
	var out struct {
		Specific struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if answer != "" {
		must(p.t, json.Unmarshal([]byte(answer), &out))
	}
	return out.Specific.Context
}

// TestToldByAPrompt: a client that has no event behind a compaction, or takes nothing from it, is told at the next prompt, once, also where
// its events do not name the transcript.
func TestToldByAPrompt(t *testing.T) {
	for agent, c := range map[string]struct{ boundary, in string }{
		"qwen-code": {
			`{"uuid":THIS,"parentUuid":LAST,"sessionId":ID,"timestamp":NOW,"type":"system","subtype":"chat_compression","systemPayload":{"info":{"originalTokenCount":9},"compressedHistory":[{"role":"user","parts":[{"text":TEXT}]}]}}`,
			`"hookSpecificOutput":{`,
		},
		"copilot-cli": {
			`{"type":"session.compaction_complete","id":THIS,"parentId":LAST,"timestamp":NOW,"data":{"success":true,"trigger":"threshold","summaryContent":TEXT}}`,
			`{"additionalContext":"`,
		},
	} {
		w := newWorld(t)
		s := w.chat(agent)
		s.asks("Never round cents.")
		s.says("I book them.")
		s.row(c.boundary, "It is about cents.")
		s.save()
		event := object{"session_id": s.id, "cwd": w.dir}
		if agent == "qwen-code" {
			event["transcript_path"] = filepath.Join(w.home, s.place())
		}
		tells := func(name string) string {
			code, out, _ := ccdIn(w.home, rowOf(event), "hook", name, "--agent", agent)
			if code != words.ExitDone {
				t.Errorf("%s: exit status %d", agent, code)
			}
			return out
		}
		first, second := tells("UserPromptSubmit"), tells("UserPromptSubmit")
		if !strings.Contains(first, c.in) || !strings.Contains(first, "ccd: record of") || !strings.Contains(first, "Never round cents.") || second != "" {
			t.Errorf("%s: first %q, then %q", agent, first, second)
		}
	}
}
