package droid

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// roots is where sessions lie. The variable stands for the home directory, not for the directory .factory in it.
func roots(getenv func(string) string, home string) []string {
	return []string{filepath.Join(cmp.Or(getenv("FACTORY_HOME_OVERRIDE"), home), ".factory", "sessions")}
}

// match knows SESSION.jsonl, in the directory of a project or (older) without one. What lies beside it (settings, and
// copies of them) are no transcripts.
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
