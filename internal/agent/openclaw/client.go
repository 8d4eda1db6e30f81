package openclaw

import (
	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

const (
	chats   = "2026-02 to 2026-05 (no version told)"
	program = "2026 (its program; no version told)"
	object  = "\n}\n```" // ends a JSON object in a fence; within the JSON no line can be so
	list    = "\n]\n```"
)

// What the client writes into the user's role by itself, and which tools it provides. The words of a person who writes in
// a chat stand behind what the client tells of the message.
var client = transcript.Client{
	Ops: map[string]transcript.Op{
		"bash": transcript.Command, "exec": transcript.Command, "process": transcript.Command,
		"read":  transcript.Read,
		"write": transcript.Write,
		"edit":  transcript.Edit, "apply_patch": transcript.Edit,
		"grep": transcript.Search, "find": transcript.Search, "ls": transcript.Search,
		"memory_search": transcript.Search, "memory_get": transcript.Search,
		"web_search": transcript.Web, "web_fetch": transcript.Web,
		"update_plan":    transcript.Plan,
		"sessions_spawn": transcript.Agent, "sessions_send": transcript.Agent, "subagents": transcript.Agent,
	},
	Flags:       true,
	Replacement: entries.Retained,
	Elements: []transcript.Wrapper{
		{Begin: "Conversation info (untrusted metadata):", End: object, First: true, Beside: true, Seen: chats},
		{Begin: "Sender (untrusted metadata):", End: object, First: true, Beside: true, Seen: chats},
		{Begin: "Thread starter (untrusted, for context):", End: object, First: true, Beside: true, Seen: program},
		{Begin: "Replied message (untrusted, for context):", End: object, First: true, Beside: true, Seen: program},
		{Begin: "Forwarded message context (untrusted metadata):", End: object, First: true, Beside: true, Seen: program},
		{Begin: "Chat history since last reply (untrusted, for context):", End: list, First: true, Beside: true, Seen: program},
		{Begin: "[Mon 2", End: "] ", First: true, Beside: true, Seen: chats},
		{Begin: "[Tue 2", End: "] ", First: true, Beside: true, Seen: chats},
		{Begin: "[Wed 2", End: "] ", First: true, Beside: true, Seen: chats},
		{Begin: "[Thu 2", End: "] ", First: true, Beside: true, Seen: chats},
		{Begin: "[Fri 2", End: "] ", First: true, Beside: true, Seen: chats},
		{Begin: "[Sat 2", End: "] ", First: true, Beside: true, Seen: chats},
		{Begin: "[Sun 2", End: "] ", First: true, Beside: true, Seen: chats},
	},
	Exits: []transcript.Wrapper{ // of exec; what ended with 0 tells nothing, like what still runs
		{Begin: "(Command exited with code ", End: ")", Seen: program},
		{Begin: "Command exited with code ", Seen: chats},
	},
	Notices: []transcript.Wrapper{
		{Begin: "A new session was started via /new or /reset.", Seen: "2026-03 to 2026-04 (no version told)"},
		{Begin: "Read HEARTBEAT.md if it exists", Seen: "2026-03 (no version told)"},
		{Begin: "Pre-compaction memory flush.", Seen: "2026-05 (no version told)"},
	},
	Tools: []string{
		"agents_list", "apply_patch", "bash", "browser", "canvas", "cron", "edit", "exec", "find", "gateway", "grep", "image",
		"ls", "memory_get", "memory_search", "message", "nodes", "process", "read", "session_status", "sessions_history",
		"sessions_list", "sessions_send", "sessions_spawn", "subagents", "tts", "update_plan", "web_fetch", "web_search",
		"write",
	},
}
