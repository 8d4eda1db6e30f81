package reader

import (
	"context"
	"errors"
	"testing"
	"time"

	"ccd/daemon"
	"ccd/internal/transcript"
)

// TestNoTextAfterTheDeadline: a hook that is late reads nothing more.
func TestNoTextAfterTheDeadline(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	texts, done := within(ctx, textPart)
	defer done()
	if _, err := (&daemon.Transcript{}).Text(texts)(transcript.Span{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
