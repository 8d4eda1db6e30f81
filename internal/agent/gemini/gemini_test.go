package gemini_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/gemini"
	"ccd/internal/testkit/agenttest"
	"ccd/internal/transcript"
)

func decode(t *testing.T, class transcript.Class, data string) []transcript.Record {
	t.Helper()
	return agenttest.Records(t, gemini.Row(), class, data)
}

const header = `{"sessionId":"5a1b","projectHash":"ab","startTime":"2026-05-01T10:00:00.000Z","lastUpdated":"2026-05-01T10:00:00.000Z","kind":"main"}`

func user(id, content string) string {
	return `{"id":"` + id + `","timestamp":"2026-05-01T10:00:01.000Z","type":"user","content":` + content + `}`
}

func reply(id, content, more string) string {
	return `{"id":"` + id + `","timestamp":"2026-05-01T10:00:02.000Z","type":"gemini","content":` + content + more + `}`
}

func call(id, tool, args, response, status string) string {
	return `{"id":"` + id + `","name":"` + tool + `","args":` + args + `,"result":[{"functionResponse":{"id":"` + id + `","name":"` + tool +
		`","response":` + response + `}}],"status":"` + status + `","resultDisplay":"a copy for the screen"}`
}

func TestLines(t *testing.T) {
	first := reply("g1", `"I look."`, `,"thoughts":[{"subject":"Plan","description":"Look first."}],"tokens":{"input":100,"output":5,"cached":90,"thoughts":7,"tool":0,"total":112},"model":"gemini-x"`)
	all := decode(t, transcript.Main, strings.Join([]string{
		header,
		user("u1", `[{"text":"Look at @a.txt"},{"text":"\n--- Content from referenced files ---"},{"text":"\nContent from @a.txt:\n"},{"text":"secret of the file"},{"text":"\n--- End of content ---"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]`),
		`{"$set":{"lastUpdated":"2026-05-01T10:00:03.000Z","summary":"Looking at a file"}}`,
		first,
		strings.TrimSuffix(first, "}") + `,"toolCalls":[` + call("c1", "run_shell_command", `{"command":"false"}`, `{"output":"Output: (empty)\nExit Code: 1\nProcess Group PGID: 7"}`, "success") + `]}`,
		strings.TrimSuffix(first, "}") + `,"toolCalls":[` + call("c1", "run_shell_command", `{"command":"false"}`, `{"output":"Output: (empty)\nExit Code: 1\nProcess Group PGID: 7"}`, "success") +
			`,` + call("c2", "write_file", `{"file_path":"b","content":"x"}`, `{"error":"[Operation Cancelled] Reason: User did not allow tool call"}`, "cancelled") +
			`,` + call("c3", "ask_user", `{"questions":[{"question":"Red?"}]}`, `{"output":"{\"answers\":{\"0\":\"red\"}}"}`, "success") + `]}`,
		`{"id":"i1","timestamp":"2026-05-01T10:00:04.000Z","type":"info","content":"Update available"}`,
		`{"id":"s1","timestamp":"2026-05-01T10:00:04.000Z","type":"novelty","content":[{"text":"What is this?"}]}`,
		`{"id":"torn","timestamp":`,
		user("u2", `"And now?"`),
	}, "\n"))
	if len(all) != 10 {
		t.Fatalf("%d records", len(all))
	}
	agenttest.Want(t, all[1], "human Look at @a.txt", "meta \n--- Content from referenced files ---", "meta \nContent from @a.txt:\n", "meta secret of the file",
		"meta \n--- End of content ---", "image \x00\x00\x00")
	agenttest.Want(t, all[3], "thinking Look first.", "text I look.")
	agenttest.Want(t, all[4], `call {"command":"false"} run_shell_command#c1`, "result Output: (empty)\nExit Code: 1\nProcess Group PGID: 7 run_shell_command#c1 failed")
	agenttest.Want(t, all[5], `call {"file_path":"b","content":"x"} write_file#c2`, `call {"questions":[{"question":"Red?"}]} ask_user#c3`,
		"result [Operation Cancelled] Reason: User did not allow tool call write_file#c2 failed refused", `human {"answers":{"0":"red"}} ask_user#c3`)
	agenttest.Want(t, all[7], "meta What is this?")
	agenttest.Want(t, all[9], "human And now?")
	for i, r := range all {
		if r.UI != (i == 0 || i == 2 || i == 6) || r.Unknown != (i == 7) || r.Broken != (i == 8) {
			t.Errorf("record %d: UI %t, unknown %t, broken %t", i, r.UI, r.Unknown, r.Broken)
		}
	}
	if u := all[5].Usage; u == nil || u.ID != "g1" || u.Context != 112 || all[5].Model != "gemini-x" {
		t.Errorf("got %+v of %s", u, all[5].Model)
	}
	if all[2].Title != "Looking at a file" || all[2].Type != "$set" || all[0].Type != "session" || all[3].Type != "gemini" {
		t.Errorf("got the title %q, the types %s, %s and %s", all[2].Title, all[2].Type, all[0].Type, all[3].Type)
	}
	if got := all[1].Time.Format("15:04:05"); got != "10:00:01" {
		t.Errorf("got %s", got)
	}
	outcome := all[4].Items[1].Explain("run_shell_command", transcript.Command)
	if !outcome.HasExit || outcome.Exit != 1 || outcome.Text != "" {
		t.Errorf("got %+v", outcome)
	}
}

func TestCompaction(t *testing.T) {
	kept := `{"id":"new","timestamp":"2026-05-01T11:00:00.000Z","type":"user","content":[{"text":"<state_snapshot>\nAll done.\n</state_snapshot>"}]},` +
		`{"id":"ack","timestamp":"2026-05-01T11:00:00.000Z","type":"gemini","content":[{"text":"Got it. Thanks for the additional context!"}]},` + user("u1", `"Go on"`)
	all := decode(t, transcript.Main, strings.Join([]string{
		header, user("u1", `"Go on"`), reply("g1", `"Yes"`, ""), `{"$set":{"messages":[` + kept + `]}}`, `{"$set":{"messages":[` + kept + `]}}`, user("u2", `"More"`),
	}, "\n"))
	agenttest.Want(t, all[3], "summary <state_snapshot>\nAll done.\n</state_snapshot>")
	if b := all[3].Boundary; b == nil || !b.Replaced || all[3].UI {
		t.Errorf("got %+v", b)
	}
	if all[4].Boundary != nil || !all[4].UI {
		t.Errorf("the same messages again: %+v", all[4])
	}
	held := transcript.Record{Items: transcript.Replacement(&all[3])}
	agenttest.Want(t, held, "summary <state_snapshot>\nAll done.\n</state_snapshot>", "text Got it. Thanks for the additional context!", "human Go on")
	agenttest.Want(t, all[5], "human More")
}

// TestSessionOf61 reads a shortened session of 0.61: the context comes first, a result is also a message of its own,
// and resuming and compacting the session replaced all messages.
func TestSessionOf61(t *testing.T) {
	context := user("e0", `[{"text":"<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n- **Workspace Directories:**\n  - /home/me/project\n  - /home/me/other\n- **Directory Structure:**\n</session_context>"}]`)
	const blocked = `{"output":"Command injection detected: command substitution syntax found. The command was blocked."}`
	called := reply("g1", `""`, `,"toolCalls":[`+call("c1", "run_shell_command", `{"command":"echo $(ls)"}`, blocked, "success")+`]`)
	answer := user("u2", `[{"functionResponse":{"id":"c1","name":"run_shell_command","response":`+blocked+`}}]`)
	snapshot := user("s1", `[{"text":"<scratchpad>\nHm.\n</scratchpad>\n\n<state_snapshot>\nAll done.\n</state_snapshot>"}]`)
	all := decode(t, transcript.Main, strings.Join([]string{
		header, `{"$set":{"messages":[` + context + `]}}`, user("u1", `[{"text":"Go on"}]`), called, answer,
		header, `{"$set":{"sessionId":"5a1b"}}`, `{"$set":{"messages":[` + context + `,` + user("u1", `[{"text":"Go on"}]`) + `,` + user("g1_response", `[]`) + `,` + answer + `]}}`,
		user("u3", `[{"text":"More"}]`), `{"$set":{"messages":[` + context + `,` + snapshot + `,` + reply("a1", `[{"text":"Got it. Thanks for the additional context!"}]`, "") + `]}}`,
	}, "\n"))
	agenttest.Want(t, all[2], "human Go on")
	agenttest.Want(t, all[3], `call {"command":"echo $(ls)"} run_shell_command#c1`, "result Command injection detected: command substitution syntax found. The command was blocked. run_shell_command#c1 failed")
	agenttest.Want(t, all[8], "human More")
	agenttest.Want(t, all[9], "summary <scratchpad>\nHm.\n</scratchpad>\n\n<state_snapshot>\nAll done.\n</state_snapshot>")
	for i, r := range all {
		if r.Unknown || (r.Boundary != nil) != (i == 9) || i != 2 && i != 3 && i < 8 && len(r.Items) != 0 {
			t.Errorf("record %d: unknown %t, %d items, boundary %v", i, r.Unknown, len(r.Items), r.Boundary)
		}
		if told := i == 1 || i == 7 || i == 9; told != (r.Cwd == "/home/me/project") || !told && r.Cwd != "" {
			t.Errorf("record %d is in %q", i, r.Cwd)
		}
	}
}

func TestRewind(t *testing.T) {
	all := decode(t, transcript.Main, strings.Join([]string{
		header, user("u1", `"One"`), reply("g1", `"1"`, ""), user("u2", `"Two"`), reply("g2", `"2"`, ""), reply("g2", `"2"`, `,"model":"m"`), user("u3", `"Three"`),
		`{"$rewindTo":"u2"}`, user("u4", `"Four"`), `{"$rewindTo":"nowhere"}`, `{"$rewindTo":"u1"}`,
	}, "\n"))
	agenttest.Want(t, all[8], "human Four")
	for i, back := range map[int]int{6: 0, 7: 2, 8: 0, 9: 0, 10: 2} {
		if all[i].Back != back {
			t.Errorf("record %d takes back %d, want %d", i, all[i].Back, back)
		}
	}
	if !all[7].UI || all[7].Unknown {
		t.Errorf("got %+v", all[7])
	}
}

func TestObject(t *testing.T) {
	messages := []string{user("u1", `"Hello\n--- Content from referenced files ---\nContent from @a:\nx\n--- End of content ---"`), reply("g1", `"Hi"`, "")}
	const head = `"sessionId": "5a1b", "projectHash": "ab", "startTime": "2026-01-01T10:00:00.000Z", "summary": "Greetings"`
	all := decode(t, transcript.Main, "{\n  "+head+",\n  \"messages\": [\n    "+strings.Join(messages, ",\n    ")+"\n  ]\n}")
	if len(all) != 2 || len(all[0].Items) != 1 || len(all[1].Items) != 1 {
		t.Fatalf("got %+v", all)
	}
	if said, added := all[0].Items[0].Said(); said != "Hello" || added == 0 {
		t.Errorf("got %q and %d characters beside it", said, added)
	}
	agenttest.Want(t, all[1], "text Hi")
	one := decode(t, transcript.Main, "{"+head+`,"messages":[`+strings.Join(messages, ",")+"]}")
	if len(one) != 1 || len(one[0].Items) != 2 || one[0].Title != "Greetings" || one[0].Unknown {
		t.Errorf("got %+v", one)
	}
}

func TestTextsOfTheClient(t *testing.T) {
	for text, human := range map[string]bool{
		"<session_context>\\nThis is the Gemini CLI.\\n</session_context>": false,
		"System: Please continue.": false,
		"I ran the following shell command:\\n```sh\\nls\\n```\\n\\nThis":                                       false,
		"Fix it<hook_context>of a hook</hook_context>":                                                          true,
		"Fix it\\n<hook_context>of a hook</hook_context>":                                                       true,
		"<hook_context>of a hook</hook_context>":                                                                false,
		"What does <session_context> mean?":                                                                     true,
		"Here is the user's editor context as a JSON object. This is for your information only.\\n```json\\n{}": false,
	} {
		r := decode(t, transcript.Main, header+"\n"+user("u1", `"`+text+`"`))[1]
		if got := r.Items[0].Kind == transcript.Human; got != human {
			t.Errorf("%s: human %t", text, got)
		}
	}
	shown := strings.TrimSuffix(user("u1", `"Review all of it."`), "}")
	if r := decode(t, transcript.Main, shown+`,"displayContent":"/review"}`)[0]; r.Items[0].Kind != transcript.Meta {
		t.Errorf("a command's text is %s", r.Items[0].Kind)
	}
	if r := decode(t, transcript.Main, shown+`,"displayContent":[{"text":"Review all of it."}]}`)[0]; r.Items[0].Kind != transcript.Human {
		t.Errorf("a prompt is %s", r.Items[0].Kind)
	}
}

func TestSubAgent(t *testing.T) {
	head := strings.Replace(header, `"kind":"main"`, `"kind":"subagent","directories":["/home/me/project"]`, 1)
	all := decode(t, transcript.Main, head+"\n"+user("u1", `"Investigate"`))
	agenttest.Want(t, all[1], "meta Investigate")
	if all[0].Cwd != "/home/me/project" {
		t.Errorf("got %q", all[0].Cwd)
	}
}

func TestMine(t *testing.T) {
	row := gemini.Row()
	for line, mine := range map[string]bool{
		header: true, user("u1", `"x"`): true, reply("g", `""`, ""): true, `{"$set":{"lastUpdated":"x"}}`: true, `{"$rewindTo":"u1"}`: true,
		`{"parentUuid":null,"sessionId":"s","type":"user","uuid":"u","timestamp":"t","message":{"role":"user","content":"x"}}`: false,
		`{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[]}}`:                     false,
		`{"uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"t","type":"user","message":{"role":"user","parts":[]}}`:    false,
		`{"type":"message","id":"a","timestamp":"t","message":{"role":"user","content":"x"}}`:                                  false,
		`{"role":"user","content":"x"}`: false,
	} {
		if got := row.Recognizes(transcript.Node{Raw: []byte(line)}); got != mine {
			t.Errorf("%s: %t", line, got)
		}
		if cut := line[:len(line)-1]; row.Owns([]byte(cut)) && !mine {
			t.Errorf("%s begins a line", cut)
		}
	}
	if !row.Owns([]byte("{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"ab\",\n  \"messages\": [")) || !row.Owns([]byte(header[:80])) {
		t.Error("a header's beginning is not known")
	}
}

func TestMatch(t *testing.T) {
	for rel, wanted := range map[string]string{
		"ab12/chats/session-2026-01-15T20-51-f7633853.json":  "session-2026-01-15T20-51-f7633853.json 0 ",
		"name/chats/session-2026-05-01T10-00-f7633853.jsonl": "session-2026-05-01T10-00-f7633853 0 ",
		"name/chats/f7633853-6663/worker-1.jsonl":            "worker-1 1 f7633853-6663",
		"name/tool-outputs/session-f763/read_file_1.txt":     "name/tool-outputs/session-f763/read_file_1.txt 2 f763",
		"name/tool-outputs/read_file_1.txt":                  "name/tool-outputs/read_file_1.txt 2 ",
		"name/logs.json":                                     "", "name/checkpoints/a.json": "", "name/chats/notes.json": "", "name/chats/.x.json": "", "session-1.json": "",
		"name/shell_history": "", "bin/rg": "", "name/chats/session-1.txt": "",
	} {
		s, ok := gemini.Row().Match("tmp", rel)
		got := ""
		if ok {
			got = fmt.Sprintf("%s %d %s", s.ID, s.Class, s.Parent)
		}
		if got != wanted {
			t.Errorf("%s: got %q, want %q", rel, got, wanted)
		}
	}
	env := func(name string) string { return map[string]string{"GEMINI_CLI_HOME": "/else"}[name] }
	if got := gemini.Row().Roots(env, "/home/me"); !slices.Equal(got, []string{filepath.FromSlash("/else/.gemini/tmp")}) {
		t.Errorf("got %s", got)
	}
}

// TestShellOutputInAWrapper: 0.61 puts a command's output into an element, and names the file if the output is too
// long.
func TestShellOutputInAWrapper(t *testing.T) {
	client := gemini.Row().Client
	o := client.Explain("run_shell_command", transcript.Command, []byte(`"<untrusted_context>\nOutput: no such mill\nExit Code: 2\nProcess Group PGID: 77\n</untrusted_context>"`), false)
	if o.Text != "no such mill" || !o.HasExit || o.Exit != 2 {
		t.Errorf("%+v", o)
	}
	o = client.Explain("run_shell_command", transcript.Command, []byte(`"Output too large. Showing first 100 and last 100 characters. For full output see: /h/tool-outputs/x.txt\nab"`), false)
	if o.Spilled != "/h/tool-outputs/x.txt" {
		t.Errorf("%+v", o)
	}
}
