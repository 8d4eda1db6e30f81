// Package amp describes Amp: where it stores threads, how a message decodes, what its tools do. Versions up to early
// 2026 store threads on disk; later ones only on Amp's server.
package amp

import (
	"encoding/hex"
	"regexp"
	"strings"

	"ccd/internal/transcript"
)

// Row returns the format of Amp.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "amp", Title: "Amp",
		Roots: transcript.Dir{Variable: "XDG_DATA_HOME", Usual: ".local/share", Below: "amp"}.With("threads"), Match: match,
		Client: &client, Parse: parse, Member: "messages",
		Connect: &transcript.Connect{
			Name: "amp", Dir: transcript.Dir{Variable: "XDG_CONFIG_HOME", Usual: ".config", Below: "amp"}.Of, Servers: "settings.json", Member: "amp.mcpServers", Guide: "AGENTS.md",
		},
	}
}

// match accepts T-UUID.json; each is a thread. The ID keeps the suffix because Key.Unlined uses it to see that the file
// need not be JSON lines.
var match = transcript.Named(transcript.Name{Form: `(?P<id>T-` + transcript.UUID + `\.json)`})

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
	Block:    block,
	Elements: transcript.Elements("", ""),
	Flags:    true, // a summary is in its own block
}

// parse decodes one message of a thread. The decoder passes the elements of "messages" one by one if the file spans
// several lines; a thread on a single line is one record with all its messages.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	messages := value.Field("messages")
	if !messages.Is('[') {
		message(d, r, value)
		return
	}
	for one := range messages.Elements() {
		message(d, r, one)
	}
	r.UI = len(r.Items) == 0
	r.Type, r.UUID = "thread", value.Field("id").Text()
	r.Time = transcript.ParseTime(value.Field("created"))
	d.SetTitle(r, value.Field("title"), transcript.RankMade)
	where := value.Field("env").Field("initial")
	r.Version = transcript.Reuse(&d.Last.Version, where.Field("platform").Field("clientVersion"))
	for tree := range where.Field("trees").Elements() {
		r.Cwd = localPath(tree.Field("uri").Text())
		r.Branch = strings.TrimPrefix(tree.Field("repository").Field("ref").Text(), "refs/heads/")
		break
	}
}

func message(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	m := d.Object(value)
	role, id, content, usage := m.Field("role"), m.Field("messageId"), m.Field("content"), m.Field("usage")
	r.Type = role.Text()
	if r.UUID = id.Text(); id.Has() && !id.Is('"') {
		r.UUID = string(id.Raw)
	}
	if r.Time = transcript.ParseTime(m.Field("meta").Field("sentAt")); r.Time.IsZero() {
		r.Time = transcript.ParseTime(usage.Field("timestamp"))
	}
	v := transcript.Voice{Role: role.Text(), Message: r.UUID, By: d.Author()}
	switch v.Role {
	case "user", "assistant", "info":
		r.Unknown = r.Unknown || len(content.Raw) == 0
	default:
		r.Unknown = true
	}
	if v.Role == "assistant" {
		addUsage(d, r, usage)
	}
	d.Content(r, content, v)
	r.UI = v.Role == "info" && content.Is('[') && len(r.Items) == 0
}

func block(d *transcript.Decoder, r *transcript.Record, b transcript.Node, v transcript.Voice) bool {
	kind, hidden := b.Field("type").Text(), b.Field("hidden").IsTrue()
	switch {
	case kind == "tool_result" && b.Field("run").Is('{'):
		result(d, r, b, v)
	case kind == "manual_bash_invocation": // a command that a person ran; the agent sees it unless it is hidden
		if !hidden {
			r.Add(transcript.Item{Kind: transcript.Meta, Message: v.Message}, b)
		}
	case kind == "summary":
		d.SetBoundary(r, transcript.Boundary{})
		summary := b.Field("summary")
		r.AddFirst(transcript.Item{Kind: transcript.Summary, Message: v.Message}, summary.Field("summary"), summary, b)
	case hidden:
		v.By = transcript.Program
		d.Block(r, b, v)
	default:
		return false
	}
	return true
}

// result adds the result of a call. It keeps the whole result object because that says how a command ended.
func result(d *transcript.Decoder, r *transcript.Record, b transcript.Node, v transcript.Voice) {
	run := d.Object(b.Field("run"))
	item := transcript.Item{Kind: transcript.Result, Call: b.Field("toolUseID").Text(), Message: v.Message}
	item.Tool = d.ToolOf(item.Call)
	status := run.Field("status").Text()
	item.Refused = status == "rejected-by-user"
	item.Failed = item.Refused || status == "error" || status == "cancelled"
	output, problem := run.Field("result"), run.Field("error")
	item.Failed = item.Failed || output.Field("exitCode").Integer() != 0
	if message := problem.Field("message"); message.Full() {
		problem = message
	}
	r.AddFirst(item, output, problem, run.Field("reason"), run.Field("progress"), b)
}

// addUsage reads the usage that a reply reports. If one count is not a valid number, the total is unknown.
func addUsage(d *transcript.Decoder, r *transcript.Record, usage transcript.Node) {
	r.Model = transcript.Reuse(&d.Last.Model, usage.Field("model"))
	window, _ := usage.Field("maxInputTokens").Tokens()
	used := usage.Object()
	total := used.Tokens("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens")
	d.SetUsage(r, transcript.Usage{ID: r.UUID, Context: total, Window: window, Spent: used.Spent(counts)})
}

var counts = transcript.Counts{In: "inputTokens", Cached: "cacheReadInputTokens", Written: "cacheCreationInputTokens", Out: []string{"outputTokens"}}

// localPath returns the path of a file URI, or "" if the URI is not of a file on this machine. It does not use net/url:
// only packages that may use the network import net.
func localPath(uri string) string {
	path, ok := strings.CutPrefix(uri, "file://")
	if !ok || !strings.HasPrefix(path, "/") || strings.Contains(encoded.ReplaceAllString(path, ""), "%") {
		return ""
	}
	return encoded.ReplaceAllStringFunc(path, func(code string) string {
		b, _ := hex.DecodeString(code[1:])
		return string(b)
	})
}

var encoded = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
