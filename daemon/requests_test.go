package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// ask asks the running daemon, with a limit of wait.
func (h *house) ask(path string, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	return Ask(ctx, h.o.StateDir, path)
}

// served returns whether requests are served.
func (h *house) served() bool {
	_, err := os.Lstat(RequestDir(h.o.StateDir))
	return err == nil
}

// TestAskRefreshes: who asks the daemon gets the companion of all bytes long before it would be due, although no trigger
// fired.
func TestAskRefreshes(t *testing.T) {
	h := newHouse(t)
	h.o.Watch.Settle, h.o.Watch.MaxWait, h.o.Watch.RefreshIdle, h.o.Watch.ScanInterval = time.Hour, time.Hour, 2*time.Hour, time.Hour
	h.o.Compaction.Threshold = 1 << 40
	text := turns(0, 12)
	h.write(h.path(1), text)
	if err := h.ask(h.path(1), time.Minute); !errors.Is(err, ErrNotServed) {
		t.Errorf("without a daemon: %v", err)
	}
	stop := h.running()
	eventually(t, "requests are served", h.served)
	eventually(t, "the session is known", func() bool { return h.ask(h.path(1), time.Second) == nil })
	for n := 12; n < 16; n++ {
		h.append(h.path(1), turn(n))
		if h.covers(h.path(1))() {
			t.Fatal("the companion is not behind: this test cannot fail")
		}
		if err := h.ask(h.path(1), time.Minute); err != nil || !h.covers(h.path(1))() {
			t.Errorf("after turn %d: %v, up to date %v", n, err, h.covers(h.path(1))())
		}
	}
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if h.served() {
		t.Error("the ended daemon leaves its directory behind")
	}
}

// TestBadRequests: what is no request, or names no session, changes nothing, and the daemon goes on.
func TestBadRequests(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 12))
	h.running()
	eventually(t, "requests are served", h.served)
	dir := RequestDir(h.o.StateDir)
	secret := filepath.Join(h.home, "notes")
	h.write(secret, "mine\n")
	if err := os.Symlink(secret, filepath.Join(dir, "link.path")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	h.write(filepath.Join(dir, "long.path"), "/"+string(make([]byte, 2*maxRequest)))
	h.write(filepath.Join(dir, "relative.path"), "../notes")
	h.write(filepath.Join(dir, "empty.path"), "")
	if err := os.Mkdir(filepath.Join(dir, "directory.path"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.ask(secret, 100*time.Millisecond); !errors.Is(err, ErrNotServed) {
		t.Errorf("a file that is no session: %v", err)
	}
	for n := range 2 * maxRequests {
		h.write(filepath.Join(dir, fmt.Sprint("many", n, requestSuffix)), h.path(1000+n))
	}
	eventually(t, "a real request is served", func() bool { return h.ask(h.path(1), time.Second) == nil && h.covers(h.path(1))() })
	if b, err := os.ReadFile(secret); err != nil || string(b) != "mine\n" {
		t.Errorf("the user's file is %q, %v", b, err)
	}
}
