//go:build rig && linux

package clients

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// content is a turn of the Gemini API.
type content struct {
	Role  string `json:"role"`
	Parts []struct {
		Text       *string         `json:"text"`
		Thought    bool            `json:"thought"`
		Signature  string          `json:"thoughtSignature"`
		InlineData json.RawMessage `json:"inlineData"`
		FileData   json.RawMessage `json:"fileData"`
		Call       *struct {
			ID   string         `json:"id"`
			Name string         `json:"name"`
			Args map[string]any `json:"args"`
		} `json:"functionCall"`
		Response *struct {
			ID       string         `json:"id"`
			Name     string         `json:"name"`
			Response map[string]any `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

// unsigned is the signature that the client sends for a call without one.
const unsigned = "skip_thought_signature_validator"

// readGenerate reads a request to the Gemini API and lists what the API would reject.
func readGenerate(raw []byte) *request {
	r := &request{api: "generate", lane: "main", raw: raw}
	var q struct {
		Contents []content `json:"contents"`
		System   content   `json:"systemInstruction"`
	}
	var sized struct {
		Contents json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		r.problems = []string{"body: " + err.Error()}
		return r
	}
	json.Unmarshal(raw, &sized)
	r.talk = len(sized.Contents)
	for _, c := range q.Contents {
		for _, p := range c.Parts {
			one := part{who: c.Role, kind: "other"}
			switch {
			case p.Call != nil:
				args, _ := json.Marshal(p.Call.Args)
				one = part{who: c.Role, kind: "call", id: p.Call.ID, name: p.Call.Name, text: string(args)}
			case p.Response != nil:
				output, _ := p.Response.Response["output"].(string)
				if output == "" {
					all, _ := json.Marshal(p.Response.Response)
					output = string(all)
				}
				one = part{who: c.Role, kind: "result", id: p.Response.ID, name: p.Response.Name, text: output}
			case p.Text != nil && p.Thought:
				one.kind, one.text = "thinking", *p.Text
			case p.Text != nil:
				one.kind, one.text = "text", *p.Text
			}
			r.parts = append(r.parts, one)
		}
	}
	if system := q.System.Parts; len(system) > 0 && system[0].Text != nil && strings.Contains(*system[0].Text, "<state_snapshot>") {
		r.lane = "compaction"
	}
	r.problems = refusedContents(q.Contents)
	return r
}

// refusedContents returns what the Gemini API answers with 400.
func refusedContents(all []content) (found []string) {
	fault := func(i int, format string, args ...any) {
		found = append(found, fmt.Sprintf("content %d: ", i)+fmt.Sprintf(format, args...))
	}
	if len(all) == 0 || all[0].Role != "user" || all[len(all)-1].Role != "user" {
		fault(0, "the first or the last content is not the user's")
	}
	var open []string // the calls of the previous content
	for i, c := range all {
		if c.Role != "user" && c.Role != "model" {
			fault(i, "role %q", c.Role)
		}
		if len(c.Parts) == 0 {
			fault(i, "no parts")
		}
		var calls, answers []string
		for k, p := range c.Parts {
			data := 0
			for _, has := range []bool{p.Text != nil, p.InlineData != nil, p.FileData != nil, p.Call != nil, p.Response != nil} {
				if has {
					data++
				}
			}
			switch {
			case data != 1:
				fault(i, "part %d has %d kinds of data, want one", k, data)
			case p.Call != nil && (c.Role != "model" || !callID.MatchString(p.Call.Name)):
				fault(i, "a malformed functionCall %q", p.Call.Name)
			case p.Response != nil && (c.Role != "user" || p.Response.Name == "" || p.Response.Response == nil):
				fault(i, "a malformed functionResponse %q", p.Response.Name)
			case p.Signature != "" && p.Signature != unsigned && p.Signature != signature:
				fault(i, "a thoughtSignature that is not valid")
			}
			if p.Call != nil {
				calls = append(calls, p.Call.Name+" "+p.Call.ID)
			}
			if p.Response != nil {
				answers = append(answers, p.Response.Name+" "+p.Response.ID)
			}
		}
		slices.Sort(calls)
		slices.Sort(answers)
		if len(answers) > len(open) { // when it continues a session, version 0.61 sends them twice
			answers = slices.Compact(answers)
		}
		if !slices.Equal(open, answers) {
			fault(i, "the function responses %q are not those of the calls just before, %q", answers, open)
		}
		open = calls
	}
	if len(open) > 0 {
		fault(len(all), "calls without any response: %q", open)
	}
	return found
}

// signature is the signature of this model.
var signature = base64.StdEncoding.EncodeToString([]byte("the scripted model"))

// streamGenerated streams a reply as the Gemini API does: thoughts, text and calls, then the finish reason.
func streamGenerated(w http.ResponseWriter, _ *request, n int, said reply) {
	s := newStream(w)
	for _, p := range append(generated(n, said), nil) {
		s.data(candidate(n, said, p))
	}
}

// sendGenerated sends a complete reply.
func sendGenerated(w http.ResponseWriter, _ *request, n int, said reply) {
	answer(w, http.StatusOK, candidate(n, said, generated(n, said)...))
}

// generated returns the parts of a reply.
func generated(n int, said reply) (parts []any) {
	if said.thinking != "" {
		parts = append(parts, map[string]any{"text": "**Plan**\n\n" + said.thinking, "thought": true})
	}
	if said.text != "" {
		parts = append(parts, map[string]any{"text": said.text})
	}
	for i, c := range said.calls {
		one := map[string]any{"functionCall": map[string]any{"id": fmt.Sprintf("call_scripted_%04d_%d", n, i), "name": c.name, "args": c.input}}
		if i == 0 {
			one["thoughtSignature"] = signature
		}
		parts = append(parts, one)
	}
	return parts
}

// candidate returns a reply or a piece of one; without parts it is the last.
func candidate(n int, said reply, parts ...any) map[string]any {
	c := map[string]any{"index": 0}
	if len(parts) != 1 || parts[0] == nil {
		c["finishReason"] = "STOP"
	}
	if len(parts) > 0 && parts[0] == nil {
		parts = []any{map[string]any{"text": ""}}
	}
	c["content"] = map[string]any{"role": "model", "parts": parts}
	return map[string]any{
		"candidates": []any{c}, "modelVersion": "gemini-2.5-pro", "responseId": fmt.Sprintf("scripted-%04d", n),
		"usageMetadata": map[string]any{"promptTokenCount": said.used, "candidatesTokenCount": 20, "totalTokenCount": said.used + 20},
	}
}
