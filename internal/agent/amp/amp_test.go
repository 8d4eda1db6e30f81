package amp_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/amp"
	"ccd/internal/testkit/agenttest"
	"ccd/internal/transcript"
)

const thread = "T-0199aaaa-1b2c-7ccc-8ddd-0123456789ab"

var messages = []string{
	`{"role": "user", "messageId": 0, "content": [{"type": "text", "text": "fix the cart"}], "meta": {"sentAt": 1768178271390}}`,
	`{"role": "assistant", "messageId": 1, "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "tool_use", "complete": true, "id": "c1", "name": "Bash", "input": {"cmd": "go test", "cwd": "/shop"}}, {"type": "tool_use", "id": "c2", "name": "edit_file", "input": {"path": "a.go", "old_str": "x", "new_str": "y", "replace_all": true}}], "usage": {"model": "m-1", "inputTokens": 12, "outputTokens": 80, "cacheReadInputTokens": 3400, "cacheCreationInputTokens": 900, "maxInputTokens": 168000, "timestamp": "2026-01-12T00:37:55Z"}}`,
	`{"role": "user", "messageId": 2, "content": [{"type": "tool_result", "toolUseID": "c1", "run": {"status": "done", "result": {"output": "FAIL", "exitCode": 1}, "progress": {"output": "FA"}}}, {"type": "tool_result", "toolUseID": "c2", "run": {"status": "rejected-by-user", "reason": "not allowed"}}]}`,
	`{"role": "supervisor", "note": "x"}`,
	`{"role": "info", "messageId": "M-4", "content": [{"type": "summary", "summary": {"type": "message", "summary": "what was"}}]}`,
	`{"role": "user", "messageId": 5, "content": [{"type": "tool_result", "toolUseID": "c3", "run": {"status": "error", "error": {"message": "no such file"}}}]}`,
	`{"role": "assistant", "messageId": 6, "content": [{"type": "text", "text": "Done."}, {"type": "new", "text": "x"}], "usage": {"inputTokens": 1.5, "outputTokens": 1}}`,
	`{"role": "info", "messageId": 7, "content": [{"type": "manual_bash_invocation", "args": {"cmd": "ls"}, "toolRun": {"status": "done", "result": {"output": "a.go", "exitCode": 0}}, "hidden": false}]}`,
	`{"role": "info", "messageId": 8, "content": [{"type": "manual_bash_invocation", "args": {"cmd": "ls"}, "toolRun": {"status": "done"}, "hidden": true}]}`,
	`{"role": "user", "messageId": 9, "content": [{"type": "text", "text": "go on", "hidden": true}]}`,
}

func decode(t *testing.T, class transcript.Class, data string) []transcript.Record {
	t.Helper()
	return agenttest.Records(t, amp.Row(), class, data)
}

const head = `"v": 7, "id": "` + thread + `", "created": 1768178184664, "title": "Cart",
  "env": {"initial": {"trees": [{"uri": "file:///my%20shop", "repository": {"ref": "refs/heads/main"}}], "platform": {"clientVersion": "0.0.1768"}}},`

func TestThread(t *testing.T) {
	all := decode(t, transcript.Main, "{\n  "+head+"\n  \"messages\": [\n    "+strings.Join(messages, ",\n    ")+"\n  ],\n  \"nextMessageId\": 7\n}\n")
	want := []string{"human", "thinking call call", "result result", "", "summary", "result", "text meta", "meta", "", "meta"}
	var kinds []string
	for _, r := range all {
		kinds = append(kinds, agenttest.Kinds(r))
	}
	if !slices.Equal(kinds, want) {
		t.Fatalf("kinds:\n%q\nwant\n%q", kinds, want)
	}
	for i, r := range all {
		if strange := i == 3 || i == 6; r.Unknown != strange || r.UI != (i == 8) {
			t.Errorf("record %d: unknown %v, of the screen %v", i+1, r.Unknown, r.UI)
		}
	}
	if u := all[1].Usage; u.Context != 4392 || u.Window != 168000 || all[1].Model != "m-1" || all[6].Usage.Context != transcript.NoCount {
		t.Errorf("usage %+v, %+v of %q", u, all[6].Usage, all[1].Model)
	}
	if all[0].Time.IsZero() || all[1].Time.IsZero() || all[1].UUID != "1" || all[4].UUID != "M-4" || all[4].Boundary == nil {
		t.Errorf("records %+v, %+v, %+v", all[0], all[1], all[4])
	}
	ran, refused := all[2].Items[0], all[2].Items[1]
	if o := ran.Explain("Bash", transcript.Command); !ran.Failed || ran.Tool != "Bash" || o.Text != "FAIL" || o.Exit != 1 {
		t.Errorf("result %+v: %+v", ran, o)
	}
	if !refused.Refused || !refused.Failed || refused.Tool != "edit_file" || string(refused.Raw) != `"not allowed"` || string(all[5].Items[0].Raw) != `"no such file"` {
		t.Errorf("result %+v", refused)
	}
	if a := all[1].Items[1].Understand(); a.Command != "go test" || a.Dir != "/shop" {
		t.Errorf("command %+v", a)
	}
	if _, steps, ok := transcript.Edits(all[1].Items[2].Raw); !ok || !steps[0].All || steps[0].Old != "x" {
		t.Errorf("steps %+v", steps)
	}
}

// TestThreadOnOneLine checks that a thread on one line is one record, which also has the thread's title, directory and
// version.
func TestThreadOnOneLine(t *testing.T) {
	all := decode(t, transcript.Main, strings.ReplaceAll("{"+head+`"messages":[`+strings.Join(messages, ",")+"]}", "\n", "")+"\n")
	if len(all) != 1 || agenttest.Kinds(all[0]) != "human thinking call call result result summary result text meta meta meta" || all[0].UI {
		t.Fatalf("%d records, %q", len(all), agenttest.Kinds(all[0]))
	}
	if r := all[0]; r.Title != "Cart" || r.Cwd != "/my shop" || r.Branch != "main" || r.Version != "0.0.1768" || r.UUID != thread {
		t.Errorf("%+v", r)
	}
	if sub := decode(t, transcript.SubAgent, messages[0]+"\n"); agenttest.Kinds(sub[0]) != "meta" {
		t.Errorf("a sub-agent's prompt is %s", agenttest.Kinds(sub[0]))
	}
	torn := decode(t, transcript.Main, "{\n  "+head+"\n  \"messages\": [\n    "+messages[0]+",\n    {\"role\": \"us")
	if len(torn) != 2 || agenttest.Kinds(torn[0]) != "human" || !torn[1].Broken {
		t.Errorf("torn: %+v", torn)
	}
}

func TestWorkingDirectory(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///my%20shop": "/my shop", "file:///%C3%A4%2f%": "", "file:///a%2": "", "file:///a%zz": "", "file:///%C3%A4": "/ä",
		"file://host/shop": "", "https://example.invalid/shop": "", "": "",
	} {
		all := decode(t, transcript.Main, `{"id":"`+thread+`","env":{"initial":{"trees":[{"uri":"`+uri+`"}]}},"messages":[]}`+"\n")
		if len(all) != 1 || all[0].Cwd != want || !all[0].UI {
			t.Errorf("%s: %+v, want %q", uri, all, want)
		}
	}
}

func TestRow(t *testing.T) {
	row := amp.Row()
	for rel, want := range map[string]bool{thread + ".json": true, "T-1.json": false, "settings.json": false, thread + ".jsonl": false, "x/" + thread + ".json": false} {
		if s, ok := row.Match("threads", rel); ok != want || ok && s.ID != rel {
			t.Errorf("%s: %q %v", rel, s.ID, ok)
		}
	}
	env := ""
	for _, data := range []string{"", "/data"} {
		env = data
		want := filepath.Join("/home/ann", ".local", "share", "amp", "threads")
		if data != "" {
			want = filepath.Join(data, "amp", "threads")
		}
		if got := row.Roots(func(name string) string { return map[string]string{"XDG_DATA_HOME": env}[name] }, "/home/ann"); got[0] != want {
			t.Errorf("roots %q", got)
		}
	}
	for line, want := range map[string]bool{
		`{"id":"` + thread + `","messages":[]}`:                true,
		`{"v":7,"id":"` + thread + `","messages":[{"role":"us`: true,
		`{"id":"ses_1","messages":[]}`:                         false,
		`{"role":"user","content":"x"}`:                        false,
		`{"type":"user","sessionId":"s"}`:                      false,
		`{"timestamp":"x","payload":{"id":"x"}}`:               false,
	} {
		if got := row.Owns([]byte(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
