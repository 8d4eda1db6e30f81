package resume

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// small is a session with everything that the rules check: two parallel calls, thinking in an unfinished
// loop.
func small(t *testing.T, agent string) [][]byte {
	t.Helper()
	f, ok := registry.Table{}.Lookup(agent)
	if !ok {
		t.Fatal("unknown agent")
	}
	input := `{"command":"make"}`
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
			{Blocks: []transcript.Block{block(transcript.Summary, `"ccd: small"`, ""), block(transcript.Meta, `"a stub"`, "")}},
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

// TestCheckCanFail: for each rule there is a session that breaks only that rule; the error names the record.
func TestCheckCanFail(t *testing.T) {
	type edit struct {
		rule      string
		line      int    // 1-based
		old, new  string // in that line; an empty old drops the line
		wantLine  int
		wantWords string
	}
	tables := map[string][]edit{
		claude: {
			{"chain", 4, `"parentUuid":"`, `"parentUuid":"0`, 4, "its parent"},
			{"timestamp", 5, `"timestamp":"2026`, `"timestamp":"2025`, 5, "time"},
			{"sidechain", 5, `"isSidechain":false`, `"isSidechain":true`, 5, "sub-agent"},
			{"type", 5, `"type":"assistant"`, `"type":"system"`, 5, "unexpected record"},
			{"one reply", 4, `"id":"msg_1"`, `"id":"msg_9"`, 4, "two replies"},
			{"usage", 4, `"cache_read_input_tokens":0`, `"cache_read_input_tokens":985000`, 4, "usage"},
			{"empty text", 3, `"text":"look"`, `"text":" "`, 3, "empty"},
			{"result of nothing", 6, `"tool_use_id":"call_1"`, `"tool_use_id":"call_9"`, 6, "without its call"},
			{"call id", 4, `"id":"call_1"`, `"id":"call 1"`, 4, "invalid ID"},
			{"call id twice", 5, `"id":"call_2"`, `"id":"call_1"`, 5, "another call"},
			{"tool name", 4, `"name":"Bash"`, `"name":"Bash it"`, 4, "tool"},
			{"input", 4, `{"command":"make"}`, `"make"`, 4, "object"},
			{"text in a result", 6, `"content":"built"`, `"content":[{"type":"text","text":""}]`, 6, "empty or unknown"},
			{"text before the results", 6, `{"type":"tool_result","tool_use_id":"call_1","content":"built"}`, `{"type":"text","text":"x"}`, 6, "before a call"},
			{"image in a failed result", 6, `"content":"built"`, `"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}],"is_error":true`, 6, "failed"},
			{"a tool's reference", 6, `"content":"built"`, `"content":[{"type":"tool_reference"}]`, 6, "unknown block"},
			{"thinking signed", 9, `,"signature":"c2ln"`, ``, 9, "thinking"},
			{"thinking last", 10, `{"type":"tool_use","id":"call_3","name":"Bash","input":{"command":"make"}}`, `{"type":"thinking","thinking":"x","signature":"c2ln"}`, 11, "thinking at the end"},
			{"an unanswered call", 11, ``, ``, 11, "no result"},
			{"UTF-8", 8, `go on`, "go \xff", 8, "UTF-8"},
			{"surrogates", 8, `go on`, `go \ud800`, 8, "surrogate"},
		},
		codex: {
			{"header", 1, `"type":"session_meta"`, `"type":"response_item"`, 1, "unknown type"},
			{"usage", 3, `"type":"response_item"`, `"type":"token_usage_record"`, 3, "unexpected record"},
			{"first message of the user", 2, ``, ``, 2, "speaks first"},
			{"role", 3, `"role":"assistant"`, `"role":"developer"`, 3, "role"},
			{"tool name", 4, `"name":"Bash"`, `"name":""`, 4, "tool"},
			{"output of nothing", 6, `"call_id":"call_1"`, `"call_id":"call_9"`, 6, "without its call"},
			{"output's shape", 6, `"output":"built"`, `"output":{"content":"built"}`, 6, "unknown block"},
			{"an unanswered call", 10, ``, ``, 9, "no result"},
		},
		"pi": {
			{"mark", 1, `"ccd":`, `"other":`, 1, "name the original"},
			{"id twice", 10, `"id":"`, `"id":"517eb4a6","id2":"`, 10, "another record"},
			{"two lines", 7, `"role"`, "\n\"role\"", 7, "on one line"},
		},
		"gemini-cli": {{"usage", 3, `"type":"gemini"`, `"type":"gemini","tokens":{"total":985000}`, 3, "usage"}},
		"qwen-code":  {{"result of nothing", 5, `"id":"call_2"`, `"id":"call_9"`, 5, "without its call"}},
	}
	for agent, edits := range tables {
		lines := small(t, agent)
		if err := check(agent, lines); err != nil {
			t.Fatalf("%s: the session that is edited is refused itself: %v\n%s", agent, err, bytes.Join(lines, []byte("\n")))
		}
		if !slices.EqualFunc(lines, small(t, agent), bytes.Equal) {
			t.Errorf("%s: written twice, it differs", agent)
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
				if err := check(agent, broken); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("record %d: ", e.wantLine)) || !strings.Contains(err.Error(), e.wantWords) {
					t.Errorf("got %v, want record %d refused for %q", err, e.wantLine, e.wantWords)
				}
			})
		}
	}
}
