// Package copilot is what is known of Copilot CLI: where its sessions live, how an event decodes, what its tools do.
package copilot

import (
	"bytes"
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Row is Copilot CLI.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "copilot-cli", Title: "Copilot CLI", How: "add the MCP server `ccd mcp` to mcpServers in ~/.copilot/mcp-config.json",
		Roots: roots, Match: match, Mine: mine, Starts: starts,
		Client: &client, Parse: parse,
	}
}

// mine knows the envelope of an event.
func mine(line transcript.Node) bool {
	e := read(line)
	return e.data.Is('{') && e.id.Is('"') && e.timestamp.Is('"') && len(e.parent.Raw) > 0 && isEvent(e.kind.Text())
}

// isEvent reports whether a type is that of an event: a subject and what happened to it.
func isEvent(kind string) bool {
	return kind == "abort" || strings.IndexByte(kind, '.') > 0
}

func starts(start []byte) bool {
	rest, ok := bytes.CutPrefix(start, []byte(`{"type":"`))
	kind, rest, _ := bytes.Cut(rest, []byte(`"`))
	return ok && isEvent(string(kind)) && bytes.HasPrefix(rest, []byte(`,"data":{`))
}

func roots(getenv func(string) string, home string) []string {
	return []string{filepath.Join(cmp.Or(getenv("COPILOT_HOME"), filepath.Join(home, ".copilot")), "session-state")}
}

// match knows SESSION/events.jsonl, older SESSION.jsonl, and of what else lies in a session's directory what the agent wrote
// for itself: the summaries of its compactions, and files. The copies that rewinding needs, locks and databases are left.
func match(_, rel string) (transcript.Session, bool) {
	parts := strings.Split(rel, "/")
	name := parts[len(parts)-1]
	if strings.HasPrefix(parts[0], ".") || strings.HasPrefix(name, ".") {
		return transcript.Session{}, false
	}
	stem, isLines := strings.CutSuffix(name, ".jsonl")
	switch {
	case len(parts) == 1:
		return transcript.Session{Key: transcript.Key{ID: stem}}, isLines && transcript.IsUUID(stem)
	case len(parts) == 2:
		return transcript.Session{Key: transcript.Key{ID: parts[0]}}, name == "events.jsonl"
	case parts[1] == "checkpoints" && len(parts) == 3 && strings.HasSuffix(name, ".md"), parts[1] == "files":
		return transcript.Session{Key: transcript.Key{ID: rel}, Class: transcript.Attachment, Parent: parts[0]}, true
	}
	return transcript.Session{}, false
}
