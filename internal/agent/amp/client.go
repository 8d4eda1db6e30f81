package amp

import "ccd/internal/transcript"

// Which tools the client provides, under the names of 2025 and 2026. A text that it writes in a person's name is a block
// that is marked as hidden; all else that it adds stands beside the content.
var client = transcript.Client{
	Ops: map[string]transcript.Op{
		"bash": transcript.Command, "shell_command": transcript.Command,
		"read": transcript.Read, "look_at": transcript.Read, "view_media": transcript.Read,
		"create_file": transcript.Write,
		"edit_file":   transcript.Edit, "apply_patch": transcript.Edit,
		"grep": transcript.Search, "glob": transcript.Search, "finder": transcript.Search, "librarian": transcript.Search,
		"web_search": transcript.Web, "read_web_page": transcript.Web,
		"todo_write": transcript.Plan,
		"task":       transcript.Agent, "oracle": transcript.Agent,
	},
	Flags: true, // a summary stands in a block of its own
	Tools: []string{
		"Bash", "Grep", "Read", "Task", "apply_patch", "create_file", "edit_file", "finder", "glob", "librarian", "look_at",
		"mermaid", "oracle", "painter", "read_web_page", "shell_command", "todo_read", "todo_write", "undo_edit",
		"view_media", "web_search",
	},
}
