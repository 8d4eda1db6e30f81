package openclaw

import (
	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

const (
	object = "\n}\n```" // ends a JSON object in a code fence; no line inside the JSON can look like this
	list   = "\n]\n```"
)

// client lists the tools of OpenClaw and the texts that it writes in the user's role, as seen in the program and in
// chats of 2026-02 to 2026-05. In a chat, the person's text comes after the client's data about the message.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash exec process",
		transcript.Read:    "read",
		transcript.Write:   "write",
		transcript.Edit:    "edit apply_patch",
		transcript.Search:  "grep find ls memory_search memory_get",
		transcript.Web:     "web_search web_fetch",
		transcript.Plan:    "update_plan",
		transcript.Agent:   "sessions_spawn sessions_send subagents",
		transcript.Other: "agents_list browser canvas cron gateway image message nodes session_status sessions_history sessions_list " +
			"tts",
	}),
	Flags:       true,
	Replacement: entries.Retained,
	Elements: transcript.Elements("", "",
		transcript.Wrapper{Begin: "Conversation info (untrusted metadata):", End: object, First: true, Beside: true},
		transcript.Wrapper{Begin: "Sender (untrusted metadata):", End: object, First: true, Beside: true},
		transcript.Wrapper{Begin: "Thread starter (untrusted, for context):", End: object, First: true, Beside: true},
		transcript.Wrapper{Begin: "Replied message (untrusted, for context):", End: object, First: true, Beside: true},
		transcript.Wrapper{Begin: "Forwarded message context (untrusted metadata):", End: object, First: true, Beside: true},
		transcript.Wrapper{Begin: "Chat history since last reply (untrusted, for context):", End: list, First: true, Beside: true},
		transcript.Wrapper{Begin: "System: [2", End: "\n\n", First: true, Beside: true},
		transcript.Wrapper{Begin: "[Mon 2", End: "] ", First: true, Beside: true},
		transcript.Wrapper{Begin: "[Tue 2", End: "] ", First: true, Beside: true},
		transcript.Wrapper{Begin: "[Wed 2", End: "] ", First: true, Beside: true},
		transcript.Wrapper{Begin: "[Thu 2", End: "] ", First: true, Beside: true},
		transcript.Wrapper{Begin: "[Fri 2", End: "] ", First: true, Beside: true},
		transcript.Wrapper{Begin: "[Sat 2", End: "] ", First: true, Beside: true},
		transcript.Wrapper{Begin: "[Sun 2", End: "] ", First: true, Beside: true},
		transcript.Wrapper{Begin: "Conversation context (untrusted", End: "\n\n", First: true, Beside: true},
		transcript.Wrapper{Begin: "[Chat messages since your last reply", End: "[Current message - respond to this]", First: true, Beside: true},
		transcript.Wrapper{Begin: "[media attached", End: "]", First: true, Beside: true, Tails: []string{"To send an image back, prefer the message tool"}},
		transcript.Wrapper{Begin: "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", End: "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>", Beside: true},
	),
	Goes: []string{"Command still running (session ", "Process still running."},
	Exits: []transcript.Wrapper{ // of exec and process; a command that succeeded or is still running has none
		{Begin: "(Command exited with code ", End: ")"},
		{Begin: "Command exited with code "},
		{Begin: "Process exited with code ", End: "."},
	},
	Notices: []transcript.Wrapper{
		{Begin: "OpenClaw runtime context (internal):"},
		{Begin: "[Internal task completion event]"},
		{Begin: "[cron:"},
		{Begin: "A new session was started via /new or /reset."},
		{Begin: "Read HEARTBEAT.md if it exists"},
		{Begin: "Pre-compaction memory flush."},
	},
}
