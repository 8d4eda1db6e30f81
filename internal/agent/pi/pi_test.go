package pi_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/claude"
	"ccd/internal/agent/codex"
	"ccd/internal/agent/pi"
	"ccd/internal/testkit/agenttest"
	"ccd/internal/transcript"
)

const session = `{"type":"session","version":3,"id":"019e0000-0000-7000-8000-000000000001","timestamp":"2026-05-12T01:02:27.657Z","cwd":"/w","parentSession":"/h/s/2026-05-01T00-00-00-000Z_019e0000-0000-7000-8000-000000000000.jsonl"}
{"type":"model_change","id":"a0","parentId":null,"timestamp":"2026-05-12T01:02:28Z","provider":"p","modelId":"m1"}
{"type":"message","id":"a1","parentId":"a0","timestamp":"2026-05-12T01:02:29Z","message":{"role":"user","content":[{"type":"text","text":"<file name=\"/w/x.go\">\npackage x\n</file>\nfix it"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"timestamp":1}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-05-12T01:02:30Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"sig"},{"type":"text","text":"Yes."},{"type":"toolCall","id":"t1","name":"edit","arguments":{"path":"x.go","edits":[{"oldText":"x","newText":"y"}]}}],"provider":"p","model":"m2","usage":{"input":3,"output":4,"cacheRead":5,"cacheWrite":0,"totalTokens":12},"stopReason":"toolUse","timestamp":2}}
{"type":"message","id":"a3","parentId":"a2","timestamp":"2026-05-12T01:02:31Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"edit","content":[{"type":"text","text":"Could not find the text"}],"details":{"diff":"no item"},"isError":true,"timestamp":3}}
{"type":"message","id":"a4","parentId":"a3","timestamp":"2026-05-12T01:02:32Z","message":{"role":"bashExecution","command":"ls","output":"x.go","exitCode":0,"cancelled":false,"truncated":false,"timestamp":4}}
{"type":"message","id":"a5","parentId":"a4","timestamp":"2026-05-12T01:02:33Z","message":{"role":"bashExecution","command":"env","output":"no item","excludeFromContext":true,"timestamp":5}}
{"type":"something_new","id":"a6","parentId":"a5","timestamp":"2026-05-12T01:02:34Z","message":{"role":"user","content":"who knows"}}
{"type":"custom_message","id":"a7","parentId":"a6","timestamp":"2026-05-12T01:02:35Z","customType":"ext","content":"injected","display":false}
{"type":"custom","id":"a8","parentId":"a7","timestamp":"2026-05-12T01:02:36Z","customType":"state","data":{"n":1}}
{"type":"session_info","id":"a9","parentId":"a8","timestamp":"2026-05-12T01:02:37Z","name":"The title"}
{"type":"compaction","id":"b0","parentId":"a9","timestamp":"2026-05-12T01:02:38Z","summary":"all of it","firstKeptEntryId":"a7","tokensBefore":12}
{"type":"message","id":"b1","parentId":"a1","timestamp":"2026-05-12T01:02:39Z","message":{"role":"user","content":"<skill name=\"s\" location=\"/s\">\ntext\n</skill>","timestamp":6}}
{"type":"branch_summary","id":"b2","parentId":"a1","timestamp":"2026-05-12T01:02:40Z","fromId":"b0","summary":"what was left"}
{"type":"message","id":"b3","parentId":"b2","timestamp":"2026-05-12T01:02:41Z","message":{"role":"user","content":"other way","timestamp":7}}
{"type":"message","id":"b4","parentId":null,"timestamp":"2026-05-12T01:02:42Z","message":{"role":"user","content":"from the beginning","timestamp":8}}
{"type":"message","id":"b5","pare`

func decode(class transcript.Class, data string, each func(*transcript.Record)) {
	seg := transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: []byte(data), Rest: true}
	for r := range transcript.NewDecoder(pi.Row(), class).Records(seg) {
		each(r)
	}
}

func TestItems(t *testing.T) {
	want := []string{
		"session ui", "model_change ui",
		`message/user human "<file name=\"/w/x.go\">\npackage x\n</file>\nfix it" image {"type":"image","data":"aGk=","mimeType":"image/png"}`,
		`message/assistant thinking "hm" text "Yes." call edit t1 {"path":"x.go","edits":[{"oldText":"x","newText":"y"}]}`,
		`message/toolResult result edit t1 failed [{"type":"text","text":"Could not find the text"}]`,
		`message/bashExecution human "ls" meta "x.go"`, "message/bashExecution ui",
		`something_new unknown meta "who knows"`,
		`custom_message/ext meta "injected"`, "custom/state ui", "session_info ui",
		`compaction boundary summary "all of it"`,
		`message/user back 1 meta "<skill name=\"s\" location=\"/s\">\ntext\n</skill>"`,
		`branch_summary summary "what was left"`,
		`message/user human "other way"`,
		`message/user back 2 human "from the beginning"`,
		" broken",
	}
	var got []string
	decode(transcript.Main, session, func(r *transcript.Record) { got = append(got, agenttest.Show(r)) })
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFacts(t *testing.T) {
	n := 0
	decode(transcript.Main, session, func(r *transcript.Record) {
		switch n++; n {
		case 1:
			if r.Cwd != "/w" || r.Origin != "019e0000-0000-7000-8000-000000000000" || r.Time.IsZero() || !r.UI {
				t.Errorf("header: %+v", r)
			}
		case 2:
			if r.Model != "m1" {
				t.Errorf("model: %q", r.Model)
			}
		case 3:
			if said, added := r.Items[0].Said(); said != "fix it" || added == 0 {
				t.Errorf("said %q, %d added", said, added)
			}
			if got := transcript.Original(transcript.Image, r.Items[1].Raw); string(got) != "hi" {
				t.Errorf("image: %q", got)
			}
		case 4:
			if r.Model != "m2" || r.Usage == nil || r.Usage.Context != 12 || r.Items[0].Message != "a2" {
				t.Errorf("reply: %+v", r)
			}
			if a := r.Items[2].Understand(); len(a.Files) != 1 || a.Files[0].Path != "x.go" || a.Op != transcript.Edit {
				t.Errorf("edit: %+v", a)
			}
			if _, steps, ok := transcript.Edits(r.Items[2].Raw); !ok || len(steps) != 1 || steps[0].New != "y" {
				t.Errorf("steps: %+v", steps)
			}
		case 11:
			if r.Title != "The title" {
				t.Errorf("title: %q", r.Title)
			}
		case 12:
			if b := r.Boundary; b.Before != 12 || b.Replaced || !slices.Equal(b.Preserved, []string{"a7", "a8", "a9"}) {
				t.Errorf("boundary: %+v", b)
			}
		}
	})
}

func TestSubAgentSaysNothing(t *testing.T) {
	decode(transcript.SubAgent, session, func(r *transcript.Record) {
		for _, it := range r.Items {
			if it.Kind == transcript.Human {
				t.Errorf("%s: %s", r.Type, it.Raw)
			}
		}
	})
}

func TestRetainedTail(t *testing.T) {
	line := `{"type":"compaction","id":"c","parentId":"b","timestamp":"2026-05-12T01:02:38Z","summary":"s","tokensBefore":9,` +
		`"retainedTail":[{"role":"user","content":"last words"},{"role":"assistant","content":[{"type":"text","text":"ok"}]}]}`
	decode(transcript.Main, line, func(r *transcript.Record) {
		if !r.Boundary.Replaced || len(r.Items) != 1 || r.Items[0].Kind != transcript.Summary {
			t.Errorf("%+v", r)
		}
		held := transcript.Replacement(r)
		if len(held) != 3 || held[1].Kind != transcript.Human || string(held[2].Raw) != `"ok"` {
			t.Errorf("%+v", held)
		}
	})
}

func TestUsage(t *testing.T) {
	for usage, want := range map[string]int64{
		`{"input":1,"output":2,"cacheRead":3,"cacheWrite":4}`: 10,
		`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}`: 0,
		`{"input":1,"totalTokens":-2}`:                        transcript.NoCount,
		`{"cost":{"total":0.5},"totalTokens":7}`:              7,
	} {
		decode(transcript.Main, `{"type":"message","message":{"role":"assistant","content":[],"usage":`+usage+`}}`, func(r *transcript.Record) {
			got := int64(0)
			if r.Usage != nil {
				got = r.Usage.Context
			}
			if got != want {
				t.Errorf("%s: got %d, want %d", usage, got, want)
			}
		})
	}
}

func TestOddLines(t *testing.T) {
	for _, line := range []string{
		`1`, `[]`, `{}`, `{"type":"message"}`, `{"type":"message","message":{"role":"user"}}`, `{"type":"compaction"}`,
		`{"type":"message","message":{"role":"toolResult"}}`, `{"type":"message","message":{"role":"new","content":"x"}}`,
		`{"type":"session","parentSession":7}`, `{"type":"message","message":{"role":"assistant","content":[1,null,{"type":"toolCall"}]}}`,
	} {
		decode(transcript.Main, line, func(*transcript.Record) {})
	}
}

func TestMine(t *testing.T) {
	f := pi.Row()
	for line := range strings.Lines(session) {
		if !transcript.Valid([]byte(line)) || strings.Contains(line, "something_new") {
			continue
		}
		n := transcript.Node{Raw: []byte(strings.TrimSpace(line))}
		if !f.Recognizes(n) || claude.Row().Recognizes(n) || codex.Row().Recognizes(n) {
			t.Errorf("not Pi's alone: %s", line)
		}
	}
	prompt := `{"type":"message","id":"a1","parentId":"a0","timestamp":"2026-05-12T01:02:29Z","message":{"role":"system","content":"","sections":{"preamble":"x"},"timestamp":1}}` // 0.87.1
	if !f.Recognizes(transcript.Node{Raw: []byte(prompt)}) {
		t.Error("the system prompt is not Pi's")
	}
	for _, line := range []string{
		`{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"x"},"uuid":"u","timestamp":"2026-05-12T01:02:27Z"}`,
		`{"timestamp":"2026-05-12T01:02:27Z","type":"session_meta","payload":{"id":"x","cwd":"/w"}}`,
		`{"timestamp":"2026-05-12T01:02:27Z","type":"compacted","payload":{"message":"x"}}`,
		`{"type":"message","id":"m1","timestamp":"2026-05-12T01:02:27Z","message":{"role":"user","content":[{"type":"text","text":"x"}]}}`,
	} {
		if f.Recognizes(transcript.Node{Raw: []byte(line)}) || f.Owns([]byte(line)) {
			t.Errorf("Pi's: %s", line)
		}
	}
	if !f.Owns([]byte(`{"type":"message","id":"a3","parentId":"a2","timestamp":"x","message":{"role":"toolResult","toolCallId":"t1","con`)) {
		t.Error("the beginning of a result is not known")
	}
}

func TestPlaces(t *testing.T) {
	const id = "019e0000-0000-7000-8000-000000000001"
	for rel, want := range map[string]string{
		"--w--/2026-05-12T01-02-27-657Z_" + id + ".jsonl": id,
		"2026-05-12T01-02-27-657Z_" + id + ".jsonl":       id,
		"--w--/named.jsonl":                               "w--/named",
		"--w--/.hidden.jsonl":                             "",
		"--w--/notes.md":                                  "",
		"--w--/" + id + ".jsonl~":                         "",
		".jsonl":                                          "",
	} {
		s, ok := pi.Row().Match("sessions", rel)
		if ok != (want != "") || s.ID != want || s.Class != transcript.Main {
			t.Errorf("%s: %v %+v", rel, ok, s)
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"", "", "/h/.pi/agent/sessions"},
		{"PI_CODING_AGENT_DIR", "/x", "/x/sessions"},
		{"PI_CODING_AGENT_DIR", "~/p", "/h/p/sessions"},
		{"PI_CODING_AGENT_SESSION_DIR", "/s", "/s"},
	} {
		got := pi.Row().Roots(func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		}, filepath.FromSlash("/h"))
		if len(got) != 1 || filepath.ToSlash(got[0]) != c.want {
			t.Errorf("%s=%s: %v", c.name, c.value, got)
		}
	}
}
