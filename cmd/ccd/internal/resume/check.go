package resume

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/internal/transcript"
)

// RefusedError tells why an agent or its API would not take a session.
type RefusedError struct {
	Record int // 1-based line, 0 for the session as a whole
	Why    string
}

// Error names the record. It holds nothing of its content.
func (e *RefusedError) Error() string {
	if e.Record == 0 {
		return "refuse session: " + e.Why
	}
	return fmt.Sprintf("refuse session: record %d: %s", e.Record, e.Why)
}

// Check looks at a session as the agent and its API would: whether its lines are records of a chain, whether the
// messages take turns, whether calls and results are paired, and whether anything in it would be refused or have it
// compacted at once. Place is the name that its file gets. It fails with *RefusedError, for the first record that is
// wrong.
func Check(agent, place string, lines [][]byte) error {
	var err *RefusedError
	switch agent {
	case claude:
		err = checkClaude(place, lines)
	case codex:
		err = checkCodex(place, lines)
	default:
		err = refuse(0, "no such agent")
	}
	if err != nil {
		return err
	}
	return nil
}

func refuse(record int, why string) *RefusedError { return &RefusedError{record, why} }

// members reads a line, which must be one JSON object.
func members(n int, line []byte) (map[string]json.RawMessage, *RefusedError) {
	switch {
	case !utf8.Valid(line):
		return nil, refuse(n, "not UTF-8")
	case len(line) > transcript.MaxLine:
		return nil, refuse(n, "longer than any record")
	case string(transcript.CleanJSON(line)) != string(line):
		return nil, refuse(n, "not JSON, or half of a surrogate pair in it")
	}
	m := object(line)
	if m == nil {
		return nil, refuse(n, "not a JSON object")
	}
	return m, nil
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

// said is one block as the API gets it.
type said struct {
	line      int
	assistant bool
	reply     string
	kind      string
	fields    map[string]json.RawMessage
}

// claudeChain is what the lines of a Claude Code session must keep from one to the next.
type claudeChain struct {
	session string
	uuids   map[string]bool
	last    string
	time    time.Time
	said    []said
}

func checkClaude(place string, lines [][]byte) *RefusedError {
	c := claudeChain{session: strings.TrimSuffix(path.Base(place), ".jsonl"), uuids: map[string]bool{}}
	if !isUUID(c.session) {
		return refuse(0, "the file is not named after a UUID")
	}
	for i, line := range lines {
		m, err := members(i+1, line)
		if err != nil {
			return err
		}
		if err := c.line(i+1, m); err != nil {
			return err
		}
	}
	return checkTurns(c.said)
}

func (c *claudeChain) line(n int, m map[string]json.RawMessage) *RefusedError {
	kind := text(m["type"])
	switch {
	case text(m["sessionId"]) != c.session:
		return refuse(n, "of another session")
	case kind == "custom-title":
		return nil
	case kind != "user" && kind != "assistant":
		return refuse(n, "neither a user's nor an assistant's record")
	case string(m["isSidechain"]) == "true":
		return refuse(n, "a sub-agent's record")
	}
	if err := c.hang(n, m); err != nil {
		return err
	}
	message := object(m["message"])
	if text(message["role"]) != kind {
		return refuse(n, "its role is not its type")
	}
	if kind == "assistant" && text(message["id"]) == "" {
		return refuse(n, "a reply without an ID")
	}
	for _, tokens := range object(message["usage"]) {
		if string(tokens) != "0" {
			return refuse(n, "usage that would have the session compacted at once")
		}
	}
	return c.content(n, message)
}

// hang checks that a record hangs on the one before it.
func (c *claudeChain) hang(n int, m map[string]json.RawMessage) *RefusedError {
	uuid := text(m["uuid"])
	switch {
	case !isUUID(uuid):
		return refuse(n, "no UUID")
	case c.uuids[uuid]:
		return refuse(n, "another record has its UUID")
	case text(m["parentUuid"]) != c.last || c.last == "" && string(m["parentUuid"]) != "null":
		return refuse(n, "it does not hang on the record before it")
	}
	at, err := time.Parse(time.RFC3339Nano, text(m["timestamp"]))
	if err != nil || at.Before(c.time) {
		return refuse(n, "no time, or one before that of the record before it")
	}
	c.uuids[uuid], c.last, c.time = true, uuid, at
	return nil
}

func (c *claudeChain) content(n int, message map[string]json.RawMessage) *RefusedError {
	s := said{line: n, assistant: text(message["role"]) == "assistant", reply: text(message["id"])}
	if content := message["content"]; len(content) > 0 && content[0] == '"' {
		s.kind, s.fields = "text", map[string]json.RawMessage{"text": content}
		c.said = append(c.said, s)
		return nil
	}
	blocks := list(message["content"])
	if len(blocks) == 0 {
		return refuse(n, "no content")
	}
	for _, b := range blocks {
		s.fields = object(b)
		s.kind = text(s.fields["type"])
		c.said = append(c.said, s)
	}
	return nil
}

// turns is what the blocks of a conversation must keep from one to the next.
type turns struct {
	before said
	ids    map[string]bool // of all calls
	open   map[string]bool // calls that wait for their result
	spoken bool            // the message holds something else than results
	begun  bool            // the reply holds something else than thinking
	thinks bool            // the reply begins with thinking
}

// checkTurns checks a conversation as Anthropic's API would.
func checkTurns(all []said) *RefusedError {
	t := turns{ids: map[string]bool{}, open: map[string]bool{}}
	for i, s := range all {
		if i == 0 && s.assistant {
			return refuse(s.line, "the assistant speaks first")
		}
		if i == 0 || s.assistant != t.before.assistant {
			if !s.assistant { // what follows a reply
				t.spoken = false
			} else if len(t.open) > 0 {
				return refuse(s.line, "a call before it has no result")
			}
			if thought(t.before.kind) {
				return refuse(t.before.line, "thinking at the end of its reply")
			}
			t.begun, t.thinks = false, false
		} else if s.assistant && s.reply != t.before.reply {
			return refuse(s.line, "two replies in a row")
		}
		if err := t.block(s); err != nil {
			return err
		}
		t.before = s
	}
	if len(all) == 0 {
		return refuse(0, "nothing is said")
	}
	if len(t.open) > 0 {
		return refuse(t.before.line, "a call has no result")
	}
	if thought(t.before.kind) {
		return refuse(t.before.line, "thinking at the end of its reply")
	}
	return nil
}

func thought(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

func (t *turns) block(s said) *RefusedError {
	if s.kind == "tool_result" {
		return t.result(s)
	}
	if !s.assistant && len(t.open) > 0 {
		return refuse(s.line, "something else before a call's result")
	}
	t.spoken = true
	if thought(s.kind) {
		return t.thinking(s)
	}
	t.begun = true
	switch {
	case s.kind == "text":
		if strings.TrimSpace(text(s.fields["text"])) == "" {
			return refuse(s.line, "an empty text")
		}
	case s.kind == "tool_use" && s.assistant:
		return t.call(s)
	case (s.kind == "image" || s.kind == "document") && !s.assistant:
		if !soundSource(s.kind, s.fields["source"]) {
			return refuse(s.line, "an image or a document of no type that the API takes, or without its data")
		}
	default:
		return refuse(s.line, "a block that has no place there")
	}
	return nil
}

func (t *turns) thinking(s said) *RefusedError {
	signed := text(s.fields["signature"]) != "" || text(s.fields["data"]) != ""
	if !s.assistant || t.begun && !t.thinks || !signed {
		return refuse(s.line, "thinking that is not signed, or in a reply that does not begin with it")
	}
	t.thinks = true
	return nil
}

func (t *turns) call(s said) *RefusedError {
	id := text(s.fields["id"])
	switch {
	case !callID.MatchString(id):
		return refuse(s.line, "a call with an ID that no API takes")
	case t.ids[id]:
		return refuse(s.line, "another call has its ID")
	case !toolName.MatchString(text(s.fields["name"])):
		return refuse(s.line, "a call of a tool that no API takes")
	case object(s.fields["input"]) == nil:
		return refuse(s.line, "a call whose input is no object")
	}
	t.ids[id], t.open[id] = true, true
	return nil
}

func (t *turns) result(s said) *RefusedError {
	id := text(s.fields["tool_use_id"])
	content := s.fields["content"]
	switch {
	case s.assistant || !t.open[id]:
		return refuse(s.line, "a result without its call just before")
	case t.spoken:
		return refuse(s.line, "a result behind something else")
	case len(content) > 0 && content[0] != '"' && !soundContent(content, string(s.fields["is_error"]) == "true"):
		return refuse(s.line, "a result with an empty or unknown block, or that failed and holds more than text")
	}
	delete(t.open, id)
	return nil
}

func isUUID(s string) bool { return uuidForm.MatchString(s) }

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
