package amp

import "ccd/internal/transcript"

// client lists the tools that Amp provides, under their names of 2025 and 2026. Text that Amp writes in the user's role
// is in a block marked "hidden"; everything else that it adds is outside the content.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "Bash shell_command",
		transcript.Read:    "Read look_at view_media",
		transcript.Write:   "create_file",
		transcript.Edit:    "edit_file apply_patch",
		transcript.Search:  "Grep glob finder librarian",
		transcript.Web:     "web_search read_web_page",
		transcript.Plan:    "todo_write",
		transcript.Agent:   "Task oracle",
		transcript.Other:   "mermaid painter todo_read undo_edit",
	}),
	Elements: transcript.Elements("", ""),
	Flags:    true, // a summary is in its own block
}
