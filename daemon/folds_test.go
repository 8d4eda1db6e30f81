package daemon

import (
	"context"
	"fmt"
	"strings"
	"testing"

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

// TestSpansAreKept: what the last companion showed is not read again for the next one, which is that of one pass all
// the same; and so it is after the transcript was replaced by another one of the same length.
func TestSpansAreKept(t *testing.T) {
	h := newHouse(t)
	h.o.Compaction.MaxTokens = 8000
	d := h.daemon()
	text := turns(0, 12)
	h.write(h.path(1), text)
	s := h.grown(d, h.path(1))
	made, again, read := s.state.Work.Compactions, 0, 0
	for n := 12; n < 60; n++ {
		before := s.spans
		h.append(h.path(1), turn(n))
		text += turn(n)
		s = h.grown(d, h.path(1))
		if s.state.Work.Compactions == made {
			continue
		}
		made++
		h.samePass(h.path(1), text)
		for span, b := range s.spans.bytes {
			if old := before.bytes[span]; len(b) > 0 && len(old) > 0 && &b[0] == &old[0] {
				again++
			} else {
				read++
			}
		}
	}
	if made < 5 || again <= read {
		t.Errorf("%d companions: %d spans were kept, %d read", made, again, read)
	}
	if s.state.Covers == s.state.At {
		t.Error("nothing was left for the companion at rest: this test cannot fail")
	}
	h.rest(d, h.path(1))
	h.samePass(h.path(1), text)

	other := strings.ReplaceAll(text, "balance", "BALANCE")
	h.write(h.path(1), other)
	h.grown(d, h.path(1))
	h.samePass(h.path(1), other)
}

// TestSpansAreBounded: of long texts only so many bytes are kept, and those of all sessions count among the folds.
func TestSpansAreBounded(t *testing.T) {
	h := newHouse(t)
	var long strings.Builder
	for n := range 12 {
		output := strings.Repeat(fmt.Sprintf(`error: row %d is wrong\n`, n), 10000)
		long.WriteString(strings.Replace(turn(n), `"content":"row 0`, `"content":"`+output+`row 0`, 1))
	}
	h.write(h.path(1), long.String())
	h.write(h.path(2), turns(0, 12))
	d := h.daemon()
	s := h.grown(d, h.path(1))
	var asked int64
	_, err := s.compactor.Compaction(func(span transcript.Span) ([]byte, error) {
		asked += span.Len
		return d.Archive.Reader(s.Key, 0).Span(context.Background(), span)
	})
	if err != nil || asked <= maxSpans {
		t.Fatalf("%d bytes were asked for, %v: this test cannot fail", asked, err)
	}
	var kept int64
	for _, b := range s.spans.bytes {
		kept += int64(len(b))
	}
	if kept == 0 || kept > s.spans.size || s.spans.size > maxSpans {
		t.Errorf("%d bytes are kept, %d counted, of %d asked for", kept, s.spans.size, asked)
	}
	h.samePass(h.path(1), long.String())

	if rows := s.compactor.Size() + s.decoder.Kept(); s.size() != rows+s.spans.size {
		t.Errorf("the fold takes %d bytes, its rows %d, its spans %d", s.size(), rows, s.spans.size)
	}
	next := h.grown(d, h.path(2))
	d.folds.use(next, s.size()+next.size()) // room for both
	if s.spans.size == 0 {
		t.Error("the spans went although there was room")
	}
	d.folds.use(next, s.size()+next.size()-1)
	if s.folded || s.spans.size > 0 || s.spans.bytes != nil {
		t.Errorf("beyond the bound %d bytes of spans are still kept", s.spans.size)
	}
	if next.spans.size == 0 {
		t.Error("those of the session in use went too")
	}
}
