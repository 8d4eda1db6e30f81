package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ccd/internal/testkit"
)

// git runs git in a directory, or skips the test if there is none.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("NOTICE: no git: what it writes is not looked at")
	}
	c := exec.Command(path, append([]string{"-c", "user.name=x", "-c", "user.email=x", "-c", "init.defaultBranch=main"}, args...)...)
	c.Dir = dir
	c.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

func mkdir(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		testkit.Must(t, os.MkdirAll(dir, 0o700))
	}
}

// TestWorktreesOfGit: worktrees as git itself creates, moves and removes them, also of a bare repository. A repository
// inside another is a project of its own.
func TestWorktreesOfGit(t *testing.T) {
	top := real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	mkdir(t, at("a/sub"), at("other"))
	git(t, at("a"), "init", "-q")
	git(t, at("a"), "commit", "-q", "--allow-empty", "-m", "x")
	for _, name := range []string{"../a-feature", "../far/removed", "inside/tree", "../a.worktrees/usual", "../moving"} {
		git(t, at("a"), "worktree", "add", "-q", name)
	}
	git(t, at("a"), "worktree", "move", "../moving", "../moved")
	git(t, at("a"), "worktree", "remove", "../a.worktrees/usual")
	git(t, at("a"), "worktree", "remove", "inside/tree")
	testkit.Must(t, os.RemoveAll(at("far/removed")))
	git(t, at("a"), "init", "-q", "nested")
	git(t, at("other"), "clone", "-q", "--bare", at("a"), "proj/.bare")
	testkit.Must(t, os.WriteFile(at("other/proj/.git"), []byte("gitdir: ./.bare\n"), 0o600))
	git(t, at("other/proj"), "worktree", "add", "-q", "one")
	git(t, at("other/proj"), "worktree", "add", "-q", "two")
	ofA := []string{"a", "a/sub", "a/sub/gone", "a-feature", "a/inside/tree", "a.worktrees/usual", "moved"}
	ofBare := []string{"other/proj", "other/proj/one", "other/proj/two", "other/proj/gone"}
	nobody := []string{"far/removed", "far/removed/deep", "a/nested", "a/nested/gone", "other", "a-features", "far", "far/remove", "moving", "other/proj2"}
	for _, from := range [][]string{{"a", "a/sub", "a-feature", "moved"}, ofBare} {
		for _, dir := range from {
			p := Of(at(dir), at("home"))
			for i, list := range [][]string{ofA, ofBare, nobody} {
				for _, other := range list {
					if want := i == 0 && from[0] == "a" || i == 1 && from[0] != "a"; p.Has(at(other)) != want {
						t.Errorf("%s belongs to the project of %s: %v", other, dir, !want)
					}
				}
			}
		}
	}
}

// TestInTree: a directory is in exactly one of several worktrees, even if one is inside another.
func TestInTree(t *testing.T) {
	top := real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	mkdir(t, at("a/sub"), at("plain/sub"))
	git(t, at("a"), "init", "-q")
	git(t, at("a"), "commit", "-q", "--allow-empty", "-m", "x")
	git(t, at("a"), "worktree", "add", "-q", "../b")
	git(t, at("a"), "worktree", "add", "-q", "inside")
	for dir, others := range map[string]map[string]bool{
		"a/sub":    {"a": true, "a/sub": true, "a/gone": true, "b": false, "a/inside": false, "plain": false},
		"b":        {"b": true, "b/gone": true, "a": false, "a/inside": false},
		"a/inside": {"a/inside": true, "a": false, "b": false},
		"plain":    {"plain": true, "plain/sub": true, "a": false},
	} {
		for other, want := range others {
			if got := Of(at(dir), at("home")).InTree(at(other)); got != want {
				t.Errorf("%s is in the working tree of %s: %v", other, dir, got)
			}
		}
	}
}

// TestWithoutGit: a directory includes those below it; the home directory and those above it do not.
func TestWithoutGit(t *testing.T) {
	top := real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	mkdir(t, at("home/p/sub"), at("home/p2"))
	for _, c := range []struct {
		dir, other string
		want       bool
	}{
		{"home/p", "home/p", true},
		{"home/p", "home/p/sub", true},
		{"home/p", "home/p/gone/deep", true},
		{"home/p", "home/p2", false},
		{"home/p", "home", false},
		{"home/p/sub", "home/p", false},
		{"home/gone", "home/gone/sub", true},
		{"home/p", "home/p/../p2", false},
		{"home", "home", true},
		{"home", "home/p", false},
		{".", "home/p", false},
		{"home/p", "", true},
	} {
		p := Of(at(c.dir), at("home"))
		other := at(c.other)
		if c.other == "" {
			other, c.want = "p", false // not absolute
		}
		if got := p.Has(other); got != c.want {
			t.Errorf("%s belongs to the project of %s: %v", c.other, c.dir, got)
		}
	}
	if err := os.Symlink(at("home/p"), at("home/link")); err != nil {
		t.Skipf("NOTICE: no symbolic links: %v", err)
	}
	if !Of(at("home/link"), at("home")).Has(at("home/p/sub")) || !Of(at("home/p"), at("home")).Has(at("home/link/gone")) {
		t.Error("a symbolic link is not resolved")
	}
}
