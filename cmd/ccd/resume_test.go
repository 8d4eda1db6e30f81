package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResumeKeepsSecrets: a copy goes back to the session, so nothing in it is changed, while what others read is.
func TestResumeKeepsSecrets(t *testing.T) {
	secret := awsKey("")
	env := agentHome(t, "key = "+secret+" and more", "no key")
	for _, to := range []string{"claude", "codex", "gemini", "qwen", "pi"} {
		home := strings.TrimPrefix(env[0], "HOME=")
		for _, dir := range []string{".codex/sessions", ".gemini/tmp", ".qwen/projects", ".pi/agent/sessions"} {
			must(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
		}
		args := []string{"resume", "--as", to, "beefcafe", "--json"}
		var out, talk bytes.Buffer
		if code := run(t.Context(), args, std(strings.NewReader(""), &out, &talk), env); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, talk.String())
		}
		if strings.Contains(out.String()+talk.String(), secret[4:]) {
			t.Errorf("%v prints the secret", args)
		}
		var made struct{ Path string }
		must(t, json.Unmarshal(out.Bytes(), &made))
		data := read(t, made.Path)
		if !bytes.Contains(data, []byte("key = "+secret+" and more")) || bytes.Contains(data, []byte("[redacted")) {
			t.Errorf("%v: %s", args, data)
		}
	}
	if out, _ := inProcess(t, env, "agent", "show", "beefcafe"); bytes.Contains(out, []byte(secret[4:])) {
		t.Errorf("agent show prints the secret: %s", out)
	}
}
