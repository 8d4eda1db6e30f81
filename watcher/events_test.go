package watcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// realRun watches dir with the system's own events. The scan comes once only, so what is offered later is due to
// events (or to an overflow, which is healed by a scan).
func realRun(t *testing.T, dir string, consume func(o Offer) bool) *Watcher {
	t.Helper()
	w := New(Options{
		Roots: []Root{{"agent", dir}}, Match: match,
		Settle: 20 * time.Millisecond, MaxWait: 200 * time.Millisecond, RefreshIdle: time.Hour, ScanInterval: time.Hour,
	})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for o := range w.Run(ctx) {
		if !consume(o) {
			return w
		}
	}
	t.Fatal("not everything was offered")
	return nil
}

// A file that is written at once into a new directory: its own event may come before the directory is watched.
func TestNewDirectoryRace(t *testing.T) {
	dir := t.TempDir()
	overwrite(t, filepath.Join(dir, "first.jsonl"), "")
	const rounds = 100
	n := 0
	next := func() {
		sub := filepath.Join(dir, fmt.Sprint(n), "deep", "er")
		must(t, os.MkdirAll(sub, 0o700))
		overwrite(t, filepath.Join(sub, "a.jsonl"), "x\n")
	}
	realRun(t, dir, func(o Offer) bool {
		if o.Path != filepath.Join(dir, "first.jsonl") && o.Path != filepath.Join(dir, fmt.Sprint(n), "deep", "er", "a.jsonl") {
			return true
		}
		if n++; n > rounds {
			return false
		}
		next()
		return true
	})
}

// While the consumer is busy thousands of files appear and change. All of them are offered, once it looks again.
func TestBusyConsumerLosesNothing(t *testing.T) {
	dir := t.TempDir()
	overwrite(t, filepath.Join(dir, "first.jsonl"), "")
	const dirs, files = 40, 100
	missing := map[string]bool{}
	w := realRun(t, dir, func(o Offer) bool {
		if len(missing) > 0 {
			delete(missing, o.Path)
			return len(missing) > 0
		}
		for d := range dirs {
			must(t, os.Mkdir(filepath.Join(dir, fmt.Sprint(d)), 0o700))
		}
		for f := range files {
			for d := range dirs {
				path := filepath.Join(dir, fmt.Sprint(d), fmt.Sprint(f, ".jsonl"))
				overwrite(t, path, "x\n")
				missing[path] = true
			}
		}
		return true
	})
	t.Logf("%d files, %d overflows", dirs*files, w.Health().Overflows)
}

// A directory that is renamed is watched under its new name.
func TestRenamedDirectoryIsWatchedOn(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "old", "sub"), 0o700))
	overwrite(t, filepath.Join(dir, "old", "sub", "a.jsonl"), "x\n")
	moved := filepath.Join(dir, "new", "sub", "a.jsonl")
	step := 0
	realRun(t, dir, func(o Offer) bool {
		switch {
		case step == 0:
			must(t, os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "new")))
			step++
		case step == 1 && o.Path == moved:
			appendTo(t, moved, "y\n")
			step++
		case step == 2 && o.Path == moved:
			return false
		}
		return true
	})
}

func TestBatch(t *testing.T) {
	now := time.Now()
	var b batch
	b.add(fsnotify.Event{Name: "a", Op: fsnotify.Chmod}, now)
	if !b.empty() {
		t.Error("a change of mode is a hint")
	}
	b.add(fsnotify.Event{Name: "a", Op: fsnotify.Create}, now)
	b.add(fsnotify.Event{Name: "a", Op: fsnotify.Write}, now.Add(time.Second))
	b.add(fsnotify.Event{Name: "a", Op: fsnotify.Rename}, now.Add(2*time.Second))
	if h := b.hints["a"]; len(b.hints) != 1 || h != (hint{now, now.Add(2 * time.Second), true, true}) {
		t.Errorf("hints = %+v", b.hints)
	}
	for i := range maxHints + 10 {
		b.add(fsnotify.Event{Name: fmt.Sprint(i), Op: fsnotify.Write}, now)
	}
	if !b.lost || len(b.hints) > maxHints {
		t.Errorf("lost %v, %d hints", b.lost, len(b.hints))
	}
	b = batch{}
	b.setError(errors.New("bad"))
	if b.lost || b.broken == nil {
		t.Errorf("batch = %+v", b)
	}
}

func TestScanOnce(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	must(t, os.MkdirAll(filepath.Join(dir, "p", "q"), 0o700))
	for _, name := range []string{"old.jsonl", "p/new.jsonl", "p/q/other.txt"} {
		overwrite(t, filepath.Join(dir, name), "12345")
	}
	must(t, os.Chtimes(filepath.Join(dir, "old.jsonl"), old, old))
	file := filepath.Join(dir, "p", "new.jsonl")
	o := Options{Roots: []Root{{"a", dir}, {"b", filepath.Join(dir, "absent")}, {"c", file}}, Match: match}
	found, errs := Scan(context.Background(), o)
	if len(found) != 2 || found[0].Path != file || found[0].Size != 5 || found[0].Root.Agent != "a" {
		t.Errorf("found = %+v", found)
	}
	if len(errs) != 1 || errs[0].Error() != "scan "+file+": not a directory" {
		t.Errorf("errs = %v", errs)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, errs := Scan(ctx, o); len(errs) == 0 || !errors.Is(errs[len(errs)-1], context.Canceled) {
		t.Errorf("errs = %v", errs)
	}
}

func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	const dirs, files = 50, 100
	for d := range dirs {
		sub := filepath.Join(dir, fmt.Sprint(d))
		must(b, os.Mkdir(sub, 0o700))
		for f := range files {
			overwrite(b, filepath.Join(sub, fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", f)), "x\n")
		}
	}
	o := New(Options{Roots: []Root{{"agent", dir}}, Match: match}).o
	l := newLoop(&Watcher{o: o})
	l.tree.resolve()
	b.ReportAllocs()
	for b.Loop() {
		l.tree.scan(context.Background(), 0, dir, true)
		l.unqueued = nil
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*dirs*files), "ns/file")
}
