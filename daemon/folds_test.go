package daemon

import (
	"context"
	"testing"

	"ccd/watcher"
)

// grown syncs a session that is still written to.
func (h *house) grown(d *Daemon, path string) *session {
	h.t.Helper()
	o := watcher.Offer{Path: path, Root: d.Watch.Roots[0], Quiet: h.o.Watch.Settle}
	if err := d.sync(context.Background(), o); err != nil {
		h.t.Fatal(err)
	}
	return d.sessions[d.owners[path]]
}

// TestModelsAreBounded: beyond the bound the model that was used least recently goes.
func TestModelsAreBounded(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 60))
	h.write(h.path(2), turns(0, 12))
	d := h.daemon()
	s, next := h.grown(d, h.path(1)), h.grown(d, h.path(2))
	d.folds.use(next, s.size()+next.size()) // room for both
	if !s.folded {
		t.Error("the model went although there was room")
	}
	d.folds.use(next, s.size()+next.size()-1)
	if s.folded || s.compactor != nil {
		t.Error("beyond the bound the model is still there")
	}
	if next.compactor == nil {
		t.Error("the one in use went too")
	}
}
