package qwen

import (
	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// What the client writes into the user's role by itself, and which tools it provides. Where no sample told a version, the
// text was seen in the program's source.
var client = transcript.Client{
	Ops: map[string]transcript.Op{
		"run_shell_command": transcript.Command, "monitor": transcript.Command,
		"read_file": transcript.Read, "read_many_files": transcript.Read,
		"write_file": transcript.Write,
		"edit":       transcript.Edit, "replace": transcript.Edit, "notebook_edit": transcript.Edit,
		"grep_search": transcript.Search, "search_file_content": transcript.Search, "glob": transcript.Search,
		"list_directory": transcript.Search, "tool_search": transcript.Search, "lsp": transcript.Search,
		"web_fetch": transcript.Web, "web_search": transcript.Web, "google_web_search": transcript.Web,
		"todo_write":        transcript.Plan,
		"ask_user_question": transcript.Ask, "exit_plan_mode": transcript.Ask,
		"agent": transcript.Agent, "task": transcript.Agent, "send_message": transcript.Agent,
		"create_sub_session": transcript.Agent,
	},
	Flags:       true,
	Replacement: replacement,
	Elements: []transcript.Wrapper{
		{Begin: parts.FilesBegin, End: parts.FilesEnd, Beside: true, Seen: "of 2025 and 2026"},
		{Begin: "qwen:user-prompt-submit-context", Beside: true, Seen: "0.21.13"},
		{Begin: midTurn, End: midTurn, Beside: true, Seen: "of 2026"},
		{Begin: "system-reminder", Beside: true, Seen: "of 2026"},
		{Begin: "task-notification", Seen: "of 2026"},
	},
	Notices: []transcript.Wrapper{
		{Begin: "This is the Qwen Code. We are setting up the context for our chat.", Seen: "of 2025"},
		{Begin: "Here is the user's editor context as a JSON object. This is for your information only.", Seen: "of 2025"},
		{Begin: "I ran the following shell command:\n```sh\n", Seen: "of 2025 and 2026"},
	},
	Tools: []string{
		"agent", "artifact", "ask_user_question", "create_sub_session", "cron_create", "cron_delete", "cron_list",
		"display_image", "edit", "enter_plan_mode", "enter_worktree", "exit_plan_mode", "exit_worktree", "get_goal", "glob",
		"grep_search", "image_gen", "list_agents", "list_directory", "loop_wakeup", "lsp", "monitor", "notebook_edit",
		"propose_goal", "read_file", "read_many_files", "read_mcp_resource", "record_artifact", "replace", "report_findings",
		"request_shutdown", "run_shell_command", "save_memory", "search_file_content", "send_message", "skill",
		"structured_output", "task", "task_create", "task_list", "task_stop", "task_update", "team_create", "team_delete",
		"team_plan_approval", "todo_write", "tool_search", "update_goal", "web_fetch", "web_search", "workflow", "write_file",
		"zoom_image",
	},
}

// midTurn stands before what a person typed while tools ran.
const midTurn = "[User message received during tool execution]:"
