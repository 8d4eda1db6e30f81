package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"ccd/internal/transcript"
)

// cmdEvent writes an event for a hook: `event FILE TRANSCRIPT [key=value...]`. A value may be JSON. lines=N is an
// output of N lines, which is also written to FILE.out.
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
		if key == "lines" {
			n, err := strconv.Atoi(value)
			ts.Check(err)
			var out strings.Builder
			for i := range n {
				fmt.Fprintf(&out, "%d of the build\n", i)
			}
			out.WriteString("FATAL: disk full\n")
			ts.Check(os.WriteFile(ts.MkAbs(args[0]+".out"), []byte(out.String()), 0o600))
			e["tool_name"], e["tool_input"] = "Bash", map[string]string{"command": "make"}
			e["content"] = out.String()
			continue
		}
		if e[key] = value; json.Valid([]byte(value)) {
			e[key] = json.RawMessage(value)
		}
	}
	b, err := json.Marshal(e)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(b, '\n'), 0o600))
}

// cmdDemoted appends the records that Claude Code writes when ccd replaced an output, and sets $ID to the original's
// ID: `demoted ANSWER TRANSCRIPT`.
func cmdDemoted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: demoted ANSWER TRANSCRIPT")
	}
	var answer struct{ Content string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &answer))
	preview := answer.Content
	ts.Setenv("ID", string(transcript.Demoted(preview)))
	session := strings.TrimSuffix(filepath.Base(args[1]), ".jsonl")
	f, err := os.OpenFile(ts.MkAbs(args[1]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	common := map[string]any{"sessionId": session, "cwd": "/home/you/ledger", "timestamp": "2026-03-02T10:00:00Z", "isSidechain": false}
	w := json.NewEncoder(f)
	line := func(kind, uuid string, message map[string]any) {
		l := map[string]any{"type": kind, "uuid": uuid, "message": message}
		maps.Copy(l, common)
		ts.Check(w.Encode(l))
	}
	line("assistant", "d1", map[string]any{"id": "msg_d", "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{
		map[string]any{"type": "tool_use", "id": "toolu_d", "name": "Bash", "input": map[string]any{"command": "make"}},
	}})
	line("user", "d2", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": "toolu_d", "content": preview},
	}})
	ts.Check(f.Close())
}
