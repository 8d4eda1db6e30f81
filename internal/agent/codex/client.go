package codex

import "ccd/internal/transcript"

// What the client writes into the user's role by itself, and which tools it provides. Versions are those in whose
// transcripts or program the text was seen. A text that is not listed is a person's, unless the record's structure says
// that it is not.
var client = transcript.Client{
	Ops: map[string]transcript.Op{
		"bash": transcript.Command, "shell": transcript.Command, "shell_command": transcript.Command,
		"exec_command": transcript.Command, "write_stdin": transcript.Command, "local_shell": transcript.Command,
		"container.exec": transcript.Command, "unified_exec": transcript.Command, "run_shell_command": transcript.Command,
		"read": transcript.Read, "view_image": transcript.Read, "read_file": transcript.Read,
		"write": transcript.Write,
		"edit":  transcript.Edit, "multiedit": transcript.Edit, "apply_patch": transcript.Edit,
		"grep": transcript.Search, "glob": transcript.Search, "ls": transcript.Search, "grep_files": transcript.Search,
		"list_dir": transcript.Search, "tool_search": transcript.Search,
		"web_search": transcript.Web, "web_research": transcript.Web, "web_fetch": transcript.Web,
		"update_plan":        transcript.Plan,
		"request_user_input": transcript.Ask,
		"spawn_agent":        transcript.Agent, "send_input": transcript.Agent, "resume_agent": transcript.Agent,
		"wait": transcript.Agent, "wait_agent": transcript.Agent, "close_agent": transcript.Agent,
	},
	Summaries: []string{
		"This session is being continued from a previous conversation that ran out of context",
		"Another language model started to solve this problem and produced a summary",
	},
	Replacement: replacement,
	Native:      native,
	Elements: []transcript.Wrapper{
		{Begin: "# AGENTS.md instructions", End: "</INSTRUCTIONS>", Seen: "0.58.0 to 0.169.0"},
		{Begin: "INSTRUCTIONS", Seen: "0.169.0"},
		{Begin: "environment_context", Beside: true, Seen: "2025-08 (no version told) to 0.169.0"},
		{Begin: "user_instructions", Seen: "2025-08 (no version told)"},
		{Begin: "permissions instructions", Seen: "0.169.0"},
		{Begin: "collaboration_mode", Seen: "0.169.0"},
		{Begin: "turn_aborted", Seen: "0.169.0"},
		{Begin: "subagent_notification", Seen: "0.169.0"},
		{Begin: "user_shell_command", Seen: "0.169.0"},
		{Begin: "skill", Seen: "0.169.0"},
		{Begin: "personality_spec", Seen: "0.169.0"},
		{Begin: "model_switch", Seen: "0.169.0"},
		{Begin: "startup_context", Seen: "0.169.0"},
		{Begin: "skills_instructions", Seen: "0.169.0"},
		{Begin: "plugins_instructions", Seen: "0.169.0"},
		{Begin: "recommended_plugins", Seen: "0.169.0"},
		{Begin: "apps_instructions", Seen: "0.169.0"},
		{Begin: "environments_instructions", Seen: "0.169.0"},
		{Begin: "persistent_mode", Seen: "0.169.0"},
		{Begin: "multi_agent_mode", Seen: "0.169.0"},
		{Begin: "model_instructions", Seen: "0.169.0"},
		{Begin: "managed_developer_instructions", Seen: "0.169.0"},
		{Begin: "agent_message_board_notification", Seen: "0.169.0"},
		{Begin: "codex_internal_context", Seen: "0.169.0"},
		{Begin: "goal_context", Seen: "before 0.169.0"},
		{Begin: "hook_prompt", Seen: "0.169.0"},
		{Begin: "# Context from my IDE setup:", End: "## My request for Codex:", Beside: true, Seen: "of the editor's extension (no version told)"},
	},
	Notices: []transcript.Wrapper{
		{Begin: "Warning: apply_patch was requested via exec_command", Seen: "0.169.0"},
	},
	Tools: []string{"request_user_input"}, // the one whose results hold a person's words
}
