package project

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFind: a directory of another machine is found in a clone of the same name, and nowhere else.
func TestFind(t *testing.T) {
	top := real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	mkdir(t, at("proj/sub/deep"), at("proj/proj"), at("none/proj"), at("outside"))
	git(t, at("proj"), "init", "-q")
	if err := os.Symlink(at("outside"), at("proj/link")); err != nil {
		t.Log(err)
	}
	for _, c := range []struct{ dir, path, from, to string }{
		{"proj/sub/deep", "/home/a/src/proj/sub", "/home/a/src/proj", "proj/sub"},
		{"proj", "/home/a/src/proj", "/home/a/src/proj", "proj"},
		{"proj", "/home/a/proj/proj", "/home/a/proj", "proj/proj"},
		{"proj", "/proj/src/proj/sub", "/proj/src/proj", "proj/sub"},
		{"proj", `C:\src\proj\sub\deep`, `C:\src\proj`, "proj/sub/deep"},
		{"proj", "/home/a/src/work/sub", "", ""},
		{"proj", "/home/a/src/proj/missing", "", ""},
		{"proj", "/home/a/src/proj/../../outside", "", ""},
		{"proj", "/home/a/src/proj/link", "", ""},
		{"proj", "", "", ""},
		{"none", "/home/a/none", "", ""},
		{"none/proj", "/home/a/proj", "", ""},
	} {
		want := [3]string{c.from}
		if c.to != "" {
			want = [3]string{c.from, at("proj"), at(c.to)}
		}
		if from, to, here := Find(at(c.dir), c.path); [3]string{from, to, here} != want {
			t.Errorf("%s in %s: %s, %s, %s, want %s", c.path, c.dir, from, to, here, want)
		}
	}
}
