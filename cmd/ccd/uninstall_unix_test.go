//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"ccd/cmd/ccd/internal/account"
)

// TestPurgeRefuses: purge removes nothing if a daemon runs that is not the service, if the state directory has
// transcripts, or if it is somewhere else.
func TestPurgeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, home, state string) []string
		want    string
	}{
		"a daemon in the foreground": {func(t *testing.T, _, state string) []string {
			f, err := os.Create(filepath.Join(state, "run.lock"))
			must(t, err)
			t.Cleanup(func() { f.Close() })
			must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
			must(t, os.WriteFile(filepath.Join(state, "run.json"), []byte(`{"pid": 4711}`), 0o600))
			return nil
		}, "a daemon is running, pid 4711"},
		"transcripts in its state": {func(t *testing.T, _, state string) []string {
			return []string{"CODEX_HOME=" + filepath.Join(state, "codex")}
		}, "is watched, and is in the state directory"},
		"transcripts in its state by a symlink": {func(t *testing.T, home, state string) []string {
			must(t, os.MkdirAll(filepath.Join(state, "t"), 0o700))
			must(t, os.MkdirAll(filepath.Join(home, ".claude"), 0o700))
			must(t, os.Symlink(filepath.Join(state, "t"), filepath.Join(home, ".claude", "projects")))
			return nil
		}, "is watched, and is in the state directory"},
		"transcripts in its state by another way": {func(t *testing.T, home, state string) []string {
			must(t, os.Rename(filepath.Dir(state), filepath.Join(home, "real")))
			must(t, os.Symlink(filepath.Join(home, "real"), filepath.Dir(state)))
			return []string{"CODEX_HOME=" + filepath.Join(home, "real", "ccd", "codex")}
		}, "is watched, and is in the state directory"},
		"transcripts among its companions": {func(t *testing.T, home, state string) []string {
			return []string{"CCD_COMPANION_DIR=" + filepath.Join(home, "c"), "CODEX_HOME=" + filepath.Join(home, "c", "codex")}
		}, "is watched, and is in companion.dir"},
		"a service with other places": {func(t *testing.T, home, _ string) []string {
			if runtime.GOOS != "linux" {
				t.Skip("NOTICE: the unit is one of systemd")
			}
			dir := filepath.Join(home, ".config/systemd/user")
			must(t, os.MkdirAll(dir, 0o700))
			unit := "[Service]\nExecStart=/usr/bin/ccd run\nEnvironment=XDG_STATE_HOME=/elsewhere\n"
			must(t, os.WriteFile(filepath.Join(dir, "ccd.service"), []byte(unit), 0o600))
			return nil
		}, "paths differ from this command's: XDG_STATE_HOME=/elsewhere"},
		"a symlink for its state": {func(t *testing.T, home, state string) []string {
			must(t, os.Rename(state, filepath.Join(home, "elsewhere")))
			must(t, os.Symlink(filepath.Join(home, "elsewhere"), state))
			return nil
		}, "is a symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			state := stateOf(t, home)
			must(t, os.MkdirAll(state, 0o700))
			must(t, os.WriteFile(filepath.Join(state, "archive.lock"), nil, 0o600))
			env := append([]string{"HOME=" + home}, c.prepare(t, home, state)...)
			before, err := treeOf(home)
			must(t, err)
			var said bytes.Buffer
			code := run(t.Context(), []string{"setup", "--undo", "--purge", "--yes"}, std{strings.NewReader(""), &said, &said}, env)
			after, err := treeOf(home)
			must(t, err)
			if code != exitFailed || !strings.Contains(said.String(), c.want) || before != after {
				t.Errorf("exit %d, removed %v, says %q, want %q", code, before != after, said.String(), c.want)
			}
		})
	}
}

func stateOf(t *testing.T, home string) string {
	t.Helper()
	p, err := account.Env{Vars: []string{"HOME=" + home}}.State()
	must(t, err)
	return p.StateDir
}

// TestPurgeKeepsLinks: a directory that the configuration names may be a symbolic link, which ccd did not make.
func TestPurgeKeepsLinks(t *testing.T) {
	for name, config := range map[string]string{
		"companion.dir": "[companion]\ndir = %q\n", "archive.path": "[archive]\npath = \"%s/ccd.db\"\n", "below a link": "[companion]\ndir = \"%s/notes\"\n",
	} {
		home, kept := t.TempDir(), t.TempDir()
		link := filepath.Join(home, "linked")
		must(t, os.Symlink(kept, link))
		put(t, filepath.Join(home, ".config", "ccd", "config.toml"), fmt.Sprintf(config, link))
		put(t, transcriptPath(home, 1), aLine)
		for _, args := range [][]string{{"run", "--once", "-q"}, {"setup", "--undo", "--purge", "--yes"}} {
			if code, _, said := ccdIn(home, "", args...); code != exitDone {
				t.Fatalf("%s: %q: exit %d, %s", name, args, code, said)
			}
		}
		if _, err := os.Lstat(link); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
