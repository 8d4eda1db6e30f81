// Package claude describes Claude Code: where it stores transcripts, how a record decodes, what its tools do.
package claude

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

var home = transcript.Dir{Variable: "CLAUDE_CONFIG_DIR", Usual: ".claude"}

// Row returns the format of Claude Code.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "claude-code", Title: "Claude Code", Roots: home.With("projects"), Match: match,
		Client: &client, Parse: parse, Write: write,
		Place: func(d *transcript.Draft, _ string) string { return path.Join(Project(d.Cwd), d.ID+".jsonl") }, Project: Project, Beside: indexes,
		Resume: []string{"claude", "--resume"}, ByPath: true, Shell: transcript.ShellTool("Bash"),
		Connect: &transcript.Connect{
			Name: "claude", Dir: home.Of,
			Hooks: "settings.json", Events: transcript.Events(), Line: true,
			ServersAt: state, Member: "mcpServers", Type: "stdio", State: true,
			Skill: "skills/ccd/SKILL.md", Mod: "skills/ccd", Asks: "2.1.287", Outputs: true,
		},
	}
}

// state returns the file in which the client stores its MCP servers: an old one in its own directory if that exists,
// else .claude.json in the home directory, or in CLAUDE_CONFIG_DIR if that is set.
func state(getenv func(string) string, home string) string {
	moved := getenv("CLAUDE_CONFIG_DIR")
	dir := cmp.Or(moved, filepath.Join(home, ".claude"))
	old := filepath.Join(dir, ".config.json")
	if _, err := os.Lstat(old); err == nil {
		return old
	}
	return filepath.Join(cmp.Or(moved, home), ".claude.json")
}

// match accepts projects/SLUG/SESSION.jsonl, older projects/SLUG/agent-HEX.jsonl, and the files in projects/SLUG/SESSION/: conversations
// of sub-agents, and attachments of the session. A session may also have been moved too deep.
var match = transcript.Named(
	transcript.Name{Form: `[^/]+/(?P<id>agent-[0-9a-fA-F]+)\.jsonl`, Class: transcript.SubAgent},
	transcript.Name{Form: `[^/]+/(?:(?P<id>` + transcript.UUID + `)|[^/]+)\.jsonl`},
	transcript.Name{Form: `[^/]+/(?P<parent>[^/.][^/]*)/subagents/(?:.*/)?(?P<id>agent-[^/]*)\.jsonl`, Class: transcript.SubAgent},
	transcript.Name{Form: `[^/]+/(?P<id>(?P<parent>` + transcript.UUID + `)/(?:.*/)?[^/.][^/]*)`, Class: transcript.Attachment},
	transcript.Name{Form: `[^/]+/(?P<id>(?P<parent>[^/.][^/]*)/(?:subagents|tool-results)/(?:.*/)?[^/.][^/]*)`, Class: transcript.Attachment},
	transcript.Name{Form: `[^/]+/.*/(?P<id>` + transcript.UUID + `)\.jsonl`},
)

// indexes are the list of a project's sessions with their titles, and the teams, whose configurations name the session that leads.
var indexes = []transcript.Index{
	{
		Of: func(s transcript.Session, _ string) (path, name string) {
			return filepath.Join(filepath.Dir(s.Path), "sessions-index.json"), s.ID
		},
		Read: func(text []byte) map[string]transcript.Facts {
			all := map[string]transcript.Facts{}
			for one := range transcript.Arguments(text).Field("entries").Elements() {
				title := cmp.Or(one.Field("customTitle").Text(), one.Field("summary").Text())
				all[one.Field("sessionId").Text()] = transcript.Facts{Title: title}
			}
			return all
		},
	},
	{
		Of: func(s transcript.Session, team string) (path, name string) {
			if team == "" || !filepath.IsLocal(team) || strings.ContainsAny(team, `/\`) {
				return "", ""
			}
			return filepath.Join(filepath.Dir(s.Root), "teams", team, "config.json"), ""
		},
		Read: func(text []byte) map[string]transcript.Facts {
			return map[string]transcript.Facts{"": {Parent: transcript.Arguments(text).Field("leadSessionId").Text()}}
		},
	},
}

// client lists the tools of Claude Code and the texts that it writes in the user's role, as seen in transcripts and in
// the program from 2.0.22 to 2.1.329. A text that is not listed was written by a person, unless the record's structure
// says otherwise.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "Bash BashOutput KillShell KillBash TaskOutput TaskStop PowerShell Monitor",
		transcript.Read:    "Read NotebookRead",
		transcript.Write:   "Write",
		transcript.Edit:    "Edit MultiEdit NotebookEdit apply_patch",
		transcript.Search:  "Grep Glob LS ToolSearch LSP",
		transcript.Web:     "WebFetch WebSearch",
		transcript.Plan:    "TodoWrite TaskCreate TaskUpdate TaskList TaskGet",
		transcript.Ask:     "AskUserQuestion ExitPlanMode exit_plan_mode",
		transcript.Agent:   "Task Agent SendMessage AgentOutputTool",
		transcript.Other: "CronCreate CronDelete CronList EnterPlanMode EnterWorktree ExitWorktree ListAgents ReportFindings " +
			"ScheduleWakeup Skill SlashCommand TeamCreate TeamDelete TodoRead Workflow",
	}),
	Flags: true, DropsNewline: true,
	Reports: []string{"<task-notification", "<teammate-message", "<agent-message", "<cross-session-message"},
	Prints:  []string{"<bash-stdout>", "<bash-stderr>"},
	Local:   []string{"<local-command-std"},
	Memory:  []string{"<user-memory-input>"},
	Sent:    []string{"<command-message>"},
	Typed:   typed, Ran: ran,
	Native: native,
	Elements: transcript.Elements("user-prompt-submit-hook new-diagnostics ide_opened_file ide_selection ide_diagnostics "+
		"mcp-resource",
		"local-command-caveat local-command-stdout local-command-stderr bash-stdout bash-stderr "+
			"teammate-message agent-message cross-session-message mcp-polling-update mcp-resource-update "+
			"mcp-server-note channel fork-boilerplate tick command-contents",
		// below a plan that is given to a new context (2.1.12)
		transcript.Wrapper{Begin: "If you need specific details from before exiting plan mode", End: ".jsonl", Beside: true}),
	Notices: []transcript.Wrapper{
		{Begin: "Another Claude session sent a message:"},
		{Begin: "Another Claude session sent a message while you were working:"},
		{Begin: "Caveat: The messages below were generated by the user while running local commands"},
		{Begin: "[Request interrupted by user", End: "]"},
		{Begin: "[Tool use interrupted]", End: "]"},
		{Begin: "(no content)", End: ")"},
		{Begin: "[Image: source:", End: "]"},
		{Begin: "[Image: original ", End: "]"},
		{Begin: "Base directory for this skill: "},
		{Begin: "Stop hook feedback:\n"},
	},
}

// typed recognizes a text that is only a slash command, a shell line or a memory line. It returns what was typed ("" for a command
// without arguments), and where it ends.
func typed(c *transcript.Client, core string) (said string, end int, ok bool) {
	if said, end, ok = slashCommand(core); !ok {
		for _, tag := range []string{"bash-input", "user-memory-input"} {
			inside, rest, found := transcript.CutElement(core, tag)
			if found && c.OnlyElements(rest) { // the shell's output may follow
				said, end, ok = strings.TrimSpace(inside), len(core)-len(rest), true
			}
		}
	}
	return said, end, ok
}

// ran reads a command that a person ran in the client, and what it printed: an act, and nothing said to the agent.
func ran(text string) (command, output string, ok bool) {
	command, output, ok = transcript.CutElement(text, "bash-input")
	command, output = strings.TrimSpace(command), strings.TrimSpace(output)
	return command, output, ok && (output == "" || strings.HasPrefix(output, "<bash-std"))
}

// slashCommand reads a slash command which consists of elements. The last one may be the
// command's content, which was not typed. The client writes the message first for a command that it sends to the model, and
// the name first for one that it runs itself: without arguments, that one says nothing to the model.
func slashCommand(text string) (said string, end int, ok bool) {
	var name, args string
	for rest := text; rest != ""; {
		var inside, after string
		for _, tag := range []string{"command-name", "command-message", "command-args", "skill-format"} {
			if inside, after, ok = transcript.CutElement(rest, tag); !ok {
				continue
			}
			switch tag {
			case "command-name":
				name = strings.TrimSpace(inside)
			case "command-args":
				args = strings.TrimSpace(inside)
			}
			break
		}
		if !ok {
			if strings.HasPrefix(rest, "<command-contents>") && strings.HasSuffix(rest, "</command-contents>") && end > 0 {
				break
			}
			return "", 0, false
		}
		end = len(text) - len(after)
		rest = strings.TrimSpace(after)
	}
	switch {
	case args != "":
		said = name + " " + args
	case strings.HasPrefix(text, "<command-message>"):
		said = "/" + strings.TrimPrefix(name, "/")
	}
	return strings.TrimSpace(said), end, end > 0
}
