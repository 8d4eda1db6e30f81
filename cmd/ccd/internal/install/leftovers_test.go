//go:build unix

package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/atomicfile"
	"ccd/internal/testkit"
)

// What a killed install left beside the files, copies of settings among it, goes with the next one, and with uninstall,
// also where nothing else is to be done.
func TestKilledInstallIsClearedUp(t *testing.T) {
	stray := []string{".ccd-MIDDLE.tmp", ".claude/.ccd-MIDDLE.tmp", ".codex/.ccd-MIDDLE.tmp"}
	h := newHome(t)
	h.write(".claude/settings.json", "{}\n")
	h.write(".codex/config.toml", "a = 1\n")
	before := h.tree()
	leave := func() {
		for _, name := range stray {
			name = strings.Replace(name, "MIDDLE", tempMiddle(t), 1)
			h.write(name, "a token")
			testkit.Must(t, os.Chtimes(h.path(name), time.Time{}, time.Now().Add(-2*time.Hour)))
		}
		h.write(".claude/.ccd-mine.tmp", "a user's") // control: of another form
	}
	left := func() (n int) {
		for path := range h.tree() {
			if strings.Contains(path, ".ccd-") && !strings.HasSuffix(path, backupSuffix) {
				n++
			}
		}
		return n
	}
	for _, do := range []func(){
		func() { h.install(nil, Agents()...) }, func() { h.install(nil, Agents()...) }, func() { h.uninstall(Agents()...) }, func() { h.uninstall(Agents()...) },
	} {
		leave()
		if left() != 4 {
			t.Fatalf("%d files are left about", left())
		}
		if do(); left() != 1 {
			t.Errorf("%d files are left", left())
		}
	}
	testkit.Must(t, os.Remove(h.path(".claude/.ccd-mine.tmp")))
	h.same(before)
}

// tempMiddle is what the name of a temporary file of atomicfile's has that is its own.
func tempMiddle(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	p, err := atomicfile.Prepare(filepath.Join(dir, "x"), 0o600, nil)
	testkit.Must(t, err)
	defer p.Discard()
	all, err := filepath.Glob(filepath.Join(dir, ".ccd-*.tmp"))
	if err != nil || len(all) != 1 {
		t.Fatalf("temporary files: %v, %v", all, err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(all[0]), ".ccd-"), ".tmp")
}

// TestLinkedBack: a file that ccd made, and that the user then moved and linked back, goes with its link.
func TestLinkedBack(t *testing.T) {
	h := newHome(t)
	before := h.tree()
	for _, file := range []string{".claude/settings.json", ".codex/AGENTS.md", ".claude/skills/ccd/SKILL.md"} {
		h.install(nil, Agents()...)
		h.link(file)
		h.uninstall(Agents()...)
		testkit.Must(t, os.Remove(h.path("dotfiles")))
		h.same(before)
	}
}

// link moves a file and puts a symlink in its place.
func (h home) link(file string) {
	h.t.Helper()
	testkit.Must(h.t, os.Mkdir(h.path("dotfiles"), 0o755))
	testkit.Must(h.t, os.Rename(h.path(file), h.path("dotfiles/file")))
	testkit.Must(h.t, os.Symlink(h.path("dotfiles/file"), h.path(file)))
}
