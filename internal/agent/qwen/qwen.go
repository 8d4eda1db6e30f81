// Package qwen describes Qwen Code: where it stores sessions, how a record decodes, what its tools do.
package qwen

import (
	"cmp"
	_ "embed" // the form of a copy
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// Row returns the format of Qwen Code.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "qwen-code", Title: "Qwen Code",
		Roots: roots, Match: match,
		Client: &client, Parse: parse,
		Place: func(d *transcript.Draft, _ string) string { return path.Join(project(d.Cwd), "chats", d.ID+".jsonl") },
		Write: write, Project: project, Resume: []string{"qwen", "--resume"}, Shell: transcript.ShellTool("run_shell_command"),
		Connect: &transcript.Connect{
			Name: "qwen", Dir: transcript.Dir{Variable: "QWEN_HOME", Usual: ".qwen"}.Of,
			Hooks: "settings.json", Events: transcript.Events(), Servers: "settings.json", Member: "mcpServers", Comments: true, Guide: "QWEN.md",
			Model: &transcript.Model{
				Event: transcript.Event{Client: "PreCompact", Name: "SessionCompact", Timeout: 15},
				Key:   "compactionModel", Value: "openai:ccd", ID: "ccd", List: []string{"modelProviders", "openai"}, Proxy: "proxy", Env: "QWEN_CODE_MODEL",
			},
		},
	}
}

// roots returns the directories of sessions and of tool outputs. QWEN_RUNTIME_DIR moves what the client writes;
// QWEN_HOME moves that and its settings.
func roots(getenv func(string) string, home string) []string {
	dir := cmp.Or(getenv("QWEN_RUNTIME_DIR"), getenv("QWEN_HOME"), filepath.Join(home, ".qwen"))
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		dir = filepath.Join(home, rest)
	}
	return []string{filepath.Join(dir, "projects"), filepath.Join(dir, "tmp")}
}

// sessions are also in chats/archive, and those of sub-agents in subagents; outputs, below tmp, are those of tools that were too long for the
// context.
var (
	sessions = transcript.Named(
		transcript.Name{Form: `[^/]+/chats/(?:archive/)?(?P<id>[^/.][^/]*)\.jsonl`},
		transcript.Name{Form: `[^/]+/subagents/(?P<parent>[^/]+)/(?P<id>agent-[^/]*)\.jsonl`, Class: transcript.SubAgent},
	)
	outputs = transcript.Named(transcript.Name{Form: `[^/]+/[^/]*\.output`, Class: transcript.Attachment})
)

func match(base, rel string) (s transcript.Session, ok bool) {
	if base == "tmp" {
		return outputs(base, rel)
	}
	return sessions(base, rel)
}

// client lists the tools of Qwen Code and the texts that it writes in the user's role, as seen in sessions of 2025 and
// 2026 and in the program's source (0.21.13).
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "run_shell_command monitor",
		transcript.Read:    "read_file read_many_files",
		transcript.Write:   "write_file",
		transcript.Edit:    "edit replace notebook_edit",
		transcript.Search:  "grep_search search_file_content glob list_directory tool_search lsp",
		transcript.Web:     "web_fetch web_search google_web_search",
		transcript.Plan:    "todo_write",
		transcript.Ask:     "ask_user_question exit_plan_mode",
		transcript.Agent:   "agent task send_message create_sub_session",
		transcript.Other: "artifact cron_create cron_delete cron_list display_image enter_plan_mode enter_worktree exit_worktree " +
			"get_goal image_gen list_agents loop_wakeup propose_goal read_mcp_resource record_artifact report_findings " +
			"request_shutdown save_memory skill structured_output task_create task_list task_stop task_update " +
			"team_create team_delete team_plan_approval update_goal workflow zoom_image",
	}),
	Flags:       true,
	Reports:     []string{"<task-notification"},
	Replacement: replacement,
	Elements: transcript.Elements("qwen:user-prompt-submit-context", "",
		transcript.Wrapper{Begin: parts.FilesBegin, End: parts.FilesEnd, Beside: true},
		transcript.Wrapper{Begin: midTurn, End: midTurn, Beside: true},
	),
	Notices: []transcript.Wrapper{
		{Begin: "This is the Qwen Code. We are setting up the context for our chat."},
		{Begin: "Here is the user's editor context as a JSON object. This is for your information only."},
		{Begin: "I ran the following shell command:\n```sh\n"},
	},
}

// midTurn precedes what a person typed while tools ran.
const midTurn = "[User message received during tool execution]:"

type line struct {
	transcript.Object
	side bool
}

// parse decodes one record. What reached the model is in user, assistant and tool_result records. System records are
// bookkeeping, except the one that replaces the context.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := line{Object: d.Object(value)}
	l.side = l.Field("isSidechain").IsTrue()
	r.Type = transcript.TypeName(l.Field("type"), l.Field("subtype"))
	header(d, r, &l)
	switch l.Field("type").Text() {
	case "user":
		user(d, r, &l)
	case "assistant":
		assistant(d, r, &l)
	case "tool_result":
		result(d, r, &l)
	case "system":
		system(d, r, &l)
	default:
		r.Unknown = true
		l.say(d, r, transcript.Voice{Role: l.Field("message").Field("role").Text()})
	}
	if d.Again(r) {
		return
	}
	if l.Field("type").Text() == "system" && l.Field("subtype").Text() == "rewind" {
		r.Back, r.From = d.Chain.Return(r.UUID, l.Field("parentUuid").Text())
	} else if !l.side {
		d.Chain.Add(r, r.UUID, l.Field("parentUuid").Text())
	}
}

func header(d *transcript.Decoder, r *transcript.Record, l *line) {
	r.UUID = l.Field("uuid").Text()
	r.Time = transcript.ParseTime(l.Field("timestamp"))
	r.Cwd = transcript.Reuse(&d.Last.Cwd, l.Field("cwd"))
	r.Branch = transcript.Reuse(&d.Last.Branch, l.Field("gitBranch"))
	r.Version = transcript.Reuse(&d.Last.Version, l.Field("version"))
	if l.side && d.Class == transcript.SubAgent { // its lines name the session that started it
		r.Parent = transcript.Reuse(&d.Last.Session, l.Field("sessionId"))
	}
	l.side = l.side && d.Class == transcript.Main
}

func (l *line) say(d *transcript.Decoder, r *transcript.Record, v transcript.Voice) {
	v.Side = l.side
	said := l.Field("message").Field("parts")
	r.Unknown = r.Unknown || !said.Has()
	parts.Content(d, r, said, l.Field("systemPayload").Field("displayText"), v)
}

// user adds a message in the user's role. Records with a subtype are a program's, except what a person typed while
// tools ran. The model never sees the messages of a voice conversation.
func user(d *transcript.Decoder, r *transcript.Record, l *line) {
	r.Resumed = transcript.ReadResumed(l.Field("ccd"))
	v := transcript.Voice{Role: "user", Summary: r.Resumed != nil}
	switch l.Field("subtype").Text() {
	case "realtime_message":
		r.UI = true
		return
	case "", "mid_turn_user_message":
		if from := l.Field("provenance").Text(); !l.side && (from == "" || from == "real_user") {
			v.By = d.Author()
		}
	}
	l.say(d, r, v)
}

func assistant(d *transcript.Decoder, r *transcript.Record, l *line) {
	if l.Field("subtype").Text() == "realtime_message" {
		r.UI = true
		return
	}
	if !l.side {
		r.Model = transcript.Reuse(&d.Last.Model, l.Field("model"))
	}
	l.say(d, r, transcript.Voice{Role: "assistant", Message: r.UUID})
	window, _ := l.Field("contextWindowSize").Tokens()
	used := l.Field("usageMetadata").Object()
	total := parts.Tokens(used, "totalTokenCount", "promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
	d.SetUsage(r, transcript.Usage{ID: r.UUID, Context: total, Window: window, Side: l.side, Spent: used.Spent(counts)})
}

var counts = transcript.Counts{In: "promptTokenCount", Cached: "cachedContentTokenCount", Out: []string{"candidatesTokenCount", "thoughtsTokenCount"}, Within: true}

// result adds the results of tools. The status of a call is outside the message.
func result(d *transcript.Decoder, r *transcript.Record, l *line) {
	status := l.Field("toolCallResult").Field("status").Text()
	for part := range l.Field("message").Field("parts").Elements() {
		item := transcript.Item{Side: l.side, Failed: status == "error" || status == "cancelled"}
		if response := part.Field("functionResponse"); response.Is('{') {
			parts.Result(d, r, response, item)
		} else {
			parts.Content(d, r, part, transcript.Node{}, transcript.Voice{Role: "tool", Side: l.side})
		}
	}
}

// bookkeeping lists the subtypes of system records with nothing new for the model.
var bookkeeping = transcript.Set("slash_command ui_telemetry at_command attribution_snapshot rewind background_task_completed session_source " +
	"session_execution_engine omni_recall session_model session_approval_mode session_notes agent_bootstrap " +
	"agent_launch_prompt agent_retry agent_session_ready file_history_snapshot user_text_elements session_artifact_event " +
	"session_artifact_snapshot session_sources_snapshot branch_checkpoint goal_state goal_turn_end turn_result")

func system(d *transcript.Decoder, r *transcript.Record, l *line) {
	switch subtype := l.Field("subtype").Text(); {
	case subtype == "chat_compression":
		compressed(d, r, l)
	case subtype == "custom_title":
		r.UI = true
		rank := transcript.RankGiven
		if l.Field("systemPayload").Field("titleSource").Text() == "auto" {
			rank = transcript.RankMade
		}
		d.SetTitle(r, l.Field("systemPayload").Field("customTitle"), rank)
	case subtype == "parent_session":
		r.UI = true
		r.Parent, d.Class = l.Field("systemPayload").Field("parentSessionId").Text(), transcript.SubAgent
	case bookkeeping[subtype]:
		r.UI = true
		if event := l.Field("systemPayload").Field("uiEvent"); event.Field("event.name").Text() == "qwen-code.api_error" && !l.side {
			d.Refused(r, event.Field("error_message"))
		}
	default:
		r.Unknown = true
		l.say(d, r, transcript.Voice{Role: l.Field("message").Field("role").Text()})
	}
}

// compressed reads the record that replaces the context. Besides the summary it has only copies of earlier messages and
// what the client says about its environment.
func compressed(d *transcript.Decoder, r *transcript.Record, l *line) {
	history := l.Field("systemPayload").Field("compressedHistory")
	before, _ := l.Field("systemPayload").Field("info").Field("originalTokenCount").Tokens()
	d.SetBoundary(r, transcript.Boundary{Before: before, Replaced: history.Is('[')})
	if summary := summaryOf(history); summary.Full() {
		r.Add(transcript.Item{Kind: transcript.Summary}, summary)
	}
}

// summaryOf returns the summary in a compressed history: the text before the client's fixed answer, or else the first
// one in the user's role.
func summaryOf(history transcript.Node) (summary transcript.Node) {
	const answer = "Got it. Thanks for the additional context!"
	var last transcript.Node
	for one := range history.Elements() {
		content := one.Field("parts")
		if one.Field("role").Text() != "user" {
			if parts.Text(content) == answer && last.Full() {
				return last
			}
			continue
		}
		last = firstText(content)
		if !summary.Full() {
			summary = last
		}
	}
	return summary
}

func firstText(content transcript.Node) transcript.Node {
	for part := range content.Elements() {
		if text := part.Field("text"); text.Full() {
			return text
		}
	}
	return transcript.Node{}
}

// replacement adds the items of the new context that a line contains.
func replacement(d *transcript.Decoder, held *transcript.Record, line transcript.Node) {
	history := line.Field("systemPayload").Field("compressedHistory")
	summary := summaryOf(history)
	for one := range history.Elements() {
		v := transcript.Voice{Role: one.Field("role").Text(), By: transcript.UnknownAuthor}
		content := one.Field("parts")
		v.Summary = summary.Full() && firstText(content).Off == summary.Off
		parts.Content(d, held, content, transcript.Node{}, v)
	}
}

// write returns the lines of a draft: one record per message, each with the previous one as its parent, and each result
// in its own record. Usage is left out so that the client does not compact the copy at once.
var write = transcript.Writer(form, func(*transcript.Draft) template.FuncMap { return template.FuncMap{"part": parts.Part} })

//go:embed copy.tmpl
var form string

var notInName = regexp.MustCompile(`[^a-zA-Z0-9]`)

// project returns the name of the directory in which the client stores the sessions of a working directory.
func project(cwd string) string { return notInName.ReplaceAllString(cwd, "-") }
