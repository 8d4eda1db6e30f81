package droid

import "ccd/internal/transcript"

// What the client writes into the user's role by itself, and which tools it provides. Versions are those in whose
// transcripts or program the text was seen.
var client = transcript.Client{
	Ops: map[string]transcript.Op{
		"execute": transcript.Command, "shell": transcript.Command,
		"read": transcript.Read, "view_file": transcript.Read,
		"create": transcript.Write, "write": transcript.Write,
		"edit": transcript.Edit, "multiedit": transcript.Edit, "applypatch": transcript.Edit, "apply_patch": transcript.Edit,
		"grep": transcript.Search, "glob": transcript.Search, "ls": transcript.Search, "toolsearch": transcript.Search,
		"websearch": transcript.Web, "fetchurl": transcript.Web,
		"todowrite": transcript.Plan,
		"askuser":   transcript.Ask, "exitspecmode": transcript.Ask,
		"task": transcript.Agent, "taskoutput": transcript.Agent, "taskstop": transcript.Agent,
	},
	Flags: true, // a summary stands in a record of its own
	Elements: []transcript.Wrapper{
		{Begin: "system-reminder", Beside: true, Seen: "0.81.0 to 0.226"},
	},
	Notices: []transcript.Wrapper{
		{Begin: "Request cancelled by user", End: "user", Seen: "2026-07 (no version told)"},
		{Begin: "Error: Request was aborted.", End: ".", Seen: "2026-07 (no version told)"},
	},
	Tools: []string{
		"ApplyPatch", "AskUser", "Create", "Edit", "Execute", "ExitSpecMode", "FetchUrl", "GenerateDroid", "Glob", "Grep",
		"LS", "MultiEdit", "Read", "Skill", "Task", "TaskOutput", "TaskStop", "TodoWrite", "ToolSearch", "WebSearch",
	},
}
