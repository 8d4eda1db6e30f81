package watcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// realRun watches dir with the system's own events. The scan comes once only, so what is offered later is due to
// events (or to an overflow, which is healed by a scan).
func realRun(t *testing.T, dir string, consume func(o Offer) bool) *Watcher {
	t.Helper()
	w := New(Options{
		Roots: []Root{{"agent", dir}}, Match: match,
		Settle: 20 * time.Millisecond, MaxWait: 200 * time.Millisecond, RefreshIdle: time.Hour, ScanInterval: time.Hour,
	})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
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
	testkit.Put(t, filepath.Join(dir, "first.jsonl"), "")
	rounds := testkit.Cases(t, 15, 100)
	n := 0
	next := func() {
		sub := filepath.Join(dir, fmt.Sprint(n), "deep", "er")
		must(t, os.MkdirAll(sub, 0o700))
		testkit.Put(t, filepath.Join(sub, "a.jsonl"), "x\n")
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

// While the consumer is busy hundreds of files (thousands in full) appear and change. All of them are offered, once it looks again.
func TestBusyConsumerLosesNothing(t *testing.T) {
	dir := t.TempDir()
	testkit.Put(t, filepath.Join(dir, "first.jsonl"), "")
	const dirs = 40
	files := testkit.Cases(t, 10, 100)
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
				testkit.Put(t, path, "x\n")
				missing[path] = true
			}
		}
		return true
	})
	t.Logf("%d files, %d overflows", dirs*files, w.Health().Overflows)
}

func TestScanOnce(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"old.jsonl", "p/new.jsonl", "p/q/other.txt"} {
		testkit.Put(t, filepath.Join(dir, name), "12345")
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
