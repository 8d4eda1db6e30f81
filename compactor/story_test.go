package compactor_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// story writes an invented transcript, one record for each line.
type story struct {
	agent  string
	lines  []string
	parent string // UUID of the record before, "" at the beginning
	asked  string // parent of the newest typed message
	branch string
	calls  int
	now    time.Time
}

type object = map[string]any

// claude begins a transcript of Claude Code.
func claude(steps ...string) *story {
	s := &story{agent: "claude-code", branch: "main", now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	return s.tell(steps...)
}

func (s *story) line(v object) int {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	s.lines = append(s.lines, string(text))
	return len(s.lines)
}

// record adds a record of the chain.
func (s *story) record(kind string, more object) int {
	s.now = s.now.Add(7 * time.Second)
	v := object{
		"type": kind, "uuid": fmt.Sprintf("u%d", len(s.lines)+1), "parentUuid": nil, "sessionId": "s", "version": "2.1.112",
		"timestamp": s.now.Format(time.RFC3339), "cwd": "/w/app", "gitBranch": s.branch,
	}
	if s.parent != "" {
		v["parentUuid"] = s.parent
	}
	maps.Copy(v, more)
	s.parent = v["uuid"].(string)
	return s.line(v)
}

func (s *story) user(content any) int {
	return s.record("user", object{"message": object{"role": "user", "content": content}})
}

func (s *story) reply(block object, stop string) int {
	return s.record("assistant", object{"message": object{"id": fmt.Sprintf("m%d", len(s.lines)), "role": "assistant", "model": "claude-opus-4-7", "content": []object{block}, "stop_reason": stop}})
}

// tell adds events, each as "kind what", with " => outcome" for a call that has one.
func (s *story) tell(steps ...string) *story {
	for _, step := range steps {
		call, outcome, has := strings.Cut(step, " => ")
		kind, what, _ := strings.Cut(call, " ")
		if s.do(kind, what); has {
			s.gets(outcome)
		}
	}
	return s
}

// do adds an event, of a call without its outcome, and returns the number of its first record.
func (s *story) do(kind, what string) int {
	switch kind {
	case "human":
		s.asked = s.parent
		return s.user(what)
	case "instead": // of the newest message, as after a rewind
		s.parent = s.asked
		return s.user(what)
	case "queued": // typed while the agent worked
		return s.record("attachment", object{"attachment": object{"type": "queued_command", "prompt": what, "commandMode": "prompt"}})
	case "withdrawn": // typed while the agent worked, and taken back
		for _, operation := range []string{"enqueue", "popAll"} {
			s.line(object{"type": "queue-operation", "operation": operation, "content": what, "timestamp": s.now.Format(time.RFC3339)})
		}
		return len(s.lines) - 1
	case "agent": // in passing
		return s.reply(object{"type": "text", "text": what}, "")
	case "last": // of the turn
		return s.reply(object{"type": "text", "text": what}, "end_turn")
	case "thought":
		return s.reply(object{"type": "thinking", "thinking": what, "signature": "sig"}, "")
	case "broken": // the client reports an error in the model's place
		return s.record("assistant", object{"isApiErrorMessage": true, "message": object{"role": "assistant", "model": "<synthetic>", "content": []object{{"type": "text", "text": what}}}})
	case "interrupted":
		return s.user([]object{{"type": "text", "text": "[Request interrupted by user]"}})
	case "report":
		return s.user("<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n<summary>" + what + "</summary>\n</task-notification>")
	case "!":
		return s.user("<bash-input>" + what + "</bash-input>")
	case "branch":
		s.branch = what
		return 0
	case "compacted":
		s.parent = ""
		s.record("system", object{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": object{"trigger": "auto", "preTokens": 150000}})
		return s.record("user", object{"message": object{"role": "user", "content": "This session is being continued from a previous conversation.\n" + what}, "isCompactSummary": true, "isVisibleInTranscriptOnly": true}) - 1
	}
	name, input := tool(kind, what)
	s.calls++
	return s.reply(object{"type": "tool_use", "id": fmt.Sprintf("t%d", s.calls), "name": name, "input": input}, "tool_use")
}

// tool returns the name and the input of a call.
func tool(kind, what string) (string, object) {
	switch kind {
	case "$":
		return "Bash", object{"command": what}
	case "edit":
		return "Edit", object{"file_path": "/w/app/" + what, "old_string": "x", "new_string": "y"}
	case "write":
		return "Write", object{"file_path": "/w/app/" + what, "content": "z " + what}
	case "read":
		return "Read", object{"file_path": "/w/app/" + what}
	case "grep":
		return "Grep", object{"pattern": what}
	case "web":
		return "WebFetch", object{"url": what, "prompt": "what"}
	case "sub":
		return "Task", object{"description": what, "prompt": what, "subagent_type": "general-purpose"}
	case "plan":
		return "ExitPlanMode", object{"plan": what}
	case "ask":
		return "AskUserQuestion", object{"questions": []object{{"question": what, "header": "Q", "options": []object{{"label": "local"}, {"label": "UTC"}}}}}
	case "todo":
		var todos []object
		for step := range strings.SplitSeq(what, "; ") {
			status, text, _ := strings.Cut(step, ": ")
			todos = append(todos, object{"content": text, "status": status, "activeForm": text})
		}
		return "TodoWrite", object{"todos": todos}
	}
	return kind, object{"query": what}
}

// gets adds the outcome of the newest call: "exit N: " before the output of a command that failed, "error: " before that of another tool,
// "no: " before the human's refusal; for a question "answer: ".
func (s *story) gets(outcome string) {
	block := object{"type": "tool_result", "tool_use_id": fmt.Sprintf("t%d", s.calls), "content": outcome}
	kind, text, _ := strings.Cut(outcome, ": ")
	switch {
	case strings.Contains(s.lines[len(s.lines)-1], "bash-input"):
		s.user("<bash-stdout>" + outcome + "</bash-stdout><bash-stderr></bash-stderr>")
		return
	case strings.HasPrefix(outcome, "exit "):
		block["content"], block["is_error"] = "Exit code "+strings.TrimPrefix(kind, "exit ")+"\n"+text, true
	case kind == "error":
		block["content"], block["is_error"] = text, true
	case kind == "answer":
		block["content"] = fmt.Sprintf("User has answered your questions: %q=%q. You can now continue with the user's answers in mind.", "Q", text)
	case kind == "no":
		block["content"], block["is_error"] = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"+text, true
	}
	s.user([]object{block})
}

func (s *story) data() []byte { return []byte(strings.Join(s.lines, "\n") + "\n") }

func (s *story) made(t testing.TB) *compactor.Compaction {
	t.Helper()
	return compact(t, model(registry.Table{}, compactor.Defaults(), s), s.data(), compactor.Audience{Room: 54000})
}

// handover returns the first part of the story's companion.
func (s *story) handover(t testing.TB) string {
	t.Helper()
	return section(s.made(t), compactor.Handover)
}

// model returns the model of a transcript.
func model(table registry.Table, o compactor.Options, s *story) *compactor.Compactor {
	c := compactor.New(o, transcript.Session{Key: transcript.Key{Agent: s.agent, ID: "s"}})
	for r := range table.NewDecoder(s.agent, transcript.Main).Records(transcript.Segment{Data: s.data(), Rest: true}) {
		c.Add(r)
	}
	return c
}

// textOf returns the spans of a transcript.
func textOf(data []byte) compactor.Text {
	return func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil }
}

func compact(t testing.TB, c *compactor.Compactor, data []byte, a compactor.Audience) *compactor.Compaction {
	t.Helper()
	made, err := c.Compact(a, textOf(data), nil)
	testkit.Must(t, err)
	return made
}

func section(c *compactor.Compaction, name string) string {
	for _, s := range c.Sections {
		if s.Name == name {
			return s.Body
		}
	}
	return ""
}

// rendered returns a text as its reader gets it.
func rendered(c *compactor.Compaction) string {
	var b strings.Builder
	for _, s := range c.Sections {
		b.WriteString("\n## " + s.Name + "\n" + s.Body)
	}
	return b.String()
}

// want reports what a text lacks, and what it must not have, which begins with "!".
func want(t testing.TB, text string, all ...string) {
	t.Helper()
	for _, one := range all {
		if no, found := strings.CutPrefix(one, "!"); found && strings.Contains(text, no) {
			t.Errorf("the text has %q:\n%s", no, text)
		} else if !found && !strings.Contains(text, one) {
			t.Errorf("the text lacks %q:\n%s", one, text)
		}
	}
}
