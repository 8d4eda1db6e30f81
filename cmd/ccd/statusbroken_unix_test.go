//go:build unix

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/internal/testkit"
	"ccd/internal/words"
)

// TestStatusOfABrokenConfiguration: with a broken configuration, status still shows the daemon, as degraded.
func TestStatusOfABrokenConfiguration(t *testing.T) {
	home := t.TempDir()
	file, elsewhere := filepath.Join(home, ".config", "ccd", "config.toml"), filepath.Join(home, "data", "a.db")
	status := func(args ...string) (string, int) {
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"status"}, args...), std(strings.NewReader(""), &out, &out), []string{"HOME=" + home})
		return out.String(), code
	}
	configure(t, home, "[archive]\npath = \""+elsewhere+"\"\n")
	c := spawn(t, home, "run")
	testkit.Eventually(t, "the daemon watches", func() bool { return c.running(t) && !c.info(t).LastPass.IsZero() })
	has := func(said string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(said, want) {
				t.Errorf("want %q in\n%s", want, said)
			}
		}
	}
	sound, code := status()
	if has(sound, "running, pid", file); code != 0 || strings.Contains(sound, "degraded") {
		t.Errorf("sound: %d\n%s", code, sound)
	}
	if _, said, code := outputs(t, home, "service", "stop"); code != words.ExitFailed || !c.running(t) {
		t.Errorf("stop: exit %d\n%s", code, said)
	} else {
		has(said, fmt.Sprintf("(pid %d) is not the service\nhint: stop it: kill %[1]d\n", c.Process.Pid))
	}
	configure(t, home, "[trigger]\npresure = 0.5\n")
	broken, code := status()
	if has(broken, "running, pid", file, "read config ", "presure", elsewhere); code != words.ExitFailed {
		t.Errorf("broken: %d\n%s", code, broken)
	}
	if said, code := status("-q"); code != words.ExitFailed || said != "" {
		t.Errorf("broken, quiet: %d, %q", code, said)
	}
	other := filepath.Join(home, "other.toml")
	put(t, other, "")
	said, _ := status("--config", other)
	has(said, "different configuration: "+file)
	c.signal(t, syscall.SIGTERM)
	c.ends(t, 0, 5*time.Second)
	said, code = status()
	if has(said, "presure"); code != words.ExitFailed || strings.Contains(said, "running") { // without a daemon, only the error is shown
		t.Errorf("broken, no daemon: %d\n%s", code, said)
	}
}
