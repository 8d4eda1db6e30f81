package copilot

import "ccd/internal/transcript"

// client lists the tools of Copilot CLI, from its documentation and sessions, and the texts that it writes in the
// user's role. What it adds to a person's message is only in transformedContent, which is no item.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash read_bash write_bash stop_bash powershell read_powershell write_powershell stop_powershell shell",
		transcript.Read:    "view",
		transcript.Write:   "create",
		transcript.Edit:    "edit apply_patch",
		transcript.Search:  "grep rg glob lsp",
		transcript.Web:     "web_fetch web_search",
		transcript.Plan:    "update_todo",
		transcript.Ask:     "ask_user",
		transcript.Agent:   "task read_agent write_agent",
		transcript.Other: "exit_plan_mode fetch_copilot_cli_documentation list_agents list_bash list_powershell report_intent " +
			"session_store_sql show_file skill sql store_memory task_complete",
	}),
	Flags:  true,
	Inside: "userRequest", // in sessions of the editor
	Elements: transcript.Elements("reminderInstructions context attachments editorContext environment_info workspace_info "+
		"current_datetime", ""),
	Exits: []transcript.Wrapper{
		{Begin: "<exited with exit code ", End: ">"},
		{Begin: "<shellId: ", End: ">"},
	},
}
