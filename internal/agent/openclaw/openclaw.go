// Package openclaw describes OpenClaw: where it stores sessions, what its tools do. It embeds Pi and writes Pi's
// entries.
package openclaw

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

// Row returns the format of OpenClaw.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "openclaw", Title: "OpenClaw", How: `openclaw mcp set ccd '{"command":"ccd","args":["mcp"]}'`,
		Roots: roots, Match: match,
		Client: &client, Parse: entries.Parse,
	}
}

// roots returns the directory of the client's state. The client itself moves the directories of its older names here
// and leaves links, so watching those too would find every session twice.
func roots(getenv func(string) string, home string) []string {
	home = cmp.Or(entries.Dir(getenv("OPENCLAW_HOME"), home), home)
	named := cmp.Or(strings.TrimSpace(getenv("OPENCLAW_STATE_DIR")), strings.TrimSpace(getenv("CLAWDBOT_STATE_DIR")))
	return []string{filepath.Join(cmp.Or(entries.Dir(named, home), filepath.Join(home, ".openclaw")), "agents")}
}

// copies matches the ends of names of files that are no sessions: a run's trace, and the copy of a transcript as it was
// before a compaction. Skipping those copies loses nothing, because each is a prefix of the transcript, which ccd has
// archived.
var copies = regexp.MustCompile(`(?i)\.checkpoint\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|\.trajectory$`)

// putAway matches the names that the client gives transcripts that it puts away. The session stays the same in the
// archive.
var putAway = regexp.MustCompile(`\.jsonl\.(reset|deleted)\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d{3})?Z$`)

// match accepts AGENT/sessions/ID.jsonl.
func match(_, rel string) (transcript.Session, bool) {
	parts := strings.Split(rel, "/")
	if len(parts) != 3 || parts[1] != "sessions" || strings.HasPrefix(parts[2], ".") {
		return transcript.Session{}, false
	}
	stem, ok := strings.CutSuffix(putAway.ReplaceAllString(parts[2], ".jsonl"), ".jsonl")
	if !ok || stem == "" || copies.MatchString(stem) {
		return transcript.Session{}, false
	}
	id := strings.Join(append(parts[:2:2], stem), "/")
	if len(stem) >= 36 && transcript.IsUUID(stem[:36]) { // the topic of a chat may follow the UUID
		id = stem
	}
	return transcript.Session{Key: transcript.Key{ID: id}}, true
}

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
	Block:       entries.Block,
	Replacement: entries.Retained,
	Elements: transcript.Elements("", "", slices.Concat(
		before(object, "Conversation info (untrusted metadata):", "Sender (untrusted metadata):", "Thread starter (untrusted, for context):",
			"Replied message (untrusted, for context):", "Forwarded message context (untrusted metadata):"),
		before(list, "Chat history since last reply (untrusted, for context):"),
		before("\n\n", "System: [2", "Conversation context (untrusted"),
		before("] ", "[Mon 2", "[Tue 2", "[Wed 2", "[Thu 2", "[Fri 2", "[Sat 2", "[Sun 2"),
		before("[Current message - respond to this]", "[Chat messages since your last reply"),
		[]transcript.Wrapper{
			{Begin: "[media attached", End: "]", First: true, Beside: true, Tails: []string{"To send an image back, prefer the message tool"}},
			{Begin: "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", End: "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>", Beside: true},
		},
	)...),
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

// before returns elements with this end that the client puts before what a person typed.
func before(end string, begins ...string) (all []transcript.Wrapper) {
	for _, begin := range begins {
		all = append(all, transcript.Wrapper{Begin: begin, End: end, First: true, Beside: true})
	}
	return all
}
