package registry

import (
	"bytes"

	"ccd/internal/transcript"
)

// enough is how many lines of one agent decide whose transcript it is.
const enough = 3

// Sniff returns which agent wrote the file that begins with head (some KB of it, or all), or that it is a plain list of
// messages, and whether it is a sub-agent's. It is for files whose path does not say so. ok is false if the agent is
// unknown.
func (t Table) Sniff(head []byte) (agent string, class transcript.Class, ok bool) {
	agent, ok = t.sniffAgent(head)
	if !ok || agent == transcript.Messages {
		return agent, transcript.Main, ok
	}
	for r := range t.NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: head, Rest: true}) {
		if len(r.Items) > 0 {
			if r.Items[0].Side {
				class = transcript.SubAgent
			}
			break
		}
	}
	return agent, class, true
}

func (t Table) sniffAgent(head []byte) (agent string, ok bool) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(text) > 0 && text[0] == '[' {
		return transcript.Messages, true
	}
	if first, _, _ := bytes.Cut(text, []byte("\n")); !transcript.Valid(first) { // an object that spans several lines, or a long first line
		if agent = t.sniffLine(transcript.CompleteObject(text)); agent != "" {
			return agent, true
		}
	}
	votes := map[string]int{}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); !transcript.Valid(line) {
			continue
		}
		if agent := t.sniffLine(line); agent != "" {
			if votes[agent]++; votes[agent] == enough {
				return agent, true
			}
		}
	}
	return t.most(votes)
}

// most returns the agent with the most votes; if two are equal, the first in the table.
func (t Table) most(votes map[string]int) (agent string, ok bool) {
	best := 0
	for _, name := range append(t.Names(), transcript.Messages) {
		if votes[name] > best {
			agent, best = name, votes[name]
		}
	}
	return agent, best > 0
}

// sniffLine returns the agent that wrote the line, or "".
func (t Table) sniffLine(line []byte) string {
	n := transcript.Node{Raw: line}
	for _, f := range t.All() {
		if f.Recognizes(n) {
			return f.Agent
		}
	}
	if n.Field("role").Is('"') && !n.Field("type").Full() {
		return transcript.Messages
	}
	return ""
}
