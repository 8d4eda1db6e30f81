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
	whole, cut := map[string]int{}, map[string]int{}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); !transcript.Valid(line) {
			cut[sniffStart(line[:min(len(line), 4096)])]++
		} else if agent := sniffLine(line); agent != "" {
			if whole[agent]++; whole[agent] == enough {
				return agent, true
			}
		}
	}
	if agent, ok = most(whole); !ok { // a line that is cut off counts only where no whole one tells
		agent, ok = most(cut)
	}
	return agent, ok
}

// most is the agent with the most votes, of equal ones the first in the table.
func most(votes map[string]int) (agent string, ok bool) {
	best := 0
	for _, name := range append(Names(), transcript.Messages) {
		if votes[name] > best {
			agent, best = name, votes[name]
		}
	}
	return agent, best > 0
}

// sniffStart tells whose a line is that is cut off, or too long for head, by its beginning.
func sniffStart(line []byte) string {
	for _, f := range rows {
		if f.Starts != nil && f.Starts(line) {
			return f.Agent
		}
	}
	if bytes.HasPrefix(line, []byte(`{"role":"`)) {
		return transcript.Messages
	}
	return ""
}

// sniffLine tells whose a whole line is.
func sniffLine(line []byte) string {
	n := transcript.Node{Raw: line}
	for _, f := range rows {
		if f.Mine(n) {
			return f.Agent
		}
	}
	if n.Field("role").Is('"') && !n.Field("type").Full() {
		return transcript.Messages
	}
	return ""
}
