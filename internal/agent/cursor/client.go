package cursor

import "ccd/internal/transcript"

// client lists the tools of Cursor, under their names of 2026 and the earlier ones, and the texts that it writes in the
// user's role. What a person typed is in the element user_query; a prompt from the command line has no element.
// Transcripts do not name a version; those examined are from 2026.
var client = transcript.Client{
	Inside: "user_query", NoResults: true,
	Flags: true, // no record has a summary
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "Shell bash run_terminal_cmd",
		transcript.Read:    "Read read_file",
		transcript.Write:   "Write create",
		transcript.Edit: "StrReplace edit multiedit multistrreplace ApplyPatch EditNotebook edit_file search_replace edit_notebook " +
			"apply_patch",
		transcript.Delete: "Delete delete_file",
		transcript.Search: "grep Glob LS SemanticSearch search codebase_search grep_search glob_file_search file_search list_dir",
		transcript.Web:    "WebSearch WebFetch web_search web_fetch",
		transcript.Plan:   "TodoWrite todo_write",
		transcript.Ask:    "AskQuestion ask_question",
		transcript.Agent:  "Task subagent agent",
		transcript.Other:  "GenerateImage ReadLints SwitchMode read_lints",
	}),
	Elements: transcript.Elements("timestamp attached_files attached_folders image_files external_links manually_attached_skills "+
		"cursor_commands open_and_recently_viewed_files",
		"additional_data agent_skills agent_transcripts dynamic_tools git_status mcp_file_system rules user_info"),
}
