package gemini

import (
	"strings"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// client lists the tools of Gemini CLI and the texts that it writes in the user's role, as seen in the program's source
// and in sessions of 2025 and 2026, which do not name a version.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "run_shell_command",
		transcript.Read:    "read_file read_many_files",
		transcript.Write:   "write_file",
		transcript.Edit:    "replace edit",
		transcript.Search:  "grep_search search_file_content glob list_directory get_internal_docs",
		transcript.Web:     "google_web_search web_fetch",
		transcript.Plan:    "write_todos",
		transcript.Ask:     "ask_user exit_plan_mode",
		transcript.Agent:   "codebase_investigator cli_help delegate_to_agent invoke_agent generalist",
		transcript.Other: "activate_skill enter_plan_mode save_memory tracker_add_dependency tracker_create_task tracker_get_task " +
			"tracker_list_tasks tracker_update_task tracker_visualize update_topic",
	}),
	Bare:        bare,
	Summaries:   []string{"<state_snapshot>", "<scratchpad>"}, // the prompt asks for the scratchpad before the snapshot
	Replacement: replacement,
	Elements: transcript.Elements("hook_context",
		"session_context",
		transcript.Wrapper{Begin: parts.FilesBegin, End: parts.FilesEnd, Beside: true},
	),
	Notices: []transcript.Wrapper{
		{Begin: "This is the Gemini CLI. We are setting up the context for our chat."},
		{Begin: "Here is the user's editor context as a JSON object. This is for your information only."},
		{Begin: "Here is a summary of changes in the user's editor context, in JSON format."},
		{Begin: "I ran the following shell command:\n```sh\n"},
		{Begin: "System: Please continue.", End: "continue."},
	},
}

// bare reads the output of read_file: the whole file. If the output is only a part of the file, it begins with a
// notice, and a GEMINI.md may follow the text. Older versions gave no notice if only the first lines were left out.
func bare(a *transcript.Action, text string) transcript.Content {
	if a.Lines[0] > 0 || strings.HasSuffix(text, "\n--- End Project Context ---") {
		return transcript.Content{}
	}
	for _, notice := range []string{
		"\nIMPORTANT: The file content has been truncated.", "[File content ", "Cannot display content of ", "Binary content ",
		"<tool_output_masked>",
	} {
		if strings.HasPrefix(text, notice) {
			return transcript.Content{}
		}
	}
	return transcript.Whole(text)
}
