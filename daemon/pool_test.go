package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// old writes a transcript that no one has changed for a day.
func (h *house) old(path, text string) {
	h.t.Helper()
	h.write(path, text)
	at := time.Now().Add(-24 * time.Hour)
	testkit.Must(h.t, os.Chtimes(path, at, at))
}

// Under `ccd run`, too, everything is archived before the first companion of an old session is made.
func TestACatchUpArchivesFirst(t *testing.T) {
	for _, workers := range testkit.Sample(t, []int{1, 2}, 1) {
		h := newHouse(t)
		texts, size := map[string]string{}, int64(0)
		for n := range 130 { // more than a daemon collects
			texts[h.path(n)] = turn(n)[:strings.Index(turn(n), "\n")+1]
			if n%10 == 0 {
				texts[h.path(n)] = turns(n, n+8)
			}
			h.old(h.path(n), texts[h.path(n)])
			size += int64(len(texts[h.path(n)]))
		}
		var made, early atomic.Int64
		var told atomic.Bool
		h.slots, h.o.Watch.ScanInterval = workers, time.Hour
		h.o.Published = func(transcript.Session, State) {
			if made.Add(1) == 1 {
				early.Store(size)
				stored, _ := h.o.Archive.Sessions(context.Background())
				for _, s := range stored {
					early.Add(-s.Tip().Offset)
				}
				info, _, err := ReadRun(h.o.StateDir)
				told.Store(err == nil && info.CatchUp != nil && info.CatchUp.Bytes == size)
			}
		}
		stop := h.running()
		testkit.Eventually(t, "all companions", func() bool { return made.Load() == 13 })
		testkit.Eventually(t, "run.json says that it ended", func() bool {
			info, _, err := ReadRun(h.o.StateDir)
			return err == nil && info.CatchUp == nil
		})
		if err := stop(); !errors.Is(err, context.Canceled) || !told.Load() {
			t.Errorf("%d workers: error %v, written to run.json: %v", workers, err, told.Load())
		}
		if n := early.Load(); n > 0 {
			t.Errorf("%d workers: %d bytes were not archived when the first companion was made", workers, n)
		}
	}
}

// A session that is rewritten in place after a catch-up has archived it, and before its companion is made, is archived again: by this
// daemon, or by the next one if this one ends.
func TestRewrittenWithinACatchUp(t *testing.T) {
	for _, ends := range []bool{false, true} {
		h := newHouse(t)
		h.slots = 1
		texts := map[string]string{}
		for n := range 8 {
			texts[h.path(n)] = turns(n, n+8)
			h.old(h.path(n), texts[h.path(n)])
		}
		rewritten, goOn := make(chan struct{}), make(chan struct{})
		var once sync.Once
		h.o.Published = func(s transcript.Session, _ State) {
			once.Do(func() {
				for path, text := range texts {
					if path != s.Path {
						texts[path] = strings.Replace(text, "balance", "BALANCE", 50)
						h.write(path, texts[path])
					}
				}
				close(rewritten)
				<-goOn
			})
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		d := h.daemon()
		go func() { ended <- d.Run(ctx) }()
		<-rewritten
		if ends {
			end()
		}
		close(goOn)
		if ends {
			<-ended
			h.running()
		}
		testkit.Eventually(t, "all as they are now", func() bool {
			for path, text := range texts {
				if h.restore(key(path)) != text {
					return false
				}
			}
			return true
		})
		if end(); !ends {
			<-ended
		}
	}
}

// everything is what a pass leaves: the sessions with their bytes, and the companions by the place of their transcript.
func (h *house) everything() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	stored, err := h.o.Archive.Sessions(context.Background())
	testkit.Must(h.t, err)
	for _, s := range stored {
		rel, err := filepath.Rel(h.home, s.Path)
		testkit.Must(h.t, err)
		all[s.Agent+" "+s.ID+" "+rel] = h.restore(s.Key)
		state, err := DecodeState(s.State)
		testkit.Must(h.t, err)
		if b, err := os.ReadFile(state.Companion); err == nil {
			all["companion of "+rel] = string(b)
		}
	}
	return all
}

// Two workers leave what one leaves, also of two files that claim one ID, of compressed ones, and of sub-agents.
func TestTwoWorkersDoWhatOneDoes(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	testkit.Must(t, err)
	pass := func(workers int) map[string]string {
		h := newHouse(t)
		h.slots = workers
		for n := range 12 {
			if n%2 == 0 {
				h.old(h.path(n), turns(n, n+1+n%9))
			} else {
				h.old(h.path(n)+".zst", string(enc.EncodeAll([]byte(turns(n, n+1+n%9)), nil)))
			}
			twin := filepath.Join(h.home, ".claude", "projects", "-copy", filepath.Base(h.path(n)))
			if n%3 == 0 {
				h.old(twin, turns(n, n+7))
			}
			h.old(filepath.Join(strings.TrimSuffix(h.path(n), ".jsonl"), "subagents", fmt.Sprintf("agent-%08x.jsonl", n)), turns(90, 92+n%5))
		}
		h.once()
		return h.everything()
	}
	one, two := pass(1), pass(2)
	if len(one) < 40 || !maps.Equal(one, two) {
		t.Errorf("one worker leaves %d things, two %d", len(one), len(two))
		for what, text := range one {
			if two[what] != text {
				t.Errorf("%s differs: %d bytes, %d", what, len(text), len(two[what]))
			}
		}
	}
}
