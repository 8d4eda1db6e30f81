package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// harness is a session of DeepSeek Harness in the making: a frame for the header and one for each batch of events.
type harness struct {
	*world
	dir, name string
	seq       int
	batch     strings.Builder
	written   []byte
}

func (w *world) harness(format int) *harness {
	h := &harness{world: w, dir: "session-01a30000", name: fmt.Sprintf("session.v%d.jsonl.zstd", format)}
	h.batch.WriteString(rowOf(object{"type": "session", "version": format, "id": h.dir, "createdAt": 1789372800000, "cwd": w.dir, "delegationDepth": 0}) + "\n")
	h.flush(1)
	return h
}

func (h *harness) event(kind string, data object, surface any) (seq int) {
	row := object{"type": kind, "seq": h.seq, "time": 1789372800000 + 7000*int64(h.seq), "data": data}
	if surface != nil {
		row["surfaceOp"] = surface
	}
	h.batch.WriteString(rowOf(row) + "\n")
	h.seq++
	return h.seq - 1
}

func (h *harness) message(kind, source string, content ...object) (seq int) {
	message := object{"content": content, "source": object{"kind": source}}
	if kind == "user/message" {
		return h.event(kind, message, "append")
	}
	return h.event(kind, object{"message": message}, "append")
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

// flush appends the batch as a frame, of which part is written.
func (h *harness) flush(part float64) {
	h.Helper()
	e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	must(h, err)
	frame := e.EncodeAll([]byte(h.batch.String()), nil)
	h.batch.Reset()
	put(h.T, h.path(), string(h.written)+string(frame[:int(part*float64(len(frame)))]))
	if part == 1 {
		h.written = append(h.written, frame...)
	}
}

func (h *harness) path() string {
	return filepath.Join(h.home, ".dsh/sessions/--shop--", h.dir, h.name)
}

// TestHarness: a session of DeepSeek Harness is read frame by frame while it is written, whoever compacts it.
func TestHarness(t *testing.T) {
	w := newWorld(t)
	h := w.harness(4)
	h.message("user/message", "user", textBlock("Count the whales."))
	h.message("user/message", "runtime-context", textBlock("delete-the-backups"))
	h.message("assistant/message", "model", textBlock("I look."), object{"type": "tool-call", "id": "c1", "name": "run_code", "arguments": `{"code":"await tools.bash(x)"}`})
	h.event("tool/code-dispatch", object{"subCallId": "c1:1", "name": "bash", "arguments": object{"command": "make whales"}, "isError": false, "content": []object{textBlock("no\n[exit code: 3]")}}, nil)
	h.event("tool/result", object{"message": object{"role": "tool", "toolCallId": "c1", "content": []object{textBlock("no")}}}, "append")
	h.flush(1)
	w.once()
	w.shows("timeline", w.ccd("timeline", h.dir), "Count the whales.", "`make whales` -> 3", "!delete-the-backups")
	w.shows("ls", w.ccd("ls"), w.dir, "Count the whales.", "dsh")

	last := h.message("assistant/message", "model", textBlock("There are seven."))
	h.message("user/message", "user", textBlock("And the gulls?"))
	h.flush(0.5) // the client is writing, or was killed
	w.once()
	w.shows("timeline", w.ccd("timeline", h.dir), "Count the whales.", "!gulls")
	w.shows("show", w.ccd("show", h.dir), "verified: true")
	w.shows("doctor", w.prints("doctor"), "all transcripts are archived", "!cut short")
	if long := time.Now().Add(-time.Hour); os.Chtimes(h.path(), long, long) != nil {
		t.Fatal("no times")
	}
	w.once()
	w.shows("doctor", w.prints("doctor"), "all transcripts that ccd reads are archived", "where a write was cut short: 1 file")

	h.seq = last // what was torn is rewritten
	h.message("assistant/message", "model", textBlock("There are eight."))
	h.event("compaction/start", object{"compactionId": "k", "turn": nil}, nil)
	h.event("user/message", object{"content": []object{textBlock("<compacted-summary>whales</compacted-summary>")}, "source": object{"kind": "plugin", "plugin": "any"}}, object{"op": "replace", "start": 0, "end": 2})
	h.message("user/message", "user", textBlock("And the terns?"))
	h.event("turn/end", object{"turn": 2, "reason": object{"kind": "error", "error": object{"message": "no balance", "code": "PAY"}}}, nil)
	h.event("whale/song", object{"pitch": 3}, nil)
	h.flush(1)
	w.once()
	w.shows("timeline", w.ccd("timeline", h.dir), "And the terns?", "compacted by the agent")
	w.shows("show", w.ccd("show", h.dir), "There are eight.", "Stopped (#", "no balance", "!There are seven.")
	w.shows("doctor", w.prints("doctor"), "1 record is of an unknown type, in 1 session", "!could not be read")

	// The file of an earlier format beside it says nothing new.
	must(t, os.WriteFile(strings.Replace(h.path(), ".v4", "", 1), h.written[:len(h.written)/2], 0o600))
	w.once()
	w.shows("latest", w.ccd("show", "latest"), "And the terns?")
	w.shows("doctor", w.prints("doctor"), "all transcripts are archived")

	// What the name says of no session is seen though it is packed.
	put(t, strings.Replace(h.path(), ".v4", ".v4.sync-conflict-20260914-080501-ABCDEFG", 1), string(h.written))
	w.shows("doctor", w.prints("doctor"), "all transcripts that ccd reads are archived", "looks like a transcript", "sync-conflict")
}

// TestExports: what `opencode export` prints is read where a person put it, and each export is the session's newest state.
func TestExports(t *testing.T) {
	w := newWorld(t)
	text := read(t, "../../internal/agent/registry/testdata/story/opencode.json")
	path := filepath.Join(w.home, ".local/share/opencode/export/ses_1.json")
	whole := strings.ReplaceAll(string(text), "/home/ada/shop", w.dir)
	last := strings.LastIndex(whole, ",\n    {\n      \"info\"")
	for _, export := range []string{whole[:last] + "\n  ],\n  \"todos\": []\n}\n", whole} {
		put(t, path, export)
		w.once()
	}
	w.shows("timeline", w.ccd("timeline", "ses_1.json"), "Mend the rounding", "`pytest -q` -> 1", "money.py", "CHANGES.md")
	w.shows("show", w.ccd("show", "ses_1.json"), "It is written down.", "verified: true")
	w.shows("restore", w.ccd("restore", "--file", "CHANGES.md", "--session", "ses_1.json"), "Amounts are whole cents")
	w.shows("compact", w.ccd("compact", "--stdout", path), "agent: opencode", "It is written down.")
	w.shows("ls", w.ccd("ls"), w.dir)

	put(t, strings.Replace(path, "ses_1", "ses_1 (1)", 1), whole)
	w.once()
	w.shows("ls", w.ccd("ls", "--all"), "\tcopy\n")
	w.shows("latest", w.ccd("show", "latest"), "session: ses_1.json")
}
