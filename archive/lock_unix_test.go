//go:build unix

package archive

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/ownfile"
)

// inView calls fn within a read transaction of a, as another process would be in one.
func inView(t *testing.T, a *Archive, fn func()) {
	t.Helper()
	must(t, a.view(t.Context(), func(*bolt.Tx) error {
		fn()
		return nil
	}))
}

// shortly is longer than a wait without an obstacle, and shorter than one that ends by itself.
func shortly(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

func sharedArchive(t *testing.T) *Archive {
	t.Helper()
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
	must(t, a.Append(t.Context(), session("s"), segment(1, 0, []byte("{}\n"))))
	return a
}

// While a writer waits for a reader that does not come to an end, other readers pass; the writer's wait ends with its
// context, and leaves nothing locked behind.
func TestReadersPassAWriterThatWaits(t *testing.T) {
	t.Parallel()
	a := sharedArchive(t)
	inView(t, a, func() {
		waited := make(chan error)
		ctx := shortly(t)
		go func() { waited <- a.Append(ctx, session("s"), segment(1, 3, []byte("{}\n"))) }()
		passed := 0
		for ctx.Err() == nil {
			_, err := a.Session(t.Context(), session("s").Key)
			must(t, err)
			passed++
		}
		if err := <-waited; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a writer that waits: %v", err)
		}
		if passed == 0 {
			t.Error("no reader passed")
		}
	})
	must(t, a.Append(t.Context(), session("s"), segment(1, 3, []byte("{}\n"))))
}

// A reader that finds no lock file makes none: it locks the archive's own file, and writers wait for that with a
// deadline.
func TestWithoutLockFile(t *testing.T) {
	t.Parallel()
	a := sharedArchive(t)
	lock := lockPath(a.path)
	must(t, os.Remove(lock))
	inView(t, a, func() {
		if _, err := os.Stat(lock); !errors.Is(err, os.ErrNotExist) {
			t.Fatal("a reader made the lock file: the test proves nothing")
		}
		if err := a.Append(shortly(t), session("s"), segment(1, 3, []byte("{}\n"))); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a writer beside a reader: %v", err)
		}
		_, err := a.Session(t.Context(), session("s").Key)
		must(t, err)
	})
	f, err := os.OpenFile(a.path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	if got, err := ownfile.TryLock(f, true, 0); !got || err != nil {
		t.Fatal(got, err)
	}
	if _, err := a.Session(shortly(t), session("s").Key); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a reader beside a program that holds the file: %v", err)
	}
	var locked *LockedError
	if _, err := a.Session(t.Context(), session("s").Key); !errors.As(err, &locked) {
		t.Errorf("a reader that waits for long: %v", err)
	}
}
