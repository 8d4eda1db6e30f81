package droid_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/droid"
	"ccd/internal/testkit/agenttest"
	"ccd/internal/transcript"
)

const (
	first  = "0b6f2f0e-4a51-4c0a-9d53-0c1f8b2a7e01"
	second = "0b6f2f0e-4a51-4c0a-9d53-0c1f8b2a7e02"
	third  = "0b6f2f0e-4a51-4c0a-9d53-0c1f8b2a7e03"
	fourth = "0b6f2f0e-4a51-4c0a-9d53-0c1f8b2a7e04"
)

func decode(t *testing.T, class transcript.Class, lines ...string) []transcript.Record {
	t.Helper()
	return agenttest.Records(t, droid.Row(), class, strings.Join(lines, "\n")+"\n")
}

// message returns a message line with these extra members.
func message(id, role, content string, more ...string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"timestamp":"2026-05-04T10:00:00.5Z","message":{"role":%q,"content":%s%s}}`,
		id, role, content, strings.Join(append([]string{""}, more...), ","))
}

func text(said string) string {
	return `[{"type":"text","text":` + string(transcript.Quote(said)) + `}]`
}

func TestSession(t *testing.T) {
	all := decode(t, transcript.Main,
		`{"type":"session_start","id":"s","title":"fix the cart","sessionTitle":"Cart","owner":"ann","version":"0.81.0","cwd":"/shop"}`,
		message("context-"+first, "user", `[{"type":"text","text":"who knows"}]`, `"visibility":"llm_only"`),
		message(first, "user", `[{"type":"text","text":"<system-reminder>\nlist\n</system-reminder>"},{"type":"text","text":"fix the cart"},{"type":"image","source":{"type":"base64","data":"AA=="}}]`, `"userMessageSource":"cli_tui"`),
		message(second, "assistant", `[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"Looking."},{"type":"tool_use","id":"c1","name":"Execute","input":{"command":"go test ./..."}},{"type":"tool_use","id":"c2","name":"Read","input":{"file_path":"cart.go"}}]`, `"modelId":"m-1"`, `"chatCompletionReasoningContent":"hm"`),
		message(third, "user", `[{"type":"tool_result","tool_use_id":"c1","content":"Error: Command failed (exit code: 2)\nFAIL\n\n\n[Process exited with code 2]"},{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"no such file"}],"is_error":true}]`),
		message("h", "user", `[]`, `"visibility":"user_only"`, `"hookEventName":"Stop"`),
		`{"type":"todo_state","id":"t","timestamp":"2026-05-04T10:00:01Z","todos":{"todos":"1. [pending] x"}}`,
		`{"type":"agent_turn_outcome","turnId":"x","reason":"completed"}`,
		`{"type":"of_tomorrow","id":"y","message":{"role":"user","content":"a notice"}}`,
		`{"type":"of_tomorrow_too"}`,
		message(fourth, "assistant", text("Done."), `"chatCompletionReasoningContent":"why"`),
		message("u", "user", text("<system-reminder>\nx\n</system-reminder>\n\nthanks")),
		message("a", "user", text("Request cancelled by user"), `"visibility":"both"`),
		message("b", "user", text("run nightly"), `"userMessageSource":"automation"`),
	)
	var kinds []string
	for _, r := range all {
		kinds = append(kinds, agenttest.Kinds(r))
	}
	want := []string{"", "meta", "meta human image", "thinking text call call", "result result", "", "", "", "meta", "", "thinking text", "human", "meta", "meta"}
	if !slices.Equal(kinds, want) {
		t.Fatalf("kinds:\n%q\nwant\n%q", kinds, want)
	}
	if r := all[0]; r.Cwd != "/shop" || r.Title != "Cart" || r.Version != "0.81.0" || !r.UI {
		t.Errorf("header: %+v", r)
	}
	if r := all[3]; r.Model != "m-1" || r.Time.IsZero() || r.UUID != second || r.Type != "message/assistant" {
		t.Errorf("reply: %+v", r)
	}
	for i, tool := range []string{"Execute", "Read"} {
		call, result := all[3].Items[2+i], all[4].Items[i]
		if call.Call != result.Call || result.Tool != tool || !result.Failed {
			t.Errorf("%s: call %q, result %q of %q, failed %v", tool, call.Call, result.Call, result.Tool, result.Failed)
		}
	}
	for i, strange := range map[int]bool{5: false, 6: false, 7: false, 8: true, 9: true, 10: false} {
		if all[i].Unknown != strange || all[i].UI != (i < 8) {
			t.Errorf("record %d: unknown %v, UI %v", i+1, all[i].Unknown, all[i].UI)
		}
	}
	if said, _ := all[11].Items[0].Said(); said != "thanks" {
		t.Errorf("said %q", said)
	}
}

func TestCommandOutcome(t *testing.T) {
	client := droid.Row().Client
	for output, exit := range map[string]int{
		"ok\n\n\n[Process exited with code 0]":                                       0,
		"Error: Command failed (exit code: 2)\nFAIL\n\n[Process exited with code 2]": 2,
	} {
		o := client.Explain("Execute", transcript.Command, transcript.Quote(output), false)
		if !o.HasExit || o.Exit != exit || o.Failed != (exit != 0) || strings.Contains(o.Text, "Process exited") {
			t.Errorf("%q: %+v", output, o)
		}
	}
	if o := client.Explain("Execute", transcript.Command, transcript.Quote("[Process exited with code x]"), false); o.HasExit {
		t.Errorf("a word for a status: %+v", o)
	}
}

func TestCompaction(t *testing.T) {
	all := decode(t, transcript.Main,
		message(first, "user", text("one")),
		message(second, "assistant", text("two")),
		message(third, "user", text("three")),
		message("h", "user", `[]`, `"visibility":"user_only"`),
		message(fourth, "assistant", text("four")),
		`{"type":"compaction_state","id":"c","timestamp":"2026-05-04T10:00:04Z","summaryText":"what was","summaryTokens":3,"summaryKind":"llm_summary","anchorMessage":{"id":"`+second+`","index":1},"removedCount":2,"systemInfoText":"<system-reminder>x</system-reminder>"}`,
		`{"type":"compaction_state","id":"d","timestamp":"2026-05-04T10:00:05Z","summaryText":"all","summaryKind":"llm_summary"}`,
	)
	b := all[5].Boundary
	if b == nil || !slices.Equal(b.Preserved, []string{third, fourth}) || agenttest.Kinds(all[5]) != "summary meta" {
		t.Errorf("boundary %+v, items %q", b, agenttest.Kinds(all[5]))
	}
	if b := all[6].Boundary; b == nil || len(b.Preserved) > 0 || agenttest.Kinds(all[6]) != "summary" {
		t.Errorf("without an anchor: %+v, items %q", b, agenttest.Kinds(all[6]))
	}
}

func TestSubAgent(t *testing.T) {
	prompt := message(first, "user", text("look around"))
	for _, header := range []string{
		`{"type":"session_start","id":"s","callingSessionId":"` + second + `","callingToolUseId":"c"}`,
		`{"type":"session_start","id":"s","decompSessionType":"worker"}`,
		`{"type":"session_start","id":"s","title":"# Task Tool Invocation\nSubagent type: x"}`,
	} {
		all := decode(t, transcript.Main, header, prompt)
		if agenttest.Kinds(all[1]) != "meta" || strings.Contains(header, "calling") != (all[0].Parent == second) {
			t.Errorf("%s: %q, parent %q", header, agenttest.Kinds(all[1]), all[0].Parent)
		}
	}
	fork := decode(t, transcript.Main, `{"type":"session_start","id":"s","parent":"`+second+`"}`, prompt)
	if fork[0].Parent != "" || agenttest.Kinds(fork[1]) != "human" {
		t.Errorf("a fork: parent %q, %q", fork[0].Parent, agenttest.Kinds(fork[1]))
	}
}

func TestStreamed(t *testing.T) {
	all := decode(t, transcript.Main,
		`{"type":"system","subtype":"init","session_id":"s","cwd":"/shop","model":"m-1"}`,
		`{"type":"message","session_id":"s","role":"user","text":"list","id":"m1","timestamp":1767812641000}`,
		`{"type":"tool_call","session_id":"s","id":"c1","toolName":"Execute","parameters":{"command":"ls"}}`,
		`{"type":"tool_result","session_id":"s","id":"c1","toolId":"Execute","isError":true,"value":"no"}`,
		`{"type":"message","session_id":"s","role":"assistant","text":"Done","id":"m2"}`,
		`{"type":"completion","session_id":"s","finalText":"Done"}`,
		`{"type":"news","session_id":"s"}`,
	)
	want := []string{"", "human", "call", "result", "text", "", ""}
	for i, r := range all {
		if agenttest.Kinds(r) != want[i] || r.Unknown != (i == 6) {
			t.Errorf("record %d: %q, unknown %v", i+1, agenttest.Kinds(r), r.Unknown)
		}
	}
	if it := all[3].Items[0]; it.Call != "c1" || it.Tool != "Execute" || !it.Failed || all[1].Time.Year() != 2026 || all[0].Cwd != "/shop" {
		t.Errorf("result %+v at %v in %q", it, all[1].Time, all[0].Cwd)
	}
}

func TestBrokenLines(t *testing.T) {
	all := decode(t, transcript.Main, message(first, "user", text("one")), `{"type":"message","id":`, `[1]`, message(second, "assistant", `"two"`), message(third, "assistant", `[{"type":"new","text":"x"}]`))
	if !all[1].Broken || !all[2].Unknown || agenttest.Kinds(all[3]) != "text" || !all[4].Unknown || agenttest.Kinds(all[4]) != "meta" {
		t.Errorf("%+v", all)
	}
}

func TestCalls(t *testing.T) {
	client := droid.Row().Client
	for _, c := range []struct {
		tool, input string
		op          transcript.Op
		file        string
	}{
		{"Edit", `{"file_path":"a.go","old_str":"x","new_str":"y","change_all":true}`, transcript.Edit, "a.go"},
		{"MultiEdit", `{"file_path":"a.go","changes":[{"old_str":"x","new_str":"y"}]}`, transcript.Edit, "a.go"},
		{"Create", `{"file_path":"b.go","content":"x"}`, transcript.Write, "b.go"},
		{"Read", `{"file_path":"c.go"}`, transcript.Read, "c.go"},
	} {
		a := client.Understand(c.tool, []byte(c.input))
		if a.Op != c.op || len(a.Files) != 1 || a.Files[0].Path != c.file {
			t.Errorf("%s: %+v", c.tool, a)
		}
	}
	if _, steps, ok := transcript.Edits([]byte(`{"changes":[{"old_str":"x","new_str":"y","change_all":true}]}`)); !ok || len(steps) != 1 || !steps[0].All {
		t.Errorf("steps %+v, %v", steps, ok)
	}
	if a := client.Understand("Glob", []byte(`{"patterns":["*.go"]}`)); a.Query != "*.go" {
		t.Errorf("glob: %+v", a)
	}
}

func TestMatch(t *testing.T) {
	row := droid.Row()
	for rel, id := range map[string]string{
		first + ".jsonl": first, "-home-ann-shop/" + first + ".jsonl": first, "btw/side.jsonl": "btw/side",
		"-home-ann-shop/" + first + ".settings.json": "", "x/" + first + ".settings.json.bak": "", "x/.jsonl": "", "x/.a.jsonl": "",
	} {
		if s, ok := row.Match("sessions", rel); ok != (id != "") || s.ID != id {
			t.Errorf("%s: %q %v", rel, s.ID, ok)
		}
	}
	env := map[string]string{"FACTORY_HOME_OVERRIDE": "/else"}
	if got := row.Roots(func(name string) string { return env[name] }, "/home/ann"); got[0] != filepath.Join("/else", ".factory", "sessions") {
		t.Errorf("roots %q", got)
	}
}

func TestMine(t *testing.T) {
	row := droid.Row()
	for line, want := range map[string]bool{
		message(first, "user", text("one")):                                                                                   true,
		message("m1", "user", text("one")):                                                                                    false, // Pi writes the same
		message(first, "user", text("one"), `"timestamp":1`):                                                                  false,
		`{"type":"session_start","id":"s"}`:                                                                                   true,
		`{"type":"compaction_state","summaryText":"x"}`:                                                                       true,
		`{"type":"completion","session_id":"s","finalText":"x"}`:                                                              true,
		`{"type":"user","sessionId":"s","uuid":"u","parentUuid":null,"message":{"role":"user","content":"x"}}`:                false,
		`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[]}}`: false,
		`{"role":"user","content":"x"}`:                                                                                       false,
	} {
		if got := row.Recognizes(transcript.Node{Raw: []byte(line)}); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	for line, want := range map[string]bool{
		message(first, "user", text("one")):         true,
		`{"type":"session_start","id":"s`:           true,
		`{"type":"message","id":"m1","message":{"r`: false,
		`{"type":"message","id":"`:                  false,
	} {
		if got := row.Owns([]byte(line)); got != want {
			t.Errorf("start %s: %v", line, got)
		}
	}
}
