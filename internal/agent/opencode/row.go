// Package opencode describes the sessions that `opencode export` prints: how a message decodes, what the tools do. OpenCode's own
// store is a database, which ccd does not read.
package opencode

import (
	"strings"

	"ccd/internal/transcript"
)

// Row returns the format of OpenCode's exports.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "opencode", Title: "OpenCode", How: "write each session with `opencode export ID` into opencode/export",
		Roots: transcript.Dir{Variable: "XDG_DATA_HOME", Usual: ".local/share", Below: "opencode"}.With("export"), // a person writes exports there
		Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse, Member: "messages",
		Connect: &transcript.Connect{Name: "opencode", Dir: transcript.Dir{Variable: "XDG_CONFIG_HOME", Usual: ".config", Below: "opencode"}.Of, Guide: "AGENTS.md", Mod: "plugins"},
	}
}

// match accepts NAME.json. The ID keeps the suffix because Key.Unlined uses it to see that the file need not be JSON lines.
func match(_, rel string) (transcript.Session, bool) {
	id, ok := strings.CutSuffix(rel, ".json")
	return transcript.Session{Key: transcript.Key{ID: rel}}, ok && id != "" && !strings.Contains(id, "/") && !strings.HasPrefix(id, ".")
}

// recognizes reports whether the line is a whole export.
func recognizes(line transcript.Node) bool {
	return line.Field("info").Field("id").Is('"') && line.Field("info").Field("directory").Is('"') && line.Field("messages").Is('[')
}

// client lists the tools of OpenCode, from its published source of 1.x. What the client wrote itself is marked in the message.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash",
		transcript.Read:    "read",
		transcript.Write:   "write",
		transcript.Edit:    "edit multiedit patch apply_patch",
		transcript.Search:  "grep glob list lsp codesearch",
		transcript.Web:     "webfetch websearch",
		transcript.Plan:    "todowrite todoread",
		transcript.Ask:     "question",
		transcript.Agent:   "task",
		transcript.Other:   "skill batch invalid",
	}),
	Flags:    true, // a summary is marked
	Elements: transcript.Elements("", ""),
}
