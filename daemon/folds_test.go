package daemon

import (
	"context"
	"testing"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
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
	h.o.Compaction.MaxTokens = 8000
	d := h.daemon()
	text := turns(0, 12)
	h.write(h.path(1), text)
	s := h.grown(d, h.path(1))
	made := s.state.Work.Compactions
	for n := 12; n < 41; n++ {
		h.append(h.path(1), turn(n))
		text += turn(n)
		if s = h.grown(d, h.path(1)); s.state.Work.Compactions > made {
			made++
			h.samePass(h.path(1), text)
		}
	}
	if made < 2 {
		t.Errorf("%d companions", made)
	}
	if s.state.Covers == s.state.At {
		t.Error("nothing was left for the companion at rest: this test cannot fail")
	}
	again := h.asked(s)
	fresh := h.daemon()
	other := fresh.sessions[s.Key]
	if err := fresh.fold(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	if all := h.asked(other); again*4 > all || all == 0 {
		t.Errorf("after a companion and two turns another one reads %d bytes, without a companion %d", again, all)
	}
	h.rest(d, h.path(1))
	h.samePass(h.path(1), text)

	replaced := strings.ReplaceAll(text, "balance", "BALANCE")
	h.write(h.path(1), replaced)
	h.grown(d, h.path(1))
	h.samePass(h.path(1), replaced)
}

// TestReadItemsAreBounded: of long texts only so many bytes are kept, and those of all sessions count among the folds.
func TestReadItemsAreBounded(t *testing.T) {
	testkit.Long(t, "what is kept of a session with long texts stays within its bound")
	const most = 4 << 20
	h := newHouse(t)
	var long strings.Builder
	for n := range 24 {
		output := strings.Repeat(fmt.Sprintf(`error: row %d is wrong\n`, n), 10000)
		long.WriteString(strings.Replace(turn(n), `"content":"row 0`, `"content":"`+output+`row 0`, 1))
	}
	h.write(h.path(1), long.String())
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
