// Package pi is what is known of Pi: where its sessions live, what its tools do. Its entries are decoded by entries.
package pi

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

// Row is Pi.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "pi", Title: "Pi", How: "name `ccd agent search WORDS` in ~/.pi/agent/AGENTS.md",
		Roots: roots, Match: match, Mine: entries.Mine, Starts: entries.Starts,
		Client: &client, Parse: entries.Parse,
	}
}

func roots(getenv func(string) string, home string) []string {
	if sessions := getenv("PI_CODING_AGENT_SESSION_DIR"); sessions != "" {
		return []string{entries.Dir(sessions, home)}
	}
	dir := cmp.Or(entries.Dir(getenv("PI_CODING_AGENT_DIR"), home), filepath.Join(home, ".pi", "agent"))
	return []string{filepath.Join(dir, "sessions")}
}

// match knows --DIR--/TIME_UUID.jsonl, and TIME_UUID.jsonl of a directory that the environment names.
func match(_, rel string) (transcript.Session, bool) {
	stem, ok := strings.CutSuffix(path.Base(rel), ".jsonl")
	if !ok || stem == "" || strings.HasPrefix(stem, ".") {
		return transcript.Session{}, false
	}
	id := cmp.Or(entries.SessionID(stem), strings.TrimLeft(strings.TrimSuffix(rel, ".jsonl"), "-")) // a command line takes no ID that begins with -
	return transcript.Session{Key: transcript.Key{ID: id}}, true
}
