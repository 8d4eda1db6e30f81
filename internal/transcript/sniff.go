package transcript

import (
	"bytes"
	"strings"
)

// Sniff tells which agent wrote the file that begins with head (some KB of it, or all): "claude-code", "codex" or
// "messages", and whether it is a sub-agent's: what its path would tell below a root. ok is false where nothing tells.
func Sniff(head []byte) (agent string, class Class, ok bool) {
	agent, ok = sniffAgent(head)
	if !ok || agent == Messages {
		return agent, Main, ok
	}
	for r := range NewDecoder(agent, Main).Records(Segment{Data: head, Rest: true}) {
		if len(r.Items) > 0 {
			if r.Items[0].Side {
				class = SubAgent
			}
			break
		}
	}
	return agent, class, true
}

func sniffAgent(head []byte) (agent string, ok bool) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(text) > 0 && text[0] == '[' {
		return Messages, true
	}
	votes := map[string]int{}
	for line := range bytes.Lines(text) {
		if agent := sniffLine(bytes.TrimSpace(line)); agent != "" {
			if votes[agent]++; votes[agent] == 3 {
				return agent, true
			}
		}
	}
	for _, agent := range []string{"claude-code", "codex", Messages} {
		if votes[agent] > 0 && votes[agent] >= votes["claude-code"] && votes[agent] >= votes["codex"] {
			return agent, true
		}
	}
	return "", false
}

// sniffLine tells whose a line is. One that is cut off, or too long for head, is judged by its beginning.
func sniffLine(line []byte) string {
	if !valid(line) {
		return sniffStart(line)
	}
	n := node{raw: line}
	kind := n.field("type").text()
	switch {
	case n.field("payload").is('{') && n.field("timestamp").is('"'), n.field("record_type").is('"'):
		return "codex"
	case n.field("sessionId").is('"'), n.field("parentUuid").full(), claudeBookkeeping[kind] && kind != "result":
		return "claude-code"
	case n.field("message").is('{') && (kind == "user" || kind == "assistant"):
		return "claude-code"
	case n.field("id").is('"') && n.field("timestamp").is('"') && kind == "":
		return "codex"
	case kind == "message" && n.field("content").is('['), strings.HasPrefix(kind, "function_call"):
		return "codex"
	case n.field("role").is('"') && kind == "":
		return Messages
	}
	return ""
}

func sniffStart(line []byte) string {
	line = line[:min(len(line), 4096)]
	switch {
	case bytes.HasPrefix(line, []byte(`{"timestamp":`)) && bytes.Contains(line, []byte(`"payload":{`)):
		return "codex"
	case bytes.HasPrefix(line, []byte(`{"parentUuid":`)), bytes.Contains(line, []byte(`"sessionId":"`)):
		return "claude-code"
	case bytes.HasPrefix(line, []byte(`{"role":"`)):
		return Messages
	}
	return ""
}
