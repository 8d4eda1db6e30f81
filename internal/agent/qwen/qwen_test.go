package qwen_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/qwen"
	"ccd/internal/testkit/agenttest"
	"ccd/internal/transcript"
)

func decode(t *testing.T, class transcript.Class, lines ...string) []transcript.Record {
	t.Helper()
	return agenttest.Records(t, qwen.Row(), class, strings.Join(lines, "\n"))
}

// record returns a record with this uuid, parent and further members.
func record(uuid, parent, kind, more string) string {
	if parent = `"` + parent + `"`; parent == `""` {
		parent = "null"
	}
	return `{"uuid":"` + uuid + `","parentUuid":` + parent + `,"sessionId":"s1","timestamp":"2026-08-01T10:00:00.000Z","type":"` + kind +
		`","cwd":"/home/me/p","version":"0.21.13","gitBranch":"main"` + more + `}`
}

func user(uuid, parent, text string) string {
	return record(uuid, parent, "user", `,"provenance":"real_user","message":{"role":"user","parts":[{"text":"`+text+`"}]}`)
}

func TestRecords(t *testing.T) {
	all := decode(t, transcript.Main,
		record("1", "", "user", `,"systemPayload":{"displayText":"Fix it","hookContext":"h"},"message":{"role":"user","parts":[{"text":"Fix it"},{"text":"<qwen:user-prompt-submit-context>\nh\n</qwen:user-prompt-submit-context>"}]}`),
		record("2", "1", "assistant", `,"model":"qwen-x","message":{"role":"model","parts":[{"text":"I think.","thought":true},{"text":"I run it."},{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"make"}}},{"functionCall":{"id":"c2","name":"read_file","args":{}}}]},"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":5,"totalTokenCount":55},"contextWindowSize":1000`),
		record("3", "2", "tool_result", `,"message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"Command: make\nDirectory: (root)\nOutput: no\nError: (none)\nExit Code: 2\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 9"}}}]},"toolCallResult":{"callId":"c1","status":"success","resultDisplay":"no"}`),
		record("4", "3", "tool_result", `,"message":{"role":"user","parts":[{"functionResponse":{"id":"c2","name":"read_file","response":{"error":"File not found"}}}]},"toolCallResult":{"callId":"c2","status":"error"}`),
		record("5", "4", "system", `,"subtype":"custom_title","systemPayload":{"customTitle":"Mine","titleSource":"manual"}`),
		record("6", "5", "system", `,"subtype":"custom_title","systemPayload":{"customTitle":"Made up","titleSource":"auto"}`),
		record("7", "6", "user", `,"subtype":"notification","provenance":"system","message":{"role":"user","parts":[{"text":"A task ended."}]}`),
		record("8", "7", "user", `,"subtype":"mid_turn_user_message","systemPayload":{"displayText":"stop"},"message":{"role":"user","parts":[{"text":"\n[User message received during tool execution]: stop"}]}`),
		record("9", "8", "novelty", `,"message":{"role":"user","parts":[{"text":"What is this?"}]}`),
		`{"uuid":"torn",`,
		record("10", "9", "system", `,"subtype":"of_tomorrow","systemPayload":{}`),
		record("11", "9", "system", `,"subtype":"ui_telemetry","systemPayload":{"uiEvent":{}}`),
		record("12", "11", "user", `,"systemPayload":{"displayText":"/review"},"message":{"role":"user","parts":[{"text":"Review the code."}]}`),
	)
	agenttest.Want(t, all[0], "human Fix it", "meta <qwen:user-prompt-submit-context>\nh\n</qwen:user-prompt-submit-context>")
	agenttest.Want(t, all[1], "thinking I think.", "text I run it.", `call {"command":"make"} run_shell_command#c1`, "call {} read_file#c2")
	if len(all[2].Items) != 1 || !all[2].Items[0].Failed || all[2].Items[0].Call != "c1" {
		t.Errorf("got %+v", all[2].Items)
	}
	if o := all[2].Items[0].Explain("run_shell_command", transcript.Command); o.Exit != 2 || !o.HasExit || o.Text != "no" {
		t.Errorf("got %+v", o)
	}
	agenttest.Want(t, all[3], "result File not found read_file#c2 failed")
	agenttest.Want(t, all[6], "meta A task ended.")
	if said, _ := all[7].Items[0].Said(); all[7].Items[0].Kind != transcript.Human || said != "stop" {
		t.Errorf("got %s %q", all[7].Items[0].Kind, said)
	}
	agenttest.Want(t, all[8], "meta What is this?")
	agenttest.Want(t, all[12], "meta Review the code.")
	if all[4].Title != "Mine" || all[5].Title != "" {
		t.Errorf("got the titles %q and %q", all[4].Title, all[5].Title)
	}
	if u := all[1].Usage; u == nil || u.Context != 55 || u.Window != 1000 || u.ID != "2" {
		t.Errorf("got %+v", u)
	}
	if r := all[1]; r.Cwd != "/home/me/p" || r.Branch != "main" || r.Version != "0.21.13" || r.Model != "qwen-x" || r.Type != "assistant" || r.UUID != "2" || r.Time.IsZero() {
		t.Errorf("got %+v", r)
	}
	for i, r := range all {
		if r.UI != (i == 4 || i == 5 || i == 11) || r.Unknown != (i == 8 || i == 10) || r.Broken != (i == 9) {
			t.Errorf("record %d: UI %t, unknown %t, broken %t", i, r.UI, r.Unknown, r.Broken)
		}
	}
}

func TestUsageOfParts(t *testing.T) {
	for usage, context := range map[string]int64{
		`{"promptTokenCount":12,"candidatesTokenCount":4}`: 16, `{}`: 0, `{"promptTokenCount":-1}`: transcript.NoCount,
		`{"promptTokenCount":12,"totalTokenCount":20}`: 20,
	} {
		r := decode(t, transcript.Main, record("1", "", "assistant", `,"usageMetadata":`+usage))[0]
		if got := r.Usage; (got == nil) != (context == 0) || got != nil && got.Context != context {
			t.Errorf("%s: got %+v", usage, got)
		}
	}
}

func TestAnswers(t *testing.T) {
	ask := record("1", "", "assistant", `,"message":{"role":"model","parts":[{"functionCall":{"id":"q","name":"ask_user_question","args":{"questions":[{"question":"Red?"}]}}}]}`)
	answer := func(text string) string {
		return record("2", "1", "tool_result", `,"message":{"role":"user","parts":[{"functionResponse":{"id":"q","name":"ask_user_question","response":{"output":"`+text+`"}}}]}`)
	}
	r := decode(t, transcript.Main, ask, answer(`User has provided the following answers:\n\n**Colour**: red`))[1]
	if said, _ := r.Items[0].Said(); r.Items[0].Kind != transcript.Human || said != "**Colour**: red" {
		t.Errorf("got %s %q", r.Items[0].Kind, said)
	}
	if r = decode(t, transcript.Main, ask, answer("User declined to answer the questions."))[1]; r.Items[0].Kind != transcript.Result {
		t.Errorf("got %s", r.Items[0].Kind)
	}
}

func TestCompaction(t *testing.T) {
	line := record("3", "2", "system", `,"subtype":"chat_compression","systemPayload":{"info":{"originalTokenCount":900,"newTokenCount":90},"compressedHistory":[`+
		`{"role":"user","parts":[{"text":"<system-reminder>where it runs</system-reminder>"}]},{"role":"model","parts":[{"text":"Yes."}]},`+
		`{"role":"user","parts":[{"text":"<state_snapshot>done</state_snapshot>"}]},{"role":"model","parts":[{"text":"Got it. Thanks for the additional context!"}]},`+
		`{"role":"user","parts":[{"text":"Go on"}]}]}`)
	r := decode(t, transcript.Main, user("1", "", "Go on"), user("2", "1", "Go on"), line)[2]
	agenttest.Want(t, r, "summary <state_snapshot>done</state_snapshot>")
	if b := r.Boundary; b == nil || b.Before != 900 || !b.Replaced {
		t.Errorf("got %+v", b)
	}
	held := transcript.Record{Items: transcript.Replacement(&r)}
	agenttest.Want(t, held, "meta <system-reminder>where it runs</system-reminder>", "text Yes.", "summary <state_snapshot>done</state_snapshot>",
		"text Got it. Thanks for the additional context!", "human Go on")
}

func TestRewind(t *testing.T) {
	rewind := func(uuid, parent string) string {
		return record(uuid, parent, "system", `,"subtype":"rewind","systemPayload":{"truncatedCount":2}`)
	}
	reply := func(uuid, parent string) string {
		return record(uuid, parent, "assistant", `,"message":{"role":"model","parts":[{"text":"Yes"}]}`)
	}
	all := decode(t, transcript.Main, user("1", "", "One"), reply("2", "1"), user("3", "2", "Two"), reply("4", "3"), user("5", "4", "Three"),
		rewind("6", "2"), user("7", "6", "Four"), rewind("8", ""), user("9", "8", "Five"))
	for i, back := range []int{0, 0, 0, 0, 0, 2, 0, 2, 0} {
		if all[i].Back != back {
			t.Errorf("record %d takes back %d, want %d", i, all[i].Back, back)
		}
	}
	agenttest.Want(t, all[8], "human Five")
}

func TestSubAgent(t *testing.T) {
	side := strings.Replace(user("1", "", "Explore"), `"type":"user"`, `"agentId":"explore-1","isSidechain":true,"type":"user"`, 1)
	r := decode(t, transcript.SubAgent, side)[0]
	agenttest.Want(t, r, "meta Explore")
	if r.Parent != "s1" || r.Items[0].Side {
		t.Errorf("got the parent %q, side %t", r.Parent, r.Items[0].Side)
	}
	if r = decode(t, transcript.Main, side)[0]; !r.Items[0].Side || r.Items[0].Kind != transcript.Meta {
		t.Errorf("got %+v", r.Items[0])
	}
	all := decode(t, transcript.Main, record("1", "", "system", `,"subtype":"parent_session","systemPayload":{"parentSessionId":"s0"}`), user("2", "1", "Begin"))
	agenttest.Want(t, all[1], "meta Begin")
	if all[0].Parent != "s0" {
		t.Errorf("got %q", all[0].Parent)
	}
}

func TestMine(t *testing.T) {
	row := qwen.Row()
	for line, mine := range map[string]bool{
		user("1", "", "x"): true,
		record("1", "", "system", `,"subtype":"rewind","systemPayload":{}`):                                                    true,
		`{"parentUuid":null,"sessionId":"s","type":"user","uuid":"u","timestamp":"t","message":{"role":"user","content":"x"}}`: false,
		`{"parentUuid":"a","sessionId":"s","type":"system","subtype":"compact_boundary","uuid":"u","content":"x"}`:             false,
		`{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[]}}`:                     false,
		`{"sessionId":"s","projectHash":"h","startTime":"t"}`:                                                                  false,
		`{"role":"user","parts":[]}`: false,
	} {
		if got := row.Recognizes(transcript.Node{Raw: []byte(line)}); got != mine {
			t.Errorf("%s: %t", line, got)
		}
		if got := row.Owns([]byte(line[:len(line)-1])); got && !mine {
			t.Errorf("%s begins a line", line)
		}
	}
	if !row.Owns([]byte(user("1", "", strings.Repeat("x", 2000))[:1000])) {
		t.Error("the beginning of a line is not known")
	}
}

func TestMatch(t *testing.T) {
	for rel, wanted := range map[string]string{
		"-home-me/chats/019f-1.jsonl":                   "019f-1 0 ",
		"-home-me/chats/archive/019f-1.jsonl":           "019f-1 0 ",
		"-home-me/subagents/019f-1/agent-x-2.jsonl":     "agent-x-2 1 019f-1",
		"-home-me/subagents/019f-1/agent-x-2.meta.json": "", "-home-me/subagents/019f-1/agent-x-2.jsonl.stream": "",
		"tmp 0a1b/run_shell_command_2c.output": "0a1b/run_shell_command_2c.output 2 ", "tmp 0a1b/scheduled_tasks.lock": "",
		"tmp 0a1b/chats/session-1.jsonl": "", "-home-me/chats/019f-1.worktree.json": "", "-home-me/chats/.jsonl": "", "019f-1.jsonl": "", "-home-me/memory/a.jsonl": "",
	} {
		base, below, ok := strings.Cut(rel, " ")
		if !ok {
			base, below = "projects", rel
		}
		s, ok := qwen.Row().Match(base, below)
		got := ""
		if ok {
			got = fmt.Sprintf("%s %d %s", s.ID, s.Class, s.Parent)
		}
		if got != wanted {
			t.Errorf("%s: got %q, want %q", rel, got, wanted)
		}
	}
	for value, wanted := range map[string]string{"": "/home/me/.qwen/projects", "/else": "/else/projects", "~/q": "/home/me/q/projects"} {
		env := func(name string) string { return map[string]string{"QWEN_HOME": value}[name] }
		if got := qwen.Row().Roots(env, "/home/me"); !slices.Equal(got[:1], []string{filepath.FromSlash(wanted)}) {
			t.Errorf("%s: got %s", value, got)
		}
	}
}
