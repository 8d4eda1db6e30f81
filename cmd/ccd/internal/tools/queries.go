package tools

// The descriptions of the tools. Models read them, so each says what the tool returns and when to use it rather than another.
const (
	sessionsText = `List the archived coding sessions of this project, newest first: ID, agent, project, when, size, title, and whether a
companion (a compacted record) exists. Use it to find which session earlier work was done in; then companion, timeline or
search with its ID.`
	companionText = `Read the companion of a session: what was asked, decisions, files, commands with exit status, open
errors, and the last messages verbatim, in one compact record. Use it first when you continue an earlier session or
your own context was compacted. Fetch the original behind any "[ccd ID ...]" in it with restore.`
	restoreText = `Get back the exact original text behind a marker "[ccd ID ...]": a tool output, a message, a file as it
was read, an image. Use it whenever you need the content behind a marker, before you guess or run a command again. It also
returns record N of a session (SESSION#N) and, with file, a file as an agent last read or wrote it. Large originals come in
pages: the end of the answer says how to get the next one.`
	searchText = `Search the text of the archived sessions of this project, newest first: hits with session, record, ID and a snippet. Use
it to find where something was said, done or seen before, by words, tool or file; then restore the ID.`
	timelineText = `List a session turn by turn, one line per turn: time, request, tools, files changed, failed
commands, IDs. Use it to see the order of events, or to find the record in which something happened.`
	diffText = `List what an agent's own last compaction dropped from a session's context, by kind, each with its ID. Use
it after a compaction to see what you no longer know, then restore the IDs that matter.`
)

// SessionsQuery asks for the list of sessions.
type SessionsQuery struct {
	Project string `json:"project,omitempty" jsonschema:"only sessions that worked in this directory or below it; . is your working directory"`
	Agent   string `json:"agent,omitempty" jsonschema:"only sessions of this agent: claude-code or codex"`
	All     bool   `json:"all,omitempty" jsonschema:"also sub-agents' sessions, under their parents"`
	Page    int    `json:"page,omitempty" jsonschema:"page of the answer, from 1"`
}

// OfSession has the arguments of every query about one session.
type OfSession struct {
	Session string `json:"session,omitempty" jsonschema:"session ID, a unique prefix of one, or latest (the default): the session with the newest record in your working directory"`
	Agent   string `json:"agent,omitempty" jsonschema:"the agent, if several have such a session: claude-code or codex"`
	Page    int    `json:"page,omitempty" jsonschema:"page of the answer, from 1"`
}

// CompanionQuery asks for a session's companion.
type CompanionQuery struct {
	OfSession
	Section string `json:"section,omitempty" jsonschema:"only this section, by its heading: Handover or Record"`
}

// SearchQuery asks for matching items.
type SearchQuery struct {
	Words   string `json:"words,omitempty" jsonschema:"words that must all occur, in any order and case; a phrase in double quotes; A OR B is one of them; -WORD leaves out what has it"`
	Session string `json:"session,omitempty" jsonschema:"only this session: its ID, a unique prefix of one, or latest (the newest of your working directory)"`
	Tool    string `json:"tool,omitempty" jsonschema:"only calls and results of the tool of this name"`
	Path    string `json:"path,omitempty" jsonschema:"only calls on this file and their results: its path, the end of it, a directory, or a pattern with * and **"`
	Since   string `json:"since,omitempty" jsonschema:"only what is newer: a time such as 2026-01-29T10:30Z, a day, yesterday, or an age such as 36h or 7d"`
	All     bool   `json:"all,omitempty" jsonschema:"also sub-agents' sessions, and the files in which long outputs were spilled"`
	Page    int    `json:"page,omitempty" jsonschema:"page of the answer, from 1"`
}

// DiffQuery asks what a compaction dropped.
type DiffQuery struct {
	OfSession
	Class string `json:"class,omitempty" jsonschema:"list facts of this class only, by its name in the counts"`
	All   bool   `json:"all,omitempty" jsonschema:"list all that was dropped, not only the most important of each class"`
	// Boundary is the number of a compaction, from 1; 0 is the last one.
	Boundary int `json:"boundary,omitempty" jsonschema:"compaction number N of the session instead of the last one"`
}

// RestoreQuery asks for an original. Either ID or File is set.
type RestoreQuery struct {
	ID      string `json:"id,omitempty" jsonschema:"the ID of a marker [ccd ID ...], a unique prefix of it of 4 or more characters, or SESSION#N for record N of a session"`
	Raw     bool   `json:"raw,omitempty" jsonschema:"the JSON line(s) of the transcript with it, instead of the text"`
	File    string `json:"file,omitempty" jsonschema:"instead of id: path of a file, to get it as an agent last read or wrote it"`
	At      string `json:"at,omitempty" jsonschema:"with file: as it was at this time, such as 2026-01-29T10:30Z"`
	Session string `json:"session,omitempty" jsonschema:"with file: in this session only"`
	Page    int    `json:"page,omitempty" jsonschema:"page of the answer, from 1"`
}
