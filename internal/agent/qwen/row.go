// Package qwen describes Qwen Code: where it stores sessions, how a record decodes, what its tools do.
package qwen

import (
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// Row returns the format of Qwen Code.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "qwen-code", Title: "Qwen Code",
		Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse,
		Write: write, Place: place, Project: project, Resume: []string{"qwen", "--resume"}, Shell: transcript.ShellTool("run_shell_command"),
		Connect: &transcript.Connect{
			Name: "qwen", Dir: transcript.Dir{Variable: "QWEN_HOME", Usual: ".qwen"}.Of,
			Hooks: "settings.json", Events: transcript.Events(), Servers: "settings.json", Member: "mcpServers", Comments: true, Guide: "QWEN.md",
			Model: &transcript.Model{
				Event: transcript.Event{Client: "PreCompact", Name: "SessionCompact", Timeout: 15},
				Key:   "compactionModel", Value: "openai:ccd", ID: "ccd", List: []string{"modelProviders", "openai"}, Proxy: "proxy", Env: "QWEN_CODE_MODEL",
			},
		},
	}
}

// roots returns the directories of sessions and of tool outputs. QWEN_RUNTIME_DIR moves what the client writes;
// QWEN_HOME moves that and its settings.
func roots(getenv func(string) string, home string) []string {
	dir := cmp.Or(getenv("QWEN_RUNTIME_DIR"), getenv("QWEN_HOME"), filepath.Join(home, ".qwen"))
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		dir = filepath.Join(home, rest)
	}
	return []string{filepath.Join(dir, "projects"), filepath.Join(dir, "tmp")}
}

// match accepts SLUG/chats/SESSION.jsonl, the same in chats/archive, and sub-agents' conversations in
// SLUG/subagents/SESSION/agent-ID.jsonl. Below tmp it accepts HASH/TOOL_ID.output, tool outputs that were too long for
// the context.
func match(base, rel string) (s transcript.Session, ok bool) {
	dirs := strings.Split(rel, "/")
	if base == "tmp" {
		return transcript.Session{Key: transcript.Key{ID: rel}, Class: transcript.Attachment}, len(dirs) == 2 && strings.HasSuffix(rel, ".output")
	}
	id, ok := strings.CutSuffix(dirs[len(dirs)-1], ".jsonl")
	if !ok || id == "" || strings.HasPrefix(id, ".") || len(dirs) < 3 {
		return s, false
	}
	switch {
	case dirs[1] == "chats" && (len(dirs) == 3 || len(dirs) == 4 && dirs[2] == "archive"):
		return transcript.Session{Key: transcript.Key{ID: id}}, true
	case dirs[1] == "subagents" && len(dirs) == 4 && strings.HasPrefix(id, "agent-"):
		return transcript.Session{Key: transcript.Key{ID: id}, Class: transcript.SubAgent, Parent: dirs[2]}, true
	}
	return s, false
}

// recognizes reports whether the line has a message with parts, or a member that only Qwen Code writes.
func recognizes(line transcript.Node) bool {
	if !line.Field("uuid").Is('"') || !line.Field("sessionId").Is('"') {
		return false
	}
	if message := line.Field("message"); message.Is('{') {
		return message.Field("parts").Is('[')
	}
	return line.Field("systemPayload").Is('{') || line.Field("usageMetadata").Is('{') || line.Field("toolCallResult").Is('{')
}

// client lists the tools of Qwen Code and the texts that it writes in the user's role, as seen in sessions of 2025 and
// 2026 and in the program's source (0.21.13).
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "run_shell_command monitor",
		transcript.Read:    "read_file read_many_files",
		transcript.Write:   "write_file",
		transcript.Edit:    "edit replace notebook_edit",
		transcript.Search:  "grep_search search_file_content glob list_directory tool_search lsp",
		transcript.Web:     "web_fetch web_search google_web_search",
		transcript.Plan:    "todo_write",
		transcript.Ask:     "ask_user_question exit_plan_mode",
		transcript.Agent:   "agent task send_message create_sub_session",
		transcript.Other: "artifact cron_create cron_delete cron_list display_image enter_plan_mode enter_worktree exit_worktree " +
			"get_goal image_gen list_agents loop_wakeup propose_goal read_mcp_resource record_artifact report_findings " +
			"request_shutdown save_memory skill structured_output task_create task_list task_stop task_update " +
			"team_create team_delete team_plan_approval update_goal workflow zoom_image",
	}),
	Flags:       true,
	Reports:     []string{"<task-notification"},
	Replacement: replacement,
	Elements: transcript.Elements("qwen:user-prompt-submit-context", "",
		transcript.Wrapper{Begin: parts.FilesBegin, End: parts.FilesEnd, Beside: true},
		transcript.Wrapper{Begin: midTurn, End: midTurn, Beside: true},
	),
	Notices: []transcript.Wrapper{
		{Begin: "This is the Qwen Code. We are setting up the context for our chat."},
		{Begin: "Here is the user's editor context as a JSON object. This is for your information only."},
		{Begin: "I ran the following shell command:\n```sh\n"},
	},
}

// midTurn precedes what a person typed while tools ran.
const midTurn = "[User message received during tool execution]:"
