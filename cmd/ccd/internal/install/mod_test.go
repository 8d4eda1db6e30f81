package install

import (
	"slices"
	"strings"
	"testing"
)

const code = ".claude/skills/ccd/hooks/register.js"

func partOf(s Status, name string) Part {
	return s.Parts[slices.IndexFunc(s.Parts, func(p Part) bool { return p.Name == name })]
}

// TestModFollowsItsKey: with live.compaction = false install removes the mod, and its absence is as it should be.
func TestModFollowsItsKey(t *testing.T) {
	h := newHome(t)
	off := func(o *Options) { o.Mod = Mod{} }
	h.install(off, Claude)
	without := h.tree()
	if st := h.setup(off).Status(Claude); !st.Installed || partOf(st, "mod").State != Missing {
		t.Errorf("never installed: %+v", st)
	}
	if st := h.setup(nil).Status(Claude); st.Installed {
		t.Error("the mod is missing, and status says installed")
	}
	h.install(nil, Claude)
	if text := h.read(code); !strings.Contains(text, `const CCD = ["`+h.path("bin/ccd")+`","hook","--agent","claude-code"]`) {
		t.Errorf("the mod calls %s", text)
	}
	if st := h.setup(off).Status(Claude); st.Installed || partOf(st, "mod").Detail != "the configuration wants none" {
		t.Errorf("to be removed: %+v", partOf(st, "mod"))
	}
	h.install(off, Claude)
	h.same(without)
}

// TestModOfOthers: a plugin that ccd did not write is never replaced, nor one that somebody changed; another ccd's is.
func TestModOfOthers(t *testing.T) {
	h := newHome(t)
	h.install(moved(h), Claude)
	if st := h.setup(nil).Status(Claude); partOf(st, "mod").State != Other || !slices.ContainsFunc(st.Binaries, func(b Binary) bool { return b.Path == h.path("new place/ccd") }) {
		t.Errorf("another ccd's: %+v", st)
	}
	h.install(nil, Claude)
	if st := h.setup(nil).Status(Claude); !st.Installed {
		t.Errorf("repaired: %+v", st)
	}
	h.write(code, h.read(code)+"// mine\n")
	for _, plan := range []func(...string) (*Plan, error){h.setup(nil).Install, h.setup(nil).Uninstall} {
		if _, err := plan(Claude); err == nil || !strings.Contains(err.Error(), "changed since ccd wrote it") {
			t.Errorf("changed: %v", err)
		}
	}
	h.write(code, "export const register = () => {}\n")
	if _, err := h.setup(nil).Install(Claude); err == nil || !strings.Contains(err.Error(), "ccd did not write") {
		t.Errorf("another's: %v", err)
	}
	h.uninstall(Claude)
	if h.read(code) != "export const register = () => {}\n" {
		t.Error("another's plugin was changed")
	}
}
