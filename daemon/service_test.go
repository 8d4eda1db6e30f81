package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"ccd/watcher"
)

// TestManyFailuresAreNoFlood: each is logged once until it is mended, and of very many only the first between two scans.
func TestManyFailuresAreNoFlood(t *testing.T) {
	h := newHouse(t)
	var log bytes.Buffer
	h.o.Log = slog.New(slog.NewTextHandler(&log, nil))
	d := h.daemon()
	d.start(t.Context())
	offer := func(n int) watcher.Offer {
		return watcher.Offer{Path: fmt.Sprintf("/transcripts/%d.jsonl", n), More: true}
	}
	const files = 10000
	for range 3 {
		for n := range files {
			d.report(offer(n), errors.New("no space left on device"))
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != maxLogged+1 {
		t.Errorf("%d lines, want %d", lines, maxLogged+1)
	}
	if info, _, err := ReadRun(h.o.StateDir); err != nil || info.Failing < maxFailures || len(info.Errors) != maxFailures || len(d.health.failing) != files {
		t.Errorf("%d fail, %d are listed, %v", info.Failing, len(info.Errors), err)
	}
	log.Reset()
	d.scanned(watcher.Health{})
	for n := range files {
		d.report(offer(n), errors.New("no space left on device"))
	}
	if log.Len() > 0 {
		t.Errorf("what fails on is logged again: %s", log.String())
	}
	for n := range files {
		d.report(offer(n), nil)
	}
	d.writeRunInfo()
	if info, _, err := ReadRun(h.o.StateDir); err != nil || info.Failing != 0 || len(info.Errors) != 0 {
		t.Errorf("mended, yet %d fail and %d are listed", info.Failing, len(info.Errors))
	}
	d.report(offer(1), errors.New("no space left on device"))
	if strings.Count(log.String(), "\n") != 1 {
		t.Errorf("a new failure is one line: %s", log.String())
	}
}
