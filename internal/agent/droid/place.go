package droid

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// roots returns the directory of sessions. FACTORY_HOME_OVERRIDE replaces the home directory, not the directory
// .factory in it.
func roots(getenv func(string) string, home string) []string {
	return []string{filepath.Join(cmp.Or(getenv("FACTORY_HOME_OVERRIDE"), home), ".factory", "sessions")}
}

// match accepts SESSION.jsonl in a project's directory or, in older versions, in the root. The other files there
// (settings and copies of them) are no transcripts.
func match(_, rel string) (transcript.Session, bool) {
	stem, ok := strings.CutSuffix(path.Base(rel), ".jsonl")
	if !ok || stem == "" || strings.HasPrefix(stem, ".") {
		return transcript.Session{}, false
	}
	if transcript.IsUUID(stem) {
		return transcript.Session{Key: transcript.Key{ID: stem}}, true
	}
	return transcript.Session{Key: transcript.Key{ID: strings.TrimSuffix(rel, ".jsonl")}}, true
}
