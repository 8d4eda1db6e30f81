package resume

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// The agents that a copy can be written for.
const (
	claude = "claude-code"
	codex  = "codex"
)

// fitCall converts a call to the agent's own format. ok is false if the agent has no equivalent call; the call is then
// described in words.
func fitCall(from, to, kind, cwd string, b *transcript.Block) (ok bool) {
	switch {
	case to == transcript.Messages: // whatever tools the reader's agent has
		b.Space, b.Free, b.Raw = "", false, object(b.Raw)
		return true
	case from != to:
		return translated(to, cwd, b)
	case to != codex:
		return !strings.HasPrefix(b.Call, "srvtoolu_") && !strings.HasPrefix(b.Call, "mcptoolu_") && node(b.Raw).Is('{')
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

// translated converts a call to another agent's. Only calls that run a command or read a file have a counterpart in every
// agent.
func translated(to, cwd string, b *transcript.Block) bool {
	a := b.Understand()
	b.Space, b.Free = "", false
	command := a.Command
	if a.Op == transcript.Read && to != claude && len(a.Files) == 1 {
		command = reading(a.Files[0].Path, a.Lines)
	}
	switch {
	case a.Stdin:
		return false
	case command != "":
		f, ok := registry.Table{}.Lookup(to)
		if !ok || f.Shell == nil {
			return false
		}
		dir := a.Dir
		if dir == cwd {
			dir = ""
		}
		b.Tool, b.Raw = f.Shell(command, dir)
	default:
		return false
	}
	return true
}

// reading returns the command that prints a file with line numbers, as a reading tool does.
func reading(path string, lines [2]int) string {
	command := "cat -n " + transcript.ShellWord(path)
	if lines[0] > 0 && lines[1] > 0 {
		command += fmt.Sprintf(" | sed -n '%d,%dp'", lines[0], lines[0]+lines[1]-1)
	}
	return command
}

// input returns a call's input, or an empty object if b contains the whole call.
func input(b *transcript.Block) []byte {
	switch m := node(b.Raw); {
	case b.Call == "":
	case m.Field("call_id").Text() == b.Call && strings.HasSuffix(m.Field("type").Text(), "_tool_call"), m.Field("call_id").Text() == b.Call && m.Field("type").Text() == "function_call":
		return []byte(`""`)
	case m.Field("id").Text() == b.Call && (strings.HasSuffix(m.Field("type").Text(), "tool_use") || m.Field("name").Text() == b.Tool):
		return []byte("{}")
	}
	return b.Raw
}

// object returns a call's input as an object.
func object(raw []byte) []byte {
	if node(raw).Is('{') {
		return raw
	}
	if inner := []byte(strings.TrimSpace(node(raw).Text())); node(inner).Is('{') {
		return inner
	}
	return []byte(`{"input":` + string(raw) + `}`)
}

// fitResult converts a result's content to a form that the agent's API accepts: only the text if in doubt. named reports
// whether the ID is in that text.
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

// flat returns the text of a content, with a marker for each image.
func flat(raw []byte, id mark.ID) string {
	n := node(raw)
	if !n.Is('[') {
		if kind := n.Field("type").Text(); strings.HasSuffix(kind, "tool_result") || strings.HasSuffix(kind, "_output") {
			return "" // raw is the whole block, which has no content
		}
		return string(transcript.Original(transcript.Text, raw))
	}
	var all []string
	for m := range n.Elements() {
		switch said := m.Text() + m.Field("text").Text(); {
		case said != "":
			all = append(all, said)
		case m.Field("source").Raw != nil || m.Field("image_url").Raw != nil || m.Field("type").Text() == "image":
			all = append(all, mark.New(id, "image left out; ccd agent restore "+string(id)))
		case m.Field("type").Text() != "text":
			all = append(all, string(m.Raw))
		}
	}
	return strings.Join(all, "\n")
}

// soundContent reports whether a tool_result's content is a list that Anthropic's API accepts. For a failed call it accepts
// only texts.
func soundContent(raw []byte, failed bool) bool {
	parts := slices.Collect(node(raw).Elements())
	for _, m := range parts {
		kind := m.Field("type").Text()
		sound := false
		switch kind {
		case "text":
			sound = strings.TrimSpace(m.Field("text").Text()) != ""
		case "image", "document":
			sound = soundSource(kind, m.Field("source").Raw)
		case "search_result":
			sound = m.Field("source").Text() != "" && m.Field("title").Text() != "" && soundContent(m.Field("content").Raw, true)
		case "tool_reference":
			sound = toolName().MatchString(m.Field("tool_name").Text())
		}
		if !sound || failed && kind != "text" {
			return false
		}
	}
	return len(parts) > 0
}

// media lists the media types that the APIs accept for images and for inline documents.
var media = map[string]string{
	"image/png": "image", "image/jpeg": "image", "image/gif": "image", "image/webp": "image", "application/pdf": "document",
}

// soundSource reports whether the source of an image or document has an accepted type and data, or a URL.
func soundSource(kind string, raw []byte) bool {
	s := node(raw)
	switch s.Field("type").Text() {
	case "base64":
		return media[s.Field("media_type").Text()] == kind && isBase64(s.Field("data").Text())
	case "url":
		return strings.HasPrefix(s.Field("url").Text(), "https://")
	}
	return false
}

// soundOutput reports whether a function's output is a list that Codex and its API accept.
func soundOutput(raw []byte) bool {
	parts := slices.Collect(node(raw).Elements())
	for _, m := range parts {
		switch m.Field("type").Text() {
		case "input_text":
			if m.Field("text").Text() == "" {
				return false
			}
		case "input_image":
			if !soundURL(m.Field("image_url").Text()) {
				return false
			}
		default:
			return false
		}
	}
	return len(parts) > 0
}

// soundURL reports whether an image's URL contains the image or is an HTTPS address.
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

// fitImage converts an image to a URL, as a draft has it. The APIs of Gemini CLI, Pi and Qwen Code accept no remote
// image, and only that of Claude Code a document.
func fitImage(to string, b *transcript.Block) bool {
	m := node(b.Raw)
	url := m.Text()
	if m.Is('{') {
		url = m.Field("url").Text()
		if data := m.Field("data").Text(); data != "" {
			url = "data:" + cmp.Or(m.Field("media_type").Text(), m.Field("mimeType").Text()) + ";base64," + data
		}
	}
	b.Raw = transcript.Quote(url)
	media, data := transcript.ImageData(b.Raw)
	if to == claude && media == "application/pdf" {
		return isBase64(data)
	}
	return soundURL(url) && (data != "" || slices.Contains([]string{claude, codex, transcript.Messages}, to))
}

// node parses a JSON value. It returns none if the value is invalid.
func node(raw []byte) transcript.Node {
	raw = bytes.TrimSpace(raw)
	if !transcript.Valid(raw) {
		return transcript.Node{}
	}
	return transcript.Node{Raw: raw}
}
