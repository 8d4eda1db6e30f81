// Package openclaw describes OpenClaw: where it stores sessions, what its tools do. It embeds Pi and writes Pi's
// entries.
package openclaw

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strings"

	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

// Row returns the format of OpenClaw.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "openclaw", Title: "OpenClaw", How: `openclaw mcp set ccd '{"command":"ccd","args":["mcp"]}'`,
		Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: entries.Parse,
	}
}

// recognizes rejects every line, because the entries are Pi's. Only a session's path shows that it is OpenClaw's.
func recognizes(transcript.Node) bool { return false }

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
