package codex

import (
	"bytes"
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
	if thread, rollout := rolloutIDs(stem); rollout != "" {
		return transcript.Session{Key: transcript.Key{ID: rollout}, Thread: thread}, true
	} else if thread != "" {
		return transcript.Session{Key: transcript.Key{ID: thread}}, true
	}
	return transcript.Session{Key: transcript.Key{ID: strings.TrimSuffix(rel, ".jsonl")}}, true
}

// rolloutIDs returns the thread in a name like rollout-2025-10-04T22-19-01-UUID, and the file's own ID if it is a later one of
// the thread: rollout-2025-10-04T22-19-01-UUID_UUID. They are "" for another name.
func rolloutIDs(stem string) (thread, rollout string) {
	const stamp = "2025-10-04T22-19-01-"
	rest, ok := strings.CutPrefix(stem, "rollout-")
	if !ok || len(rest) < len(stamp) {
		return "", ""
	}
	thread, rollout, later := strings.Cut(rest[len(stamp):], "_")
	if !transcript.IsUUID(thread) || later && !transcript.IsUUID(rollout) {
		return "", ""
	}
	return thread, rollout
}

// index is the list of the threads' names. A later line replaces an earlier one.
var index = transcript.Index{
	Of: func(s transcript.Session, _ string) (path, name string) {
		return filepath.Join(filepath.Dir(s.Root), "session_index.jsonl"), s.Name()
	},
	Read: func(text []byte) map[string]transcript.Facts {
		all := map[string]transcript.Facts{}
		for line := range bytes.Lines(text) {
			one := transcript.Arguments(line)
			if name := one.Field("thread_name").Text(); name != "" {
				all[one.Field("id").Text()] = transcript.Facts{Title: name}
			}
		}
		return all
	},
}
