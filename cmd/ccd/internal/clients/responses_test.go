//go:build rig && linux

package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// item is an input item of OpenAI's Responses API, with the fields that the checks need.
type item struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   contents        `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments json.RawMessage `json:"arguments"`
	Input     string          `json:"input"`
	Output    contents        `json:"output"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Encrypted string `json:"encrypted_content"`
}

// contents is a content or an output: a string is one text.
type contents []struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
}

// UnmarshalJSON accepts both forms.
func (c *contents) UnmarshalJSON(raw []byte) error {
	type plain contents
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = make(contents, 1)
		(*c)[0].Text = text
		return nil
	}
	return json.Unmarshal(raw, (*plain)(c))
}

func (c contents) text() string {
	var all []string
	for _, part := range c {
		all = append(all, part.Text)
	}
	return strings.Join(all, "\n")
}

// readResponses reads a request to the Responses API and lists what the API would reject.
func readResponses(raw []byte) *request {
	r := &request{api: "responses", lane: "main", raw: raw}
	var q struct {
		Model string `json:"model"`
		Input []item `json:"input"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		r.problems = []string{"body: " + err.Error()}
		return r
	}
	var sized struct {
		Input []json.RawMessage `json:"input"`
	}
	json.Unmarshal(raw, &sized)
	for i, it := range q.Input {
		r.parts = append(r.parts, it.part())
		if it.Role != "developer" && it.Role != "system" {
			r.talk += len(sized.Input[i])
		}
	}
	if n := len(r.parts); n > 0 && r.parts[n-1].who == "user" && strings.Contains(r.parts[n-1].text, "CONTEXT CHECKPOINT COMPACTION") {
		r.lane = "compaction"
	}
	if q.Model == "" {
		r.problems = append(r.problems, "model is missing")
	}
	r.problems = append(r.problems, refusedItems(q.Input)...)
	return r
}

func (it item) part() part {
	switch {
	case strings.HasSuffix(it.Type, "_call_output"):
		return part{who: "tool", kind: "result", id: it.CallID, text: it.Output.text()}
	case strings.HasSuffix(it.Type, "_call"):
		var args string
		if json.Unmarshal(it.Arguments, &args) != nil {
			args = it.Input
		}
		return part{who: "assistant", kind: "call", id: it.CallID, name: it.Name, text: args}
	case it.Type == "reasoning":
		p := part{who: "assistant", kind: "thinking"}
		for _, s := range it.Summary {
			p.text += s.Text
		}
		return p
	default:
		return part{who: it.Role, kind: "text", text: it.Content.text()}
	}
}

// refusedItems returns what the Responses API answers with 400.
func refusedItems(all []item) (found []string) {
	calls, outputs := map[string]int{}, map[string]int{}
	for i, it := range all {
		switch {
		case it.Type == "message" || it.Type == "":
			if why := refusedMessage(it); why != "" {
				found = append(found, fmt.Sprintf("item %d: %s", i, why))
			}
		case strings.HasSuffix(it.Type, "_call_output"):
			if calls[it.CallID] == 0 {
				found = append(found, "no tool call found for the output of "+it.CallID)
			}
			if outputs[it.CallID]++; outputs[it.CallID] > 1 {
				found = append(found, "two outputs of "+it.CallID)
			}
		case it.Type == "function_call" || it.Type == "custom_tool_call" || it.Type == "local_shell_call":
			if calls[it.CallID]++; calls[it.CallID] > 1 {
				found = append(found, "two calls "+it.CallID)
			}
			if why := refusedCall(it); why != "" {
				found = append(found, fmt.Sprintf("item %d: %s", i, why))
			}
		case it.Type == "reasoning":
			var summary strings.Builder
			for _, s := range it.Summary {
				summary.WriteString(s.Text)
			}
			if it.Encrypted != "" && it.Encrypted != signed(summary.String()) {
				found = append(found, fmt.Sprintf("item %d: encrypted_content that cannot be verified", i))
			}
			if i == len(all)-1 {
				found = append(found, fmt.Sprintf("item %d: reasoning without the item that follows it", i))
			}
		}
	}
	for id := range calls {
		if outputs[id] == 0 {
			found = append(found, "no tool output found for the call "+id)
		}
	}
	slices.Sort(found)
	return found
}

func refusedMessage(it item) string {
	kinds := map[string][]string{
		"user": {"input_text", "input_image", "input_file"}, "developer": {"input_text"}, "system": {"input_text"},
		"assistant": {"output_text", "refusal"},
	}[it.Role]
	switch {
	case kinds == nil:
		return fmt.Sprintf("role %q", it.Role)
	case len(it.Content) == 0:
		return "no content"
	}
	for _, c := range it.Content {
		if c.Type != "" && !slices.Contains(kinds, c.Type) {
			return fmt.Sprintf("%s in a message of %s", c.Type, it.Role)
		}
	}
	return ""
}

func refusedCall(it item) string {
	var args string
	switch {
	case it.CallID == "" || len(it.CallID) > 64:
		return "call_id of 1 to 64 characters is missing"
	case it.Type == "function_call" && (json.Unmarshal(it.Arguments, &args) != nil || !callID.MatchString(it.Name)):
		return "a malformed function_call " + it.CallID
	}
	return ""
}

// sendResponse streams a reply as the Responses API does.
func sendResponse(w http.ResponseWriter, _ *request, n int, said reply) {
	base := func(status string, output []any) map[string]any {
		return map[string]any{
			"id": fmt.Sprintf("resp_scripted_%04d", n), "object": "response", "model": "gpt-5-codex", "status": status, "output": output,
			"usage": map[string]any{
				"input_tokens": said.used, "input_tokens_details": map[string]any{"cached_tokens": 0},
				"output_tokens": 20, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": said.used + 20,
			},
		}
	}
	items := itemsOf(n, said)
	s := newStream(w)
	s.event("response.created", map[string]any{"response": base("in_progress", []any{})})
	for k, it := range items {
		s.event("response.output_item.added", map[string]any{"output_index": k, "item": it})
		s.event("response.output_item.done", map[string]any{"output_index": k, "item": it})
	}
	s.event("response.completed", map[string]any{"response": base("completed", items)})
}

func itemsOf(n int, said reply) (items []any) {
	if said.thinking != "" {
		items = append(items, map[string]any{
			"type": "reasoning", "id": fmt.Sprintf("rs_scripted_%04d", n), "content": nil,
			"summary": []any{map[string]any{"type": "summary_text", "text": said.thinking}}, "encrypted_content": signed(said.thinking),
		})
	}
	if said.text != "" {
		items = append(items, map[string]any{
			"type": "message", "id": fmt.Sprintf("msg_scripted_%04d", n), "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": said.text, "annotations": []any{}}},
		})
	}
	for i, c := range said.calls {
		args, _ := json.Marshal(c.input)
		it := map[string]any{
			"type": "function_call", "id": fmt.Sprintf("fc_scripted_%04d_%d", n, i), "call_id": fmt.Sprintf("call_scripted_%04d_%d", n, i),
			"name": c.name, "arguments": string(args), "status": "completed",
		}
		if c.space != "" {
			it["namespace"] = c.space
		}
		items = append(items, it)
	}
	return items
}
