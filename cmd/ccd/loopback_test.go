package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestLoopback: the summary of a compaction is on loopback for a client that the configuration names, once, for the request with the mark
// and the token; the client's settings name its address no longer than that. For any other client nothing listens.
func TestLoopback(t *testing.T) {
	w := newWorld(t)
	s := w.chat("qwen-code")
	s.asks("Never round cents.")
	for range 40 {
		s.says(strings.Repeat("I book an invoice. ", 20))
	}
	s.save()
	program := func(in string, args ...string) string {
		t.Helper()
		c := exec.Command(programPath, args...)
		c.Env = append(os.Environ(), "HOME="+w.home, "USERPROFILE="+w.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "CCD_CONFIG=")
		c.Stdin = strings.NewReader(in)
		out, err := c.Output()
		must(t, err)
		return string(out)
	}
	settings := filepath.Join(w.home, ".qwen", "settings.json")
	event, _ := json.Marshal(map[string]string{"session_id": s.id, "cwd": w.dir, "transcript_path": filepath.Join(w.home, s.place()), "trigger": "auto"})
	address := regexp.MustCompile(`http://127\.0\.0\.1:[^"]+`)
	compacts := func() (mark, url string) {
		t.Helper()
		var answer struct {
			HookSpecificOutput struct{ AdditionalContext string }
		}
		out := program(string(event), "hook", "SessionCompact", "--agent", "qwen-code")
		must(t, json.Unmarshal([]byte(out), &answer))
		text := read(t, settings)
		return answer.HookSpecificOutput.AdditionalContext, address.FindString(string(text))
	}

	program("", "agents", "install", "qwen")
	if mark, url := compacts(); mark != "" || url != "" {
		t.Errorf("the configuration does not name it, and there is %q at %q", mark, url)
	}
	put(t, filepath.Join(w.home, ".config", "ccd", "config.toml"), "[live]\nclients = [\"qwen\"]\n")
	program("", "agents", "install", "qwen")
	before := read(t, settings)
	mark, url := compacts()
	ask := func(url, mark string) (int, string) {
		t.Helper()
		body := fmt.Sprintf(`{"model":"ccd","stream":true,"messages":[{"role":"system","content":"Summarize. %s"}]}`, mark)
		got, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
		must(t, err)
		defer got.Body.Close()
		text, err := io.ReadAll(got.Body)
		must(t, err)
		return got.StatusCode, string(text)
	}
	if code, _ := ask(url[:len(url)-1], mark); code != http.StatusUnauthorized {
		t.Errorf("a wrong token: status %d", code)
	}
	if code, text := ask(url, "of another session"); code != http.StatusConflict || strings.Contains(text, "cents") {
		t.Errorf("another session's request: status %d, %s", code, text)
	}
	code, text := ask(url, mark)
	if code != http.StatusOK || !strings.Contains(text, `"content":"---\nccd: 1\nlive: {covers: 41, kept: 0}`) || !strings.Contains(text, "Never round cents.") || !strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Errorf("status %d, %s", code, text)
	}
	testkit.Eventually(t, "the settings are as before, and the outcome is in the log", func() bool {
		now, err := os.ReadFile(settings)
		log, _ := os.ReadFile(filepath.Join(w.home, ".local/state/ccd/hook.log"))
		return err == nil && bytes.Equal(now, before) && bytes.Contains(log, []byte(`"did":"compacted `))
	})
	if _, err := http.Get(url); err == nil {
		t.Error("it still listens")
	}
	program("", "agents", "uninstall", "qwen")
	if text, err := os.ReadFile(settings); err == nil {
		t.Errorf("uninstall leaves %s", text)
	}
}
