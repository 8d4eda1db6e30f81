//go:build rig

package clients

import (
	"fmt"
	"strings"
	"testing"
)

// messageRows are conversations in Anthropic's format. Each breaks one rule; the first breaks none.
var messageRows = []struct{ name, messages, want string }{
	{"fine", `{"role":"user","content":"go"},{"role":"system","content":"the day"},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"why","signature":"SIGNED"},{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"Bash","input":{}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":""}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw=="}}]},{"type":"text","text":"more"}]}`, ""},
	{"first not user", `{"role":"assistant","content":"a"},{"role":"user","content":"b"}`, "first message is not the user's"},
	{"last not user", `{"role":"user","content":"b"},{"role":"assistant","content":"a"}`, "last message is the assistant's"},
	{"role", `{"role":"user","content":"b"},{"role":"tool","content":"a"},{"role":"user","content":"b"}`, `role "tool"`},
	{"no content", `{"role":"user","content":[]}`, "no content"},
	{"empty text", `{"role":"user","content":" \n"}`, "empty text"},
	{"orphan result", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`, "without its tool_use"},
	{"two results", use("t1") + result("t1", "t1"), "without its tool_use"},
	{"late result", use("t1") + `{"role":"user","content":"x"},{"role":"assistant","content":"y"},` + result("t1"), "without its tool_result just after: t1"},
	{"no result", use("t1") + `{"role":"user","content":"x"}`, "without its tool_result just after: t1"},
	{"text before result", use("t1") + `{"role":"user","content":"x"},` + result("t1"), "something stands before"},
	{"twice the same id", use("t1") + result("t1") + "," + strings.TrimPrefix(use("t1"), `{"role":"user","content":"go"},`) + result("t1"), "duplicate tool_use"},
	{"id", use("t 1") + result("t 1"), "malformed tool_use"},
	{"input", `{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":[]}]},` + result("t1"), "malformed tool_use"},
	{"altered thinking", `{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"other","signature":"SIGNED"},{"type":"text","text":"a"}]},{"role":"user","content":"b"}`, "did not think"},
	{"unsigned thinking", `{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"why"},{"type":"text","text":"a"}]},{"role":"user","content":"b"}`, "did not think"},
	{"thinking last", `{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"why","signature":"SIGNED"}]},{"role":"user","content":"b"}`, "ends with thinking"},
	{"image", `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"iVBORw=="}}]}`, "image without"},
	{"image in a result", use("t1") + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}]}]}`, "image without"},
	{"type", `{"role":"user","content":[{"type":"picture"}]}`, `type "picture"`},
	{"cache", `{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"a","cache_control":{}},`, 5), ",") + `]}`, "at most 4"},
}

func use(id string) string {
	return fmt.Sprintf(`{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{}}]},`, id)
}

func result(ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"x"}`, id))
	}
	return `{"role":"user","content":[` + strings.Join(all, ",") + `]}`
}

// TestMessagesAreStrict breaks each rule of the strict model with one request; one request breaks none.
func TestMessagesAreStrict(t *testing.T) {
	for _, row := range messageRows {
		t.Run(row.name, func(t *testing.T) {
			raw := `{"model":"m","max_tokens":1,"messages":[` + strings.ReplaceAll(row.messages, "SIGNED", signed("why")) + `]}`
			check(t, readMessages([]byte(raw)), row.want)
		})
	}
	check(t, readMessages([]byte(`{"messages":[{"role":"user","content":"a"}]}`)), "max_tokens")
	check(t, readMessages([]byte(`{`)), "body")
}

func check(t *testing.T, r *request, want string) {
	t.Helper()
	got := strings.Join(r.problems, "; ")
	if want == "" && got != "" || want != "" && !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestResponsesAreStrict does the same for the Responses API.
func TestResponsesAreStrict(t *testing.T) {
	const (
		hi     = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`
		call   = `,{"type":"function_call","call_id":"c1","name":"exec_command","arguments":"{}"}`
		output = `,{"type":"function_call_output","call_id":"c1","output":"x"}`
		why    = `,{"type":"reasoning","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"SIGNED"}`
	)
	for _, row := range []struct{ name, input, want string }{
		{"fine", hi + why + call + output, ""},
		{"no output", hi + call, "no tool output found"},
		{"orphan output", hi + output, "no tool call found"},
		{"output first", hi + output + call, "no tool call found"},
		{"two outputs", hi + call + output + output, "two outputs"},
		{"two calls", hi + call + call + output, "two calls"},
		{"no call_id", hi + strings.ReplaceAll(call+output, "c1", ""), "call_id"},
		{"arguments", hi + strings.ReplaceAll(call, `"{}"`, `{}`) + output, "malformed function_call"},
		{"role", strings.Replace(hi, "user", "tool", 1), `role "tool"`},
		{"no content", `{"type":"message","role":"user","content":[]}`, "no content"},
		{"content of the other side", strings.Replace(hi, "user", "assistant", 1), "input_text in a message of assistant"},
		{"altered reasoning", hi + strings.Replace(why, `"why"`, `"other"`, 1) + call + output, "cannot be verified"},
		{"reasoning last", hi + why, "reasoning without"},
	} {
		t.Run(row.name, func(t *testing.T) {
			raw := `{"model":"m","input":[` + strings.ReplaceAll(row.input, "SIGNED", signed("why")) + `]}`
			check(t, readResponses([]byte(raw)), row.want)
		})
	}
	check(t, readResponses([]byte(`{"input":[]}`)), "model")
}
