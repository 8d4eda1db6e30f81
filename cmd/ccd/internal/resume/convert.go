package resume

import (
	"bytes"
	"fmt"
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
	if b.Raw[0] == '"' || from == to && to == claude && soundContent(b.Raw, b.Failed) {
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

// soundContent reports whether a tool_result's content is a list of texts and names of tools that Anthropic's API accepts. For a
// failed call it accepts only texts.
func soundContent(raw []byte, failed bool) bool {
	for m := range node(raw).Elements() {
		text := m.Field("type").Text() == "text" && strings.TrimSpace(m.Field("text").Text()) != ""
		tool := m.Field("type").Text() == "tool_reference" && toolName().MatchString(m.Field("tool_name").Text())
		if !text && (failed || !tool) {
			return false
		}
	}
	return node(raw).Is('[') && node(raw).Full()
}

// node parses a JSON value. It returns none if the value is invalid.
func node(raw []byte) transcript.Node {
	raw = bytes.TrimSpace(raw)
	if !transcript.Valid(raw) {
		return transcript.Node{}
	}
	return transcript.Node{Raw: raw}
}
