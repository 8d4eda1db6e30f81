package install

import (
	"errors"
	"os"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// What ccd cannot edit for sure is told with its file and line, and then nothing at all is written.
func TestRefusals(t *testing.T) {
	theBlock := strings.Join(marked([]string{"x"}), "\n") + "\n"
	for name, c := range map[string]struct {
		file, text string
		words      []string
	}{
		"comment":             {".claude/settings.json", "{\n  // mine\n  \"a\": 1\n}", []string{"settings.json:2:"}},
		"comma too many":      {".claude/settings.json", "{\n  \"a\": 1,\n}", []string{"settings.json:3:"}},
		"two values":          {".claude/settings.json", "{}\n{}", []string{"settings.json: line 2"}},
		"cut off":             {".claude.json", "{\"a\": {", []string{".claude.json: line 2"}},
		"no object":           {".claude/settings.json", "[]", []string{"settings.json:1: the whole is an array, expected an object"}},
		"a word":              {".claude/settings.json", "\nnull", []string{"settings.json:2: the whole is null"}},
		"hooks a list":        {".claude/settings.json", "{\n\"hooks\": []}", []string{"settings.json:2: hooks is an array"}},
		"event an object":     {".claude/settings.json", `{"hooks": {"PreCompact": {}}}`, []string{"hooks.PreCompact is an object, expected an array"}},
		"hooks twice":         {".claude/settings.json", "{\"hooks\": {},\n\"hooks\": {}}", []string{"settings.json:2: hooks appears twice"}},
		"another status line": {".claude/settings.json", "{\n\"statusLine\": {\"type\": \"command\", \"command\": \"date\"}}", []string{"settings.json:2: another status line"}},
		"a status line twice": {".claude/settings.json", "{\"statusLine\": {},\n\"statusLine\": {}}", []string{"settings.json:2: statusLine appears twice"}},
		"servers a number":    {".claude.json", `{"mcpServers": 1}`, []string{"mcpServers is a number"}},
		"another server":      {".claude.json", `{"mcpServers": {"ccd": {"command": "/x/ccd", "args": ["serve"]}}}`, []string{"ccd did not write"}},
		"a server by URL":     {".claude.json", `{"mcpServers": {"ccd": {"url": "x"}}}`, []string{"ccd did not write"}},
		"another skill":       {".claude/skills/ccd/SKILL.md", "# mine\n", []string{"ccd did not write"}},
		"no TOML":             {".codex/config.toml", "a = 1\nb =\n", []string{"config.toml:2:"}},
		"another TOML server": {".codex/config.toml", "[mcp_servers.ccd]\nurl = 'x'\n", []string{"ccd did not write"}},
		"Gemini's server":     {".gemini/settings.json", `{"mcpServers": {"ccd": {"command": "x"}}}`, []string{".gemini/settings.json:1:", "ccd did not write"}},
		"Amp's comment":       {".config/amp/settings.json", "{\n  // mine\n}", []string{"settings.json:2:"}},
		"block changed":       {".codex/AGENTS.md", "a\n<!-- ccd 0123456789ab -->\nb\n<!-- /ccd -->\n", []string{"AGENTS.md:2:", "changed since ccd wrote it"}},
		"block without end":   {".codex/AGENTS.md", "a\n" + theBlock[:strings.Index(theBlock, endMark)], []string{"AGENTS.md:2:", "end is missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.write(c.file, c.text)
			before := h.tree()
			_, err := h.setup(everything).Plan(true, Agents()...)
			want(t, err, c.words...)
			var next interface{ Hint() string }
			if !errors.As(err, &next) || next.Hint() == "" {
				t.Errorf("%v has no hint", err)
			}
			h.same(before)
			h.write(c.file, "") // control: it is the text
			if c.file != ".claude/skills/ccd/SKILL.md" {
				h.install(everything, Agents()...)
			}
		})
	}
}

func TestFilesThatCannotBeWritten(t *testing.T) {
	for name, c := range map[string]struct {
		make  func(h home)
		words string
	}{
		"read-only": {func(h home) {
			h.write(".codex/hooks.json", "{}")
			testkit.Must(h.t, os.Chmod(h.path(".codex/hooks.json"), 0o444))
		}, "read-only"},
		"a directory": {func(h home) { h.write(".codex/hooks.json/x", "") }, "not a regular file"},
		"leads nowhere": {func(h home) {
			h.write(".codex/x", "")
			testkit.Must(h.t, os.Symlink("gone", h.path(".codex/hooks.json")))
		}, "no such file"},
		"a file above":    {func(h home) { h.write(".claude/skills", "") }, "not a directory"},
		"a backup's name": {func(h home) { h.write(".claude.json", "{}"); h.write(".claude.json"+backupSuffix+"/x", "") }, "backup"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			c.make(h)
			before := h.tree()
			p, err := h.setup(nil).Plan(true, Agents()...)
			if err == nil {
				err = p.Apply()
			}
			want(t, err, c.words)
			h.same(before)
			if name == "leads nowhere" { // nothing of ccd's is there
				h.uninstall(Agents()...)
				h.same(before)
			}
		})
	}
}

// What changed since the plan was made is not lost, and nothing is written then. What cannot be written stops it; the next plan
// has the rest.
func TestApplyKeepsWhatChanged(t *testing.T) {
	for name, c := range map[string]struct {
		spoil, mend func(h home)
	}{
		"changed meanwhile": {func(h home) { h.write(".gemini/settings.json", `{"b": 2}`) }, nil},
		"removed meanwhile": {func(h home) { testkit.Must(h.t, os.Remove(h.path(".gemini/settings.json"))) }, nil},
		"made meanwhile":    {func(h home) { h.write(".codex/hooks.json", "{}") }, nil},
		"no room for a file": {func(h home) {
			h.write(".gemini/GEMINI.md.x", "")
			testkit.Must(h.t, os.Chmod(h.path(".gemini"), 0o500))
		}, func(h home) { testkit.Must(h.t, os.Chmod(h.path(".gemini"), 0o700)) }},
	} {
		t.Run(name, func(t *testing.T) {
			if c.mend != nil && os.Geteuid() == 0 {
				t.Skip("root writes everywhere")
			}
			h := newHome(t)
			h.write(".claude/settings.json", "{}")
			h.write(".gemini/settings.json", "{}")
			p, err := h.setup(nil).Plan(true, Agents()...)
			testkit.Must(t, err)
			c.spoil(h)
			before := h.tree()
			if err = p.Apply(); err == nil {
				t.Fatal("no error")
			}
			if c.mend == nil {
				h.same(before)
				return
			}
			c.mend(h)
			h.install(nil, Agents()...)
			h.uninstall(Agents()...)
			h.same(before)
		})
	}
}

func TestUsable(t *testing.T) {
	h := newHome(t)
	h.write("plain", "")
	for _, path := range []string{"go-build/11/2f-d/ccd", "go-build123/b001/exe/ccd"} { // of Go's cache, and a temporary one
		h.write(path, "")
		testkit.Must(t, os.Chmod(h.path(path), 0o700))
	}
	tmp := os.TempDir()
	for _, c := range []struct{ path, home, words string }{
		{h.path("bin/ccd"), h.dir, ""},
		{h.path("new place/ccd"), h.dir, ""},
		{h.path("bin/ccd"), "/home/sam", "temporary files"},
		{h.path("go-build/11/2f-d/ccd"), h.dir, "go run"},
		{h.path("go-build123/b001/exe/ccd"), h.dir, "go run"},
		{h.path("plain"), h.dir, "not executable"},
		{h.path("gone"), h.dir, "no such file"},
		{h.dir, h.dir, "not a regular file"},
		{"bin/ccd", h.dir, "not absolute"},
		{"/a\nb", h.dir, "plain UTF-8"},
		{"/a\xff", h.dir, "plain UTF-8"},
	} {
		err := Usable(c.path, c.home)
		if c.words == "" {
			testkit.Must(t, err)
		} else {
			want(t, err, c.words)
		}
	}
	for path, is := range map[string]bool{
		tmp + "/x/ccd": true, "/home/sam/bin/ccd": false, tmp + "x/ccd": false,
	} {
		if short(path) != is {
			t.Errorf("short(%s) = %v", path, !is)
		}
	}
}
