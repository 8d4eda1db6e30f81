package watcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Events that never came: the scan finds the change all the same. An overflow makes it come at once, and so does a directory that was
// renamed and removed at once, of which fsnotify cannot end the watch.
func TestLostEvents(t *testing.T) {
	for _, lost := range []error{nil, fsnotify.ErrEventOverflow, syscall.EINVAL} {
		t.Run(fmt.Sprint("told ", lost), func(t *testing.T) {
			play(t, func(r *rig) {
				r.put("known.jsonl", time.Hour)
				r.run()
				r.want("0s known.jsonl quiet 1h0m0s")
				r.pass(10 * s)
				r.put("known.jsonl", 0)
				r.put("new/dir/new.jsonl", 0)
				if lost != nil {
					r.errs <- lost
				}
				r.pass(10*60*s - 1)
				want := []string{"1m0s known.jsonl live quiet 50s", "1m0s new/dir/new.jsonl quiet 50s"}
				if lost != nil {
					want = []string{
						"12s known.jsonl live quiet 2s", "12s new/dir/new.jsonl live quiet 2s",
						"40s known.jsonl live quiet 30s", "40s new/dir/new.jsonl live quiet 30s",
					}
				}
				r.want(want...)
				if h := r.w.Health(); (lost != nil) != (h.Overflows == 1) || h.Roots[0].Polled {
					t.Errorf("health = %+v", h)
				}
			})
		})
	}
}

// A source that breaks is given up: from then on recent files and directories are polled.
func TestBrokenSourceIsReplacedByPolling(t *testing.T) {
	play(t, func(r *rig) {
		r.put("p/a.jsonl", time.Minute)
		r.put("p/ancient.jsonl", 48*time.Hour)
		r.run()
		r.offers = nil
		r.pass(5 * s)
		r.errs <- errors.New("read: bad file descriptor")
		r.pass(7 * s)
		if h := r.w.Health(); !h.Roots[0].Polled || !strings.Contains(h.Roots[0].Why, "bad file descriptor") {
			t.Errorf("health = %+v", h)
		}
		r.put("p/a.jsonl", 0)   // a recent file
		r.put("p/new.jsonl", 0) // a new file in a known directory
		r.put("q/r/b.jsonl", 0) // a new directory
		r.pass(12 * s)
		r.wantNames("p/a.jsonl", "p/new.jsonl", "q/r/b.jsonl")
		r.put("p/ancient.jsonl", 0) // not polled any more: the scan finds it
		r.pass(40 * s)
		r.wantNames("p/a.jsonl", "p/new.jsonl", "q/r/b.jsonl") // the refresh
		r.pass(67 * s)
		r.wantNames("p/ancient.jsonl")
	})
}

// wantNames checks the names of the offers since the last check, in any order.
func (r *rig) wantNames(names ...string) {
	r.t.Helper()
	var got []string
	for _, o := range r.offers {
		got = append(got, strings.Fields(o)[1])
	}
	slices.Sort(got)
	if !slices.Equal(got, names) {
		r.t.Fatalf("at %v offers are %q, want names %q", time.Since(r.start), r.offers, names)
	}
	r.offers = nil
}

func TestRootThatComesLater(t *testing.T) {
	play(t, func(r *rig) {
		home := r.dir
		r.dir = filepath.Join(home, ".agent", "projects")
		r.o.Roots[0].Path = r.dir
		r.run()
		r.pass(5 * s)
		if !r.watched[home] {
			t.Fatalf("watched = %v", r.watched)
		}
		must(t, os.Mkdir(filepath.Join(home, ".agent"), 0o700))
		r.events <- fsnotify.Event{Name: filepath.Join(home, ".agent"), Op: fsnotify.Create}
		r.pass(6 * s)
		if !r.watched[filepath.Join(home, ".agent")] {
			t.Fatalf("watched = %v", r.watched)
		}
		r.put("p/a.jsonl", 0)
		r.events <- fsnotify.Event{Name: r.dir, Op: fsnotify.Create}
		r.pass(20 * s)
		r.want("8s p/a.jsonl live quiet 2s")
		if !r.watched[r.dir] || !r.watched[r.path("p")] {
			t.Fatalf("watched = %v", r.watched)
		}
	})
}

// A root that goes says nothing of its files: it may be a disk that is not mounted.
func TestRootThatGoes(t *testing.T) {
	play(t, func(r *rig) {
		r.dir = r.path("projects")
		r.o.Roots[0].Path = r.dir
		r.put("p/a.jsonl", time.Hour)
		r.run()
		r.offers = nil
		must(t, os.Rename(r.dir, r.dir+".away"))
		r.events <- fsnotify.Event{Name: r.dir, Op: fsnotify.Rename}
		r.pass(200 * s)
		r.want()
		if h := r.w.Health(); h.Roots[0].Present {
			t.Errorf("health = %+v", h)
		}
		must(t, os.Rename(r.dir+".away", r.dir))
		r.pass(300 * s)
		r.want() // nothing has changed
		r.put("p/a.jsonl", 0)
		r.pass(400 * s)
		r.wantNames("p/a.jsonl")
	})
}
