package install

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// Where a name appears twice, the agent and ccd may mean different ones: that is told, and nothing is written.
func TestNamesThatStandTwice(t *testing.T) {
	ours := func(event string) string {
		return `[{"hooks":[{"type":"command","command":"/opt/ccd hook ` + event + ` --agent claude-code || :"}]}]`
	}
	theirs := `[{"hooks":[{"type":"command","command":"/my/own/hook"}]}]`
	for name, c := range map[string]struct{ file, text, where string }{
		"an event": {".claude/settings.json", "{\"hooks\": {\"SessionStart\": " + theirs + ",\n\"SessionStart\": " + ours("SessionStart") + "}}", "settings.json:2: SessionStart appears twice"},
		"a command": {
			".claude/settings.json", `{"hooks": {"PreCompact": [{"hooks": [{"command": "/opt/ccd hook PreCompact --agent codex",` + "\n" + `"command": "/my/own"}]}]}}`,
			"settings.json:2: command appears twice",
		},
		"a server": {
			".claude.json", `{"mcpServers": {"ccd": {"url": "x"},` + "\n" + `"ccd": {"command": "/opt/ccd", "args": ["mcp"]}}}`, ".claude.json:2: ccd appears twice",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.write(c.file, c.text)
			before := h.tree()
			_, err := h.setup(nil).Plan(false, Agents()...)
			want(t, err, c.where)
			_, err = h.setup(nil).Plan(true, Agents()...)
			want(t, err, c.where[:strings.Index(c.where, ":")])
			h.same(before)
			h.write(c.file, strings.ReplaceAll(c.text, "ccd", "other")) // control: nothing of ccd's, nothing to tell of
			before = h.tree()
			h.uninstall(Agents()...)
			h.same(before)
		})
	}
}

// What goes by ccd's name and is not what install writes is another's: it stays, or is told of, and no rule of it is
// touched.
func TestNamesakes(t *testing.T) {
	settings := `{
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "/opt/dash/ccd hook stopped --notify"}]}],
    "PreCompact": [{"hooks": [{"type": "command", "command": "/opt/dash/ccd hook PreCompact"}]}]
  }
}
`
	h := newHome(t)
	h.write(".claude/settings.json", settings)
	before := h.tree()
	h.uninstall(Agents()...)
	h.same(before)
	h.install(everything, Claude)
	if h.read(".claude/settings.json"+backupSuffix) != settings {
		t.Error("no backup of what another's hooks stood in")
	}
	h.install(moved(h), Claude)
	if now := h.read(".claude/settings.json"); strings.Count(now, "/opt/dash/ccd hook") != 2 {
		t.Error(now)
	}
	h.uninstall(Agents()...)
	h.same(before)
	for file, text := range map[string]string{
		".claude.json":       `{"mcpServers": {"ccd": {"command": "/opt/dashboard/server", "args": ["mcp", "--port", "99"]}}}`,
		".codex/config.toml": "[mcp_servers.ccd]\ncommand = \"/opt/other/srv\"\nargs = [\"mcp\", \"--x\"]\n",
	} {
		for _, text := range []string{text, strings.NewReplacer("dashboard/server", "dashboard/ccd", "other/srv", "other/ccd").Replace(text)} {
			h := newHome(t)
			h.write(file, text)
			before := h.tree()
			h.uninstall(Agents()...)
			h.same(before)
			_, err := h.setup(nil).Plan(true, Agents()...)
			want(t, err, "ccd did not write")
		}
	}
}

// A program of another name is known by its own install and uninstall.
func TestBinaryOfAnotherName(t *testing.T) {
	h := newHome(t)
	h.write("bin/ccd", "#!/bin/sh\n")
	h.write("bin/compactor", "#!/bin/sh\n")
	testkit.Must(t, os.Chmod(h.path("bin/compactor"), 0o755))
	named := func(o *Options) { everything(o); o.Executable = h.path("bin/compactor") }
	before := h.tree()
	h.install(named, Agents()...)
	if p, err := h.setup(named).Plan(true, Agents()...); err != nil || !p.Empty() {
		t.Errorf("a second install: %v\n%s", err, p.Diff())
	}
	h.apply(h.setup(named).Plan(false, Agents()...))
	h.same(before)
}

// Whatever becomes of ccd, a hook's exit status is 0: others mean something to an agent.
func TestHooksCannotBlock(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	h := newHome(t)
	h.write("bin/ccd", "#!/bin/sh\necho told\nexit 2\n")
	h.install(everything, Agents()...)
	for _, file := range []string{".claude/settings.json", ".codex/hooks.json"} {
		d, err := parse(file, []byte(h.read(file)), false)
		testkit.Must(t, err)
		if len(d.calls()) < 3 {
			t.Errorf("%s: %d hooks", file, len(d.calls()))
		}
		for _, c := range d.calls() {
			event, command, _ := strings.Cut(c.says, " ")
			if out, err := exec.Command("sh", "-c", command).Output(); err != nil || string(out) != "told\n" {
				t.Errorf("%s: %s: %q, %v", event, command, out, err)
			}
			if exec.Command("sh", "-c", strings.TrimSuffix(command, harmless)).Run() == nil { // control
				t.Error("this ccd fails")
			}
		}
	}
}
