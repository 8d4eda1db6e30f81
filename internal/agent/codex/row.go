// Package codex describes Codex: where it stores rollouts, how a line decodes, what its tools do.
package codex

import (
	"bytes"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

var home = transcript.Dir{Variable: "CODEX_HOME", Usual: ".codex"}

// Row returns the format of Codex.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "codex", Title: "Codex", Roots: home.With("sessions", "archived_sessions"), Match: match,
		Client: &client, Parse: parse, Write: write, Place: place, Beside: []transcript.Index{index},
		Resume: []string{"codex", "resume"}, Shell: shell,
		Connect: &transcript.Connect{
			Name: "codex", Dir: home.Of,
			Hooks: "hooks.json", Events: transcript.Events(), Servers: "config.toml", Guide: "AGENTS.md", Shadow: "AGENTS.override.md",
			Note: "Codex skips new, changed and moved hooks, also in `codex exec`, until you trust them: type /hooks in codex.",
		},
	}
}

// match accepts every *.jsonl below sessions and archived_sessions, whatever its name. That of a thread is like
// rollout-2025-10-04T22-19-01-UUID.jsonl, and that of a later file of the thread has an ID of its own: ..._UUID.jsonl.
var match = transcript.Named(
	transcript.Name{Form: `(?:.*/)?rollout-[^/]{20}(?P<thread>` + transcript.UUID + `)(?:_(?P<id>` + transcript.UUID + `))?\.jsonl`},
	transcript.Name{Form: `(?:.*/)?` + transcript.JSONL},
)

// index is the list of the threads' names. A later line replaces an earlier one.
var index = transcript.Index{
	Of: func(s transcript.Session, _ string) (path, name string) {
		return filepath.Join(filepath.Dir(s.Root), "session_index.jsonl"), s.Name()
	},
	Read: func(text []byte) map[string]transcript.Facts {
		all := map[string]transcript.Facts{}
		for line := range bytes.Lines(text) {
			one := transcript.Arguments(line)
			if name := one.Field("thread_name").Text(); name != "" {
				all[one.Field("id").Text()] = transcript.Facts{Title: name}
			}
		}
		return all
	},
}

// client lists the tools of Codex and the texts that it writes in the user's role, as seen in transcripts and in the
// program from 0.58.0 to 0.169.0. A text that is not listed was written by a person, unless the record's structure says
// otherwise.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash shell shell_command exec_command write_stdin local_shell container.exec unified_exec " +
			"run_shell_command",
		transcript.Read:   "read view_image read_file",
		transcript.Write:  "write",
		transcript.Edit:   "edit multiedit apply_patch",
		transcript.Search: "grep glob ls grep_files list_dir tool_search",
		transcript.Web:    "web_search web_research web_fetch",
		transcript.Plan:   "update_plan",
		transcript.Ask:    "request_user_input",
		transcript.Agent:  "spawn_agent send_input resume_agent wait wait_agent close_agent",
	}),
	Summaries: []string{
		"This session is being continued from a previous conversation that ran out of context",
		"Another language model started to solve this problem and produced a summary",
	},
	Reports:     []string{"<subagent_notification"},
	Ran:         ran,
	Unwrap:      unwrap,
	Replacement: replacement,
	Native:      native,
	Elements: transcript.Elements("environment_context image",
		"INSTRUCTIONS user_instructions collaboration_mode turn_aborted subagent_notification user_shell_command "+
			"skill personality_spec model_switch startup_context skills_instructions plugins_instructions "+
			"recommended_plugins apps_instructions environments_instructions persistent_mode multi_agent_mode "+
			"model_instructions managed_developer_instructions agent_message_board_notification codex_internal_context "+
			"goal_context hook_prompt",
		transcript.Wrapper{Begin: "# AGENTS.md instructions", End: "</INSTRUCTIONS>"},
		transcript.Wrapper{Begin: "permissions instructions"},
		transcript.Wrapper{Begin: "# Files mentioned by the user:", End: "## My request for Codex:", Beside: true},
		transcript.Wrapper{Begin: "# Context from my IDE setup:", End: "## My request for Codex:", Beside: true},
	),
	Notices: []transcript.Wrapper{
		{Begin: "Warning: apply_patch was requested via exec_command"},
	},
}

// ran reads a command that a person ran in the client, and what it printed.
func ran(text string) (command, output string, ok bool) {
	inside, _, ok := transcript.CutElement(text, "user_shell_command")
	return strings.TrimSpace(transcript.BetweenTexts(inside, "<command>", "</command>")), strings.TrimSpace(transcript.BetweenTexts(inside, "<result>", "</result>")), ok
}
