//go:build rig && linux

package clients

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// message is one message of Anthropic's Messages API.
type message struct {
	Role    string `json:"role"`
	Content blocks `json:"content"`
}

// block is a content block, with the fields that the checks need.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   blocks          `json:"content"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
}

// blocks is a content: a string is one text block.
type blocks []block

// UnmarshalJSON accepts both forms of a content.
func (b *blocks) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*b = blocks{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(raw, (*[]block)(b))
}

// text joins the texts of the blocks.
func (b blocks) text() string {
	var all []string
	for _, c := range b {
		if c.Type == "text" {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

// signed returns the signature of a thinking block. It proves that this model wrote it and nobody changed it.
func signed(thinking string) string {
	sum := sha256.Sum256([]byte("the scripted model thought: " + thinking))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// readMessages reads a request to the Messages API and lists what the API would reject.
func readMessages(raw []byte) *request {
	r := &request{api: "messages", lane: "main", raw: raw}
	var q struct {
		Model     string          `json:"model"`
		MaxTokens int             `json:"max_tokens"`
		Messages  []message       `json:"messages"`
		System    blocks          `json:"system"`
		Tools     json.RawMessage `json:"tools"`
	}
	var sized struct {
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		r.problems = []string{"body: " + err.Error()}
		return r
	}
	json.Unmarshal(raw, &sized)
	r.talk = len(sized.Messages)
	for _, m := range q.Messages {
		for _, b := range m.Content {
			r.parts = append(r.parts, partOf(m.Role, b))
		}
	}
	if strings.Contains(string(sized.Messages), "CRITICAL: Respond with TEXT ONLY") || strings.HasPrefix(q.System.text(), "You are a context summarization assistant") {
		r.lane = "compaction"
	}
	if q.Model == "" || q.MaxTokens < 1 {
		r.problems = append(r.problems, "model or max_tokens is missing")
	}
	r.problems = append(r.problems, refusedMessages(q.Messages)...)
	return r
}

func partOf(role string, b block) part {
	switch b.Type {
	case "tool_use":
		return part{who: role, kind: "call", id: b.ID, name: b.Name, text: string(b.Input)}
	case "tool_result":
		return part{who: role, kind: "result", id: b.ToolUseID, text: b.Content.text()}
	case "thinking":
		return part{who: role, kind: "thinking", text: b.Thinking}
	default:
		return part{who: role, kind: b.Type, text: b.Text}
	}
}

// merged drops system messages and joins neighbors with the same role, as the API does before it checks turns.
func merged(all []message) (turns []message) {
	for _, m := range all {
		switch n := len(turns); {
		case m.Role == "system":
		case n > 0 && turns[n-1].Role == m.Role:
			turns[n-1].Content = append(slices.Clone(turns[n-1].Content), m.Content...)
		default:
			turns = append(turns, m)
		}
	}
	return turns
}

// refusedMessages returns what the Messages API answers with 400.
func refusedMessages(all []message) (found []string) {
	fault := func(i int, format string, args ...any) {
		found = append(found, fmt.Sprintf("message %d: ", i)+fmt.Sprintf(format, args...))
	}
	for i, m := range all {
		if !slices.Contains([]string{"user", "assistant", "system"}, m.Role) {
			fault(i, "role %q", m.Role)
		}
		if len(m.Content) == 0 && m.Role != "system" { // Claude Code sends an empty one after /compact, with and without ccd
			fault(i, "no content")
		}
		for _, b := range m.Content {
			if why := refusedBlock(m.Role, b); why != "" {
				fault(i, "%s", why)
			}
		}
	}
	turns := merged(all)
	if len(turns) == 0 || turns[0].Role != "user" {
		fault(0, "the first message is not the user's")
	}
	if len(turns) > 0 && turns[len(turns)-1].Role == "assistant" {
		fault(len(all)-1, "the last message is the assistant's")
	}
	return append(found, refusedPairs(turns)...)
}

var (
	callID    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	mediaType = regexp.MustCompile(`^image/(png|jpeg|gif|webp)$`)
)

// refusedBlock says what is wrong with a block.
func refusedBlock(role string, b block) string {
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return "empty text"
		}
	case "thinking":
		if role != "assistant" || b.Signature != signed(b.Thinking) && !(b.Thinking == "" && b.Signature != "") {
			return "thinking that this model did not think"
		}
	case "tool_use":
		var input map[string]any
		if role != "assistant" || !callID.MatchString(b.ID) || !callID.MatchString(b.Name) || json.Unmarshal(b.Input, &input) != nil || input == nil {
			return fmt.Sprintf("a malformed tool_use %q", b.ID)
		}
	case "tool_result":
		if role != "user" || !callID.MatchString(b.ToolUseID) {
			return fmt.Sprintf("a malformed tool_result %q", b.ToolUseID)
		}
		for _, c := range b.Content {
			if c.Type != "text" || len(b.Content) > 1 { // an output may be empty
				if why := refusedBlock("user", c); why != "" {
					return "tool_result: " + why
				}
			}
		}
	case "image":
		data, err := base64.StdEncoding.DecodeString(b.Source.Data)
		if b.Source.Type == "base64" && (err != nil || len(data) == 0 || !mediaType.MatchString(b.Source.MediaType)) {
			return "an image without media type or data"
		}
	case "redacted_thinking", "document", "tool_reference", "search_result":
	default:
		return fmt.Sprintf("a block of type %q", b.Type)
	}
	return ""
}

// refusedPairs returns the calls and results that do not match or are in the wrong place.
func refusedPairs(turns []message) (found []string) {
	seen := map[string]bool{}
	var open []string // the calls of the previous message
	for i, m := range turns {
		var calls, results []string
		for k, b := range m.Content {
			switch b.Type {
			case "tool_use":
				if seen[b.ID] {
					found = append(found, "duplicate tool_use "+b.ID)
				}
				seen[b.ID] = true
				calls = append(calls, b.ID)
			case "tool_result":
				if !slices.Contains(open, b.ToolUseID) || slices.Contains(results, b.ToolUseID) {
					found = append(found, "tool_result without its tool_use just before: "+b.ToolUseID)
				}
				if k > 0 && m.Content[k-1].Type != "tool_result" {
					found = append(found, "something stands before tool_result "+b.ToolUseID)
				}
				results = append(results, b.ToolUseID)
			case "thinking":
				if k == len(m.Content)-1 {
					found = append(found, fmt.Sprintf("turn %d ends with thinking", i))
				}
			}
		}
		for _, id := range open {
			if !slices.Contains(results, id) {
				found = append(found, "tool_use without its tool_result just after: "+id)
			}
		}
		open = calls
	}
	for _, id := range open {
		found = append(found, "tool_use without any answer: "+id)
	}
	return found
}

// sendMessage streams a reply as the Messages API does. IDs are unique across runs with the same model, because a
// client drops a call whose ID is in its transcript.
func sendMessage(w http.ResponseWriter, _ *request, n int, said reply) {
	usage := map[string]any{"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": said.used, "output_tokens": 1}
	s := newStream(w)
	s.event("message_start", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_scripted_%04d", n), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	stop, k := "end_turn", 0
	send := func(start map[string]any, deltas ...map[string]any) {
		s.event("content_block_start", map[string]any{"index": k, "content_block": start})
		for _, d := range deltas {
			s.event("content_block_delta", map[string]any{"index": k, "delta": d})
		}
		s.event("content_block_stop", map[string]any{"index": k})
		k++
	}
	if said.thinking != "" {
		send(map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]any{"type": "thinking_delta", "thinking": said.thinking},
			map[string]any{"type": "signature_delta", "signature": signed(said.thinking)})
	}
	if said.text != "" {
		send(map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": said.text})
	}
	for i, c := range said.calls {
		stop = "tool_use"
		input, _ := json.Marshal(c.input)
		send(map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_scripted_%04d_%d", n, i), "name": c.name, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": string(input)})
	}
	usage["output_tokens"] = 20
	s.event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	s.event("message_stop", map[string]any{})
}
