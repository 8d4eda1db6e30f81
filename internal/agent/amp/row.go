// Package amp describes Amp: where it stores threads, how a message decodes, what its tools do. Versions up to early
// 2026 store threads on disk; later ones only on Amp's server.
package amp

import (
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Row returns the format of Amp.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "amp", Title: "Amp",
		Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse, Member: "messages",
		Connect: &transcript.Connect{
			Name: "amp", Dir: settings, Servers: "settings.json", Member: "amp.mcpServers", Guide: "AGENTS.md",
		},
	}
}

func settings(getenv func(string) string, home string) string {
	return filepath.Join(cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "amp")
}

func roots(getenv func(string) string, home string) []string {
	data := cmp.Or(getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	return []string{filepath.Join(data, "amp", "threads")}
}

// match accepts T-UUID.json; each is a thread. The ID keeps the suffix because Key.Unlined uses it to see that the file
// need not be JSON lines.
func match(_, rel string) (transcript.Session, bool) {
	id, ok := strings.CutSuffix(rel, ".json")
	return transcript.Session{Key: transcript.Key{ID: rel}}, ok && isThread(id)
}

func isThread(id string) bool {
	uuid, ok := strings.CutPrefix(id, "T-")
	return ok && transcript.IsUUID(uuid)
}

// recognizes reports whether the line is a whole thread.
func recognizes(line transcript.Node) bool {
	return isThread(line.Field("id").Text()) && line.Field("messages").Is('[')
}
