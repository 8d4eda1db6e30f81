package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
)

// muchTalk is a transcript of long answers, so that a companion has summaries of them.
func muchTalk() []byte {
	var b bytes.Buffer
	for n := range 15 {
		b.Write(line("user", fmt.Sprintf("Go through month %d.", n), n))
		var said bytes.Buffer
		for i := range 20 {
			fmt.Fprintf(&said, "In month %d the account %d was closed %d cents short, so the carry of step %d goes to the next sheet. ", n, n*31+i, 100*n+i, i)
		}
		said.WriteString("It was booked with DB_PASSWORD=" + listPassword + " in the ledger.")
		b.Write(line("assistant", said.String(), n))
	}
	return b.Bytes()
}

func place(ts *testscript.TestScript, name string, data []byte) {
	path := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(os.WriteFile(path, data, 0o600))
}

// line returns a record of Claude Code with a message of turn n.
func line(role, text string, n int) []byte {
	message := map[string]any{"role": role, "content": text}
	if role == "assistant" {
		message = map[string]any{"role": role, "id": fmt.Sprint("m", n), "model": "model-1", "content": []any{map[string]any{"type": "text", "text": text}}}
	}
	b, _ := json.Marshal(map[string]any{
		"type": role, "message": message, "uuid": fmt.Sprint(role, n), "sessionId": "s", "cwd": "/home/you/ledger", "version": "2.1.0",
		"timestamp": time.Date(2026, 3, 1, 9, 40*(n%1000), n/1000, 0, time.UTC),
	})
	return append(b, '\n')
}

// The daemon starts a process only if a command is configured, and never if a summarizer started the daemon.
func TestNoCommandIsRunUnlessConfigured(t *testing.T) {
	home := t.TempDir()
	for _, c := range []struct {
		env  []string
		runs bool
	}{
		{nil, false},
		{[]string{"CCD_SUMMARIZER_TIMEOUT=5s"}, false},
		{[]string{"CCD_SUMMARIZER_COMMAND=short"}, true},
		{[]string{"CCD_SUMMARIZER_COMMAND=short", "CCD_SUMMARIZER=1"}, false},
	} {
		a := newApp(cli.Std{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, account.Env{Vars: append([]string{"HOME=" + home}, c.env...)})
		d, _, err := a.DaemonFor(context.Background(), true)
		must(t, err)
		if got := d.Summarize != nil; got != c.runs {
			t.Errorf("with %q a command may be run: %t", c.env, got)
		}
		if named := d.Compaction.Summarizer != ""; named != (len(c.env) > 0 && c.env[0] == "CCD_SUMMARIZER_COMMAND=short") {
			t.Errorf("with %q the options name %q", c.env, d.Compaction.Summarizer)
		}
	}
}
