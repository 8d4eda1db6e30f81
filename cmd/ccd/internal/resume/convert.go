package resume

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// The agents that a copy can be written for.
const (
	claude = "claude-code"
	codex  = "codex"
)

// fitCall gives a call the shape of the agent's own calls; ok is false where the agent has none that means the same: it
// is told then.
func fitCall(from, to, kind, cwd string, b *transcript.Block) (ok bool) {
	if from != to {
		return translated(to, cwd, b)
	}
	if to == claude {
		return !strings.HasPrefix(b.Call, "srvtoolu_") && !strings.HasPrefix(b.Call, "mcptoolu_") && object(b.Raw) != nil
	}
	switch {
	case strings.HasSuffix(kind, "custom_tool_call"), strings.HasSuffix(kind, "function_call"):
		switch {
		case b.Raw[0] != '"':
			b.Raw = transcript.Quote(string(b.Raw))
		case string(b.Raw) == `""` && !b.Free:
			b.Raw = []byte(`"{}"`)
		}
		return true
	}
	return translated(to, cwd, b)
}

// translated makes another agent's call of a call: those that run a command or read a file have a counterpart
// everywhere, as does, for Codex, a plan.
func translated(to, cwd string, b *transcript.Block) bool {
	a := b.Understand()
	b.Space, b.Free = "", false
	command := a.Command
	if a.Op == transcript.Read && to == codex && len(a.Files) == 1 {
		command = reading(a.Files[0].Path, a.Lines)
	}
	switch {
	case a.Stdin:
		return false
	case command != "" && to == claude:
		if a.Dir != "" && a.Dir != cwd {
			command = "cd " + transcript.ShellWord(a.Dir) + " && " + command
		}
		b.Tool, b.Raw = "Bash", asJSON(map[string]any{"command": command})
	case command != "" && to == codex:
		input := map[string]any{"cmd": command}
		if a.Dir != "" {
			input["workdir"] = a.Dir
		}
		b.Tool, b.Raw = "exec_command", transcript.Quote(string(asJSON(input)))
	case a.Op == transcript.Plan && a.Replace && len(a.Plan) > 0 && to == codex:
		b.Tool, b.Raw = "update_plan", transcript.Quote(string(asJSON(map[string]any{"plan": steps(a.Plan)})))
	default:
		return false
	}
	return true
}

// reading is the command that shows of a file what a reading tool shows: its lines with their numbers.
func reading(path string, lines [2]int) string {
	command := "cat -n " + transcript.ShellWord(path)
	if lines[0] > 0 && lines[1] > 0 {
		command += fmt.Sprintf(" | sed -n '%d,%dp'", lines[0], lines[0]+lines[1]-1)
	}
	return command
}

type step struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

func steps(plan []transcript.PlanItem) []step {
	all := make([]step, 0, len(plan))
	for _, p := range plan {
		all = append(all, step{p.Text, p.Status})
	}
	return all
}

// asJSON writes what always can be written.
func asJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return []byte("{}")
	}
	return transcript.CleanJSON(b.Bytes())
}

// input is a call's input; where it has none, the whole call stands for it.
func input(b *transcript.Block) []byte {
	switch m := object(b.Raw); {
	case b.Call == "":
	case text(m["call_id"]) == b.Call && strings.HasSuffix(text(m["type"]), "_tool_call"), text(m["call_id"]) == b.Call && text(m["type"]) == "function_call":
		return []byte(`""`)
	case text(m["id"]) == b.Call && strings.HasSuffix(text(m["type"]), "tool_use"):
		return []byte("{}")
	}
	return b.Raw
}

// fitResult gives a result's content a shape that the agent's API takes: the text alone where there is any doubt. Named
// reports that the ID stands in it then.
func fitResult(from, to string, b *transcript.Block, id mark.ID) (named bool) {
	switch {
	case b.Raw[0] == '"':
		return false
	case from == to && to == claude && soundContent(b.Raw, b.Failed):
		return false
	case from == to && to == codex && soundOutput(b.Raw):
		return false
	}
	said := flat(b.Raw, id)
	b.Raw = transcript.Quote(said)
	return strings.Contains(said, "[ccd "+string(id)+" ")
}

// flat is the text of a content; what is no text is named.
func flat(raw []byte, id mark.ID) string {
	parts := list(raw)
	if parts == nil {
		if kind := text(object(raw)["type"]); strings.HasSuffix(kind, "tool_result") || strings.HasSuffix(kind, "_output") {
			return "" // the whole block stands for a content that it has not
		}
		return string(transcript.Original(transcript.Text, raw))
	}
	var all []string
	for _, part := range parts {
		m := object(part)
		switch said := text(part) + text(m["text"]); {
		case said != "":
			all = append(all, said)
		case m["source"] != nil || m["image_url"] != nil:
			all = append(all, mark.New(id, "image left out; ccd agent restore "+string(id)))
		case text(m["type"]) != "text":
			all = append(all, string(part))
		}
	}
	return strings.Join(all, "\n")
}

// soundContent reports whether a tool_result's content is a list that Anthropic's API takes: of one that failed, texts
// alone.
func soundContent(raw []byte, failed bool) bool {
	parts := list(raw)
	for _, part := range parts {
		m := object(part)
		kind := text(m["type"])
		sound := false
		switch kind {
		case "text":
			sound = strings.TrimSpace(text(m["text"])) != ""
		case "image", "document":
			sound = soundSource(kind, m["source"])
		case "search_result":
			sound = text(m["source"]) != "" && text(m["title"]) != "" && soundContent(m["content"], true)
		case "tool_reference":
			sound = toolName.MatchString(text(m["tool_name"]))
		}
		if !sound || failed && kind != "text" {
			return false
		}
	}
	return len(parts) > 0
}

// media are the types that the APIs take of images and, of documents, as bytes.
var media = map[string]string{
	"image/png": "image", "image/jpeg": "image", "image/gif": "image", "image/webp": "image", "application/pdf": "document",
}

// soundSource reports whether the source of an image or a document names a type that the API takes and its data, or
// where it is.
func soundSource(kind string, raw []byte) bool {
	s := object(raw)
	switch text(s["type"]) {
	case "base64":
		return media[text(s["media_type"])] == kind && isBase64(text(s["data"]))
	case "url":
		return strings.HasPrefix(text(s["url"]), "https://")
	}
	return false
}

// soundOutput reports whether a function's output is a list that Codex and its API take.
func soundOutput(raw []byte) bool {
	parts := list(raw)
	for _, part := range parts {
		m := object(part)
		switch text(m["type"]) {
		case "input_text":
			if text(m["text"]) == "" {
				return false
			}
		case "input_image":
			if !soundURL(text(m["image_url"])) {
				return false
			}
		default:
			return false
		}
	}
	return len(parts) > 0
}

// soundURL reports whether an image's URL holds it, or tells where every model can get it.
func soundURL(url string) bool {
	if kind, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,"); ok && strings.HasPrefix(url, "data:") {
		return media[kind] == "image" && isBase64(data)
	}
	return strings.HasPrefix(url, "https://")
}

func isBase64(s string) bool {
	body := strings.TrimRight(s, "=")
	return body != "" && len(s)%4 == 0 && len(s)-len(body) <= 2 &&
		strings.Trim(body, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/") == ""
}

// fitImage gives an image the shape of the agent's own: a source, or a URL.
func fitImage(to string, b *transcript.Block) bool {
	url := text(b.Raw)
	if to == claude {
		if kind, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,"); ok && strings.HasPrefix(url, "data:") {
			b.Raw = asJSON(map[string]string{"type": "base64", "media_type": kind, "data": data})
		} else if strings.HasPrefix(url, "https://") {
			b.Raw = asJSON(map[string]string{"type": "url", "url": url})
		}
		return soundSource("image", b.Raw) || soundSource("document", b.Raw) && text(object(b.Raw)["type"]) == "base64"
	}
	if s := object(b.Raw); s != nil {
		if url = text(s["url"]); text(s["type"]) == "base64" {
			url = "data:" + text(s["media_type"]) + ";base64," + text(s["data"])
		}
		b.Raw = transcript.Quote(url)
	}
	return soundURL(url)
}
