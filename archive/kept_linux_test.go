package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// opened counts the descriptors and mappings of a file in this process.
func opened(t *testing.T, path string) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && to == path {
			n++
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	must(t, err)
	return n + strings.Count(string(maps), path+"\n")
}

// A writer leaves the file open until CloseIdle, a reader does not.
func TestCloseIdle(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{})
	for range 3 {
		fill(t, a, session("s"), 1, nil, whole)
		must(t, a.Append(t.Context(), session("s"), segment(1, 0, nil)))
		reader := openAt(t, path, Options{ReadOnly: true})
		for range 3 {
			_, err := reader.Sessions(t.Context())
			must(t, err)
		}
		a.CloseIdle()
		if n := opened(t, path); n != 0 {
			t.Fatalf("%d descriptors and mappings after CloseIdle", n)
		}
		must(t, a.Append(t.Context(), session("other"), segment(1, 0, nil)))
	}
}

// What happens to the file between two calls of a writer that has it open. A call uses the file at the archive's path as
// if it had opened it then.
func TestKeptFileIsChecked(t *testing.T) {
	t.Parallel()
	tip := func(a *Archive) (int64, error) {
		s, err := a.Session(t.Context(), session("s").Key)
		return s.Tip().Offset, err
	}
	file := filepath.Join(t.TempDir(), "archive.db")
	large := openAt(t, file, Options{})
	for i, steps := int64(0), 0; steps < 2; i++ { // until the file has just grown by a step, so that the next writes do not let it grow
		before, _ := os.Stat(file)
		must(t, large.Append(t.Context(), session("large"), segment(1, i*(100<<10), noise(uint64(i), 100<<10))))
		if after, err := os.Stat(file); err == nil && i > 15 && after.Size() > before.Size() {
			steps++
		}
	}
	grown := bytesOf(t, file)
	for name, c := range map[string]struct {
		change  func(t *testing.T, path string)
		want    int64 // tip
		damaged bool
	}{
		"nothing": {func(*testing.T, string) {}, 20 << 10, false},
		"another process writes": {func(t *testing.T, path string) {
			other := openAt(t, path, Options{})
			must(t, other.Append(t.Context(), session("s"), segment(1, 20<<10, noise(3, 5<<10))))
		}, 25 << 10, false},
		"another process writes, the times are set back": {func(t *testing.T, path string) {
			before, err := os.Stat(path)
			must(t, err)
			other := openAt(t, path, Options{})
			must(t, other.Append(t.Context(), session("s"), segment(1, 20<<10, noise(3, 5<<10))))
			must(t, other.Append(t.Context(), session("t"), segment(1, 0, noise(5, 30<<10))))
			after, err := os.Stat(path)
			must(t, err)
			if before.Size() != after.Size() {
				t.Fatal("the size shows it: this is no test of the transaction's ID")
			}
			must(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
		}, 25 << 10, false},
		"an earlier copy is renamed into its place": {func(t *testing.T, path string) {
			must(t, os.Rename(path+".early", path))
		}, 10 << 10, false},
		"an earlier copy is written over it": {func(t *testing.T, path string) {
			early, err := os.ReadFile(path + ".early")
			must(t, err)
			must(t, os.WriteFile(path, early, 0o600))
		}, 10 << 10, false},
		"truncated":      {func(t *testing.T, path string) { must(t, os.Truncate(path, 3*4096)) }, 0, true},
		"truncated to 0": {func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) }, 0, true},
		"filled with x": {func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Repeat("x", 1<<20)), 0o600))
		}, 0, true},
		"removed": {func(t *testing.T, path string) { must(t, os.Remove(path)) }, -1, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "archive.db")
			must(t, os.WriteFile(path, []byte(grown), 0o600))
			a := openAt(t, path, Options{})
			must(t, a.Append(t.Context(), session("s"), segment(1, 0, noise(1, 10<<10))))
			early, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path+".early", early, 0o600))
			must(t, a.Append(t.Context(), session("s"), segment(1, 10<<10, noise(2, 10<<10))))
			if opened(t, path) == 0 {
				t.Fatal("the file is not open: this test cannot fail")
			}
			c.change(t, path)
			got, err := tip(a)
			switch {
			case c.want < 0:
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("tip %d, %v", got, err)
				}
			case c.damaged != errors.As(err, new(*DamageError)) || got != c.want:
				t.Errorf("tip %d, %v", got, err)
			}
			if c.want <= 0 {
				return
			}
			// The next write adds to what is there.
			must(t, a.Append(t.Context(), session("s"), segment(1, got, noise(4, 100<<10))))
			if now, err := tip(openAt(t, path, Options{ReadOnly: true})); err != nil || now != got+100<<10 {
				t.Errorf("tip after the next write %d, %v", now, err)
			}
			sound(t, a)
		})
	}
}
