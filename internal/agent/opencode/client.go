package opencode

import "ccd/internal/transcript"

// client lists the tools of OpenCode, from its published source of 1.x. What the client wrote itself is marked in the message.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash",
		transcript.Read:    "read",
		transcript.Write:   "write",
		transcript.Edit:    "edit multiedit patch apply_patch",
		transcript.Search:  "grep glob list lsp codesearch",
		transcript.Web:     "webfetch websearch",
		transcript.Plan:    "todowrite todoread",
		transcript.Ask:     "question",
		transcript.Agent:   "task",
		transcript.Other:   "skill batch invalid",
	}),
	Flags:    true, // a summary is marked
	Elements: transcript.Elements("", ""),
}
