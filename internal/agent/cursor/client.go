package cursor

import "ccd/internal/transcript"

// What the client writes into the user's role by itself, and which tools it provides, under the names of 2026 and under
// those before. What a person typed stands in an element of its own; a prompt given on the command line stands bare. The
// transcripts tell no version: the years are those of the transcripts in which a text was seen.
var client = transcript.Client{
	Inside: "user_query",
	Flags:  true, // no record tells of a summary
	Ops: map[string]transcript.Op{
		"shell": transcript.Command, "bash": transcript.Command, "run_terminal_cmd": transcript.Command,
		"read": transcript.Read, "read_file": transcript.Read,
		"write": transcript.Write, "create": transcript.Write,
		"strreplace": transcript.Edit, "edit": transcript.Edit, "multiedit": transcript.Edit, "multistrreplace": transcript.Edit,
		"applypatch": transcript.Edit, "editnotebook": transcript.Edit, "edit_file": transcript.Edit,
		"search_replace": transcript.Edit, "edit_notebook": transcript.Edit, "apply_patch": transcript.Edit,
		"delete": transcript.Delete, "delete_file": transcript.Delete,
		"grep": transcript.Search, "glob": transcript.Search, "ls": transcript.Search, "semanticsearch": transcript.Search,
		"search": transcript.Search, "codebase_search": transcript.Search, "grep_search": transcript.Search,
		"glob_file_search": transcript.Search, "file_search": transcript.Search, "list_dir": transcript.Search,
		"websearch": transcript.Web, "webfetch": transcript.Web, "web_search": transcript.Web, "web_fetch": transcript.Web,
		"todowrite": transcript.Plan, "todo_write": transcript.Plan,
		"askquestion": transcript.Ask, "ask_question": transcript.Ask,
		"task": transcript.Agent, "subagent": transcript.Agent, "agent": transcript.Agent,
	},
	Elements: []transcript.Wrapper{
		{Begin: "timestamp", Beside: true, Seen: "2026"},
		{Begin: "attached_files", Beside: true, Seen: "2026"},
		{Begin: "attached_folders", Beside: true, Seen: "2026"},
		{Begin: "image_files", Beside: true, Seen: "2026"},
		{Begin: "external_links", Beside: true, Seen: "2026"},
		{Begin: "manually_attached_skills", Beside: true, Seen: "2026"},
		{Begin: "cursor_commands", Beside: true, Seen: "2026"},
		{Begin: "open_and_recently_viewed_files", Beside: true, Seen: "2026"},
		{Begin: "system_reminder", Beside: true, Seen: "2026"},
		{Begin: "additional_data", Seen: "2026"},
		{Begin: "agent_skills", Seen: "2026"},
		{Begin: "agent_transcripts", Seen: "2026"},
		{Begin: "dynamic_tools", Seen: "2026"},
		{Begin: "git_status", Seen: "2026"},
		{Begin: "mcp_file_system", Seen: "2026"},
		{Begin: "rules", Seen: "2026"},
		{Begin: "user_info", Seen: "2026"},
	},
	Tools: []string{
		"ApplyPatch", "AskQuestion", "Delete", "EditNotebook", "GenerateImage", "Glob", "Grep", "LS", "Read", "ReadLints",
		"SemanticSearch", "Shell", "StrReplace", "SwitchMode", "Task", "TodoWrite", "WebFetch", "WebSearch", "Write",
		"codebase_search", "delete_file", "edit_file", "file_search", "glob_file_search", "grep", "grep_search", "list_dir",
		"read_file", "read_lints", "run_terminal_cmd", "search_replace", "todo_write", "web_search",
	},
}
