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

// match knows rollouts below sessions and archived_sessions: any *.jsonl, canonical in name or not.
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

// rolloutID returns the thread's ID of rollout-2025-10-04T22-19-01-UUID, "" where the name is another.
func rolloutID(stem string) string {
	const stamp = "2025-10-04T22-19-01-"
	rest, ok := strings.CutPrefix(stem, "rollout-")
	if !ok || len(rest) != len(stamp)+36 || !transcript.IsUUID(rest[len(stamp):]) {
		return ""
	}
	return rest[len(stamp):]
}
