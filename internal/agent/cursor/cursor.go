// Package cursor describes Cursor: where its agent stores transcripts, how a line decodes, what its tools do.
package cursor

import (
	"path/filepath"

	"ccd/internal/transcript"
)

// Row returns the format of Cursor.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "cursor", Title: "Cursor",
		Roots: roots, Match: match,
		Client: &client, Parse: parse,
		// ccd installs no hooks, because a session does not name its working directory, and no rules, because there is
		// no file of rules for all projects.
		Connect: &transcript.Connect{Name: "cursor", Dir: transcript.Dir{Below: ".cursor"}.Of, Servers: "mcp.json", Member: "mcpServers", Type: "stdio"},
	}
}

// ended is the type of the line that ends a turn.
const ended = "turn_ended"

// roots returns the directories of projects. CURSOR_DATA_DIR moves them for the command line but not for the editor, so
// both are watched.
func roots(getenv func(string) string, home string) []string {
	dirs := []string{filepath.Join(home, ".cursor", "projects")}
	if dir := getenv("CURSOR_DATA_DIR"); dir != "" && filepath.Join(dir, "projects") != dirs[0] {
		dirs = append([]string{filepath.Join(dir, "projects")}, dirs...)
	}
	return dirs
}

// match accepts PROJECT/agent-transcripts/SESSION/SESSION.jsonl, older PROJECT/agent-transcripts/SESSION.jsonl, and the
// sub-agents' SESSION/subagents/AGENT.jsonl. It skips the oldest, SESSION.txt, which are not JSON.
var match = transcript.Named(
	transcript.Name{Form: `[^/]+/agent-transcripts/(?:[^/]+/)?(?:(?P<id>` + transcript.UUID + `)\.jsonl|` + transcript.JSONL + `)`},
	transcript.Name{
		Form:  `[^/]+/agent-transcripts/(?P<parent>[^/]+)/subagents/(?:(?P<id>` + transcript.UUID + `)\.jsonl|` + transcript.JSONL + `)`,
		Class: transcript.SubAgent,
	},
)

// client lists the tools of Cursor, under their names of 2026 and the earlier ones, and the texts that it writes in the
// user's role. What a person typed is in the element user_query; a prompt from the command line has no element.
// Transcripts do not name a version; those examined are from 2026.
var client = transcript.Client{
	Inside: "user_query", NoResults: true, Block: block,
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

// parse decodes one line of a transcript. Cursor writes it for people and other programs: it has the messages and the
// calls, but no results, times, IDs or usage.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := d.Object(value)
	role, message, kind := l.Field("role"), l.Field("message"), l.Field("type")
	r.Time = transcript.ParseTime(l.Field("timestamp"))
	r.Model = transcript.Reuse(&d.Last.Model, l.Field("model"))
	r.Type = transcript.TypeName(kind, role)
	if !kind.Has() {
		r.Type = role.Text()
	}
	if r.UI = kind.Text() == ended && !message.Has(); r.UI {
		return
	}
	content := message.Field("content")
	r.Unknown = kind.Has() || !content.Has()
	v := transcript.Voice{Role: role.Text(), By: d.Author()}
	if r.Unknown {
		v.By = transcript.Program
	}
	d.Content(r, content, v)
}

// block adds calls and results whose type is spelled differently from Anthropic's.
func block(d *transcript.Decoder, r *transcript.Record, b transcript.Node, _ transcript.Voice) bool {
	switch b.Field("type").Text() {
	case "tool_call", "tool-call":
		r.Unknown = true
		item := transcript.Item{Call: b.Field("id").Text(), Tool: b.Field("name").Text()}
		d.Call(r, item, b.Field("input"), b)
	case "tool-result":
		r.Unknown = true
		r.AddFirst(transcript.Item{Kind: transcript.Result, Tool: b.Field("name").Text()}, b.Field("content"), b)
	default:
		return false
	}
	return true
}
