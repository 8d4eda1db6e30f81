package dsh

import "ccd/internal/transcript"

// client lists the tools of DeepSeek Harness, from its documentation and from published sessions of formats 0 to 4. Plugins may
// bring tools of the same names. Who wrote a text in the user's role is in the record.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash pwsh",
		transcript.Read:    "read",
		transcript.Write:   "write",
		transcript.Edit:    "edit str_replace_editor apply_patch",
		transcript.Search:  "glob grep",
		transcript.Web:     "web_search web_fetch",
		transcript.Plan:    "todo_write todo",
		transcript.Ask:     "ask_user_question",
		transcript.Agent:   "agent",
		transcript.Other:   "skill run_code job_output job_list job_kill",
	}),
	Flags: true,
	Exits: []transcript.Wrapper{ // a command that succeeded has none
		{Begin: "[exit code: ", End: "]"},
		{Begin: "[shell exited: code ", End: "]"},
	},
	Elements: transcript.Elements("", ""),
}
