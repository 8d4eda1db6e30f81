package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/words"
)

// geminiFile is a session of an older Gemini CLI, which rewrites the whole file at each change.
func geminiFile(t *testing.T, turns int, word string) string {
	t.Helper()
	var messages []any
	for n := range turns {
		lines := ""
		for i := range 80 {
			lines += fmt.Sprintf("The %s_%d has board %d.\n", word, n, 100*n+i)
		}
		at := fmt.Sprintf("2026-03-01T09:%02d:00.000Z", n%60)
		messages = append(messages,
			map[string]any{"id": fmt.Sprintf("u%d", n), "timestamp": at, "type": "user", "content": fmt.Sprintf("Mend %s %d.", word, n)},
			map[string]any{"id": fmt.Sprintf("g%d", n), "timestamp": at, "type": "gemini", "content": lines})
	}
	dirs := make([]string, 3000)
	for i := range dirs {
		dirs[i] = fmt.Sprintf("/src/mill/%d", i)
	}
	session := struct {
		SessionID   string   `json:"sessionId"`
		ProjectHash string   `json:"projectHash"`
		Directories []string `json:"directories"`
		Messages    []any    `json:"messages"`
	}{"s", "0a1b", dirs, messages}
	data, err := json.MarshalIndent(session, "", "  ")
	must(t, err)
	return string(data)
}

// A session that is one JSON value is archived completely by every pass: half written, grown, rewritten in place with
// the same length, and from stdin. Each ID of its companion can be restored.
func TestSessionAsOneValue(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".gemini", "tmp", "mill", "chats", "session-2026-03-01T09-00-abcdef01.json")
	whole := geminiFile(t, 120, "sluice")
	for _, content := range []string{whole[:40_000], whole, strings.Replace(whole, "Mend sluice 60.", "Mend SLUICE 60.", 1), geminiFile(t, 130, "wheel")} {
		put(t, path, content)
		command(t, home, "run", "--once", "-q")
		if got := string(command(t, home, "restore", "--session", path)); got != content {
			t.Errorf("%d bytes come back of %d", len(got), len(content))
		}
		command(t, home, "archive", "verify")
	}
	if resolveIDs(t, home) == 0 {
		t.Error("the companion has no ID")
	}
	if code, _, said := ccdIn(home, whole, "compact", "-"); code != words.ExitDone || !strings.HasPrefix(said, "Gemini CLI: ") {
		t.Errorf("exit %d, %s", code, said)
	}
	command(t, home, "archive", "verify")
}
