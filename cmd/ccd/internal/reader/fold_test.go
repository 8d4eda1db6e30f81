package reader

import (
	"errors"
	"testing"
	"time"

	"ccd/internal/transcript"
)

// TestNoTextAfterTheDeadline: a hook that is late reads nothing more.
func TestNoTextAfterTheDeadline(t *testing.T) {
	h := liveFold{begun: time.Now().Add(-time.Minute), deadline: time.Now().Add(-time.Second)}
	if _, err := h.text(t.Context(), transcript.Span{Len: 1}); !errors.Is(err, errLate) {
		t.Error(err)
	}
}
