package copilot_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/claude"
	"ccd/internal/agent/codex"
	"ccd/internal/agent/copilot"
	"ccd/internal/testkit/agenttest"
	"ccd/internal/transcript"
)

const session = `{"type":"session.start","data":{"sessionId":"s","version":1,"producer":"copilot-agent","copilotVersion":"1.0.80","selectedModel":"m1","context":{"cwd":"/w","branch":"main"}},"id":"e1","timestamp":"2026-04-01T10:00:00.000Z","parentId":null}
{"type":"system.message","data":{"content":"be good","role":"system"},"id":"e2","timestamp":"2026-04-01T10:00:01Z","parentId":"e1"}
{"type":"user.message","data":{"content":"fix it","transformedContent":"<current_datetime>x</current_datetime>\n\nfix it","attachments":[{"type":"file","path":"/w/x"},{"type":"blob","data":"aGk=","mimeType":"image/png"}]},"id":"e3","timestamp":"2026-04-01T10:00:02Z","parentId":"e2"}
{"type":"user.message","data":{"content":"a skill's text","source":"skill-pdf"},"id":"e4","timestamp":"2026-04-01T10:00:03Z","parentId":"e3"}
{"type":"assistant.message","data":{"messageId":"m","model":"m2","content":"Yes.","reasoningText":"hm","reasoningOpaque":"secret","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"make"}},{"toolCallId":"c2","name":"edit","arguments":"{\"path\":\"/w/x\",\"old_str\":\"a\",\"new_str\":\"b\"}"}]},"id":"e5","timestamp":"2026-04-01T10:00:04Z","parentId":"e4"}
{"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"bash","arguments":{"command":"make"}},"id":"e6","timestamp":"2026-04-01T10:00:05Z","parentId":"e5"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"no rule\n<exited with exit code 2>","detailedContent":"no item"}},"id":"e7","timestamp":"2026-04-01T10:00:06Z","parentId":"e6"}
{"type":"tool.execution_complete","data":{"toolCallId":"c2","success":false,"error":{"message":"no match","code":"failure"}},"id":"e8","timestamp":"2026-04-01T10:00:07Z","parentId":"e7"}
{"type":"brand.new","data":{"content":"who knows"},"id":"e9","timestamp":"2026-04-01T10:00:08Z","parentId":"e8"}
{"type":"subagent.started","data":{"toolCallId":"c3","agentName":"a"},"agentId":"g1","id":"f0","timestamp":"2026-04-01T10:00:09Z","parentId":"e9"}
{"type":"user.message","data":{"content":"task"},"agentId":"g1","id":"f1","timestamp":"2026-04-01T10:00:10Z","parentId":"f0"}
{"type":"assistant.message","data":{"messageId":"n","model":"m3","content":"aside","parentToolCallId":"c3","toolRequests":[]},"id":"f2","timestamp":"2026-04-01T10:00:11Z","parentId":"f1"}
{"type":"system.notification","data":{"content":"<system_notification>done</system_notification>","kind":{"type":"agent_completed","agentId":"g1"}},"id":"f3","timestamp":"2026-04-01T10:00:12Z","parentId":"f2"}
{"type":"assistant.message","data":{"messageId":"o","content":"","toolRequests":[{"toolCallId":"c4","name":"ask_user","arguments":{"question":"Which?"}}]},"id":"f4","timestamp":"2026-04-01T10:00:13Z","parentId":"f3"}
{"type":"tool.execution_complete","data":{"toolCallId":"c4","success":true,"result":{"content":"the first"}},"id":"f5","timestamp":"2026-04-01T10:00:14Z","parentId":"f4"}
{"type":"session.compaction_start","data":{"systemTokens":10,"conversationTokens":20,"toolDefinitionsTokens":5},"id":"f6","timestamp":"2026-04-01T10:00:15Z","parentId":"f5"}
{"type":"session.compaction_complete","data":{"success":false,"error":"no"},"id":"f7","timestamp":"2026-04-01T10:00:16Z","parentId":"f6"}
{"type":"session.compaction_complete","data":{"success":true,"preCompactionTokens":35,"trigger":"threshold","summaryContent":"all of it"},"id":"f8","timestamp":"2026-04-01T10:00:17Z","parentId":"f7"}
{"type":"session.shutdown","data":{"currentTokens":12,"tokenLimit":100},"id":"f9","timestamp":"2026-04-01T10:00:18Z","parentId":"f8"}
{"type":"user.message","da`

func decode(class transcript.Class, data string, each func(*transcript.Record)) {
	seg := transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: []byte(data), Rest: true}
	for r := range transcript.NewDecoder(copilot.Row(), class).Records(seg) {
		each(r)
	}
}

func TestItems(t *testing.T) {
	want := []string{
		"session.start ui",
		`system.message system "be good"`,
		`user.message human "fix it" image {"type":"blob","data":"aGk=","mimeType":"image/png"}`,
		`user.message meta "a skill's text"`,
		`assistant.message thinking "hm" text "Yes." call bash c1 {"command":"make"} call edit c2 "{\"path\":\"/w/x\",\"old_str\":\"a\",\"new_str\":\"b\"}"`,
		"tool.execution_start ui",
		`tool.execution_complete result bash c1 failed "no rule\n<exited with exit code 2>"`,
		`tool.execution_complete result edit c2 failed "no match"`,
		`brand.new unknown meta "who knows"`,
		"subagent.started ui",
		`user.message meta side "task"`,
		`assistant.message text side "aside"`,
		`system.notification meta "<system_notification>done</system_notification>"`,
		`assistant.message call ask_user c4 {"question":"Which?"}`,
		`tool.execution_complete human ask_user c4 "the first"`,
		"session.compaction_start ui", "session.compaction_complete ui",
		`session.compaction_complete boundary summary "all of it"`,
		"session.shutdown ui",
		" broken",
	}
	var got []string
	decode(transcript.Main, session, func(r *transcript.Record) { got = append(got, agenttest.Show(r)) })
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	decode(transcript.SubAgent, session, func(r *transcript.Record) {
		if strings.Contains(agenttest.Show(r), " human ") {
			t.Error(agenttest.Show(r))
		}
	})
}

func TestFacts(t *testing.T) {
	decode(transcript.Main, session, func(r *transcript.Record) {
		switch r.N {
		case 1:
			if r.Cwd != "/w" || r.Branch != "main" || r.Version != "1.0.80" || r.Model != "m1" || r.Time.IsZero() || r.UUID != "e1" {
				t.Errorf("start: %+v", r)
			}
		case 5:
			if r.Model != "m2" || r.Items[0].Message != "m" || r.Items[3].Message != "m" {
				t.Errorf("reply: %+v", r)
			}
			a := r.Items[3].Understand()
			if _, steps, ok := transcript.Edits(r.Items[3].Raw); !ok || steps[0].New != "b" || a.Files[0].Path != "/w/x" {
				t.Errorf("edit: %+v %+v", a, steps)
			}
		case 7:
			if o := r.Items[0].Explain("bash", transcript.Command); !o.HasExit || o.Exit != 2 || o.Text != "no rule" {
				t.Errorf("exit: %+v", o)
			}
		case 12:
			if r.Model != "" {
				t.Errorf("a sub-agent's model: %q", r.Model)
			}
		case 10, 13:
			if r.Agent != "g1" {
				t.Errorf("agent: %q", r.Agent)
			}
		case 16:
			if r.Usage == nil || r.Usage.Context != 35 {
				t.Errorf("usage: %+v", r.Usage)
			}
		case 18:
			if b := r.Boundary; b.Before != 35 || b.Trigger != "auto" || b.Replaced {
				t.Errorf("boundary: %+v", b)
			}
		case 19:
			if r.Usage == nil || r.Usage.Context != 12 || r.Usage.Window != 100 {
				t.Errorf("usage: %+v", r.Usage)
			}
		}
	})
}

func TestExits(t *testing.T) {
	for text, want := range map[string]struct {
		exit int
		told bool
	}{
		"ok\n<exited with exit code 0>":                   {0, true},
		"<shellId: 4 completed with exit code 1>\n":       {1, true},
		"<exited with exit code 1>\nwas only said":        {},
		"<command started in background with shellId: 4>": {},
	} {
		line := `{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":` + string(transcript.Quote(text)) + `}}}`
		seen := strings.SplitAfterN(session, "\n", 6)
		decode(transcript.Main, strings.Join(seen[:5], "")+line, func(r *transcript.Record) {
			if r.N != 6 {
				return
			}
			o := r.Items[0].Explain("bash", transcript.Command)
			if o.HasExit != want.told || o.Exit != want.exit || r.Items[0].Failed != (want.exit != 0) {
				t.Errorf("%q: %+v, failed %v", text, o, r.Items[0].Failed)
			}
		})
	}
}

func TestOddLines(t *testing.T) {
	for _, line := range []string{
		`1`, `{}`, `{"type":"user.message"}`, `{"type":"user.message","data":{"content":7}}`, `{"type":"assistant.message","data":null}`,
		`{"type":"assistant.message","data":{"content":null,"toolRequests":[null,{}]}}`, `{"type":"tool.execution_complete","data":[]}`,
		`{"type":"session.shutdown","data":{"currentTokens":-1}}`, `{"type":"session.start","data":{"context":"x"}}`,
		`{"type":"tool.execution_complete","data":{"toolCallId":"x","result":{"content":""}}}`, `{"type":"","data":{"content":{}}}`,
	} {
		decode(transcript.Main, line, func(*transcript.Record) {})
	}
}

func TestMine(t *testing.T) {
	f := copilot.Row()
	for line := range strings.Lines(session) {
		if !transcript.Valid([]byte(line)) {
			continue
		}
		n := transcript.Node{Raw: []byte(strings.TrimSpace(line))}
		if !f.Recognizes(n) || claude.Row().Recognizes(n) || codex.Row().Recognizes(n) {
			t.Errorf("not Copilot's alone: %s", line)
		}
	}
	for _, line := range []string{
		`{"parentUuid":null,"sessionId":"s","type":"progress","data":{"type":"x"},"uuid":"u","timestamp":"2026-05-12T01:02:27Z"}`,
		`{"timestamp":"2026-05-12T01:02:27Z","type":"event_msg","payload":{"type":"token_count"}}`,
		`{"type":"message","id":"m1","timestamp":"2026-05-12T01:02:27Z","parentId":null,"message":{"role":"user","content":"x"}}`,
	} {
		if f.Recognizes(transcript.Node{Raw: []byte(line)}) || f.Owns([]byte(line)) {
			t.Errorf("Copilot's: %s", line)
		}
	}
}

func TestPlaces(t *testing.T) {
	const id = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
	for rel, want := range map[string]string{
		id + "/events.jsonl":               id,
		"named/events.jsonl":               "named",
		id + ".jsonl":                      id,
		"other.jsonl":                      "",
		id + "/workspace.yaml":             "",
		id + "/session.db":                 "",
		id + "/inuse.12.lock":              "",
		id + "/rewind-snapshots/b/0":       "",
		id + "/checkpoints/001-x.md":       id + "/checkpoints/001-x.md",
		id + "/files/a/b.txt":              id + "/files/a/b.txt",
		id + "/files/.hidden":              "",
		".tmp/events.jsonl":                "",
		id + "/checkpoints/deep/001-x.md":  "",
		id + "/checkpoints/events.jsonl":   "",
		id + "/research/deep/events.jsonl": "",
	} {
		s, ok := copilot.Row().Match("session-state", rel)
		attached := strings.Contains(want, "/")
		if !ok {
			s = transcript.Session{}
		}
		if ok != (want != "") || s.ID != want || (s.Class == transcript.Attachment) != attached || (s.Parent == id) != attached {
			t.Errorf("%s: %v %+v", rel, ok, s)
		}
	}
	for value, want := range map[string]string{"": "/h/.copilot/session-state", "/c": "/c/session-state"} {
		got := copilot.Row().Roots(func(string) string { return value }, filepath.FromSlash("/h"))
		if len(got) != 1 || filepath.ToSlash(got[0]) != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}
