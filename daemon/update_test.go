package daemon

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestUpdateArchivesAndWritesNothingElse: what is new is archived, no companion appears, and the pass that comes later
// still writes the one that is due.
func TestUpdateArchivesAndWritesNothingElse(t *testing.T) {
	h := newHouse(t)
	path := h.path(1)
	line := func(n, text string) string {
		return `{"type":"user","uuid":"` + n + `","timestamp":"2026-01-15T09:00:00.000Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	h.write(path, line("u1", "Begin"))
	h.once()
	more := line("u2", strings.Repeat("The ledger is long. ", 1000)) + line("u3", "Go on")
	h.append(path, more)
	d := h.daemon()
	s, ok := d.SessionAt(t.Context(), path)
	if !ok {
		t.Fatal("not known")
	}
	testkit.Must(t, d.Update(context.Background(), s.Key))
	if got := h.restore(s.Key); got != line("u1", "Begin")+more {
		t.Errorf("the archive has %d bytes", len(got))
	}
	companion := strings.TrimSuffix(path, ".jsonl") + ".ccd.md"
	if _, err := os.Stat(companion); err == nil {
		t.Error("a companion was written")
	}
	h.once()
	if _, err := os.Stat(companion); err != nil {
		t.Errorf("the companion that was due is not there: %v", err)
	}
	if err := d.Update(context.Background(), transcript.Key{Agent: "codex", ID: "x"}); !errors.Is(err, ErrUnknownSession) {
		t.Errorf("of an unknown session: got %v, want ErrUnknown", err)
	}
}
