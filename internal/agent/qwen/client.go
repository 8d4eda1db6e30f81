package qwen

import (
	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

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
