// Package amp describes Amp: where it stores threads, how a message decodes, what its tools do. Versions up to early
// 2026 store threads on disk; later ones only on Amp's server.
package amp

import (
	"strings"

	"ccd/internal/transcript"
)

// Row returns the format of Amp.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "amp", Title: "Amp",
		Roots: transcript.Dir{Variable: "XDG_DATA_HOME", Usual: ".local/share", Below: "amp"}.With("threads"), Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse, Member: "messages",
		Connect: &transcript.Connect{
			Name: "amp", Dir: transcript.Dir{Variable: "XDG_CONFIG_HOME", Usual: ".config", Below: "amp"}.Of, Servers: "settings.json", Member: "amp.mcpServers", Guide: "AGENTS.md",
		},
	}
}

// match accepts T-UUID.json; each is a thread. The ID keeps the suffix because Key.Unlined uses it to see that the file
// need not be JSON lines.
func match(_, rel string) (transcript.Session, bool) {
	id, ok := strings.CutSuffix(rel, ".json")
	return transcript.Session{Key: transcript.Key{ID: rel}}, ok && isThread(id)
}

func isThread(id string) bool {
	uuid, ok := strings.CutPrefix(id, "T-")
	return ok && transcript.IsUUID(uuid)
}

// recognizes reports whether the line is a whole thread.
func recognizes(line transcript.Node) bool {
	return isThread(line.Field("id").Text()) && line.Field("messages").Is('[')
}

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
