package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestFind: a directory of another machine is found in a clone by its git remote or, where no remote is known, by the
// clone's name, and nowhere else.
func TestFind(t *testing.T) {
	top := real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	mkdir(t, at("proj/sub/deep"), at("proj/proj"), at("work/sub"), at("bare/sub"), at("none/proj"), at("outside"))
	for dir, remote := range map[string]string{"proj": "git@Host.example:org/proj.git", "work": "https://me:secret@host.example:8443/org/proj/", "bare": ""} {
		git(t, at(dir), "init", "-q")
		if remote != "" {
			git(t, at(dir), "remote", "add", "origin", "/srv/local.git")
			git(t, at(dir), "remote", "add", "up", remote)
		}
	}
	if err := os.Symlink(at("outside"), at("proj/link")); err != nil {
		t.Log(err)
	}
	const ssh, other = "ssh://git@host.example/org/proj.git", "git@host.example:org/other"
	for _, c := range []struct{ dir, path, remote, from, to string }{
		{"proj", "/home/a/src/proj/sub", ssh, "/home/a/src/proj", "proj/sub"},
		{"proj/sub/deep", "/home/a/src/proj/sub", "", "/home/a/src/proj", "proj/sub"},
		{"proj", "/home/a/src/proj", "", "/home/a/src/proj", "proj"},
		{"proj", "/home/a/proj/proj", "", "/home/a/proj", "proj/proj"},
		{"proj", "/proj/src/proj/sub", "", "/proj/src/proj", "proj/sub"},
		{"proj", `C:\src\proj\sub\deep`, "", `C:\src\proj`, "proj/sub/deep"},
		{"work", "/home/a/src/proj/sub", ssh, "/home/a/src/proj", "work/sub"},
		{"work", "/home/a/checkout-2/sub", ssh, "/home/a/checkout-2", "work/sub"},
		{"work", "/home/a/checkout-2", ssh, "/home/a/checkout-2", "work"},
		{"proj", "/home/a/src/proj/sub", other, "", ""}, // another repository of the same name
		{"bare", "/home/a/bare/sub", other, "/home/a/bare", "bare/sub"},
		{"work", "/home/a/src/proj/sub", "", "", ""},
		{"proj", "/home/a/src/proj/missing", "", "", ""},
		{"proj", "/home/a/src/proj/../../outside", "", "", ""},
		{"proj", "/home/a/src/proj/link", "", "", ""},
		{"proj", "", "", "", ""},
		{"none", "/home/a/none", "", "", ""},
		{"none/proj", "/home/a/proj", ssh, "", ""},
	} {
		want := Clone{From: c.from}
		if c.to != "" {
			want.Dir = at(c.to)
		}
		got, ok := Find(at(c.dir), c.path, c.remote)
		if ok != (c.to != "") || ok && (got.From != want.From || got.Dir != want.Dir || (got.Remote == "host.example/org/proj") != (c.remote == ssh)) {
			t.Errorf("%s in %s (%s): %v %+v, want %+v", c.path, c.dir, c.remote, ok, got, want)
		}
	}
}

// TestHostileConfig: a repository's configuration is only compared. It names no file and no other configuration to read, and
// its size is limited.
func TestHostileConfig(t *testing.T) {
	for what, text := range map[string]string{
		"include":  "[include]\n\tpath = other\n",
		"instead":  "[url \"git@host.example:org/proj\"]\n\tinsteadOf = x\n[remote \"o\"]\n\turl = x\n",
		"no URL":   "[remote \"o\"]\n\turl = ://\n\turl\n\t= git@host.example:org/proj\n[remote\n\x00",
		"too late": "[remote \"o\"]\n" + strings.Repeat("#", mostConfig) + "\n\turl = git@host.example:org/proj\n",
	} {
		dir := real(t.TempDir())
		mkdir(t, filepath.Join(dir, ".git"))
		for name, text := range map[string]string{"config": text, "other": "[remote \"o\"]\n\turl = git@host.example:org/proj\n"} {
			testkit.Must(t, os.WriteFile(filepath.Join(dir, ".git", name), []byte(text), 0o600))
		}
		if c, ok := Find(dir, "/home/a/b", "git@host.example:org/proj"); ok {
			t.Errorf("%s: %+v", what, c)
		}
	}
}
