// Package dsh describes DeepSeek Harness: where it stores sessions, how an event decodes, what its tools do.
package dsh

import (
	"regexp"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

var home = transcript.Dir{Variable: "DSH_HOME", Usual: ".dsh"}

// Row returns the format of DeepSeek Harness.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "dsh", Title: "DeepSeek Harness", How: "add the MCP server `ccd mcp` to a profile of dsh",
		Roots: home.With("sessions"), Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse,
	}
}

// recognizes reports whether the line is a header or has the envelope of an event, or of a row of packed pieces.
func recognizes(line transcript.Node) bool {
	kind := line.Field("type").Text()
	if kind == "session" {
		return isCount(line.Field("createdAt")) && isCount(line.Field("version")) && line.Field("id").Is('"')
	}
	if !line.Field("data").Is('{') {
		return false
	}
	return strings.Contains(kind, "/") && isCount(line.Field("seq")) && isCount(line.Field("time")) || strings.HasSuffix(kind, "-chunks") && isCount(line.Field("seq0"))
}

func isCount(n transcript.Node) bool {
	return len(n.Raw) > 0 && n.Raw[0] >= '0' && n.Raw[0] <= '9'
}

// log matches the name of a session's file. One of a later version of the format stands beside the earlier ones.
var log = regexp.MustCompile(`^session(\.v\d+)?\.jsonl$`)

// match accepts PROJECT/SESSION/session.jsonl, and session.vN.jsonl, at any depth.
func match(_, rel string) (transcript.Session, bool) {
	parts := strings.Split(rel, "/")
	hidden := slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, ".") })
	if len(parts) < 2 || hidden || !log.MatchString(parts[len(parts)-1]) {
		return transcript.Session{}, false
	}
	return transcript.Session{Key: transcript.Key{ID: parts[len(parts)-2]}}, true
}

// client lists the tools of DeepSeek Harness, from its documentation and from published sessions of formats 0 to 4. Plugins may
// bring tools of the same names. Who wrote a text in the user's role is in the record.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash pwsh",
		transcript.Read:    "read",
		transcript.Write:   "write",
		transcript.Edit:    "edit str_replace_editor apply_patch",
		transcript.Search:  "glob grep",
		transcript.Web:     "web_search web_fetch",
		transcript.Plan:    "todo_write todo",
		transcript.Ask:     "ask_user_question",
		transcript.Agent:   "agent",
		transcript.Other:   "skill run_code job_output job_list job_kill",
	}),
	Flags: true, Block: block,
	Exits: []transcript.Wrapper{ // a command that succeeded has none
		{Begin: "[exit code: ", End: "]"},
		{Begin: "[shell exited: code ", End: "]"},
	},
	Elements: transcript.Elements("", ""),
}
