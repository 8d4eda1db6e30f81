package resume

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/internal/transcript"
)

// check checks that the agent and its API would accept a copy: that its lines are records of one chain, that calls and results are
// paired, and that nothing would be rejected or cause an immediate compaction. The error names the first wrong record, 0 for the
// copy as a whole.
func check(agent string, lines [][]byte) error {
	for i, line := range lines {
		if why := unsound(line); why != "" {
			return refuse(i+1, why)
		}
	}
	return checkRecords(agent, lines)
}

// checkRecords is check for the records of lines, or of a list.
func checkRecords(agent string, lines [][]byte) error {
	s := checked{agent: agent, uuids: map[string]bool{}, ids: map[string]bool{}, open: map[string]bool{}}
	n := 0
	for r := range decoded(agent, lines) {
		if why := s.record(r); why != "" {
			return refuse(r.N, why)
		}
		n = r.N
	}
	switch {
	case !s.said:
		return refuse(0, "no messages")
	case len(s.open) > 0:
		return refuse(n, "a call has no result")
	case s.last == transcript.Thinking:
		return refuse(n, "thinking at the end of its reply")
	}
	return nil
}

func refuse(record int, why string) error { return fmt.Errorf("record %d: %s", record, why) }

// unsound returns what is wrong with a line, which must be one JSON object.
func unsound(line []byte) string {
	switch {
	case !utf8.Valid(line):
		return "not UTF-8"
	case len(line) > transcript.MaxLine:
		return "longer than any record"
	case string(transcript.CleanJSON(line)) != string(line):
		return "not JSON on one line, or half of a surrogate pair in it"
	case !node(line).Is('{'):
		return "not a JSON object"
	}
	return ""
}

// checked is the state of check between records, the same for all formats.
type checked struct {
	agent  string
	time   time.Time
	uuids  map[string]bool
	uuid   string          // of the previous record
	ids    map[string]bool // of all calls
	open   map[string]bool // of calls without a result yet
	reply  string          // the last reply
	last   transcript.Kind // of the previous item
	mute   bool            // the reply does not begin with thinking
	spoken bool            // something other than results follows the reply
	said   bool
}

// record returns what is wrong with a record after the previous ones.
func (s *checked) record(r *transcript.Record) string {
	m := node(r.Raw)
	parent := m.Field("parentUuid")
	if parent.Raw == nil {
		parent = m.Field("parentId")
	}
	switch {
	case r.Broken || r.Unknown:
		return "a record of an unknown type"
	case r.N == 1 && r.Resumed == nil && s.agent != transcript.Messages:
		return "a first record that does not name the original"
	case r.N > 1 && len(r.Items) == 0 && r.Title == "":
		return "an unexpected record, or one with no content"
	case r.Usage != nil:
		return "token usage at which the agent would compact the session at once"
	case r.Back > 0 || parent.Raw != nil && parent.Text() != s.uuid:
		return "its parent is not the record before it"
	case s.uuids[r.UUID]:
		return "another record has its ID"
	case (r.UUID != "" || len(r.Items) > 0) && r.Time.Before(s.time):
		return "no time, or a time before that of the record before it"
	}
	s.uuids[r.UUID], s.uuid = r.UUID != "", r.UUID
	if r.Time.After(s.time) {
		s.time = r.Time
	}
	for i := range r.Items {
		if why := s.item(r, &r.Items[i]); why != "" {
			return why
		}
	}
	return ""
}

// item returns what is wrong with an item after the previous ones.
func (s *checked) item(r *transcript.Record, it *transcript.Item) string {
	answer := it.Kind == transcript.Result || it.Kind == transcript.Human && it.Call != ""
	turn := it.Kind.Assistant() != s.last.Assistant()
	switch {
	case it.Side:
		return "a sub-agent's record"
	case it.Kind == transcript.System:
		return "a message with an unexpected role"
	case !s.said && it.Kind.Assistant():
		return "the assistant speaks first"
	case turn && s.last == transcript.Thinking:
		return "thinking at the end of its reply"
	case !turn && it.Kind.Assistant() && it.Message != "" && s.reply != "" && it.Message != s.reply:
		return "two replies in a row"
	case len(s.open) > 0 && !answer && (turn || !it.Kind.Assistant() || it.Kind != transcript.Call && it.Message == ""):
		return "other content before a call's result"
	}
	if turn {
		s.mute, s.spoken = false, false
	}
	if it.Kind.Assistant() {
		s.reply = it.Message
	}
	why := ""
	switch {
	case it.Kind == transcript.Call:
		why = s.call(it)
	case answer:
		switch {
		case !s.open[it.Call]:
			why = "a result without its call just before"
		case s.agent == claude && s.spoken:
			why = "a result after other content"
		case !soundItem(s.agent, it):
			why = "a result with an empty or unknown block, or that failed and has more than text"
		}
		delete(s.open, it.Call)
	case it.Kind == transcript.Image:
		why = "an image"
	case it.Kind == transcript.Thinking:
		if s.agent == transcript.Messages || !signed(r, it) || s.mute {
			why = "unsigned thinking, or thinking that is not at the start of its reply"
		}
	case strings.TrimSpace(node(it.Raw).Text()) == "":
		why = "an empty text"
	}
	s.mute = s.mute || turn && it.Kind != transcript.Thinking
	s.spoken = s.spoken || !answer
	s.last, s.said = it.Kind, true
	return why
}

func (s *checked) call(it *transcript.Item) string {
	switch {
	case !callID().MatchString(it.Call):
		return "a call with an invalid ID"
	case s.ids[it.Call]:
		return "another call has its ID"
	case !toolName().MatchString(it.Tool):
		return "a call with an invalid tool name"
	case !node(it.Raw).Is('{') && (s.agent != codex || !node(it.Raw).Is('"')):
		return "a call whose input is not an object"
	}
	s.ids[it.Call], s.open[it.Call] = true, true
	return ""
}

// signed reports whether a thinking block has the signature that its API requires.
func signed(r *transcript.Record, it *transcript.Item) bool {
	b, ok := transcript.NewBlock(r, it)
	m := node(b.Raw)
	return ok && (m.Field("signature").Text() != "" || m.Field("data").Text() != "")
}

// soundItem reports whether the API accepts the content of a result.
func soundItem(agent string, it *transcript.Item) bool {
	raw := it.Raw
	if content := node(raw).Field("content").Raw; agent == claude && content != nil { // the whole block stands for an empty content
		raw = content
	}
	return agent != claude && agent != codex || len(raw) > 0 && raw[0] == '"' || agent == claude && soundContent(raw, it.Failed)
}
