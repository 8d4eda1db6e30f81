//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ccd/internal/words"
)

// TestHooksDoNotWaitForTheArchive locks the archive. Hooks still answer from what is ready, and PreCompact ends within
// its limit.
func TestHooksDoNotWaitForTheArchive(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state")}
	const id = "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f"
	path := filepath.Join(home, ".claude", "projects", "-home-you-ledger", id+".jsonl")
	story, _ := newStory()
	put(t, path, story.buf.String())
	ask := func(event, source, within string) string {
		t.Helper()
		in, err := json.Marshal(map[string]string{"session_id": id, "transcript_path": path, "source": source})
		must(t, err)
		r := asked(t.Context(), env, string(in), "hook", event, "--within", within)
		if r.code != words.ExitDone || r.err != "" {
			t.Errorf("%s: exit %d, %s", event, r.code, r.err)
		}
		return r.out
	}
	if !strings.Contains(ask("PreCompact", "", "1m"), id+".ccd.md") {
		t.Fatal("no companion: nothing is tried here")
	}
	for _, name := range []string{"archive.lock", "archive.db"} {
		f, err := os.OpenFile(filepath.Join(home, "state", "ccd", name), os.O_RDWR, 0)
		must(t, err)
		defer f.Close()
		must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	}
	if out := ask("SessionStart", "compact", "1m"); !strings.Contains(out, "## Handover") {
		t.Errorf("after a compaction: %q", out)
	}
	if out := ask("UserPromptSubmit", "", "1m"); !strings.Contains(out, "context pressure") {
		t.Errorf("beside a prompt: %q", out)
	}
	if out := ask("PreCompact", "", "2s"); !strings.Contains(out, id+".ccd.md") {
		t.Errorf("before a compaction: %q", out)
	}
	log, err := os.ReadFile(filepath.Join(home, "state", "ccd", "hook.log"))
	if err != nil || !strings.Contains(string(log), "no response within") {
		t.Errorf("%s, %v", log, err)
	}
}
