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

// Codex's server is a table of its own, wherever other tables and texts that look like it stand, and of any form that Codex
// itself wrote.
func TestCodexServer(t *testing.T) {
	for _, text := range []string{
		"", "a = 1", "a = 1\n", "a = 1\r\n", "\ufeffa = 1\n", "[mcp_servers.other]\ncommand = \"x\"\n\n[t]\nb = 1\n", "mcp_servers.other.command = \"x\"\n",
		"a = \"\"\"\n[mcp_servers.ccd]\n\"\"\"\n",
	} {
		comes(t, ".codex/config.toml", text)
		h := newHome(t)
		h.write(".codex/config.toml", text)
		h.install(nil, Codex)
		h.write(".codex/config.toml", h.read(".codex/config.toml")+"\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n")
		h.install(moved(h), Codex)
		if s := h.setup(moved(h)).Status(Codex); !s.Installed {
			t.Errorf("%q: %+v", text, s)
		}
		h.uninstall(Codex)
		if got := strings.ReplaceAll(h.read(".codex/config.toml"), "\r", ""); !strings.HasPrefix(got, strings.ReplaceAll(text, "\r", "")) || !strings.HasSuffix(got, "\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n") || strings.Contains(got, "bin/ccd") {
			t.Errorf("%q: left %q", text, got)
		}
	}
	h := newHome(t)
	theirs := "a = 1\n\n[mcp_servers.ccd]\ncommand = \"/old/ccd\"\nargs = [\"mcp\"]\n\n[mcp_servers.ccd.env]\nCODEX_HOME = \"/x\"\n\n[t]\nb = 1\n"
	h.write(".codex/config.toml", theirs)
	h.uninstall(Codex)
	if got := h.read(".codex/config.toml"); got != "a = 1\n\n[t]\nb = 1\n" {
		t.Errorf("left %q", got)
	}
	for _, text := range []string{"mcp_servers = { other = { command = \"x\" } }\n", "[mcp_servers]\nccd = { command = \"/old/ccd\", args = [\"mcp\"] }\n"} {
		h.write(".codex/config.toml", text)
		_, err := h.setup(nil).Plan(true, Codex)
		want(t, err, "of its own")
	}
}

// A comment below ccd's table is a person's: it stays, alone or before a table.
func TestCommentsBelowTheServerStay(t *testing.T) {
	for _, added := range []string{"\n# later\n", "# at once\n", "\n# the work profile, do not delete\n# (see wiki)\n[profiles.work]\nmodel = \"x\"\n"} {
		h := newHome(t)
		h.write(".codex/config.toml", "a = 1\n")
		h.install(nil, Codex)
		h.write(".codex/config.toml", h.read(".codex/config.toml")+added)
		h.install(moved(h), Codex)
		h.uninstall(Codex)
		if got := h.read(".codex/config.toml"); !strings.HasPrefix(got, "a = 1\n") || !strings.HasSuffix(got, added) || strings.Contains(got, "ccd") {
			t.Errorf("%q: left %q", added, got)
		}
	}
}

// Codex starts a server without the variables that say where ccd's files are, unless it is told them.
func TestMovedFilesAreNamedToTheServer(t *testing.T) {
	h := newHome(t)
	moved := func(o *Options) {
		o.Getenv = func(key string) string { return map[string]string{"XDG_STATE_HOME": "/else where"}[key] }
	}
	h.install(moved, Codex)
	if text := h.read(".codex/config.toml"); !strings.Contains(text, `env = { XDG_STATE_HOME = "/else where" }`) {
		t.Error(text)
	}
	if !h.setup(moved).Status(Codex).Installed || h.setup(nil).Status(Codex).Installed {
		t.Error("without them, it is another")
	}
}
