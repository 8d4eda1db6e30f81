package install

import (
	"strings"
	"testing"
)

// The status line is there where it was asked for, and only there; that of somebody else stays.
func TestStatusLine(t *testing.T) {
	const settings = ".claude/settings.json"
	wants := func(on bool) func(*Options) { return func(o *Options) { o.Line = &on } }
	state := func(h home, change func(*Options)) (p Part) {
		for _, p = range h.setup(change).Status(Claude).Parts {
			if p.Name == "statusline" {
				return p
			}
		}
		t.Fatal("no such part")
		return p
	}
	h := newHome(t)
	h.install(nil, Claude)
	if strings.Contains(h.read(settings), statusLine) || state(h, nil).State != Missing {
		t.Error("it is there without being asked for")
	}
	h.install(wants(true), Claude)
	if want := h.path("bin/ccd") + " statusline || :"; !strings.Contains(h.read(settings), want) || state(h, nil).State != Installed {
		t.Errorf("want %s in %s", want, h.read(settings))
	}
	h.install(nil, Claude)
	if state(h, nil).State != Installed {
		t.Error("another install takes it away")
	}
	if got := state(h, moved(h)); got.State != Other {
		t.Errorf("of a binary that moved: %+v", got)
	}
	h.install(moved(h), Claude)
	if state(h, moved(h)).State != Installed {
		t.Error("install does not repair it")
	}
	h.install(wants(false), Claude)
	if strings.Contains(h.read(settings), statusLine) {
		t.Error("it stays where it was to go")
	}
	h.uninstall(Claude)

	h.write(settings, `{"statusLine": {"type": "command", "command": "/opt/ccd statusline | tr a b"}}`)
	before := h.read(settings)
	h.install(nil, Claude)
	if got := state(h, nil); got.State != Missing || got.Detail == "" {
		t.Errorf("of somebody else: %+v", got)
	}
	h.install(wants(false), Claude)
	h.uninstall(Claude)
	if got := h.read(settings); got != before {
		t.Errorf("it was\n%s, now\n%s", before, got)
	}
}
