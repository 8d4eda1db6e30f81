//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ccd/internal/words"
)

// manyBlocks is how many blocks or rows one message has here. Work that grows with their square took 20 to 180 s.
const manyBlocks = 40_000

// message returns a transcript with one reply of many blocks, in one record or in many, and the rows that a client makes of it.
func claudeMessage(kind string, records bool) (transcript []byte, rows []map[string]any) {
	var b bytes.Buffer
	line := func(typ string, message any) {
		text, _ := json.Marshal(map[string]any{"type": typ, "uuid": fmt.Sprint("u", b.Len()), "timestamp": "2026-03-01T09:00:00.000Z", "sessionId": hooked, "cwd": "/w", "message": message})
		b.Write(append(text, '\n'))
	}
	line("user", map[string]any{"role": "user", "content": "Weigh the parcels."})
	rows = append(rows, map[string]any{"role": "user", "text": "Weigh the parcels.", "toolUses": []any{}})
	var blocks []any
	for i := range manyBlocks {
		text := fmt.Sprintf("parcel %d of the reply", i)
		rows = append(rows, map[string]any{"role": "assistant", "text": text, "toolUses": []any{}})
		if blocks = append(blocks, map[string]any{"type": kind, kind: text, "signature": "s"}); records {
			line("assistant", map[string]any{"id": "m", "role": "assistant", "model": "claude-demo", "content": blocks})
			blocks = nil
		}
	}
	if !records {
		line("assistant", map[string]any{"id": "m", "role": "assistant", "model": "claude-demo", "content": blocks})
	}
	return b.Bytes(), rows
}

// Many blocks or rows of one message, and the deepest configuration, take no time that grows with their square.
func TestManyBlocksCostNoSquare(t *testing.T) {
	const most = 10 * time.Second // a twentieth of it is used
	took := func(what string, do func()) {
		begun := time.Now()
		if do(); time.Since(begun) > most {
			t.Errorf("%s takes %v", what, time.Since(begun))
		}
	}
	for _, c := range []struct {
		kind    string
		records bool
	}{{"text", false}, {"text", true}, {"thinking", false}} {
		data, rows := claudeMessage(c.kind, c.records)
		p := newHookPlace(t, data)
		p.ccd(words.ExitDone, "", "run", "--once")
		took("resume, "+c.kind, func() { p.ccd(words.ExitDone, "", "resume", "--dry-run", hooked) })
		if c.kind == "thinking" {
			continue
		}
		event, err := json.Marshal(map[string]any{"session_id": hooked, "transcript_path": p.path, "cwd": "/w", "source": "manual", "messages": rows})
		must(t, err)
		took("a compaction", func() {
			if out := p.ccd(words.ExitDone, string(event), "hook", "SessionCompact", "--agent", "claude-code", "--within", "1m"); out == "" {
				t.Error("the compaction has no answer: the test sees nothing")
			}
		})
	}
	home := t.TempDir()
	for _, before := range []string{"", "\"\\\"\" = 1\n", "x = \"\"\"\n\"\n\"\"\"\n", "x = '''\n" + strings.Repeat("}", 16000) + "\n'''\n"} {
		configure(t, home, before+"y = "+strings.Repeat("{b=", 9000)+"1"+strings.Repeat("}", 9000)+"\n")
		took("a configuration", func() {
			if _, talk, code := outputs(t, home, "config"); code == words.ExitDone || !strings.Contains(talk, "within each other") {
				t.Errorf("exit %d: %s", code, talk)
			}
		})
	}
}
