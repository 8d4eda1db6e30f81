package pi

import (
	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

// What the client writes into the user's role by itself, and which tools it provides, as its program has them (version 3 of
// the format). What extensions add is not known.
var client = transcript.Client{
	Ops: map[string]transcript.Op{
		"bash": transcript.Command, "powershell": transcript.Command,
		"read":  transcript.Read,
		"write": transcript.Write,
		"edit":  transcript.Edit,
		"grep":  transcript.Search, "find": transcript.Search, "ls": transcript.Search,
		"subagent": transcript.Agent,
	},
	Flags:       true,
	Replacement: entries.Retained,
	Elements: []transcript.Wrapper{
		{Begin: "file", Beside: true, Seen: "2025-11 to 2026-05 (no version told)"},
		{Begin: "skill", Beside: true, Seen: "2026 (no version told)"},
	},
	Tools: []string{"bash", "edit", "find", "grep", "ls", "powershell", "read", "write"},
}
