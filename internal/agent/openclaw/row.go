// Package openclaw is what is known of OpenClaw: where its sessions live, how it speaks, what its tools do. It embeds Pi,
// whose entries it writes.
package openclaw

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strings"

	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

// Row is OpenClaw.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "openclaw", Title: "OpenClaw", How: "add the MCP server `ccd mcp` to mcp.servers in ~/.openclaw/openclaw.json",
		Roots: roots, Match: match, Mine: mine,
		Client: &client, Parse: entries.Parse,
	}
}

// mine knows no line: an entry alone is Pi's. Only its place tells that a session is OpenClaw's.
func mine(transcript.Node) bool { return false }

// roots is the one directory of the client's state. What it had under its older names the client itself moves here, and
// leaves links behind, by which all would be seen twice.
func roots(getenv func(string) string, home string) []string {
	home = cmp.Or(entries.Dir(getenv("OPENCLAW_HOME"), home), home)
	named := cmp.Or(strings.TrimSpace(getenv("OPENCLAW_STATE_DIR")), strings.TrimSpace(getenv("CLAWDBOT_STATE_DIR")))
	return []string{filepath.Join(cmp.Or(entries.Dir(named, home), filepath.Join(home, ".openclaw")), "agents")}
}

// What follows a session's ID in the names of files that are none of a conversation's own: a copy of the transcript as it
// was before a compaction (each is the beginning of the next, and all of them of the transcript, which has been taken line
// by line: only space is lost by leaving them), and the trace of a run.
var copies = regexp.MustCompile(`(?i)\.checkpoint\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|\.trajectory$`)

// put is what the client appends to the name of a transcript that it puts away; its place in the archive stays.
var put = regexp.MustCompile(`\.jsonl\.(reset|deleted)\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d{3})?Z$`)

// match knows AGENT/sessions/ID.jsonl.
func match(_, rel string) (transcript.Session, bool) {
	parts := strings.Split(rel, "/")
	if len(parts) != 3 || parts[1] != "sessions" || strings.HasPrefix(parts[2], ".") {
		return transcript.Session{}, false
	}
	stem, ok := strings.CutSuffix(put.ReplaceAllString(parts[2], ".jsonl"), ".jsonl")
	if !ok || stem == "" || copies.MatchString(stem) {
		return transcript.Session{}, false
	}
	id := strings.Join(append(parts[:2:2], stem), "/")
	if len(stem) >= 36 && transcript.IsUUID(stem[:36]) { // behind it may stand the topic of a chat
		id = stem
	}
	return transcript.Session{Key: transcript.Key{ID: id}}, true
}
