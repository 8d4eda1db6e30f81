// Package opencode describes the sessions that `opencode export` prints: how a message decodes, what the tools do. OpenCode's own
// store is a database, which ccd does not read.
package opencode

import (
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Row returns the format of OpenCode's exports.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "opencode", Title: "OpenCode", How: "write each session with `opencode export ID` into opencode/export",
		Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse, Member: "messages",
		Connect: &transcript.Connect{Name: "opencode", Dir: dir, Guide: "AGENTS.md", Mod: "plugins"},
	}
}

// dir returns the directory of the client's settings and plugins.
func dir(getenv func(string) string, home string) string {
	return filepath.Join(cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "opencode")
}

// roots returns the directory into which a person writes exports.
func roots(getenv func(string) string, home string) []string {
	data := cmp.Or(getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	return []string{filepath.Join(data, "opencode", "export")}
}

// match accepts NAME.json. The ID keeps the suffix because Key.Unlined uses it to see that the file need not be JSON lines.
func match(_, rel string) (transcript.Session, bool) {
	id, ok := strings.CutSuffix(rel, ".json")
	return transcript.Session{Key: transcript.Key{ID: rel}}, ok && id != "" && !strings.Contains(id, "/") && !strings.HasPrefix(id, ".")
}

// recognizes reports whether the line is a whole export.
func recognizes(line transcript.Node) bool {
	return line.Field("info").Field("id").Is('"') && line.Field("info").Field("directory").Is('"') && line.Field("messages").Is('[')
}
