package cursor_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/cursor"
	"ccd/internal/testkit/agenttest"
	"ccd/internal/transcript"
)

func decode(t *testing.T, class transcript.Class, lines ...string) []transcript.Record {
	t.Helper()
	return agenttest.Records(t, cursor.Row(), class, strings.Join(lines, "\n")+"\n")
}

const (
	session = "5d0c3c1e-7f24-4b7e-8a59-2f6f5c1d9b01"
	child   = "5d0c3c1e-7f24-4b7e-8a59-2f6f5c1d9b02"
)

func message(role string, texts ...string) string {
	var blocks []string
	for _, text := range texts {
		blocks = append(blocks, `{"type":"text","text":`+string(transcript.Quote(text))+`}`)
	}
	return `{"role":"` + role + `","message":{"content":[` + strings.Join(blocks, ",") + `]}}`
}

func TestTranscript(t *testing.T) {
	all := decode(t, transcript.Main,
		message("user", "<timestamp>Monday</timestamp>\n<user_query>\nfix the cart\n</user_query>"),
		`{"role":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking."},{"type":"tool_use","name":"Shell","input":{"command":"ls"}},{"type":"tool_use","name":"StrReplace","input":{"path":"a.go","old_string":"x","new_string":"y"}}]}}`,
		`{"type":"turn_ended","status":"success"}`,
		`{"type":"of_tomorrow","message":{"content":"x"}}`,
		`{"role":"assistant","message":{"content":[{"type":"tool_call","name":"read_file","input":{"path":"b.go"}},{"type":"new_block","text":"x"}]},"model":"auto"}`,
		`{"role":"user","message":{"content":[{"type":"tool-result","name":"read_file","content":[{"type":"text","text":"x"}]}]}}`,
		`{"role":"user","message":{"conte`,
		`{"role":"user"}`,
		message("assistant", "Done."),
	)
	var kinds []string
	for _, r := range all {
		kinds = append(kinds, agenttest.Kinds(r))
	}
	want := []string{"human", "thinking text call call", "", "meta", "call meta", "result", "", "", "text"}
	if !slices.Equal(kinds, want) {
		t.Fatalf("kinds:\n%q\nwant\n%q", kinds, want)
	}
	for i, strange := range []bool{false, false, false, true, true, true, false, true, false} {
		if all[i].Unknown != strange || all[i].Broken != (i == 6) || all[i].UI != (i == 2) {
			t.Errorf("record %d: unknown %v, broken %v, UI %v", i+1, all[i].Unknown, all[i].Broken, all[i].UI)
		}
	}
	call := all[1].Items[3]
	if a := call.Understand(); call.Call != "" || a.Op != transcript.Edit || a.Files[0].Path != "a.go" || all[4].Model != "auto" || all[1].Type != "assistant" {
		t.Errorf("call %+v understood as %+v, model %q, type %q", call, a, all[4].Model, all[1].Type)
	}
}

func TestWhatAPersonTyped(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"bare, from the command line", "fix it", "fix it"},
		{"alone", "<user_query>\nfix it\n</user_query>", "fix it"},
		{"behind the time", "<timestamp>x</timestamp>\n<user_query>\nfix it\n</user_query>", "fix it"},
		{"on one line", "<timestamp>x</timestamp><user_query>fix it</user_query>", "fix it"},
		{"between what the client adds", "<new_context>x</new_context>\n<user_query>fix it</user_query>\n[Image]\n[File: a.pdf]", "fix it"},
		{"in two elements", "<timestamp>x</timestamp>\n<user_query>\nfix it\n</user_query>\n<system_reminder>\nx\n</system_reminder>\n<user_query>\nand test it\n</user_query>", "fix it\n\nand test it"},
		{"its tag inside", "<user_query>\nwhat is <user_query>x</user_query> for?\n</user_query>", "what is <user_query>x</user_query> for?"},
		{"its tag in a bare prompt", "what is <user_query>x</user_query> for?", "what is <user_query>x</user_query> for?"},
		{"not closed", "<user_query>\nfix it", "<user_query>\nfix it"},
		{"closed before it begins", "</user_query>\n<user_query>", "</user_query>\n<user_query>"},
		{"empty", "<timestamp>x</timestamp>\n<user_query>\n</user_query>", ""},
		{"context alone", "<attached_files>\na.go\n</attached_files>", ""},
		{"context before a bare prompt", "<attached_files>\na.go\n</attached_files>\nfix it", "fix it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			it := decode(t, transcript.Main, message("user", c.text))[0].Items[0]
			said := ""
			if it.Kind == transcript.Human {
				said, _ = it.Said()
			}
			if said != c.want {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
	if all := decode(t, transcript.SubAgent, message("user", "<user_query>look around</user_query>")); agenttest.Kinds(all[0]) != "meta" {
		t.Errorf("a sub-agent's prompt is %s", agenttest.Kinds(all[0]))
	}
	all := decode(t, transcript.Main, message("user", "<user_info>x</user_info>", "<user_query>fix it</user_query>"))
	if agenttest.Kinds(all[0]) != "meta human" {
		t.Errorf("two blocks are %s", agenttest.Kinds(all[0]))
	}
}

func TestCalls(t *testing.T) {
	client := cursor.Row().Client
	for _, c := range []struct {
		tool, input string
		op          transcript.Op
		file, query string
	}{
		{"Write", `{"path":"a.go","contents":"x"}`, transcript.Write, "a.go", ""},
		{"Delete", `{"path":"a.go"}`, transcript.Delete, "a.go", ""},
		{"read_file", `{"target_file":"a.go"}`, transcript.Read, "a.go", ""},
		{"Glob", `{"glob_pattern":"*.go"}`, transcript.Search, "", "*.go"},
		{"WebSearch", `{"search_term":"go"}`, transcript.Web, "", "go"},
		{"AskQuestion", `{"questions":[{"prompt":"Which?"}]}`, transcript.Ask, "", "Which?"},
	} {
		a := client.Understand(c.tool, []byte(c.input))
		if a.Op != c.op || a.Query != c.query || len(a.Files) > 0 != (c.file != "") || c.file != "" && (a.Files[0].Path != c.file || a.Files[0].Op != c.op) {
			t.Errorf("%s: %+v", c.tool, a)
		}
	}
	if content, _, ok := transcript.Edits([]byte(`{"path":"a.go","contents":"x"}`)); !ok || content != "x" {
		t.Errorf("content %q, %v", content, ok)
	}
	for input, replace := range map[string]bool{`{"todos":[{"id":"1","content":"x"}]}`: true, `{"merge":true,"todos":[{"id":"1","content":"x"}]}`: false} {
		if a := client.Understand("TodoWrite", []byte(input)); a.Replace != replace || len(a.Plan) != 1 {
			t.Errorf("%s: %+v", input, a)
		}
	}
}

func TestMatch(t *testing.T) {
	row := cursor.Row()
	for rel, want := range map[string]transcript.Session{
		"home-ann-shop/agent-transcripts/" + session + "/" + session + ".jsonl":         {Key: transcript.Key{ID: session}},
		"home-ann-shop/agent-transcripts/" + session + ".jsonl":                         {Key: transcript.Key{ID: session}},
		"home-ann-shop/agent-transcripts/" + session + "/subagents/" + child + ".jsonl": {Key: transcript.Key{ID: child}, Class: transcript.SubAgent, Parent: session},
		"p/agent-transcripts/a/a.jsonl":                                                 {Key: transcript.Key{ID: "p/agent-transcripts/a/a"}},
		"p/agent-transcripts/a/subagents/b.jsonl":                                       {Key: transcript.Key{ID: "p/agent-transcripts/a/subagents/b"}, Class: transcript.SubAgent, Parent: "p/agent-transcripts/a/a"},
		"p/agent-transcripts/" + session + ".txt":                                       {},
		"p/agent-tools/x.jsonl":                                                         {},
		"p/agent-transcripts/a/b/c.jsonl":                                               {},
		"p/mcp.json":                                                                    {},
		session + ".jsonl":                                                              {},
	} {
		if s, ok := row.Match("projects", rel); ok != (want.ID != "") || ok && s != want {
			t.Errorf("%s: %+v %v", rel, s, ok)
		}
	}
	env := ""
	getenv := func(name string) string { return map[string]string{"CURSOR_DATA_DIR": env}[name] }
	home := filepath.Join("/home/ann", ".cursor", "projects")
	if got := row.Roots(getenv, "/home/ann"); !slices.Equal(got, []string{home}) {
		t.Errorf("roots %q", got)
	}
	env = "/data"
	if got := row.Roots(getenv, "/home/ann"); !slices.Equal(got, []string{filepath.Join("/data", "projects"), home}) {
		t.Errorf("roots %q", got)
	}
}

func TestMine(t *testing.T) {
	row := cursor.Row()
	for line, want := range map[string]bool{
		message("user", "x"):                                     true,
		message("assistant", "x"):                                true,
		`{"type":"turn_ended","status":"success"}`:               true,
		`{"role":"user","content":"x"}`:                          false,
		`{"role":"user","content":[{"type":"text","text":"x"}]}`: false,
		`{"type":"user","sessionId":"s","uuid":"u","parentUuid":null,"message":{"role":"user","content":"x"}}`:                false,
		`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[]}}`: false,
		`{"type":"message","id":"m","message":{"role":"user","content":[]}}`:                                                  false,
	} {
		if got := row.Recognizes(transcript.Node{Raw: []byte(line)}); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	if !row.Owns([]byte(message("user", strings.Repeat("x", 2000))[:1000])) || row.Owns([]byte(`{"role":"user","content":"`)) {
		t.Error("a start is not told")
	}
}
