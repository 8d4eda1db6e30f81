// Package gemini describes Gemini CLI: where it stores sessions, how a record decodes, what its tools do.
package gemini

import (
	"path/filepath"
	"strings"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// home is in the directory that GEMINI_CLI_HOME names in place of the home directory.
var home = transcript.Dir{Variable: "GEMINI_CLI_HOME", Below: ".gemini"}

// Row returns the format of Gemini CLI.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "gemini-cli", Title: "Gemini CLI",
		Roots: home.With("tmp"), Match: match,
		Client: &client, Parse: parse, Member: "messages", Beside: []transcript.Index{index},
		Write: write, Place: place, Resume: []string{"gemini", "--resume"}, Shell: transcript.ShellTool("run_shell_command"),
		Connect: &transcript.Connect{
			Name: "gemini", Dir: home.Of,
			Hooks: "settings.json", Events: events, Servers: "settings.json", Member: "mcpServers", Comments: true, Guide: "GEMINI.md",
		},
	}
}

// events are the hook events of 0.61. Timeouts are in milliseconds.
var events = []transcript.Event{
	{Client: "SessionStart", Name: "SessionStart", Timeout: 10000},
	{Client: "BeforeAgent", Name: "UserPromptSubmit", Timeout: 10000},
	{Client: "PreCompress", Name: "PreCompact", Timeout: 15000},
}

// match accepts PROJECT/chats/session-TIME-ID8.json and .jsonl, sub-agents' PROJECT/chats/SESSION/ID.jsonl, and tool
// outputs that were too long for the context. A session's file name has only 8 characters of its ID, and a session can
// have several files, so the whole name is the ID. A session that moved from .json to .jsonl counts as two.
var match = transcript.Named(
	transcript.Name{Form: `[^/]+/chats/(?P<id>session-[^/]*)\.jsonl`},
	transcript.Name{Form: `[^/]+/chats/(?P<id>session-[^/]*\.json)`},
	transcript.Name{Form: `[^/]+/chats/(?P<parent>[^/]+)/(?P<id>[^/.][^/]*)\.jsonl`, Class: transcript.SubAgent},
	transcript.Name{Form: `[^/]+/chats/(?P<parent>[^/]+)/(?P<id>[^/.][^/]*\.json)`, Class: transcript.SubAgent},
	transcript.Name{Form: `[^/]+/(?:tool-outputs|tool_outputs?)/(?:session-(?P<parent>[^/]*)/)?(?:.*/)?[^/.][^/]*`, Class: transcript.Attachment},
)

// index is the list of projects: the working directory of each, and the name of its directory below tmp.
var index = transcript.Index{
	Of: func(s transcript.Session, _ string) (path, name string) {
		below := strings.TrimPrefix(s.Source, filepath.Base(s.Root)+"/")
		name, _, _ = strings.Cut(below, "/")
		return filepath.Join(filepath.Dir(s.Root), "projects.json"), name
	},
	Read: func(text []byte) map[string]transcript.Facts {
		all := map[string]transcript.Facts{}
		for dir, name := range transcript.Arguments(text).Field("projects").Members() {
			if filepath.IsAbs(string(dir)) {
				all[name.Text()] = transcript.Facts{Cwd: string(dir)}
			}
		}
		return all
	},
}

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
	if transcript.Begins(text, notices) {
		return transcript.Content{}
	}
	return transcript.Whole(text)
}

var notices = []string{
	"\nIMPORTANT: The file content has been truncated.", "[File content ", "Cannot display content of ", "Binary content ", "<tool_output_masked>",
}
