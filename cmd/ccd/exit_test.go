package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/cli"
)

// TestReport: an error that quotes a long argument is cut in its middle, and what was told already is not told again.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	cli.Report(&b, fmt.Errorf("tag %q: too long", strings.Repeat("x", 5000)), false)
	if b.Len() > 2000 || !strings.HasPrefix(b.String(), `ccd: tag "xxx`) || !strings.HasSuffix(b.String(), "xxx\": too long\n") {
		t.Errorf("%d bytes: %.80s", b.Len(), b.String())
	}
	b.Reset()
	for _, told := range []error{cli.ErrSaid, cli.ErrDamaged, cli.ErrInterrupted, context.Canceled} {
		if cli.Report(&b, fmt.Errorf("read: %w", told), false); b.Len() > 0 {
			t.Errorf("what was told, or the human did, is an error: %s", b.String())
		}
	}
}
