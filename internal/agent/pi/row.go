// Package pi describes Pi: where it stores sessions, what its tools do. Package entries decodes its records.
package pi

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

// Row returns the format of Pi.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "pi", Title: "Pi",
		Roots: roots, Match: match, Recognizes: entries.Recognizes,
		Client: &client, Parse: entries.Parse,
		Write: write, Place: place, Resume: []string{"pi", "--session"}, ByPath: true, Shell: transcript.ShellTool("bash"),
		Connect: &transcript.Connect{Name: "pi", Dir: dir, Guide: "AGENTS.md", Mod: "extensions/ccd"},
	}
}

func roots(getenv func(string) string, home string) []string {
	if sessions := getenv("PI_CODING_AGENT_SESSION_DIR"); sessions != "" {
		return []string{entries.Dir(sessions, home)}
	}
	return []string{filepath.Join(dir(getenv, home), "sessions")}
}

func dir(getenv func(string) string, home string) string {
	return cmp.Or(entries.Dir(getenv("PI_CODING_AGENT_DIR"), home), filepath.Join(home, ".pi", "agent"))
}

// match accepts --DIR--/TIME_UUID.jsonl, and TIME_UUID.jsonl in a directory that the environment names.
func match(_, rel string) (transcript.Session, bool) {
	stem, ok := strings.CutSuffix(path.Base(rel), ".jsonl")
	if !ok || stem == "" || strings.HasPrefix(stem, ".") {
		return transcript.Session{}, false
	}
	id := cmp.Or(entries.SessionID(stem), strings.TrimLeft(strings.TrimSuffix(rel, ".jsonl"), "-")) // an ID that begins with - would be a flag on the command line
	return transcript.Session{Key: transcript.Key{ID: id}}, true
}
