//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// badRunFiles replace run.json by something that no daemon writes.
var badRunFiles = []struct {
	name string
	put  func(path string) error
}{
	{"empty", func(path string) error { return os.WriteFile(path, nil, 0o600) }},
	{"torn", func(path string) error { return os.WriteFile(path, []byte(`{"pid": 12, "errors": [{"pa`), 0o600) }},
	{"garbage", func(path string) error { return os.WriteFile(path, []byte("\x00\xff\x1b[2Jno"), 0o600) }},
	{"wrong types", func(path string) error { return os.WriteFile(path, []byte(`{"pid": "12", "errors": {}}`), 0o600) }},
	{"a list", func(path string) error { return os.WriteFile(path, []byte(`[]`), 0o600) }},
	{"null", func(path string) error { return os.WriteFile(path, []byte(`null`), 0o600) }},
	{"nobody's", func(path string) error { return os.WriteFile(path, []byte(`{"pid": -1}`), 0o600) }},
	{"a number too large", func(path string) error { return os.WriteFile(path, []byte(`{"lag_bytes": 1e999}`), 0o600) }},
	{"a directory", func(path string) error { return os.Mkdir(path, 0o700) }},
	{"a FIFO", func(path string) error { return syscall.Mkfifo(path, 0o600) }},
}

func statusOf(t *testing.T, home string) (o status.Report, code int) {
	t.Helper()
	out, talk, code := outputs(t, home, "status", "--json")
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("exit %d: %v in %s%s", code, err, out, talk)
	}
	return o, code
}

// Whatever replaces run.json, status shows the rest and says that something is wrong.
func TestStatusOfABadRunFile(t *testing.T) {
	testkit.Long(t, "it tries each bad file")
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(stateOf(t, home), "run.json")
	put(t, transcriptPath(home, 1), aLine)
	once(t, home)
	if o, code := statusOf(t, home); code != words.ExitDone || o.Sessions != 1 || len(o.Degraded) > 0 {
		t.Fatalf("sound: exit %d: %+v", code, o)
	}
	check := func(name string, running bool, pid int) {
		t.Helper()
		o, code := statusOf(t, home)
		if code != words.ExitFailed || o.Sessions != 1 || o.Running != running || o.Pid != pid || o.Stale != running || !strings.Contains(strings.Join(o.Degraded, "\n"), "run.json") && !strings.Contains(strings.Join(o.Degraded, "\n"), "run state") {
			t.Errorf("%s: exit %d: %+v", name, code, o)
		}
		if out, talk, code := outputs(t, home, "status"); code != words.ExitFailed || !strings.Contains(string(out), "degraded ") || !strings.Contains(string(out), "sessions ") {
			t.Errorf("%s: exit %d: %s%s", name, code, out, talk)
		}
	}
	for _, tt := range badRunFiles {
		must(t, os.RemoveAll(file))
		must(t, tt.put(file))
		check(tt.name, false, 0)
	}
	must(t, os.RemoveAll(file))
	c := spawn(t, home, "run")
	testkit.Eventually(t, "the daemon watches", func() bool { return c.running(t) && !c.info(t).LastPass.IsZero() })
	sound := read(t, file)
	c.signal(t, syscall.SIGSTOP) // otherwise it would overwrite the file
	for _, tt := range badRunFiles {
		must(t, os.RemoveAll(file))
		must(t, tt.put(file))
		check(tt.name+", while a daemon runs", true, c.Process.Pid)
	}
	must(t, os.RemoveAll(file)) // the run.json of an ended daemon
	put(t, file, strings.Replace(string(sound), fmt.Sprint(c.Process.Pid), "999999", 1))
	check("of another daemon", true, c.Process.Pid)
	c.signal(t, syscall.SIGCONT)
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 20*time.Second)
}
