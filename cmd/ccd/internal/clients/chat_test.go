//go:build rig && linux

package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// spoken is a message of OpenAI's Chat Completions API.
type spoken struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	Call      string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// message converts it to Anthropic's API, in which calls and results are paired by the same rules.
func (s spoken) message() (m message) {
	m.Role = s.Role
	if len(s.Content) > 0 && string(s.Content) != "null" && json.Unmarshal(s.Content, &m.Content) != nil {
		m.Content = blocks{{Type: "malformed content"}}
	}
	if s.Role == "tool" {
		return message{Role: "user", Content: blocks{{Type: "tool_result", ToolUseID: s.Call, Content: m.Content}}}
	}
	for _, c := range s.Calls {
		m.Content = append(m.Content, block{Type: "tool_use", ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
	}
	return m
}

// readChat reads a request to the Chat Completions API and lists what the API would reject.
func readChat(raw []byte) *request {
	r := &request{api: "chat", lane: "main", raw: raw}
	var q struct {
		Model    string   `json:"model"`
		Messages []spoken `json:"messages"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		r.problems = []string{"body: " + err.Error()}
		return r
	}
	if q.Model == "" || len(q.Messages) == 0 {
		r.problems = append(r.problems, "model or messages are missing")
	}
	var all []message
	for i, s := range q.Messages {
		m := s.message()
		switch {
		case s.Role != "system" && s.Role != "user" && s.Role != "assistant" && s.Role != "tool":
			r.problems = append(r.problems, fmt.Sprintf("message %d: role %q", i, s.Role))
		case len(m.Content) == 0:
			r.problems = append(r.problems, fmt.Sprintf("message %d: neither content nor calls", i))
		}
		for _, b := range m.Content {
			if b.Type != "image_url" {
				if why := refusedBlock(m.Role, b); why != "" {
					r.problems = append(r.problems, fmt.Sprintf("message %d: %s", i, why))
				}
			}
			r.parts = append(r.parts, partOf(m.Role, b))
		}
		if asksForSummary(m, i == len(q.Messages)-1) {
			r.lane = "compaction"
		}
		if strings.HasPrefix(m.Content.text(), "Generate a title for this conversation:") { // OpenCode, beside the first request
			r.lane = "title"
		}
		if s.Role != "system" {
			r.talk += len(s.Content)
			for _, c := range s.Calls {
				r.talk += len(c.Function.Arguments)
			}
		}
		all = append(all, m)
	}
	r.problems = append(r.problems, refusedPairs(merged(all))...)
	return r
}

// asksForSummary reports whether a message asks for the summary of a compaction: Qwen Code's, OpenCode's, and the last one of Copilot CLI.
func asksForSummary(m message, last bool) bool {
	text := m.Content.text()
	if m.Role == "system" {
		return strings.Contains(text, "<state_snapshot>") || strings.HasPrefix(text, "You are a context summarization agent.")
	}
	return last && strings.HasPrefix(text, "Please create a detailed summary of the conversation so far.")
}

// sendChat streams a reply as the Chat Completions API does.
func sendChat(w http.ResponseWriter, _ *request, n int, said reply) {
	delta, stop := map[string]any{"role": "assistant", "content": said.text}, "stop"
	if said.thinking != "" {
		delta["reasoning_content"] = said.thinking
	}
	var calls []any
	for i, c := range said.calls {
		stop = "tool_calls"
		args, _ := json.Marshal(c.input)
		calls = append(calls, map[string]any{
			"index": i, "id": fmt.Sprintf("call_scripted_%04d_%d", n, i), "type": "function", "function": map[string]any{"name": c.name, "arguments": string(args)},
		})
	}
	if len(calls) > 0 {
		delta["tool_calls"] = calls
	}
	s := newStream(w)
	chunk := func(usage any, choices ...any) {
		s.data(map[string]any{"id": fmt.Sprintf("chatcmpl-%04d", n), "object": "chat.completion.chunk", "model": "scripted", "choices": append([]any{}, choices...), "usage": usage})
	}
	chunk(nil, map[string]any{"index": 0, "delta": delta})
	chunk(nil, map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": stop})
	chunk(map[string]any{"prompt_tokens": said.used, "completion_tokens": 20, "total_tokens": said.used + 20})
	fmt.Fprint(w, "data: [DONE]\n\n")
}
