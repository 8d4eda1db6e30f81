package copilot

import "ccd/internal/transcript"

// What the client's tools do, as its documentation and sessions have them, and what it writes into the user's role. Beside a
// person's words it writes only in transformedContent, which is no item.
var client = transcript.Client{
	Ops: map[string]transcript.Op{
		"bash": transcript.Command, "read_bash": transcript.Command, "write_bash": transcript.Command,
		"stop_bash": transcript.Command, "powershell": transcript.Command, "read_powershell": transcript.Command,
		"write_powershell": transcript.Command, "stop_powershell": transcript.Command, "shell": transcript.Command,
		"view":   transcript.Read,
		"create": transcript.Write,
		"edit":   transcript.Edit, "apply_patch": transcript.Edit,
		"grep": transcript.Search, "rg": transcript.Search, "glob": transcript.Search, "lsp": transcript.Search,
		"web_fetch": transcript.Web, "web_search": transcript.Web,
		"update_todo": transcript.Plan,
		"ask_user":    transcript.Ask,
		"task":        transcript.Agent, "read_agent": transcript.Agent, "write_agent": transcript.Agent,
	},
	Flags: true,
	Elements: []transcript.Wrapper{
		{Begin: "system_notification", Seen: "2026 (no version told)"},
	},
	Tools: []string{
		"apply_patch", "ask_user", "bash", "create", "edit", "exit_plan_mode", "fetch_copilot_cli_documentation", "glob", "grep",
		"list_agents", "list_bash", "list_powershell", "lsp", "powershell", "read_agent", "read_bash", "read_powershell",
		"report_intent", "rg", "session_store_sql", "shell", "show_file", "skill", "sql", "stop_bash", "stop_powershell",
		"store_memory", "task", "task_complete", "update_todo", "view", "web_fetch", "web_search", "write_agent", "write_bash",
		"write_powershell",
	},
	Exits: []transcript.Wrapper{
		{Begin: "<exited with exit code ", End: ">", Seen: "2026-02 to 2026-04 (no version told)"},
		{Begin: "<shellId: ", End: ">", Seen: "2026-09 (no version told)"},
	},
}
