package install

import (
	"strings"
	"testing"
)

// What each agent gets beside Claude Code and Codex, whose own tests tell.
func TestWhatEachGets(t *testing.T) {
	h := newHome(t)
	h.install(nil, Agents()...)
	server := `"command": "BIN",` + "\n" + `      "args": [` + "\n" + `        "mcp"` + "\n      ]"
	for file, all := range map[string][]string{
		".gemini/settings.json":            {server, `"BeforeAgent": [`, `"BIN hook UserPromptSubmit --agent gemini-cli || :"`, `"BIN hook PreCompact --agent gemini-cli || :"`, `"PreCompress": [`, `"timeout": 10000`},
		".qwen/settings.json":              {server, `"UserPromptSubmit": [`, `"BIN hook UserPromptSubmit --agent qwen-code || :"`, `"timeout": 15`},
		".factory/mcp.json":                {server, `"type": "stdio"`},
		".cursor/mcp.json":                 {server, `"type": "stdio"`},
		".copilot/mcp-config.json":         {server, `"type": "local"`, `"tools": [`},
		".config/amp/settings.json":        {server, `"amp.mcpServers": {`},
		".gemini/GEMINI.md":                {"ccd agent restore ID", tools},
		".qwen/QWEN.md":                    {"ccd agent restore ID", tools},
		".factory/AGENTS.md":               {"ccd agent restore ID", tools},
		".copilot/copilot-instructions.md": {"ccd agent restore ID", tools},
		".config/amp/AGENTS.md":            {"ccd agent restore ID", tools},
		".pi/agent/AGENTS.md":              {"ccd agent restore ID"},
	} {
		text := strings.ReplaceAll(h.read(file), h.path("bin/ccd"), "BIN")
		for _, want := range all {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %s:\n%s", file, want, text)
			}
		}
	}
	if strings.Contains(h.read(".pi/agent/AGENTS.md"), tools) {
		t.Error("Pi, which takes no MCP server, is told of one")
	}
}

// Where codex is not on PATH, the files are written all the same, and the user is told the command; a command that fails
// is an error.
func TestCodexIsNotOnPath(t *testing.T) {
	h := newHome(t)
	without := func(o *Options) { o.Program = func(string) func(...string) error { return nil } }
	for range 2 { // the second time nothing but that is left to do
		p, err := h.setup(without).Install(Codex)
		h.apply(p, err)
		if said := strings.Join(p.Notes, "\n"); !strings.Contains(said, "run `codex mcp add ccd -- "+h.path("bin/ccd")+" mcp` yourself") {
			t.Errorf("notes: %s", said)
		}
	}
	if s := h.setup(without).Status(Codex); s.Installed || s.Parts[0].State != Installed || s.Parts[1].State != Missing {
		t.Errorf("status: %+v", s)
	}
	h.install(nil, Codex)
	p, err := h.setup(without).Uninstall(Codex)
	h.apply(p, err)
	if said := strings.Join(p.Notes, "\n"); !strings.Contains(said, "run `codex mcp remove ccd` yourself") {
		t.Errorf("notes: %s", said)
	}
	fails := func(o *Options) {
		o.Program = func(string) func(...string) error { return func(...string) error { return errNotOurs } }
	}
	p, err = h.setup(fails).Uninstall(Codex)
	must(t, err)
	_, err = p.Apply()
	want(t, err, "run codex mcp remove ccd")
}

// Codex starts a server without the variables that say where ccd's files are, unless it is told them.
func TestMovedFilesAreNamedToTheServer(t *testing.T) {
	h := newHome(t)
	moved := func(o *Options) {
		o.Getenv = func(key string) string {
			if key == "XDG_STATE_HOME" {
				return "/else where"
			}
			return ""
		}
	}
	p, err := h.setup(moved).Install(Codex)
	must(t, err)
	if diff := p.Diff(); !strings.Contains(diff, "\nrun: codex mcp add ccd --env 'XDG_STATE_HOME=/else where' -- ") {
		t.Error(diff)
	}
	h.apply(p, nil)
	if text := h.read(".codex/config.toml"); !strings.Contains(text, `XDG_STATE_HOME = "/else where"`) {
		t.Error(text)
	}
}
