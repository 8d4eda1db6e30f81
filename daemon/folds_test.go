package daemon

import (
	"context"
	"fmt"
	"strings"
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

// asked returns how many bytes another companion of the same fold would read.
func (h *house) asked(s *session) (n int64) {
	h.t.Helper()
	_, err := s.compactor.Compaction(func(span transcript.Span) ([]byte, error) {
		n += span.Len
		return h.o.Archive.Reader(s.Key, 0).Span(context.Background(), span)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// remembered returns the size of what a fold keeps of its last companion.
func (s *session) remembered() int64 { return s.compactor.Size() - s.compactor.Fold.Size() }

// TestReadItemsAreKept: what the last companion showed is not read again for the next one, which is that of one pass all
// the same; and so it is after the transcript was replaced by another one of the same length.
func TestReadItemsAreKept(t *testing.T) {
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
	s := h.grown(d, h.path(1))
	if asked := h.asked(s); asked == 0 {
		t.Fatal("all was kept: this test cannot fail")
	}
	if n := s.remembered(); n == 0 || n > most {
		t.Errorf("%d bytes are kept", n)
	}
	h.samePass(h.path(1), long.String())

	next := h.grown(d, h.path(2))
	if next.remembered() == 0 || s.size() < s.remembered() {
		t.Error("what is kept does not count")
	}
	d.folds.use(next, s.size()+next.size()) // room for both
	if !s.folded {
		t.Error("the fold went although there was room")
	}
	d.folds.use(next, s.size()+next.size()-1)
	if s.folded || s.compactor != nil {
		t.Error("beyond the bound the fold is still there")
	}
	if next.compactor == nil {
		t.Error("the one in use went too")
	}
}
