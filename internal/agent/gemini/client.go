package gemini

import (
	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// What the client writes into the user's role by itself, and which tools it provides. Transcripts tell no version: where
// no sample told one, the text was seen in the program's source.
var client = transcript.Client{
	Ops: map[string]transcript.Op{
		"run_shell_command": transcript.Command,
		"read_file":         transcript.Read, "read_many_files": transcript.Read,
		"write_file": transcript.Write,
		"replace":    transcript.Edit, "edit": transcript.Edit,
		"grep_search": transcript.Search, "search_file_content": transcript.Search, "glob": transcript.Search,
		"list_directory": transcript.Search, "get_internal_docs": transcript.Search,
		"google_web_search": transcript.Web, "web_fetch": transcript.Web,
		"write_todos": transcript.Plan,
		"ask_user":    transcript.Ask, "exit_plan_mode": transcript.Ask,
		"codebase_investigator": transcript.Agent, "cli_help": transcript.Agent, "delegate_to_agent": transcript.Agent,
		"invoke_agent": transcript.Agent, "generalist": transcript.Agent,
	},
	Summaries:   []string{"<state_snapshot>", "<scratchpad>"}, // the prompt asks for the second one before the first
	Replacement: replacement,
	Elements: []transcript.Wrapper{
		{Begin: parts.FilesBegin, End: parts.FilesEnd, Beside: true, Seen: "of 2025 and 2026"},
		{Begin: "hook_context", Beside: true, Seen: "of 2026"},
		{Begin: "session_context", Seen: "of 2026"},
	},
	Notices: []transcript.Wrapper{
		{Begin: "This is the Gemini CLI. We are setting up the context for our chat.", Seen: "of 2025"},
		{Begin: "Here is the user's editor context as a JSON object. This is for your information only.", Seen: "of 2025 and 2026"},
		{Begin: "Here is a summary of changes in the user's editor context, in JSON format.", Seen: "of 2025 and 2026"},
		{Begin: "I ran the following shell command:\n```sh\n", Seen: "of 2025 and 2026"},
		{Begin: "System: Please continue.", End: "continue.", Seen: "of 2025 and 2026"},
	},
	Tools: []string{
		"activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode", "get_internal_docs", "glob", "google_web_search",
		"grep_search", "list_directory", "read_file", "read_many_files", "replace", "run_shell_command", "save_memory",
		"search_file_content", "tracker_add_dependency", "tracker_create_task", "tracker_get_task", "tracker_list_tasks",
		"tracker_update_task", "tracker_visualize", "update_topic", "web_fetch", "write_file", "write_todos",
	},
}
