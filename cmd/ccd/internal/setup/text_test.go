package setup

import (
	"slices"
	"strings"
	"testing"
)

// texts are what people write into AGENTS.md, and, with another body, into config.toml.
var texts = []string{"", "\n", "\n\n", "a = 1", "a = 1\n", "a = 1\n\n", "a = 1\r\n", "a = 1\r\n\r\n", "a = 1\r\nb = 2", "a = 1\n\n\n[t]\nb = \"\"\"\n[mcp_servers.ccd]\n\"\"\"", "\ufeffa = 1\n"}

func TestTextsComeBack(t *testing.T) {
	for _, text := range texts {
		h := newHome(t)
		h.write(".codex/AGENTS.md", text)
		h.write(".codex/config.toml", text)
		before := h.tree()
		h.install(nil, Codex)
		for _, f := range []string{".codex/AGENTS.md", ".codex/config.toml"} {
			now := h.read(f)
			if !strings.HasPrefix(now, text) || len(now) == len(text) {
				t.Errorf("%q became %q", text, now)
			}
			if strings.Contains(text, "\r\n") && strings.Count(now, "\n") != strings.Count(now, "\r\n") {
				t.Errorf("line ends are mixed: %q", now)
			}
		}
		h.install(moved(h), Codex)
		h.uninstall(Codex)
		h.same(before)
	}
}

// What others write before, behind and, for TOML, into ccd's lines stays.
func TestTextsOfOthersStay(t *testing.T) {
	h := newHome(t)
	h.write(".codex/AGENTS.md", "# one\n")
	h.write(".codex/config.toml", "a = 1 # one\n")
	h.install(nil, Codex)
	h.write(".codex/AGENTS.md", "# zero\n"+h.read(".codex/AGENTS.md")+"\n# two\n")
	h.write(".codex/config.toml", strings.Replace(h.read(".codex/config.toml"), tableEnd, "startup_timeout_sec = 9\n"+tableEnd, 1)+"\n[t] # two\nb = 2\n")
	h.install(moved(h), Codex)
	if text := h.read(".codex/config.toml"); !strings.Contains(text, h.path("new place/ccd")) || !strings.Contains(text, "startup_timeout_sec") {
		t.Error(text)
	}
	h.uninstall(Codex)
	for f, want := range map[string]string{".codex/AGENTS.md": "# zero\n# one\n\n# two\n", ".codex/config.toml": "a = 1 # one\n\n[t] # two\nb = 2\n"} {
		if got := h.read(f); got != want {
			t.Errorf("%s: %q, want %q", f, got, want)
		}
	}
}

// The client itself rewrites its configuration: the mark before the table goes, other tables come before the one after.
func TestTableThatTheClientMoved(t *testing.T) {
	h := newHome(t)
	head := "model = \"m\" # mine\n"
	ours := "\n[mcp_servers.ccd]\ncommand = \"" + h.path("bin/ccd") + "\"\nargs = [\n  \"mcp\",\n]\n\n[mcp_servers.ccd.env]\nA = \"1\"\n"
	others := "\n[mcp_servers.other]\ncommand = \"x\"\n"
	for _, text := range []string{head + ours + others + tableEnd + "\n", head + others + ours, head + others + ours + tableEnd + "\n"} {
		h.write(".codex/config.toml", text)
		if s := h.setup(nil).Status(Codex); s.Parts[1].State != Installed {
			t.Errorf("%+v", s.Parts[1])
		}
		h.install(nil, Codex)
		if got := h.read(".codex/config.toml"); got != text {
			t.Errorf("changed to\n%s", got)
		}
		h.uninstall(Codex)
		if got := h.read(".codex/config.toml"); got != head+others {
			t.Errorf("left\n%s", got)
		}
	}
	h.write(".codex/config.toml", "[mcp_servers]\nccd = { command = \"/x/ccd\", args = [\"mcp\"] }\n")
	_, err := h.setup(nil).Uninstall(Codex)
	want(t, err, "line by line")
}

// What the client noted of ccd's hooks goes with them; what it noted of others stays.
func TestTrustGoesToo(t *testing.T) {
	h := newHome(t)
	h.write(".codex/config.toml", "a = 1\n")
	h.write(".codex/hooks.json", `{"hooks": {"SessionStart": [{"hooks": [{"command": "x"}]}]}}`)
	h.install(nil, Codex)
	note := func(event string) string {
		return "\n[hooks.state.\"" + h.path(".codex/hooks.json") + ":" + event + "\"]\ntrusted_hash = \"sha256:0\"\n"
	}
	theirs := "\n[hooks.state]\n" + note("session_start:0:0")
	h.write(".codex/config.toml", h.read(".codex/config.toml")+theirs)
	if s := h.setup(nil).Status(Codex); s.Notes[0] != untrusted {
		t.Errorf("notes: %q", s.Notes)
	}
	h.write(".codex/config.toml", h.read(".codex/config.toml")+note("session_start:1:0")+note("user_prompt_submit:0:0")+note("pre_compact:0:0"))
	if s := h.setup(nil).Status(Codex); s.Notes[0] != trusted {
		t.Errorf("notes: %q", s.Notes)
	}
	h.uninstall(Codex)
	if got := h.read(".codex/config.toml"); got != "a = 1\n"+theirs {
		t.Errorf("left %q", got)
	}
	h.write(".codex/hooks.json", "{}")
	h.write(".codex/config.toml", "a = 1\n")
	h.install(nil, Codex)
	h.write(".codex/config.toml", h.read(".codex/config.toml")+"\n[hooks.state]\n"+note("session_start:0:0"))
	h.uninstall(Codex)
	if got := h.read(".codex/config.toml"); got != "a = 1\n" {
		t.Errorf("left %q", got)
	}
}

// A hook of the user's that moves up when ccd's go loses its trust with its place: the user is told, and only then.
func TestTrustOfHooksThatMove(t *testing.T) {
	mine := `{"hooks": [{"type": "command", "command": "/my/own"}]}`
	for name, c := range map[string]struct {
		hooks string // MINE once, OURS once
		place string
		told  bool
	}{
		"behind":          {`{"hooks": {"SessionStart": [OURS, MINE]}}`, "session_start:1:0", true},
		"before":          {`{"hooks": {"SessionStart": [MINE, OURS]}}`, "session_start:0:0", false},
		"another event":   {`{"hooks": {"SessionStart": [OURS], "Stop": [MINE]}}`, "stop:0:0", false},
		"not yet trusted": {`{"hooks": {"SessionStart": [OURS, MINE]}}`, "stop:0:0", false},
		"in one group": {
			`{"hooks": {"SessionStart": [{"hooks": [{"command": "BIN hook SessionStart --agent codex"}, {"command": "/my/own"}]}]}}`, "session_start:0:1", true,
		},
	} {
		h := newHome(t)
		ours := `{"hooks": [{"type": "command", "command": "BIN hook SessionStart --agent codex || :"}]}`
		h.write(".codex/hooks.json", strings.NewReplacer("MINE", mine, "OURS", ours).Replace(c.hooks))
		h.write(".codex/hooks.json", strings.ReplaceAll(h.read(".codex/hooks.json"), "BIN", h.path("bin/ccd")))
		note := "[hooks.state.\"" + h.path(".codex/hooks.json") + ":" + c.place + "\"]\ntrusted_hash = \"sha256:0\"\n"
		h.write(".codex/config.toml", note)
		p, err := h.setup(nil).Uninstall(Codex)
		must(t, err)
		if got := slices.Contains(p.Notes, shifted); got != c.told {
			t.Errorf("%s: told: %v", name, got)
		}
		h.apply(p, nil)
		if got := h.read(".codex/config.toml"); got != note {
			t.Errorf("%s: left %q", name, got)
		}
	}
}

// What keeps an agent from using what is installed is told.
func TestNotes(t *testing.T) {
	h := newHome(t)
	notes := func() (all []string) {
		for _, agent := range Agents() {
			p, err := h.setup(nil).Install(agent)
			must(t, err)
			s := h.setup(nil).Status(agent)
			if strings.Join(p.Notes[1:], "") != strings.Join(s.Notes[len(s.Notes)-len(p.Notes)+1:], "") {
				t.Errorf("install says %q, status %q", p.Notes, s.Notes)
			}
			all = append(all, p.Notes[1:]...)
		}
		return all
	}
	h.write(".claude/settings.json", `{"disableAllHooks": false}`)
	h.write(".codex/config.toml", "[features]\nhooks = true\n")
	if got := notes(); len(got) != 0 {
		t.Errorf("notes: %q", got)
	}
	h.write(".claude/settings.json", `{"disableAllHooks": true}`)
	h.write(".codex/config.toml", "[features]\nhooks = false\n")
	h.write(".codex/AGENTS.override.md", "")
	if got := notes(); len(got) != 3 {
		t.Errorf("notes: %q", got)
	}
}

func TestConfigurationIsPassedOn(t *testing.T) {
	h := newHome(t)
	with := func(o *Options) { o.Config = "/etc/my ccd.toml" }
	h.install(nil, Agents()...)
	h.install(with, Agents()...)
	for _, agent := range Agents() {
		if s := h.setup(with).Status(agent); !s.Installed {
			t.Errorf("%+v", s)
		}
		if h.setup(nil).Status(agent).Installed {
			t.Error("without it, it is another")
		}
	}
	if text := h.read(".codex/hooks.json"); !strings.Contains(text, "--agent codex --config '/etc/my ccd.toml'") {
		t.Error(text)
	}
}

// Every session pays for these words.
func TestTextsAreShort(t *testing.T) {
	for _, text := range []string{skillText("/usr/bin/ccd", nil), strings.Join(instructionLines("/usr/bin/ccd"), "\n")} {
		if len(text) > 1800 || !strings.Contains(text, "ccd agent restore ID") {
			t.Errorf("%d bytes:\n%s", len(text), text)
		}
	}
}
