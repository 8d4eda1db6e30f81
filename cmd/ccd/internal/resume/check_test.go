package resume

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// small is a session with everything that the rules check: two parallel calls, an image, thinking in an unfinished
// loop.
func small(t *testing.T, agent string) [][]byte {
	t.Helper()
	f, ok := registry.Table{}.Lookup(agent)
	if !ok {
		t.Fatal("unknown agent")
	}
	input, source := `{"command":"make"}`, `"data:image/png;base64,iVBORw0KGgo="`
	if agent == codex {
		input = `"{\"cmd\":\"make\"}"`
	}
	block := func(kind transcript.Kind, raw, call string) transcript.Block {
		return transcript.Block{Kind: kind, Raw: []byte(raw), Call: call, Tool: "Bash"}
	}
	d := transcript.Draft{
		ID: newID, Title: "small", Cwd: "/home/me/ledger", Resumed: transcript.Resumed{ID: "source", Covers: 9},
		Start: date("2026-01-15T09:00:00Z"),
		Messages: []transcript.Message{
			{Blocks: []transcript.Block{block(transcript.Summary, `"ccd: small"`, ""), block(transcript.Image, source, "")}},
			{Assistant: true, ID: "msg_1", Time: date("2026-01-15T09:00:05Z"), Blocks: []transcript.Block{
				block(transcript.Text, `"look"`, ""), block(transcript.Call, input, "call_1"), block(transcript.Call, input, "call_2"),
			}},
			{Blocks: []transcript.Block{block(transcript.Result, `"built"`, "call_1"), block(transcript.Result, `""`, "call_2"), block(transcript.Human, `"go on"`, "")}},
			{Assistant: true, ID: "msg_2", Blocks: []transcript.Block{
				block(transcript.Thinking, `{"type":"thinking","thinking":"hm","signature":"c2ln"}`, ""), block(transcript.Call, input, "call_3"),
			}},
			{Blocks: []transcript.Block{block(transcript.Result, `"done"`, "call_3")}},
		},
	}
	if agent != claude && agent != codex {
		last := &d.Messages[3]
		last.Blocks = last.Blocks[1:] // the thinking
	}
	return f.Write(d)
}

// TestCheckRefuses: for each rule there is a session that breaks only that rule; the error names the record.
func TestCheckRefuses(t *testing.T) {
	type edit struct {
		rule      string
		line      int    // 1-based
		old, new  string // in that line; an empty old drops the line
		wantLine  int
		wantWords string
	}
	tables := map[string][]edit{
		claude: {
			{"a record missing", 3, ``, ``, 3, "its parent"},
			{"chain", 4, `"parentUuid":"`, `"parentUuid":"0`, 4, "its parent"},
			{"uuid", 5, `,"uuid":"`, `,"uuid":"x`, 6, "its parent"},
			{"timestamp", 5, `"timestamp":"2026`, `"timestamp":"2025`, 5, "time"},
			{"no timestamp", 5, `"timestamp"`, `"time"`, 5, "time"},
			{"sidechain", 5, `"isSidechain":false`, `"isSidechain":true`, 5, "sub-agent"},
			{"type", 5, `"type":"assistant"`, `"type":"system"`, 5, "unexpected record"},
			{"one reply", 4, `"id":"msg_1"`, `"id":"msg_9"`, 4, "two replies"},
			{"usage", 4, `"cache_read_input_tokens":0`, `"cache_read_input_tokens":985000`, 4, "usage"},
			{"empty text", 3, `"text":"look"`, `"text":" "`, 3, "empty"},
			{"empty message", 8, `"content":"go on"`, `"content":""`, 8, "no content"},
			{"no content", 3, `"content":[{"type":"text","text":"look"}]`, `"content":[]`, 3, "no content"},
			{"result of nothing", 6, `"tool_use_id":"call_1"`, `"tool_use_id":"call_9"`, 6, "without its call"},
			{"result twice", 7, `"tool_use_id":"call_2"`, `"tool_use_id":"call_1"`, 7, "without its call"},
			{"call id", 4, `"id":"call_1"`, `"id":"call 1"`, 4, "invalid ID"},
			{"call id twice", 5, `"id":"call_2"`, `"id":"call_1"`, 5, "another call"},
			{"call id of before", 10, `"id":"call_3"`, `"id":"call_1"`, 10, "another call"},
			{"tool name", 4, `"name":"Bash"`, `"name":"Bash it"`, 4, "tool"},
			{"input", 4, `{"command":"make"}`, `"make"`, 4, "object"},
			{"text in a result", 6, `"content":"built"`, `"content":[{"type":"text","text":""}]`, 6, "empty or unknown"},
			{"text before the results", 6, `{"type":"tool_result","tool_use_id":"call_1","content":"built"}`, `{"type":"text","text":"x"}`, 6, "before a call"},
			{"image type", 2, `"media_type":"image/png",`, ``, 2, "image"},
			{"image type that is none", 2, `image/png`, `image/svg+xml`, 2, "image"},
			{"image cut", 2, `iVBORw0KGgo=`, `iVBOR`, 2, "image"},
			{"document", 2, `"type":"image","source":{"type":"base64","media_type":"image/png"`, `"type":"document","source":{"type":"base64","media_type":"text/html"`, 2, "document"},
			{"image in a failed result", 6, `"content":"built"`, `"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}],"is_error":true`, 6, "failed"},
			{"a tool's reference", 6, `"content":"built"`, `"content":[{"type":"tool_reference"}]`, 6, "unknown block"},
			{"a search's result", 6, `"content":"built"`, `"content":[{"type":"search_result","source":"s","title":"t","content":[]}]`, 6, "unknown block"},
			{"a document in a result", 6, `"content":"built"`, `"content":[{"type":"document","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]`, 6, "unknown block"},
			{"image data", 2, `iVBORw0KGgo=`, `no base64!`, 2, "image"},
			{"thinking signed", 9, `,"signature":"c2ln"`, ``, 9, "thinking"},
			{"thinking first", 5, `{"type":"tool_use","id":"call_2","name":"Bash","input":{"command":"make"}}`, `{"type":"thinking","thinking":"x","signature":"c2ln"}`, 5, "thinking"},
			{"thinking last", 10, `{"type":"tool_use","id":"call_3","name":"Bash","input":{"command":"make"}}`, `{"type":"thinking","thinking":"x","signature":"c2ln"}`, 11, "thinking at the end"},
			{"a block of the other side", 8, `"go on"`, `[{"type":"tool_use","id":"call_8","name":"Bash","input":{}}]`, 9, "thinking"},
			{"an unanswered call", 11, ``, ``, 11, "no result"},
			{"UTF-8", 8, `go on`, "go \xff", 8, "UTF-8"},
			{"surrogates", 8, `go on`, `go \ud800`, 8, "surrogate"},
			{"JSON", 8, `}`, ``, 8, "JSON"},
		},
		codex: {
			{"header", 1, `"type":"session_meta"`, `"type":"response_item"`, 1, "unknown type"},
			{"events", 3, `"type":"response_item"`, `"type":"event_msg"`, 3, "unexpected record"},
			{"usage", 3, `"type":"response_item"`, `"type":"token_usage_record"`, 3, "unexpected record"},
			{"time", 4, `"timestamp":"2026`, `"timestamp":"2025`, 4, "time"},
			{"first message of the user", 2, ``, ``, 2, "speaks first"},
			{"role", 3, `"role":"assistant"`, `"role":"developer"`, 3, "role"},
			{"empty text", 3, `"text":"look"`, `"text":""`, 3, "no content"},
			{"image", 2, `data:image/png;base64,`, ``, 2, "image"},
			{"image type", 2, `data:image/png;base64,`, `data:image/svg+xml;base64,`, 2, "image"},
			{"no content", 3, `[{"type":"output_text","text":"look"}]`, `[]`, 3, "no content"},
			{"call id", 4, `"call_id":"call_1"`, `"call_id":"call 1"`, 4, "invalid ID"},
			{"call id twice", 5, `"call_id":"call_2"`, `"call_id":"call_1"`, 5, "another call"},
			{"tool name", 4, `"name":"Bash"`, `"name":""`, 4, "tool"},
			{"output of nothing", 6, `"call_id":"call_1"`, `"call_id":"call_9"`, 6, "without its call"},
			{"output's shape", 6, `"output":"built"`, `"output":{"content":"built"}`, 6, "unknown block"},
			{"no output", 6, ``, ``, 7, "before a call"},
			{"an unanswered call", 10, ``, ``, 9, "no result"},
			{"an unknown item", 9, `"type":"function_call"`, `"type":"reasoning"`, 9, "no content"},
		},
		"pi": {
			{"mark", 1, `"ccd":`, `"other":`, 1, "name the original"},
			{"chain", 4, `"parentId":"`, `"parentId":"0`, 4, "its parent"},
			{"id twice", 10, `"id":"`, `"id":"517eb4a6","id2":"`, 10, "another record"},
			{"time", 4, `"timestamp":"2026`, `"timestamp":"2025`, 4, "time"},
			{"usage", 4, `"input":0`, `"input":985000`, 4, "usage"},
			{"empty text", 4, `"text":"look"`, `"text":" "`, 4, "empty"},
			{"call id", 4, `"id":"call_1"`, `"id":"call 1"`, 4, "invalid ID"},
			{"call id twice", 4, `"id":"call_2"`, `"id":"call_1"`, 4, "another call"},
			{"tool name", 4, `"name":"Bash"`, `"name":"B sh"`, 4, "tool"},
			{"result of nothing", 5, `"toolCallId":"call_1"`, `"toolCallId":"call_9"`, 5, "without its call"},
			{"role", 7, `"role":"user"`, `"role":"person"`, 7, "unknown type"},
			{"not JSON", 7, `"role"`, `role"`, 7, "not JSON"},
			{"two lines", 7, `"role"`, "\n\"role\"", 7, "on one line"},
		},
		"gemini-cli": {
			{"no result", 3, `"result":`, `"given":`, 4, "before a call"},
			{"an unanswered call", 5, `"result":`, `"given":`, 5, "no result"},
			{"usage", 3, `"type":"gemini"`, `"type":"gemini","tokens":{"total":985000}`, 3, "usage"},
			{"type", 4, `"type":"user"`, `"type":"person"`, 4, "unknown type"},
		},
		"qwen-code": {
			{"mark", 1, `"ccd":`, `"other":`, 1, "name the original"},
			{"chain", 4, `"parentUuid":"`, `"parentUuid":"0`, 4, "its parent"},
			{"no result", 5, ``, ``, 5, "its parent"},
			{"result of nothing", 5, `"id":"call_2"`, `"id":"call_9"`, 5, "without its call"},
			{"type", 6, `"type":"user"`, `"type":"person"`, 6, "unknown type"},
		},
	}
	for agent, edits := range tables {
		lines := small(t, agent)
		if err := Check(agent, lines); err != nil {
			t.Fatalf("%s: the session that is edited is refused itself: %v\n%s", agent, err, bytes.Join(lines, []byte("\n")))
		}
		for _, e := range edits {
			t.Run(agent+"/"+e.rule, func(t *testing.T) {
				broken := slices.Clone(lines)
				switch {
				case e.old == "":
					broken = slices.Delete(broken, e.line-1, e.line)
				case !bytes.Contains(broken[e.line-1], []byte(e.old)):
					t.Fatalf("record %d has no %s: %s", e.line, e.old, broken[e.line-1])
				default:
					broken[e.line-1] = bytes.Replace(broken[e.line-1], []byte(e.old), []byte(e.new), 1)
				}
				var refused *RefusedError
				if err := Check(agent, broken); !errors.As(err, &refused) || refused.Record != e.wantLine && e.wantLine > 0 || !strings.Contains(refused.Why, e.wantWords) {
					t.Errorf("got %v, want record %d refused for %q", err, e.wantLine, e.wantWords)
				}
			})
		}
	}
}

func TestCheckRefusesUnknownAgents(t *testing.T) {
	if err := Check("vim", nil); err == nil {
		t.Error("an unknown agent's session is taken")
	}
}

// FuzzCheck: for any lines, Check returns, and names an existing line.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"role":"user","content":"hi"}}`), true)
	f.Add([]byte("{\"type\":\"session_meta\"}\nnull\n[]\n\"\\"), false)
	f.Fuzz(func(t *testing.T, data []byte, first bool) {
		agent := codex
		if first {
			agent = claude
		}
		lines := bytes.Split(data, []byte("\n"))
		var refused *RefusedError
		if err := Check(agent, lines); err != nil && (!errors.As(err, &refused) || refused.Record > len(lines)) {
			t.Errorf("got %v for %d lines", err, len(lines))
		}
	})
}
