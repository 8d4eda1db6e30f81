package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.md")
	for _, text := range []string{"first", "second, longer", ""} {
		if err := Write(path, 0o600, []byte(text)); err != nil {
			t.Fatal(err)
		}
		want(t, path, text)
	}
	noTemps(t, filepath.Dir(path))
}

func TestCommitNewLeavesWhatStandsThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	for _, text := range []string{"mine", "other"} {
		p, err := Prepare(path, 0o600, []byte(text))
		must(t, err)
		if err := p.CommitNew(); errors.Is(err, fs.ErrExist) != (text == "other") {
			t.Fatalf("%s: %v", text, err)
		}
	}
	want(t, path, "mine")
	noTemps(t, dir)
}

func TestClaimIsExclusive(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	for i, wantErr := range []error{nil, fs.ErrExist} {
		p, err := Prepare(path, 0o600, []byte("data"))
		if err != nil && i == 0 {
			t.Fatal(err)
		}
		err = p.claim()
		if !errors.Is(err, wantErr) {
			t.Fatalf("claim %d: %v, want %v", i, err, wantErr)
		}
		p.Discard()
	}
	want(t, path, "data")
	noTemps(t, dir)
}

// What is not a regular file is never replaced, also when it comes between Prepare and Commit.
func TestIrregularTargets(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, path string){
		"symlink": func(t *testing.T, path string) {
			if err := os.Symlink(filepath.Join(filepath.Dir(path), "victim"), path); err != nil {
				t.Fatal(err)
			}
		},
		"directory": func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) },
		"fifo":      func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			victim := filepath.Join(dir, "victim")
			must(t, os.WriteFile(victim, []byte("untouched"), 0o600))

			before := filepath.Join(dir, "before")
			make(t, before)
			if err := Write(before, 0o600, []byte("x")); !errors.Is(err, ErrIrregular) {
				t.Errorf("Write = %v, want ErrIrregular", err)
			}
			between := filepath.Join(dir, "between")
			p, err := Prepare(between, 0o600, []byte("x"))
			must(t, err)
			make(t, between)
			if err := p.Commit(); !errors.Is(err, ErrIrregular) {
				t.Errorf("Commit = %v, want ErrIrregular", err)
			}
			want(t, victim, "untouched")
			noTemps(t, dir)
		})
	}
}

func TestPermissionsAreNeverWidened(t *testing.T) {
	for _, c := range []struct{ old, perm, want fs.FileMode }{
		{0, 0o600, 0o600},
		{0o600, 0o644, 0o600},
		{0o644, 0o600, 0o600},
		{0o400, 0o600, 0o400},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if c.old != 0 {
			must(t, os.WriteFile(path, nil, c.old))
			must(t, os.Chmod(path, c.old))
		}
		must(t, Write(path, c.perm, []byte("x")))
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != c.want {
			t.Errorf("old %o, asked %o: got %o, want %o", c.old, c.perm, info.Mode().Perm(), c.want)
		}
	}
}

// A failure at any step leaves the old bytes (the last step: the new ones), and no litter.
func TestEveryStepMayFail(t *testing.T) {
	boom := errors.New("no space")
	for _, step := range []string{"create", "write", "sync", "rename", "sync directory"} {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			must(t, os.WriteFile(path, []byte("old"), 0o600))
			err := writeSteps(path, func(s string) error {
				if s == step {
					return boom
				}
				return nil
			})
			if !errors.Is(err, boom) || !strings.Contains(err.Error(), path) {
				t.Fatalf("err = %v", err)
			}
			if step == "sync directory" {
				want(t, path, "new")
			} else {
				want(t, path, "old")
			}
			noTemps(t, dir)
		})
	}
}

func writeSteps(path string, try func(string) error) error {
	p, err := create(path, 0o600, try)
	if err != nil {
		return err
	}
	if _, err := p.Write([]byte("new")); err != nil {
		p.Discard()
		return err
	}
	return p.Commit()
}

func TestPrepareThenDiscard(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	p, err := Prepare(path, 0o600, []byte("x"))
	must(t, err)
	p.Discard()
	p.Discard()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
	noTemps(t, dir)
}

func TestClean(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	keep := []string{".ccd-notes.tmp", ".ccd-0123456789abcdef", "a.md", tempName()}
	gone := []string{tempName(), tempName()}
	for _, name := range append(append([]string{}, keep...), gone...) {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for _, name := range append(keep[:3:3], gone...) { // keep[3] is a fresh one: its writer may live
		must(t, os.Chtimes(filepath.Join(dir, name), old, old))
	}
	must(t, Clean(dir))
	for _, name := range keep {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range gone {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	must(t, Clean(filepath.Join(dir, "absent")))
}

func TestBadPaths(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"", "/", ".", dir + "/..", filepath.Join(dir, "absent", "f")} {
		if err := Write(path, 0o600, nil); err == nil {
			t.Errorf("Write(%q): want an error", path)
		}
	}
}

func want(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%s = %q, %v; want %q", path, got, err, text)
	}
}

func noTemps(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".ccd-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDateIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	p, err := Prepare(path, 0o600, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Discard()
	want := time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)
	if err := p.Date(want); err != nil {
		t.Fatal(err)
	}
	if err := p.CommitNew(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(want) {
		t.Errorf("got %v, %v, want %v", info.ModTime(), err, want)
	}
	if err := p.Date(want); err == nil {
		t.Error("what is not pending any more takes a date")
	}
}
