package watcher

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

const s = time.Second

func TestScheduleOfOneChange(t *testing.T) {
	play(t, func(r *rig) {
		r.run()
		r.pass(10 * s)
		r.write("a.jsonl")
		r.pass(11900 * time.Millisecond)
		r.want()
		r.pass(5 * 60 * s)
		r.want("12s a.jsonl live quiet 2s", "40s a.jsonl live quiet 30s")
	})
}

func TestScheduleOfFileThatNeverRests(t *testing.T) {
	play(t, func(r *rig) {
		r.run()
		for i := range 40 { // at 0, 1 ... 39 s
			r.pass(time.Duration(i) * s)
			r.write("a.jsonl")
		}
		r.pass(10 * 60 * s)
		r.want(
			"15s a.jsonl live quiet 0s", // max_wait after the first change
			"30s a.jsonl live quiet 0s", // the change at 15 s came with or just after the offer
			"41s a.jsonl live quiet 2s",
			"1m9s a.jsonl live quiet 30s",
		)
	})
	play(t, func(r *rig) {
		r.o.MaxWait = 0 // the default: what grows is offered each second, and once more when it has settled
		r.run()
		for i := range 3 {
			r.pass(time.Duration(i) * s)
			r.write("a.jsonl")
		}
		r.pass(10 * 60 * s)
		r.want("1s a.jsonl live quiet 0s", "2s a.jsonl live quiet 0s", "3s a.jsonl live quiet 0s", "4s a.jsonl live quiet 2s", "32s a.jsonl live quiet 30s")
	})
}

func TestChangeBeforeTheRefreshMovesIt(t *testing.T) {
	play(t, func(r *rig) {
		r.run()
		r.write("a.jsonl")
		r.pass(20 * s)
		r.write("a.jsonl")
		r.pass(200 * s)
		r.want("2s a.jsonl live quiet 2s", "22s a.jsonl live quiet 2s", "50s a.jsonl live quiet 30s")
	})
}

// Live files first, the one due longest first; then what the scan found, newest first.
func TestOrderAtStart(t *testing.T) {
	play(t, func(r *rig) {
		r.put("old.jsonl", 3*time.Hour)
		r.put("p/older.jsonl", 30*24*time.Hour)
		r.put("p/q/hour.jsonl", time.Hour)
		r.put("ten.jsonl", 10*s)
		r.put("now.jsonl", 0)
		r.put("p/five.jsonl", 5*s)
		r.put("p/notes.md", 0)
		r.run()
		r.want(
			"0s ten.jsonl live quiet 10s",
			"0s p/five.jsonl live quiet 5s",
			"0s p/q/hour.jsonl quiet 1h0m0s",
			"0s old.jsonl quiet 3h0m0s",
			"0s p/older.jsonl quiet 720h0m0s",
		)
		r.pass(200 * s)
		r.want(
			"2s now.jsonl live quiet 2s",
			"20s ten.jsonl live quiet 30s",
			"25s p/five.jsonl live quiet 30s",
			"30s now.jsonl live quiet 30s",
		)
	})
}

// While the consumer is busy with a long list, a live file goes ahead as soon as it is due.
func TestLiveGoesAheadOfTheRest(t *testing.T) {
	play(t, func(r *rig) {
		for i := range 5 {
			r.put(fmt.Sprintf("old%d.jsonl", i), time.Duration(i+1)*time.Hour)
		}
		r.consume = func(o Offer) string {
			if strings.HasSuffix(o.Path, "old0.jsonl") {
				r.put("live.jsonl", 0)
				r.events <- fsnotify.Event{Name: r.path("live.jsonl"), Op: fsnotify.Create}
			}
			<-time.After(s) // between two looks
			return ""
		}
		r.run()
		r.pass(10 * s)
		r.want(
			"0s old0.jsonl quiet 1h0m0s", "1s old1.jsonl quiet 2h0m1s", "2s live.jsonl live quiet 2s",
			"3s old2.jsonl quiet 3h0m3s", "4s old3.jsonl quiet 4h0m4s", "5s old4.jsonl quiet 5h0m5s",
		)
	})
}

func TestGone(t *testing.T) {
	play(t, func(r *rig) {
		for _, name := range []string{"a", "b", "p/c", "p/q/d", "p/q/e", "stays"} {
			r.put(name+".jsonl", time.Hour)
		}
		r.run()
		r.want(
			"0s a.jsonl quiet 1h0m0s", "0s b.jsonl quiet 1h0m0s", "0s stays.jsonl quiet 1h0m0s",
			"0s p/c.jsonl quiet 1h0m0s", "0s p/q/d.jsonl quiet 1h0m0s", "0s p/q/e.jsonl quiet 1h0m0s",
		)
		r.pass(10 * s)
		r.remove("a.jsonl")
		r.pass(15 * s)
		r.want("12s a.jsonl gone")
		r.write("a.jsonl") // it comes back
		r.pass(18 * s)
		r.want("17s a.jsonl live quiet 2s")
	})
}

// What Match refuses never causes an offer, and what is no regular file is counted.
func TestStrangeFiles(t *testing.T) {
	play(t, func(r *rig) {
		r.put("good.jsonl", time.Hour)
		r.put("p/line\nend.jsonl", time.Hour)
		r.put("p\nq/in.jsonl", time.Hour)
		r.put("dir.jsonl/inner.jsonl", 2*time.Hour)
		must(t, os.Symlink(r.path("good.jsonl"), r.path("link.jsonl")))
		must(t, os.Symlink("/", r.path("p/linked")))
		makeFIFO(t, r.path("fifo.jsonl"))
		r.run()
		r.want("0s good.jsonl quiet 1h0m0s", "0s dir.jsonl/inner.jsonl quiet 2h0m0s")
		if h := r.w.Health(); h.Unreadable[r.path("p/line\nend.jsonl")] == "" || h.Unreadable[r.path("p\nq")] == "" {
			t.Errorf("unreadable %q", h.Unreadable)
		}
		r.write("good.ccd.md")
		r.event("fifo.jsonl", fsnotify.Create)
		r.event("link.jsonl", fsnotify.Create)
		r.write("p/line\nend.jsonl")
		must(t, os.Mkdir(r.path("later.jsonl"), 0o700))
		r.event("later.jsonl", fsnotify.Create)
		r.pass(30 * 60 * s)
		r.want()
	})
}

func TestIgnore(t *testing.T) {
	play(t, func(r *rig) {
		r.o.Ignore = []string{"tmp-*", "p/secret/*", "*.part.jsonl"}
		for _, name := range []string{"a", "tmp-1/b", "p/tmp-2", "p/secret/c", "p/d.part", "p/e"} {
			r.put(name+".jsonl", time.Hour)
		}
		r.run()
		r.wantNames("a.jsonl", "p/e.jsonl")
		r.write("p/secret/new.jsonl")
		r.write("tmp-9.jsonl")
		r.write("p/f.jsonl")
		r.pass(3 * s)
		r.wantNames("p/f.jsonl")
	})
}

// One root inside another, one twice by another name, one through a symlink: every file is offered once.
func TestRootsThatOverlap(t *testing.T) {
	play(t, func(r *rig) {
		r.put("inner/b.jsonl", 2*time.Hour)
		r.put("a.jsonl", time.Hour)
		must(t, os.Symlink(r.dir, r.dir+".link"))
		must(t, os.MkdirAll(r.dir+".real/p", 0o700))
		must(t, os.Symlink(r.dir+".real", r.path("linked")))
		r.put("linked/p/c.jsonl", 3*time.Hour)
		r.o.Roots = []Root{{"x", r.dir}, {"y", r.path("inner")}, {"z", r.dir + ".link"}, {"w", r.path("linked") + "/"}}
		r.consume = func(o Offer) string { return o.Root.Agent }
		r.run()
		r.want(
			"0s a.jsonl quiet 1h0m0s", "x", "0s inner/b.jsonl quiet 2h0m0s", "y", "0s linked/p/c.jsonl quiet 3h0m0s", "w",
		)
		r.write("inner/b.jsonl")
		r.pass(3 * s)
		r.want("2s inner/b.jsonl live quiet 2s", "y")
		r.pass(30 * s)
		r.want("30s inner/b.jsonl live quiet 30s", "y")
		r.pass(10 * 60 * s) // further scans
		r.want()
		if h := r.w.Health(); h.Roots[2].Present {
			t.Errorf("health = %+v", h)
		}
	})
}
