package codex

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

func roots(getenv func(string) string, home string) []string {
	dir := cmp.Or(getenv("CODEX_HOME"), filepath.Join(home, ".codex"))
	return []string{filepath.Join(dir, "sessions"), filepath.Join(dir, "archived_sessions")}
}

// match accepts every *.jsonl below sessions and archived_sessions, whatever its name.
func match(base, rel string) (transcript.Session, bool) {
	stem, ok := strings.CutSuffix(path.Base(rel), ".jsonl")
	if !ok || stem == "" || strings.HasPrefix(stem, ".") {
		return transcript.Session{}, false
	}
	if id := rolloutID(stem); id != "" {
		return transcript.Session{Key: transcript.Key{ID: id}}, true
	}
	return transcript.Session{Key: transcript.Key{ID: strings.TrimSuffix(rel, ".jsonl")}}, true
}

// rolloutID returns the thread ID in a name like rollout-2025-10-04T22-19-01-UUID, or "" for another name.
func rolloutID(stem string) string {
	const stamp = "2025-10-04T22-19-01-"
	rest, ok := strings.CutPrefix(stem, "rollout-")
	if !ok || len(rest) != len(stamp)+36 || !transcript.IsUUID(rest[len(stamp):]) {
		return ""
	}
	return rest[len(stamp):]
}
