package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
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
