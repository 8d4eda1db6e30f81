// Package amp is what is known of Amp: where its threads lie, how a message decodes, what its tools do. Threads lie on
// disk up to the programs of early 2026; later ones keep them on their server alone.
package amp

import (
	"bytes"
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Row is Amp.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "amp", Title: "Amp", How: "add the MCP server `ccd mcp` to amp.mcpServers in ~/.config/amp/settings.json",
		Roots: roots, Match: match, Mine: mine, Starts: starts,
		Client: &client, Parse: parse, Member: "messages",
	}
}

func roots(getenv func(string) string, home string) []string {
	data := cmp.Or(getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	return []string{filepath.Join(data, "amp", "threads")}
}

// match knows T-UUID.json, each of which is a thread. The ID keeps its suffix: Key.Unlined reads there that the file need
// not be lines.
func match(_, rel string) (transcript.Session, bool) {
	id, ok := strings.CutSuffix(rel, ".json")
	return transcript.Session{Key: transcript.Key{ID: rel}}, ok && isThread(id)
}

func isThread(id string) bool {
	uuid, ok := strings.CutPrefix(id, "T-")
	return ok && transcript.IsUUID(uuid)
}

// mine knows a thread that stands on one line.
func mine(line transcript.Node) bool {
	return isThread(line.Field("id").Text()) && line.Field("messages").Is('[')
}

// starts knows the line with a thread's ID, which is one of its own where a thread stands on many.
func starts(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(`"id": "`))
	if !ok {
		_, rest, ok = bytes.Cut(line[:min(len(line), 64)], []byte(`"id":"`))
		ok = ok && bytes.HasPrefix(line, []byte(`{"`))
	}
	id, _, closed := bytes.Cut(rest, []byte(`"`))
	return ok && closed && isThread(string(id))
}
