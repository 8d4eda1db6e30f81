package compactor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ccd/compactor"
	"ccd/compactor/lexicon"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// story writes an invented transcript, one line for each event. Its methods return the number of the record.
type story struct {
	agent  string
	lines  []string
	parent string // UUID of the record before, "" at the beginning
	asked  string // parent of the newest typed message
	cwd    string
	branch string
	calls  int
	last   string // ID of the newest call
	now    time.Time
}

// claude begins a transcript of Claude Code.
func claude() *story {
	return &story{agent: "claude-code", cwd: "/w/app", branch: "main", now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
}

type object = map[string]any

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
		"timestamp": s.now.Format(time.RFC3339), "cwd": s.cwd, "gitBranch": s.branch,
	}
	if s.parent != "" {
		v["parentUuid"] = s.parent
	}
	for name, value := range more {
		v[name] = value
	}
	s.parent = v["uuid"].(string)
	return s.line(v)
}

func (s *story) user(content any) int {
	return s.record("user", object{"message": object{"role": "user", "content": content}})
}

// asks adds a typed message.
func (s *story) asks(text string) int {
	s.asked = s.parent
	return s.user(text)
}

// asksInstead adds a message that replaces the newest one, as after a rewind.
func (s *story) asksInstead(text string) int {
	s.parent = s.asked
	return s.user(text)
}

func (s *story) reply(block object, stop string) int {
	return s.record("assistant", object{"message": object{"id": fmt.Sprintf("m%d", len(s.lines)), "role": "assistant", "model": "claude-opus-4-7", "content": []object{block}, "stop_reason": stop}})
}

// says adds a text that ends the turn, announces one after which a call was to come.
func (s *story) says(text string) int {
	return s.reply(object{"type": "text", "text": text}, "end_turn")
}

func (s *story) announces(text string) int { return s.reply(object{"type": "text", "text": text}, "") }

// does adds a call without a result.
func (s *story) does(tool string, input object) int {
	s.calls++
	s.last = fmt.Sprintf("t%d", s.calls)
	return s.reply(object{"type": "tool_use", "id": s.last, "name": tool, "input": input}, "tool_use")
}

// gets adds the result of the newest call.
func (s *story) gets(text string) int { return s.result(s.last, text, false) }

func (s *story) result(call, text string, failed bool) int {
	block := object{"type": "tool_result", "tool_use_id": call, "content": text}
	if failed {
		block["is_error"] = true
	}
	return s.user([]object{block})
}

// runs adds a command that ends well.
func (s *story) runs(command, output string) int {
	n := s.does("Bash", object{"command": command})
	s.gets(output)
	return n
}

// fails adds a command that exits with a status.
func (s *story) fails(command string, exit int, output string) int {
	n := s.does("Bash", object{"command": command})
	s.result(s.last, fmt.Sprintf("Exit code %d\n%s", exit, output), true)
	return n
}

func (s *story) edits(path, old, new string) int {
	n := s.does("Edit", object{"file_path": path, "old_string": old, "new_string": new})
	s.gets("The file " + path + " has been updated successfully.")
	return n
}

func (s *story) writes(path, content string) int {
	n := s.does("Write", object{"file_path": path, "content": content})
	s.gets("File created successfully at: " + path)
	return n
}

func (s *story) reads(path, content string) int {
	n := s.does("Read", object{"file_path": path})
	s.gets("     1\t" + content)
	return n
}

// numbered returns lines as a reading shows them, without the number of the first.
func numbered(lines ...string) string {
	text := lines[0]
	for i, l := range lines[1:] {
		text += fmt.Sprintf("\n%6d\t%s", i+2, l)
	}
	return text
}

// refused adds the person's refusal of the newest call; why may be "".
func (s *story) refused(why string) int {
	text := "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
	if why != "" {
		text += "To tell you how to proceed, the user said:\n" + why
	} else {
		text += "STOP what you are doing and wait for the user to tell you how to proceed."
	}
	return s.result(s.last, text, true)
}

// plans adds a todo list; each entry is "status: text".
func (s *story) plans(steps ...string) int {
	var todos []object
	for _, step := range steps {
		status, text, _ := strings.Cut(step, ": ")
		todos = append(todos, object{"content": text, "status": status, "activeForm": text})
	}
	n := s.does("TodoWrite", object{"todos": todos})
	s.gets("Todos have been modified successfully.")
	return n
}

// proposes adds a plan that the person approves, or refuses with a reason.
func (s *story) proposes(plan, why string) int {
	n := s.does("ExitPlanMode", object{"plan": plan})
	if why != "" {
		s.refused(why)
	} else {
		s.gets("User has approved your plan. You can now start coding.")
	}
	return n
}

// questions adds a question of the agent with its answer.
func (s *story) questions(question, answer string, options ...string) int {
	var all []object
	for _, o := range options {
		all = append(all, object{"label": o, "description": "about " + o})
	}
	n := s.does("AskUserQuestion", object{"questions": []object{{"question": question, "header": "Q", "options": all}}})
	s.gets(fmt.Sprintf("User has answered your questions: %q=%q. You can now continue with the user's answers in mind.", question, answer))
	return n
}

// sends adds a sub-agent with its report.
func (s *story) sends(task, report string) int {
	n := s.does("Task", object{"description": task, "prompt": task + " please", "subagent_type": "general-purpose"})
	s.gets(report)
	return n
}

func (s *story) interrupts() int {
	return s.user([]object{{"type": "text", "text": "[Request interrupted by user]"}})
}

// queues adds a message that was typed while the agent worked.
func (s *story) queues(text string) int {
	return s.record("attachment", object{"attachment": object{"type": "queued_command", "prompt": text, "commandMode": "prompt"}})
}

// compacts adds the agent's own compaction.
func (s *story) compacts(summary string) int {
	s.parent = ""
	s.record("system", object{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": object{"trigger": "auto", "preTokens": 150000}})
	return s.record("user", object{"message": object{"role": "user", "content": "This session is being continued from a previous conversation.\n" + summary}, "isCompactSummary": true, "isVisibleInTranscriptOnly": true})
}

// codex begins a transcript of Codex.
func codex(branch string) *story {
	s := &story{agent: "codex", cwd: "/w/app", now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	s.entry("session_meta", object{"id": "s", "cwd": s.cwd, "cli_version": "0.124.0", "originator": "codex_cli_rs", "git": object{"branch": branch}})
	return s
}

func (s *story) entry(kind string, payload object) int {
	s.now = s.now.Add(7 * time.Second)
	return s.line(object{"timestamp": s.now.Format(time.RFC3339), "type": kind, "payload": payload})
}

func (s *story) codexAsks(text string) int {
	n := s.entry("response_item", object{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": text}}})
	s.entry("event_msg", object{"type": "user_message", "message": text})
	return n
}

func (s *story) codexSays(text string) int {
	return s.entry("response_item", object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": text}}})
}

// codexCalls adds a call of a function with its output.
func (s *story) codexCalls(name string, arguments object, output string) int {
	text, _ := json.Marshal(arguments)
	s.calls++
	id := fmt.Sprintf("c%d", s.calls)
	n := s.entry("response_item", object{"type": "function_call", "name": name, "call_id": id, "arguments": string(text)})
	s.entry("response_item", object{"type": "function_call_output", "call_id": id, "output": output})
	return n
}

// codexRuns adds a command with its exit status and output.
func (s *story) codexRuns(command string, exit int, output string) int {
	return s.codexCalls("exec_command", object{"cmd": command}, fmt.Sprintf("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code %d\nOutput:\n%s", exit, output))
}

func (s *story) codexPatches(patch string) int {
	s.calls++
	id := fmt.Sprintf("c%d", s.calls)
	n := s.entry("response_item", object{"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": patch})
	s.entry("response_item", object{"type": "custom_tool_call_output", "call_id": id, "output": "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM a.go\n"})
	return n
}

func (s *story) data() []byte { return []byte(strings.Join(s.lines, "\n") + "\n") }

func (s *story) made(t testing.TB) *compactor.Compaction {
	t.Helper()
	return companion(t, s.agent, s.data(), 54000)
}

// handover returns the first part of the story's companion.
func (s *story) handover(t testing.TB) string { t.Helper(); return section(s.made(t), "Handover") }

// model returns the model of a transcript.
func model(table registry.Table, o compactor.Options, agent string, data []byte) *compactor.Compactor {
	c := compactor.New(o, transcript.Session{Key: transcript.Key{Agent: agent, ID: "s"}})
	for r := range table.NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
		c.Add(r)
	}
	return c
}

// textOf returns the spans of a transcript.
func textOf(data []byte) compactor.Text {
	return func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil }
}

// nobody is a first record that no transcript has: the reader gets no record in full.
const nobody = 1 << 30

// tokens returns the limit that gives a text so many chars.
func tokens(room int) int { return (room*4 + 2) / 3 }

func companion(t testing.TB, agent string, data []byte, room int) *compactor.Compaction {
	t.Helper()
	return sized(t, model(registry.Table{}, compactor.Defaults(), agent, data), data, room)
}

func sized(t testing.TB, c *compactor.Compactor, data []byte, room int) *compactor.Compaction {
	t.Helper()
	made, err := c.Beside(nobody, tokens(room), textOf(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func injected(t testing.TB, c *compactor.Compactor, data []byte, room int, holds bool) *compactor.Compaction {
	t.Helper()
	made, err := c.Injection(room, holds, lexicon.Chars, textOf(data))
	if err != nil {
		t.Fatal(err)
	}
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
