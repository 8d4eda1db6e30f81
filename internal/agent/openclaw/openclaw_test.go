package openclaw_test

import (
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/agent/openclaw"
	"ccd/internal/transcript"
)

func decode(data string, each func(*transcript.Record)) {
	seg := transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: []byte(data), Rest: true}
	for r := range transcript.NewDecoder(openclaw.Row(), transcript.Main).Records(seg) {
		each(r)
	}
}

func user(text string) string {
	return `{"type":"message","id":"u","parentId":null,"timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":` +
		string(transcript.Quote(text)) + `}}`
}

const envelope = "Conversation info (untrusted metadata):\n```json\n{\n  \"message_id\": \"1\",\n  \"note\": \"```\"\n}\n```\n\n" +
	"Sender (untrusted metadata):\n```json\n{\n  \"label\": \"A\"\n}\n```\n\n"

func TestSaid(t *testing.T) {
	for text, want := range map[string]string{
		envelope + "do it": "do it",
		envelope + "like\n```json\n{\n}\n```\nor not":                            "like\n```json\n{\n}\n```\nor not",
		"[Wed 2026-03-04 10:00 UTC] see [1] here":                                "see [1] here",
		"System: [2026-03-04 10:00:00 UTC] WhatsApp gateway connected.\n\ndo it": "do it",
		"plain [a] words": "plain [a] words",
		envelope:          "",
		"A new session was started via /new or /reset. Greet the user.":                    "",
		"Read HEARTBEAT.md if it exists (workspace context). Follow it strictly.\nNow: 10": "",
		"[Wed 2026-03-04 10:00 UTC] Pre-compaction memory flush. Store durable memories":   "",
	} {
		decode(user(text), func(r *transcript.Record) {
			it := r.Items[0]
			if (it.Kind == transcript.Human) != (want != "") {
				t.Errorf("%q: kind %v", text, it.Kind)
				return
			}
			if said, _ := it.Said(); want != "" && said != want {
				t.Errorf("%q: said %q", text, said)
			}
		})
	}
}

func TestSentByTheClient(t *testing.T) {
	line := `{"type":"message","id":"m","parentId":null,"timestamp":"2026-03-01T10:00:00Z","message":{"role":"assistant","provider":"openclaw",` +
		`"model":"delivery-mirror","content":[{"type":"text","text":"sent"}],"usage":{"totalTokens":5},"timestamp":1}}`
	decode(line, func(r *transcript.Record) {
		if r.Model != "" || r.Usage != nil || len(r.Items) != 1 || r.Items[0].Kind != transcript.Meta {
			t.Errorf("%+v", r)
		}
	})
}

func TestCallAndResult(t *testing.T) {
	data := `{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T10:00:00Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"exec","arguments":{"command":"false"},"partialArgs":"no item"}]}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-03-01T10:00:01Z","message":{"role":"toolResult","toolCallId":"c","content":"Command exited with code 1","isError":true}}`
	decode(data, func(r *transcript.Record) {
		it := r.Items[0]
		if len(r.Items) != 1 || it.Tool != "exec" || it.Call != "c" || it.Failed != (it.Kind == transcript.Result) {
			t.Errorf("%+v", it)
		}
	})
}

func TestPlaces(t *testing.T) {
	const id = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
	for rel, want := range map[string]string{
		"main/sessions/" + id + ".jsonl":                                        id,
		"main/sessions/" + id + "-topic-42.jsonl":                               id + "-topic-42",
		"main/sessions/named.jsonl":                                             "main/sessions/named",
		"main/sessions/" + id + ".jsonl.reset.2026-03-04T10-00-00.000Z":         id,
		"main/sessions/" + id + ".jsonl.deleted.2026-03-04T10-00-00.000Z":       id,
		"main/sessions/" + id + ".jsonl.bak.2026-03-04T10-00-00.000Z":           "",
		"main/sessions/" + id + ".checkpoint." + id + ".jsonl":                  "",
		"main/sessions/" + id + ".trajectory.jsonl":                             "",
		"main/sessions/" + id + ".jsonl.lock":                                   "",
		"main/sessions/sessions.json":                                           "",
		"main/sessions/.x.jsonl":                                                "",
		"main/agent/models.json":                                                "",
		"main/qmd/sessions/" + id + ".jsonl":                                    "",
		id + ".jsonl":                                                           "",
		"main/sessions/" + id + ".checkpoint.about.jsonl":                       id + ".checkpoint.about",
		"main/sessions/" + id + ".checkpoint." + strings.ToUpper(id) + ".jsonl": "",
	} {
		s, ok := openclaw.Row().Match("agents", rel)
		if ok != (want != "") || s.ID != want || s.Class != transcript.Main {
			t.Errorf("%s: %v %+v", rel, ok, s)
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"", "", "/h/.openclaw/agents"},
		{"OPENCLAW_STATE_DIR", " /s ", "/s/agents"},
		{"CLAWDBOT_STATE_DIR", "~/c", "/h/c/agents"},
		{"OPENCLAW_HOME", "/o", "/o/.openclaw/agents"},
	} {
		got := openclaw.Row().Roots(func(name string) string {
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

func TestMine(t *testing.T) {
	if openclaw.Row().Recognizes(transcript.Node{Raw: []byte(user("x"))}) {
		t.Error("an entry alone is Pi's")
	}
}
