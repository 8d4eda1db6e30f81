package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"ccd/internal/testkit"
	"ccd/watcher"
)

// alive counts the signs that work got on.
func (h *house) alive() *atomic.Int64 {
	var n atomic.Int64
	h.o.Heartbeat = func() { n.Add(1) }
	return &n
}

// TestAliveWhileItWorks: what takes long tells of itself at bounded distances, and nothing does so beside the work.
func TestAliveWhileItWorks(t *testing.T) {
	testkit.Long(t, "work on a long session gives signs all along")
	h := newHouse(t)
	h.write(h.path(1), turns(0, 4000)) // 15 MB: some segments
	h.once()
	n := h.alive()
	d := h.daemon()
	if n.Load() == 0 {
		t.Error("reading what the archive knows gives no sign")
	}
	s := d.sessions[key(h.path(1))]
	before := n.Load()
	if _, err := d.readArchived(context.Background(), s, true); err != nil {
		t.Fatal(err)
	}
	if got := n.Load() - before; got < 3 {
		t.Errorf("reading 15 MB anew gives %d signs", got)
	}
	before = n.Load()
	if _, err := d.publish(context.Background(), s, nil); err != nil {
		t.Fatal(err)
	}
	if got := n.Load() - before; got < 3 {
		t.Errorf("making a companion gives %d signs", got)
	}
	before = n.Load()
	if _, err := d.Plan(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := n.Load() - before; got < 2 {
		t.Errorf("looking at everything gives %d signs", got)
	}
}

// TestManyFailuresAreNoFlood: each is logged once until it is mended, and of very many only the first between two scans.
func TestManyFailuresAreNoFlood(t *testing.T) {
	h := newHouse(t)
	var log bytes.Buffer
	h.o.Log = slog.New(slog.NewTextHandler(&log, nil))
	d := h.daemon()
	release, err := d.start()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
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
