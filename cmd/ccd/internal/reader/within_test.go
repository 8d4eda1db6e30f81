package reader

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/compactor"
	"ccd/daemon"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestTornLineIsSkipped: an incomplete last line is no record yet, but a complete one without newline is.
func TestTornLineIsSkipped(t *testing.T) {
	a, err := archive.Open(filepath.Join(t.TempDir(), "archive"), archive.Options{})
	testkit.Must(t, err)
	l := &Library{Place: &account.Place{Archive: a}}
	root := t.TempDir()
	path := filepath.Join(root, "-work", "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl")
	line := `{"type":"user","uuid":"u","timestamp":"2026-03-01T09:00:00Z","message":{"role":"user","content":"Weigh the parcels."}}` + "\n"
	for cut, want := range map[int]int{0: 2, 1: 2, 40: 1} {
		testkit.Put(t, path, (line + line)[:2*len(line)-cut])
		s, _ := l.Agents.Find("claude-code", root, path)
		f, _, done, err := l.Compactor(t.Context(), s, compactor.Manual{}, nil)
		testkit.Must(t, err)
		done()
		if n := f.Status().Records; n != want {
			t.Errorf("without the last %d bytes: %d records, want %d", cut, n, want)
		}
	}
}

// TestNoTextAfterTheDeadline: a hook that is late reads nothing more.
func TestNoTextAfterTheDeadline(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	texts, done := within(ctx, readPart)
	defer done()
	if _, err := (&daemon.Transcript{}).Text(texts)(transcript.Span{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
