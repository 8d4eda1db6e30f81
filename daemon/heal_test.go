package daemon

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/testkit"
)

// healing is a house with sessions of all kinds of sizes, and its archive.
type healing struct {
	*house
	texts map[string]string // by path
	good  []byte            // the archive's file
}

func newHealing(t *testing.T) healing {
	h := healing{newHouse(t), map[string]string{}, nil}
	for n, turns := range []int{1, 3, 40, 150} {
		text := ""
		for i := range turns {
			text += fmt.Sprintf(`{"type":"user","uuid":"%d-%d","message":{"role":"user","content":"What is %d? %s"}}`+"\n", n, i, i*n, bytes.Repeat([]byte{'a' + byte(i%26)}, 700))
		}
		if n == 3 { // its companion names an original: there is room for a part of this output
			text += outputs(1, 240)
		}
		h.texts[h.path(n)] = text
		h.write(h.path(n), text)
	}
	h.once()
	h.good = h.archive()
	return h
}

func (h healing) archive() []byte {
	h.t.Helper()
	raw := testkit.Read(h.t, h.o.Archive.Path())
	return raw
}

// put replaces the archive's file, as if ccd started with it.
func (h *healing) put(raw []byte) {
	h.t.Helper()
	path := h.o.Archive.Path()
	old, _ := filepath.Glob(path + ".damaged-*")
	for _, p := range old {
		_ = os.Remove(p)
	}
	testkit.Must(h.t, os.WriteFile(path, raw, 0o600))
	a, err := archive.Open(path, archive.Options{})
	testkit.Must(h.t, err)
	h.o.Archive = a
}

// exact counts the sessions that the archive has exactly. It fails the test where one has other bytes.
func (h healing) exact(what string) (n int) {
	h.t.Helper()
	for path, want := range h.texts {
		var got []byte
		var failed error
		for seg, err := range h.o.Archive.Reader(key(path), 0).Segments(context.Background()) {
			if got = append(got, seg.Data...); err != nil {
				failed = err
			}
		}
		switch {
		case failed == nil && string(got) == want:
			n++
		case failed != nil:
			h.t.Logf("%s: session %s: %.200v", what, key(path).ID, failed)
		case failed == nil && !bytes.HasPrefix([]byte(want), got):
			h.t.Errorf("%s: session %s has %d other bytes", what, key(path).ID, len(got))
		}
	}
	return n
}

// One damage of any kind, anywhere, and the sources at hand: Heal leaves nothing damaged and every session exact, and a
// damaged file is kept. The control: before, some sessions are not exact.
func TestDamageHealsFromTheSources(t *testing.T) {
	h := newHealing(t)
	each := testkit.Cases(t, 1, 8)
	for kind, damage := range testkit.Damages {
		r := rand.New(rand.NewPCG(1, uint64(len(kind))))
		met, rebuilt := 0, 0
		for i := range each {
			what := fmt.Sprint(kind, " ", i)
			raw := damage(r, bytes.Clone(h.good))
			h.put(raw)
			before := h.exact(what)
			h.put(raw)
			d := h.daemon()
			healed, err := d.Heal(t.Context(), nil)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if report, err := h.o.Archive.Verify(t.Context(), nil); err != nil || len(report.Damage)+len(healed.Left) > 0 {
				t.Errorf("%s: damage is left: %v, %v", what, report.Damage, err)
			}
			if n := h.exact(what); n != len(h.texts) {
				t.Errorf("%s: %d of %d sessions are exact, %d before", what, n, len(h.texts), before)
			}
			if before < len(h.texts) {
				met++
			}
			if healed.Aside != "" {
				rebuilt++
				if _, err := os.Stat(healed.Aside); err != nil {
					t.Errorf("%s: the damaged file was not kept: %v", what, err)
				}
			}
		}
		t.Logf("%s: %d of %d damages met a session, %d files rebuilt", kind, met, each, rebuilt)
	}
}

// Without the sources what is intact stays, the rest is listed, and nothing is rebuilt again for it.
func TestDamageWithoutSources(t *testing.T) {
	h := newHealing(t)
	for path := range h.texts {
		testkit.Must(t, os.Remove(path))
	}
	lost, tried, each := 0, 0, testkit.Cases(t, 1, 8)
	for kind, damage := range testkit.Damages {
		r := rand.New(rand.NewPCG(2, uint64(len(kind))))
		for i := 0; i < each || kind == "truncated" && lost == 0 && i < 50; i++ { // a cut may leave what can be salvaged
			tried++
			what := fmt.Sprint(kind, " ", i)
			raw := damage(r, bytes.Clone(h.good))
			h.put(raw)
			before := h.exact(what)
			h.put(raw)
			healed, err := h.daemon().Heal(t.Context(), nil)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			after := h.exact(what)
			if after < before {
				t.Errorf("%s: %d sessions are exact, %d before", what, after, before)
			}
			if after < len(h.texts) {
				lost++
			}
			again, err := h.daemon().Heal(t.Context(), nil)
			if err != nil || again.Aside != "" {
				t.Errorf("%s: healed again: %q, %v; left was %v", what, again.Aside, err, healed.Left)
			}
		}
	}
	if t.Logf("%d damages, %d lost a session", tried, lost); lost == 0 {
		t.Error("nothing was lost: the test sees nothing")
	}
}

// The daemon repairs by itself what it meets: at its start, and when the turn of a session comes.
func TestDaemonHealsDamage(t *testing.T) {
	h := newHealing(t)
	for kind, raw := range map[string][]byte{"truncated": h.good[:len(h.good)/3], "empty": {}, "short": h.good[:3000], "one block": flippedInBlock(h.good)} {
		h.put(raw)
		d := h.daemon()
		for _, s := range d.sessions {
			s.state.Checked = time.Time{}
		}
		if before := h.exact(kind); before == len(h.texts) {
			t.Errorf("%s: the test sees nothing", kind)
		}
		if r, err := d.Once(t.Context(), func(int64, int64) {}); err != nil || len(r.Failed) > 0 {
			t.Errorf("%s: %v, failed: %v", kind, err, r.Failed)
		}
		if n := h.exact(kind); n != len(h.texts) {
			t.Errorf("%s: %d of %d sessions are exact", kind, n, len(h.texts))
		}
		ids := mark.IDs(h.companion(h.path(3)))
		for _, id := range ids {
			if found, err := h.o.Archive.Lookup(t.Context(), mark.ID(id)); err != nil || len(found) == 0 {
				t.Errorf("%s: the index has no ID %s, %v", kind, id, err)
			}
		}
		if len(ids) == 0 {
			t.Errorf("%s: the companion has no IDs: the test sees nothing", kind)
		}
	}
}

// flippedInBlock returns the archive's file with a flipped bit in each block, also in unused pages.
func flippedInBlock(raw []byte) []byte {
	raw = bytes.Clone(raw)
	entry := []byte("\xcc\xcda\x05B")
	for at := 0; bytes.Contains(raw[at:], entry); {
		at += bytes.Index(raw[at:], entry) + len(entry)
		raw[at+50] ^= 1
	}
	return raw
}
