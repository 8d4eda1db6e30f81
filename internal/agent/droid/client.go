package droid

import "ccd/internal/transcript"

// client lists the tools of Factory Droid and the texts that it writes in the user's role, as seen from 0.81.0 to
// 0.226.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "Execute shell",
		transcript.Read:    "Read view_file",
		transcript.Write:   "Create write",
		transcript.Edit:    "Edit MultiEdit ApplyPatch apply_patch",
		transcript.Search:  "Grep Glob LS ToolSearch",
		transcript.Web:     "WebSearch FetchUrl",
		transcript.Plan:    "TodoWrite",
		transcript.Ask:     "AskUser ExitSpecMode",
		transcript.Agent:   "Task TaskOutput TaskStop",
		transcript.Other:   "GenerateDroid Skill",
	}),
	Exits: []transcript.Wrapper{
		{Begin: "[Process exited with code ", End: "]"},
		{Begin: "Error: Command failed (exit code: ", End: ")"},
	},
	Flags:    true, // a summary is in its own record
	Elements: transcript.Elements("", ""),
	Notices: []transcript.Wrapper{
		{Begin: "Request cancelled by user", End: "user"},
		{Begin: "Error: Request was aborted.", End: "."},
	},
}
