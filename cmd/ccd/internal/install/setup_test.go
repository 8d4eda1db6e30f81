package install

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// layouts are settings as people, and agents, leave them.
var layouts = map[string]string{
	"empty":                   "",
	"white space":             " \n\n",
	"empty object":            "{}",
	"blank in it":             "{ }\n",
	"line in it":              "{\n}\n",
	"two blanks":              "{\n  \"model\": \"m\"\n}\n",
	"four blanks":             "{\n    \"model\": \"m\",\n    \"n\": {\n        \"o\": 1\n    }\n}\n",
	"tabs":                    "{\n\t\"model\": \"m\"\n}\n",
	"no end of the last line": "{\n  \"model\": \"m\"\n}",
	"one line":                `{"model": "m", "list": [1, 2]}` + "\n",
	"compact":                 `{"model":"m","list":[1,2]}`,
	"carriage returns":        "{\r\n  \"model\": \"m\"\r\n}\r\n",
	"byte order mark":         "\xef\xbb\xbf{\n  \"model\": \"m\"\n}\n",
	"byte order mark alone":   "\xef\xbb\xbf",
	"no hooks yet":            "{\n  \"hooks\": {}\n}\n",
	"no hooks of an event":    "{\n  \"hooks\": {\"SessionStart\": [ ], \"PreCompact\": []}\n}\n",
	"hooks of others":         "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"matcher\": \"startup\", \"hooks\": [{\"type\": \"command\", \"command\": \"hello\"}]}\n    ]\n  }\n}\n",
	"hooks in one line":       `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"x"}]}]}}`,
	"hooks of no known shape": "{\n  \"hooks\": {\"SessionStart\": [1, {\"hooks\": 2}, {\"hooks\": [3, {\"command\": 4}]}]}\n}\n",
	"servers of others":       "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"n\": 1e400\n}\n",
	"no servers":              "{\n  \"mcpServers\": { },\n  \"a\\u00e9\": \"\\ud83d\\ude00 \\/\"\n}\n",
	"not UTF-8":               "{\"x\": \"\xff\"}",
}

// TestUninstallLeavesNothing holds the law of this package: with nothing changed in between, all is as it was, also in
// files that were not there.
func TestUninstallLeavesNothing(t *testing.T) {
	for _, name := range testkit.Sample(t, slices.Sorted(maps.Keys(layouts)), 8) {
		text := layouts[name]
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			for _, f := range []string{".claude/settings.json", ".claude.json", ".codex/hooks.json", ".qwen/settings.json"} {
				h.write(f, text)
			}
			before := h.tree()
			h.install(everything, Agents()...)
			for _, f := range []string{".claude/settings.json", ".claude.json", ".codex/hooks.json"} {
				var v map[string]json.RawMessage
				if err := json.Unmarshal([]byte(strings.TrimPrefix(h.read(f), "\ufeff")), &v); err != nil {
					t.Errorf("%s: %v\n%s", f, err, h.read(f))
				}
			}
			installed := h.tree()
			p, err := h.setup(everything).Plan(true, Agents()...)
			testkit.Must(t, err)
			if !p.Empty() || p.Diff() != "" {
				t.Errorf("a second install would change\n%s", p.Diff())
			}
			h.apply(p, nil)
			h.same(installed)
			for _, agent := range Agents() {
				if s := h.setup(everything).Status(agent); !s.Installed || slices.ContainsFunc(s.Parts, func(p Part) bool { return p.State != Installed }) {
					t.Errorf("status: %+v", s)
				}
			}
			h.uninstall(Agents()...)
			h.same(before)
		})
	}
}

func TestMovedDirectories(t *testing.T) {
	h := newHome(t)
	at := func(o *Options) {
		o.Getenv = func(key string) string { return h.path("moved/" + key) }
	}
	h.install(at, Agents()...)
	for _, f := range []string{
		"moved/CLAUDE_CONFIG_DIR/settings.json", "moved/CLAUDE_CONFIG_DIR/.claude.json", "moved/CODEX_HOME/hooks.json", "moved/CODEX_HOME/config.toml",
	} {
		h.read(f)
	}
	relative := h.setup(func(o *Options) { o.Getenv = func(string) string { return "here" } })
	if _, err := relative.Plan(true, Claude); err == nil || len(relative.Present()) > 0 {
		t.Errorf("a relative directory was taken: %v", err)
	}
	old := newHome(t) // clients of old kept their state elsewhere, and read it there
	old.write(".claude/.config.json", "{}")
	old.install(nil, Claude)
	if text := old.read(".claude/.config.json"); !strings.Contains(text, "mcpServers") {
		t.Error(text)
	}
}

// What others add, move and take away in between stays theirs.
func TestOthersChanges(t *testing.T) {
	ours := `{"type":"command","command":"BIN hook SessionStart --agent claude-code","timeout":10}`
	for name, c := range map[string]struct{ now, want string }{
		"behind ours":        {`{"hooks":{"SessionStart":[{"hooks":[OURS]},{"hooks":[{"command":"x"}]}]}}`, `{"hooks":{"SessionStart":[{"hooks":[{"command":"x"}]}]}}`},
		"before ours":        {`{"hooks":{"SessionStart":[{"hooks":[{"command":"x"}]},{"hooks":[OURS]}]}}`, `{"hooks":{"SessionStart":[{"hooks":[{"command":"x"}]}]}}`},
		"in our group":       {`{"hooks":{"SessionStart":[{"hooks":[OURS,{"command":"x"}]}]}}`, `{"hooks":{"SessionStart":[{"hooks":[{"command":"x"}]}]}}`},
		"twice":              {`{"hooks":{"SessionStart":[{"hooks":[OURS,OURS]},{"hooks":[OURS]}], "Stop": []}}`, `{"hooks":{ "Stop": []}}`},
		"another path":       {`{"hooks":{"PreCompact":[{"hooks":[{"command":"'/old dir/ccd' hook PreCompact --agent codex"}]}]},"k":0}`, `{"k":0}`},
		"another name":       {`{"hooks":{"PreCompact":[{"hooks":[{"command":"/opt/ccd-2 hook PreCompact --agent codex || :"}]}]},"k":0}`, `{"k":0}`},
		"not ours: flags":    {`{"hooks":{"Stop":[{"hooks":[{"command":"/opt/dash/ccd hook stopped --notify"}]}]}}`, ""},
		"not ours: name":     {`{"hooks":{"Stop":[{"hooks":[{"command":"/opt/abccd hook Stop"}]}]}}`, ""},
		"not ours: verb":     {`{"hooks":{"Stop":[{"hooks":[{"command":"/opt/ccd restore x"}]}]}}`, ""},
		"not ours: relative": {`{"hooks":{"Stop":[{"hooks":[{"command":"ccd hook Stop"}]}]}}`, ""},
		"a Windows path":     {`{"hooks":{"PreCompact":[{"hooks":[{"command":"'C:\\\\Program Files\\\\ccd.exe' hook PreCompact --agent codex"}]}]},"k":0}`, `{"k":0}`},
		"a quote in a path":  {`{"hooks":{"PreCompact":[{"hooks":[{"command":"'/it'\\''s/ccd' hook PreCompact --agent codex"}]}]},"k":0}`, `{"k":0}`},
		"not ours: words":    {`{"hooks":{"PreCompact":[{"hooks":[{"command":"/opt/ccd tool PreCompact --with codex"}]}]}}`, ""},
		"not ours: agent":    {`{"hooks":{"PreCompact":[{"hooks":[{"command":"/opt/ccd hook PreCompact --agent nobody"}]}]}}`, ""},
		"not ours: more":     {`{"hooks":{"PreCompact":[{"hooks":[{"command":"/opt/ccd hook PreCompact --agent codex; echo x"}]}]}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			now := strings.ReplaceAll(strings.ReplaceAll(c.now, "OURS", ours), "BIN", h.path("bin/ccd"))
			h.write(".claude/settings.json", now)
			h.uninstall(Claude)
			if c.want == "" {
				c.want = now
			}
			if got := h.read(".claude/settings.json"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// The backup holds what was there before the first change, is not widened, and stays where the file is not back to it.
func TestBackup(t *testing.T) {
	h := newHome(t)
	h.write(".claude/settings.json", "{\"a\": 1}\n")
	h.install(nil, Claude)
	h.install(moved(h), Claude)
	backup := ".claude/settings.json" + backupSuffix
	if got := h.read(backup); got != "{\"a\": 1}\n" {
		t.Errorf("backup: %q", got)
	}
	if info, err := os.Stat(h.path(backup)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("backup: %v, %v", info.Mode(), err)
	}
	h.write(".claude/settings.json", strings.Replace(h.read(".claude/settings.json"), `"a": 1`, `"a": 2`, 1))
	h.uninstall(Claude)
	if got := h.read(".claude/settings.json"); got != "{\"a\": 2}\n" {
		t.Errorf("settings: %q", got)
	}
	h.read(backup)
	h.install(nil, Claude) // a new first change: the backup is of now
	if got := h.read(backup); got != "{\"a\": 2}\n" {
		t.Errorf("second backup: %q", got)
	}
}

// The client writes its state all the time: what it holds of accounts is not left lying about in a backup.
func TestStateLeavesNoBackup(t *testing.T) {
	h := newHome(t)
	h.write(".claude.json", "{\"n\": 1}\n")
	h.install(nil, Claude)
	h.write(".claude.json", strings.Replace(h.read(".claude.json"), `"n": 1`, `"n": 2`, 1))
	h.uninstall(Claude)
	if got := h.read(".claude.json"); got != "{\"n\": 2}\n" {
		t.Errorf("state: %q", got)
	}
	if left, _ := filepath.Glob(h.path(".claude.json*")); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

func TestSymlinksAndModesStay(t *testing.T) {
	h := newHome(t)
	h.write("dotfiles/settings.json", "{}\n")
	h.write(".codex/hooks.json", "{}\n")
	testkit.Must(t, os.Chmod(h.path("dotfiles/settings.json"), 0o666))
	testkit.Must(t, os.MkdirAll(h.path(".claude"), 0o755))
	testkit.Must(t, os.Symlink("../dotfiles/settings.json", h.path(".claude/settings.json")))
	testkit.Must(t, os.Mkdir(h.path("dotfiles/codex"), 0o755))
	testkit.Must(t, os.Rename(h.path(".codex"), h.path("dotfiles/codex/dir")))
	testkit.Must(t, os.Symlink("dotfiles/codex/dir", h.path(".codex")))
	before := h.tree()
	h.install(nil, Agents()...)
	now := h.tree()
	if now[".claude/settings.json"] != before[".claude/settings.json"] || now[".codex"] != before[".codex"] {
		t.Error("a symlink was replaced")
	}
	if text := now["dotfiles/settings.json"]; !strings.HasPrefix(text, "-rw-rw-rw- ") || !strings.Contains(text, "SessionStart") {
		t.Errorf("the target: %s", text)
	}
	h.uninstall(Agents()...)
	h.same(before)
}

// TestComments: settings of an agent that accepts comments are edited, and all comments stay, also if something else has changed since.
func TestComments(t *testing.T) {
	for _, text := range []string{
		"// mine\n{\n  // theme\n  \"theme\": \"dark\", // the dark one\n  /* the last */ \"x\": \"// no comment\" // end\n}\n// after\n",
		"{\n  // nothing yet\n}\n// end, without a new line", "{ /* nothing */ }", "{\"hooks\": {\n  // none\n  }, \"mcpServers\": {} /* none */}",
	} {
		h := newHome(t)
		h.write(".gemini/settings.json", text)
		before := h.tree()
		h.install(nil, "gemini-cli")
		now := h.read(".gemini/settings.json")
		if d, err := parse("x", []byte(now), true); err != nil || len(d.calls()) != 3 || d.get("mcpServers", "ccd") == nil {
			t.Errorf("%v\n%s", err, now)
		}
		h.uninstall("gemini-cli")
		h.same(before)

		h.install(nil, "gemini-cli")
		h.write(".gemini/settings.json", h.read(".gemini/settings.json")+"\n// later")
		h.uninstall("gemini-cli")
		got := h.read(".gemini/settings.json")
		if _, err := parse("x", []byte(got), true); err != nil || strings.Contains(got, "ccd") {
			t.Errorf("%v\n%s", err, got)
		}
		for _, comment := range []string{"// mine", "// theme", "// the dark one", "/* the last */", "// end", "// after", "// nothing yet", "// end, without a new line", "/* nothing */", "// none", "/* none */"} {
			if strings.Contains(text, comment) && !strings.Contains(got, comment) {
				t.Errorf("%q is lost:\n%s", comment, got)
			}
		}
	}
}

// TestABadFileBlocksOneAgent: an agent whose file cannot be read is left out and told, and the others are connected.
func TestABadFileBlocksOneAgent(t *testing.T) {
	h := newHome(t)
	h.write(".gemini/settings.json", "{\"a\": }")
	p, err := h.setup(nil).Plan(true, "gemini-cli", Claude)
	if err == nil || !strings.Contains(err.Error(), "settings.json: line 1") || strings.Contains(p.Diff(), ".gemini") || !strings.Contains(p.Diff(), ".claude") {
		t.Errorf("%v\n%s", err, p.Diff())
	}
}

func TestMain(m *testing.M) {
	testkit.InMemory()
	os.Exit(m.Run())
}
