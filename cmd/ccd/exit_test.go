package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/cli"
)

// TestLongError: an error that quotes a long argument is cut in its middle.
func TestLongError(t *testing.T) {
	var b bytes.Buffer
	cli.Report(&b, fmt.Errorf("tag %q: too long", strings.Repeat("x", 5000)), false)
	if b.Len() > 2000 || !strings.HasPrefix(b.String(), `ccd: tag "xxx`) || !strings.HasSuffix(b.String(), "xxx\": too long\n") {
		t.Errorf("%d bytes: %.80s", b.Len(), b.String())
	}
}
