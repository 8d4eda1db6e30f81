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

// TestExportOfEmptyRecords: records without an entry are read once, not again for each of them.
func TestExportOfEmptyRecords(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home, "USERPROFILE=" + home}
	put(t, transcriptPath(home, 1), string(line("user", "please do it", 0))+strings.Repeat("{}\n", 8000)+string(line("user", "the last request", 1)))
	doneIn(t, env, "run", "--once", "-q")
	done := make(chan string, 1)
	go func() {
		out, _ := inProcess(t, env, "export", id(transcriptPath(home, 1)))
		done <- string(out)
	}()
	select { // a second of work; each record read for each other one takes minutes
	case out := <-done:
		if !strings.Contains(out, "the last request") {
			t.Error("the file lacks what follows the empty records")
		}
	case <-time.After(time.Minute):
		t.Fatal("no end")
	}
}

// Many blocks or rows of one message take no time that grows with their square.
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
}
