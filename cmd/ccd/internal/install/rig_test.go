package install

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"

	"github.com/google/go-cmp/cmp"
)

const (
	Claude = "claude-code"
	Codex  = "codex"
)

// home is a user's home directory with a ccd in it.
type home struct {
	t   *testing.T
	dir string
}

// newHome returns a home directory with those of all agents.
func newHome(t *testing.T) home {
	t.Helper()
	h := bareHome(t)
	for _, id := range Agents() {
		testkit.Must(t, os.MkdirAll(h.setup(nil).Dir(id), 0o755))
	}
	return h
}

func bareHome(t *testing.T) home {
	t.Helper()
	h := home{t, t.TempDir()}
	h.write("bin/ccd", "#!/bin/sh\n")
	h.write("new place/ccd", "#!/bin/sh\n")
	testkit.Must(t, os.Chmod(h.path("bin/ccd"), 0o755))
	testkit.Must(t, os.Chmod(h.path("new place/ccd"), 0o755))
	return h
}

func (h home) path(name string) string { return filepath.Join(h.dir, filepath.FromSlash(name)) }

func (h home) write(name, text string) {
	h.t.Helper()
	testkit.Must(h.t, os.MkdirAll(filepath.Dir(h.path(name)), 0o755))
	testkit.Must(h.t, os.WriteFile(h.path(name), []byte(text), 0o644))
}

func (h home) read(name string) string {
	h.t.Helper()
	return string(testkit.Read(h.t, h.path(name)))
}

// setup is the set-up of the ccd in bin, as change makes it.
func (h home) setup(change func(*Options)) *Setup {
	h.t.Helper()
	o := Options{Home: h.dir, Getenv: func(string) string { return "" }, Executable: h.path("bin/ccd"), Mod: Mod{Compaction: true, Output: 30000}}
	if change != nil {
		change(&o)
	}
	o.OnPath = func(string) bool { return true }
	s, err := New(o)
	testkit.Must(h.t, err)
	return s
}

func moved(h home) func(*Options) {
	return func(o *Options) { o.Executable = h.path("new place/ccd") }
}

func everything(o *Options) {
	yes := true
	o.Line, o.Clients = &yes, []string{"qwen"}
}

func (h home) install(change func(*Options), agents ...string) {
	h.t.Helper()
	h.apply(h.setup(change).Plan(true, agents...))
}

func (h home) uninstall(agents ...string) {
	h.t.Helper()
	h.apply(h.setup(nil).Plan(false, agents...))
}

func (h home) apply(p *Plan, err error) {
	h.t.Helper()
	testkit.Must(h.t, err)
	testkit.Must(h.t, p.Apply())
}

// tree maps every path below the home directory to its kind, mode and text.
func (h home) tree() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	testkit.Must(h.t, filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			text, err = os.Readlink(path)
		case d.Type().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			text = string(b)
		}
		rel, _ := filepath.Rel(h.dir, path)
		all[filepath.ToSlash(rel)] = info.Mode().String() + " " + text
		return err
	}))
	return all
}

func (h home) same(before map[string]string) {
	h.t.Helper()
	if diff := cmp.Diff(before, h.tree()); diff != "" {
		h.t.Errorf("not as it was (-was +is):\n%s", diff)
	}
}

func want(t *testing.T, got error, words ...string) {
	t.Helper()
	for _, w := range words {
		if got == nil || !strings.Contains(got.Error(), w) {
			t.Errorf("error %v does not say %q", got, w)
		}
	}
}
