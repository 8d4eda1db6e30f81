package registry

import (
	"bytes"

	"ccd/internal/transcript"
)

// enough is how many lines of one agent settle whose a transcript is.
const enough = 3

// Sniff tells which agent wrote the file that begins with head (some KB of it, or all), or that it is a plain list of
// messages, and whether it is a sub-agent's: what its path would tell below a root. ok is false where nothing tells.
func Sniff(head []byte) (agent string, class transcript.Class, ok bool) {
	agent, ok = sniffAgent(head)
	if !ok || agent == transcript.Messages {
		return agent, transcript.Main, ok
	}
	for r := range NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: head, Rest: true}) {
		if len(r.Items) > 0 {
			if r.Items[0].Side {
				class = transcript.SubAgent
			}
			break
		}
	}
	return agent, class, true
}

func sniffAgent(head []byte) (agent string, ok bool) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(text) > 0 && text[0] == '[' {
		return transcript.Messages, true
	}
	votes := map[string]int{}
	for line := range bytes.Lines(text) {
		if agent := sniffLine(bytes.TrimSpace(line)); agent != "" {
			if votes[agent]++; votes[agent] == enough {
				return agent, true
			}
		}
	}
	most := 0
	for _, name := range append(Names(), transcript.Messages) {
		if votes[name] > most {
			agent, most = name, votes[name]
		}
	}
	return agent, most > 0
}

// sniffLine tells whose a line is. One that is cut off, or too long for head, is judged by its beginning.
func sniffLine(line []byte) string {
	if !transcript.Valid(line) {
		line = line[:min(len(line), 4096)]
		for _, f := range All() {
			if f.Starts != nil && f.Starts(line) {
				return f.Agent
			}
		}
		if bytes.HasPrefix(line, []byte(`{"role":"`)) {
			return transcript.Messages
		}
		return ""
	}
	n := transcript.Node{Raw: line}
	for _, f := range All() {
		if f.Mine(n) {
			return f.Agent
		}
	}
	if n.Field("role").Is('"') && !n.Field("type").Full() {
		return transcript.Messages
	}
	return ""
}
