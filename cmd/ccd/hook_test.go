package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdEvent writes what a client tells a hook on stdin: `event FILE TRANSCRIPT [key=value...]`. A value that is JSON is taken
// as that.
func cmdEvent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: event FILE TRANSCRIPT [key=value...]")
	}
	e := map[string]any{
		"session_id": strings.TrimSuffix(filepath.Base(args[1]), ".jsonl"), "transcript_path": ts.MkAbs(args[1]), "cwd": ts.MkAbs("."),
		"permission_mode": "default",
	}
	for _, pair := range args[2:] {
		key, value, _ := strings.Cut(pair, "=")
		if e[key] = value; json.Valid([]byte(value)) {
			e[key] = json.RawMessage(value)
		}
	}
	b, err := json.Marshal(e)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(b, '\n'), 0o600))
}
