// Package registry is the table of agents: one line each.
package registry

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ccd/internal/agent/amp"
	"ccd/internal/agent/claude"
	"ccd/internal/agent/codex"
	"ccd/internal/agent/copilot"
	"ccd/internal/agent/cursor"
	"ccd/internal/agent/droid"
	"ccd/internal/agent/gemini"
	"ccd/internal/agent/openclaw"
	"ccd/internal/agent/pi"
	"ccd/internal/agent/qwen"
	"ccd/internal/transcript"
)

// rows is the table. It is made once: every file of every scan is looked up in it.
var rows = []transcript.Format{
	claude.Row(),
	codex.Row(),
	gemini.Row(),
	qwen.Row(),
	droid.Row(),
	cursor.Row(),
	copilot.Row(),
	pi.Row(),
	openclaw.Row(),
	amp.Row(),
}

// All returns what is known of each agent, in a fixed order.
func All() []transcript.Format { return slices.Clone(rows) }

// Names returns the agents' names, in the order of All.
func Names() (names []string) {
	for _, f := range rows {
		names = append(names, f.Agent)
	}
	return names
}

// Titles returns the agents' names for people, in the order of All.
func Titles() (titles []string) {
	for _, f := range rows {
		titles = append(titles, f.Title)
	}
	return titles
}

// Title returns an agent's name for people; of one that is not known, its name.
func Title(agent string) string {
	if agent == transcript.Messages {
		return "list of messages"
	}
	if f, ok := Lookup(agent); ok {
		return f.Title
	}
	return agent
}

// Lookup returns the row of the agent.
func Lookup(agent string) (transcript.Format, bool) {
	for _, f := range rows {
		if f.Agent == agent {
			return f, true
		}
	}
	return transcript.Format{}, false
}

// NewDecoder returns a decoder for a transcript of the agent, or for a plain list of messages.
func NewDecoder(agent string, class transcript.Class) *transcript.Decoder {
	if agent == transcript.Messages {
		return transcript.NewDecoder(transcript.MessageList(anyClient), class)
	}
	f, _ := Lookup(agent)
	return transcript.NewDecoder(f, class)
}

// anyClient is for texts of which no agent is known: what any of them may write.
var anyClient = merged()

func merged() *transcript.Client {
	any := transcript.Client{Ops: map[string]transcript.Op{}}
	for _, f := range slices.Backward(rows) { // where two disagree, the first one's meaning
		for tool, op := range f.Client.Ops {
			any.Ops[tool] = op
		}
		any.Elements = append(any.Elements, f.Client.Elements...)
		any.Notices = append(any.Notices, f.Client.Notices...)
		any.Tools = append(any.Tools, f.Client.Tools...)
		any.Summaries = append(any.Summaries, f.Client.Summaries...)
	}
	return &any
}

// Find tells what the file at filename, below root, is, from its name alone: nothing is read. Both are absolute paths
// of this system. ok is false for files that are nobody's, ccd's own among them.
func Find(agent, root, filename string) (s transcript.Session, ok bool) {
	f, ok := Lookup(agent)
	if !ok {
		return s, false
	}
	rel, err := filepath.Rel(root, filename)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return s, false
	}
	rel = filepath.ToSlash(rel)
	if isOurs(path.Base(rel)) {
		return s, false
	}
	plain, packed := strings.CutSuffix(rel, ".zst")
	base := filepath.Base(root)
	if s, ok = f.Match(base, plain); !ok || (packed && s.Class == transcript.Attachment) {
		return transcript.Session{}, false
	}
	s.Agent, s.Path, s.Root, s.Packed = agent, filename, root, packed
	s.Source = base + "/" + plain
	return s, true
}

// isOurs reports whether the file name is that of a companion or of a temporary file of ours.
func isOurs(name string) bool {
	return strings.HasSuffix(name, ".ccd.md") || strings.HasPrefix(name, ".ccd-")
}
