//go:build rig && linux

package clients

import (
	"fmt"
	"strings"
	"testing"
)

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

// TestModelsAreStrict breaks each rule of the strict models with one conversation; the first of each API breaks none.
func TestModelsAreStrict(t *testing.T) {
	const (
		itemHi  = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`
		itemDo  = `,{"type":"function_call","call_id":"c1","name":"exec_command","arguments":"{}"}`
		itemOut = `,{"type":"function_call_output","call_id":"c1","output":"x"}`
		itemWhy = `,{"type":"reasoning","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"SIGNED"}`

		chatHi = `{"role":"system","content":"the day"},{"role":"user","content":[{"type":"text","text":"go"}]}`
		chatDo = `,{"role":"assistant","content":null,"reasoning_content":"why","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{}"}}]}`

		partHi  = `{"role":"user","parts":[{"text":"go"}]}`
		partDo  = `,{"role":"model","parts":[{"text":"why","thought":true},{"functionCall":{"id":"c1","name":"read_file","args":{}},"thoughtSignature":"SIGNATURE"},{"functionCall":{"id":"c2","name":"glob"}}]}`
		partOne = `{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"x"}}}`
		partOut = `,{"role":"user","parts":[` + partOne + `,{"functionResponse":{"id":"c2","name":"glob","response":{"error":"x"}}}]}`
	)
	for _, api := range []struct {
		read func([]byte) *request
		body string
		rows [][2]string // what is sent, and why it is refused
	}{
		{readMessages, `{"model":"m","max_tokens":1,"messages":[%s]}`, [][2]string{
			{`{"role":"user","content":"go"},{"role":"system","content":"the day"},` +
				`{"role":"assistant","content":[{"type":"thinking","thinking":"why","signature":"SIGNED"},{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"Bash","input":{}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":""}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw=="}}]},{"type":"text","text":"more"}]}`, ""},
			{`{"role":"assistant","content":"a"},{"role":"user","content":"b"}`, "first message is not the user's"},
			{`{"role":"user","content":"b"},{"role":"assistant","content":"a"}`, "last message is the assistant's"},
			{`{"role":"user","content":"b"},{"role":"tool","content":"a"},{"role":"user","content":"b"}`, `role "tool"`},
			{`{"role":"user","content":[]}`, "no content"},
			{`{"role":"user","content":" \n"}`, "empty text"},
			{result("t1"), "without its tool_use"},
			{use("t1") + result("t1", "t1"), "without its tool_use"},
			{use("t1") + `{"role":"user","content":"x"},{"role":"assistant","content":"y"},` + result("t1"), "without its tool_result just after: t1"},
			{use("t1") + `{"role":"user","content":"x"}`, "without its tool_result just after: t1"},
			{use("t1") + `{"role":"user","content":"x"},` + result("t1"), "something stands before"},
			{use("t1") + result("t1") + "," + strings.TrimPrefix(use("t1"), `{"role":"user","content":"go"},`) + result("t1"), "duplicate tool_use"},
			{use("t 1") + result("t 1"), "malformed tool_use"},
			{strings.Replace(use("t1"), "{}", "[]", 1) + result("t1"), "malformed tool_use"},
			{`{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"other","signature":"SIGNED"},{"type":"text","text":"a"}]},{"role":"user","content":"b"}`, "did not think"},
			{`{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"why"},{"type":"text","text":"a"}]},{"role":"user","content":"b"}`, "did not think"},
			{`{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"why","signature":"SIGNED"}]},{"role":"user","content":"b"}`, "ends with thinking"},
			{use("t1") + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}]}]}`, "image without"},
			{`{"role":"user","content":[{"type":"picture"}]}`, `type "picture"`},
		}},
		{readResponses, `{"model":"m","input":[%s]}`, [][2]string{
			{itemHi + itemWhy + itemDo + itemOut, ""},
			{itemHi + itemDo, "no tool output found"},
			{itemHi + itemOut + itemDo, "no tool call found"},
			{itemHi + itemDo + itemOut + itemOut, "two outputs"},
			{itemHi + itemDo + itemDo + itemOut, "two calls"},
			{itemHi + strings.ReplaceAll(itemDo+itemOut, "c1", ""), "call_id"},
			{itemHi + strings.ReplaceAll(itemDo, `"{}"`, `{}`) + itemOut, "malformed function_call"},
			{strings.Replace(itemHi, "user", "tool", 1), `role "tool"`},
			{`{"type":"message","role":"user","content":[]}`, "no content"},
			{strings.Replace(itemHi, "user", "assistant", 1), "input_text in a message of assistant"},
			{itemHi + strings.Replace(itemWhy, `"why"`, `"other"`, 1) + itemDo + itemOut, "cannot be verified"},
			{itemHi + itemWhy, "reasoning without"},
		}},
		{readChat, `{"model":"m","messages":[%s]}`, [][2]string{ // the rules of blocks and pairs are those of messages
			{chatHi + chatDo + `,{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"user","content":"more"}`, ""},
			{"", "messages are missing"},
			{chatHi + `,{"role":"model","content":"x"}`, `role "model"`},
			{chatHi + `,{"role":"assistant","content":null}`, "neither content nor calls"},
			{chatHi + chatDo + `,{"role":"user","content":"x"}`, "without its tool_result just after: c1"},
			{chatHi + `,{"role":"user","content":[{"type":"picture"}]}`, `type "picture"`},
		}},
		{readGenerate, `{"contents":[%s]}`, [][2]string{
			{partHi + partDo + partOut, ""},
			{strings.TrimPrefix(partDo, ",") + partOut, "not the user's"},
			{partHi + `,{"role":"assistant","parts":[{"text":"done"}]},` + partHi, `role "assistant"`},
			{`{"role":"user","parts":[]}`, "no parts"},
			{`{"role":"user","parts":[{}]}`, "0 kinds of data"},
			{partHi + partDo + `,{"role":"user","parts":[` + partOne + `]}`, "not those of the calls"},
			{partHi + partDo + "," + partHi + partOut, "not those of the calls"},
			{partHi + partOut, "not those of the calls"},
			{partHi + partDo, "without any response"},
			{partHi + strings.Replace(partDo, "SIGNATURE", "other", 1) + partOut, "thoughtSignature"},
			{partHi + partDo + strings.Replace(partOut, `{"output":"x"}`, "null", 1), "malformed functionResponse"},
			{strings.Replace(partHi, `{"text":"go"}`, `{"functionCall":{"name":"glob"}}`, 1), "malformed functionCall"},
		}},
	} {
		for _, row := range append(api.rows, [2]string{"{", "body"}) {
			raw := fmt.Sprintf(api.body, strings.NewReplacer("SIGNED", signed("why"), "SIGNATURE", signature).Replace(row[0]))
			if got := strings.Join(api.read([]byte(raw)).problems, "; "); (got == "") != (row[1] == "") || !strings.Contains(got, row[1]) {
				t.Errorf("%s: got %q, want %q", raw, got, row[1])
			}
		}
	}
}
