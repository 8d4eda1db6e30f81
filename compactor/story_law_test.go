package compactor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"ccd/internal/scorecard"
)

// obj is a JSON object.
type obj = map[string]any

// story writes an invented session in the shape of an agent's transcripts, and notes the rules that its human sets.
type story struct {
	agent string // "claude-code" or "codex"
	buf   bytes.Buffer
	at    time.Time
	n     int
	r     *rand.Rand
	path  string // the file that was read last, and a line that stands in it now
	is    string
	last  string // the newest edit's file, and the line that it replaced
	was   string
	sum   string // the newest commit
	rules []string
}

func newStory(agent string, seed uint64) *story {
	s := &story{agent: agent, at: time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC), r: rand.New(rand.NewPCG(seed, 7))}
	if agent == "codex" {
		s.codex("session_meta", obj{"id": "0199b261-401d-75c1-af9e-a44a18e60d0a", "cwd": "/home/me/mill", "cli_version": "0.124.0", "git": obj{"branch": "main"}})
		s.codex("turn_context", obj{"cwd": "/home/me/mill", "model": "some-model"})
	}
	return s
}

func (s *story) put(m obj) {
	s.n++
	s.at = s.at.Add(time.Duration(4+s.n%9) * time.Second)
	m["timestamp"] = s.at.Format("2006-01-02T15:04:05.000Z")
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	s.buf.Write(append(data, '\n'))
}

func (s *story) codex(kind string, payload obj) {
	s.put(obj{"type": kind, "payload": payload})
}

func (s *story) claude(role string, content any, extra obj) {
	m := obj{
		"type": role, "uuid": fmt.Sprintf("u-%d", s.n+1), "sessionId": "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b", "cwd": "/home/me/mill", "gitBranch": "main", "version": "2.1.0",
	}
	if content != nil {
		msg := obj{"role": role, "content": content}
		if role == "assistant" {
			msg["id"], msg["model"] = fmt.Sprintf("msg-%d", s.n), "some-model"
		}
		m["message"] = msg
	}
	for k, v := range extra {
		m[k] = v
	}
	s.put(m)
}

func (s *story) message(role, kind, text string) {
	s.codex("response_item", obj{"type": "message", "role": role, "content": []any{obj{"type": kind, "text": text}}})
}

func (s *story) human(text string) {
	s.at = s.at.Add(3 * time.Minute)
	if s.agent == "codex" {
		s.message("user", "input_text", text)
		return
	}
	s.claude("user", text, nil)
}

func (s *story) say(text string) {
	if s.agent == "codex" {
		s.message("assistant", "output_text", text)
		return
	}
	s.claude("assistant", []any{obj{"type": "text", "text": text}}, nil)
}

// do is a call with its result, which failed where the status is not 0.
func (s *story) do(tool string, input obj, out string, status int) {
	id := fmt.Sprintf("toolu_%d", s.n)
	s.claude("assistant", []any{obj{"type": "tool_use", "id": id, "name": tool, "input": input}}, nil)
	block := obj{"type": "tool_result", "tool_use_id": id, "content": out}
	if status != 0 {
		block["is_error"] = true
	}
	s.claude("user", []any{block}, nil)
}

func (s *story) bash(cmd, out string, status int) {
	if s.agent == "codex" {
		s.codexDo("shell_command", obj{"command": cmd, "workdir": "/home/me/mill"}, fmt.Sprintf("Exit code: %d\nWall time: 0.4 seconds\nOutput:\n%s", status, out))
		return
	}
	if status != 0 {
		out = fmt.Sprintf("Exit code %d\n%s", status, out)
	}
	s.do("Bash", obj{"command": cmd}, out, status)
}

// codexDo is a call of Codex with its output; custom ones take text, the others arguments.
func (s *story) codexDo(tool string, args any, out string) {
	kind, key := "custom_tool_call", "input"
	text, custom := args.(string)
	if !custom {
		data, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		kind, key, text = "function_call", "arguments", string(data)
	}
	id := fmt.Sprintf("call_%d", s.n)
	s.codex("response_item", obj{"type": kind, "name": tool, key: text, "call_id": id})
	s.codex("response_item", obj{"type": kind + "_output", "call_id": id, "output": out})
}

// both runs two commands at once: both calls come before both results.
func (s *story) both(one, two, out string) {
	if s.agent == "codex" {
		s.bash(one, out, 0)
		s.bash(two, out+" too", 0)
		return
	}
	ids := []string{fmt.Sprintf("toolu_%da", s.n), fmt.Sprintf("toolu_%db", s.n)}
	for i, cmd := range []string{one, two} {
		s.claude("assistant", []any{obj{"type": "tool_use", "id": ids[i], "name": "Bash", "input": obj{"command": cmd}}}, nil)
	}
	for i, text := range []string{out, out + " too"} {
		s.claude("user", []any{obj{"type": "tool_result", "tool_use_id": ids[i], "content": text}}, nil)
	}
}

func (s *story) read(path, content string) {
	lines := strings.Split(strings.TrimSpace(content), "\n")
	s.path, s.is = path, lines[s.r.IntN(len(lines))]
	if s.agent == "codex" {
		s.bash("cat "+path, content, 0)
		return
	}
	var b strings.Builder
	n := 0
	for l := range strings.Lines(content) {
		n++
		fmt.Fprintf(&b, "%6d\t%s", n, l)
	}
	s.do("Read", obj{"file_path": "/home/me/mill/" + path}, b.String(), 0)
}

func (s *story) edit(path, old, new string) {
	s.last, s.was, s.is, s.path = path, old, new, path
	if s.agent == "codex" {
		s.codexDo("apply_patch", "*** Begin Patch\n*** Update File: "+path+"\n@@\n-"+old+"\n+"+new+"\n*** End Patch",
			`{"output":"Success. Updated the following files:\nM `+path+`\n","metadata":{"exit_code":0,"duration_seconds":0.1}}`)
		return
	}
	s.do("Edit", obj{"file_path": "/home/me/mill/" + path, "old_string": old, "new_string": new}, "The file /home/me/mill/"+path+" has been updated.", 0)
}

// change edits the file that was read last.
func (s *story) change() { s.edit(s.path, s.is, fmt.Sprintf("%s + %d", s.is, s.r.IntN(9000))) }

// undo takes the newest edit back.
func (s *story) undo() { s.edit(s.last, s.is, s.was) }

// refused is what the client writes when a person does not allow a call, and says why.
const refused = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"

// refuse is a call that the human does not allow.
func (s *story) refuse(tool string, input obj, reason string) {
	if s.agent == "codex" { // it has no such report: the words alone
		s.human(reason)
		return
	}
	s.rules = append(s.rules, reason)
	s.do(tool, input, refused+reason, 1)
}

func (s *story) ask(question, answer string, options ...string) {
	if s.agent == "codex" {
		s.say(question + "\n\n- " + strings.Join(options, "\n- "))
		s.human(answer)
		return
	}
	var all []any
	for _, o := range options {
		all = append(all, obj{"label": o, "description": ""})
	}
	s.do("AskUserQuestion", obj{"questions": []any{obj{"question": question, "header": "Way", "options": all}}},
		fmt.Sprintf("User has answered your questions: %q=%q. You can now continue with the user's answers in mind.", question, answer), 0)
}

func (s *story) todos(done int, items ...string) {
	var all, steps []any
	for i, it := range items {
		status := []string{"completed", "in_progress", "pending"}[min(max(i-done+1, 0), 2)]
		all = append(all, obj{"content": it, "status": status, "activeForm": it})
		steps = append(steps, obj{"step": it, "status": status})
	}
	if s.agent == "codex" {
		s.codexDo("update_plan", obj{"plan": steps}, "Plan updated")
		return
	}
	s.do("TodoWrite", obj{"todos": all}, "Todos have been modified successfully.", 0)
}

// helper is a sub-agent with its report, which comes at once or as a notice.
func (s *story) helper(task, report string, background bool) {
	switch {
	case s.agent == "codex":
	case !background:
		s.do("Task", obj{"description": task, "prompt": task + ", please.", "subagent_type": "Explore"}, report, 0)
	default:
		id := fmt.Sprintf("a%d", s.n)
		s.do("Task", obj{"description": task, "prompt": task + ", please.", "subagent_type": "Explore", "run_in_background": true}, "Async agent launched successfully.\nagentId: "+id, 0)
		s.claude("user", "<task-notification>\n<task-id>"+id+"</task-id>\n<status>completed</status>\n<summary>Agent \""+task+"\" completed</summary>\n<result>"+report+"</result>\n</task-notification>", nil)
	}
}

// boundary is the agent's own compaction, after which it still holds the newest records.
func (s *story) boundary() {
	if s.agent == "codex" {
		s.codex("compacted", obj{"message": "The wheel was mended and the sieve rebuilt.", "replacement_history": []any{}})
		return
	}
	s.claude("system", nil, obj{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": obj{
		"trigger": "auto", "preTokens": 150000, "preservedMessages": obj{"uuids": []string{fmt.Sprintf("u-%d", s.n-1), fmt.Sprintf("u-%d", s.n)}},
	}})
	s.claude("user", "This session is being continued from a previous conversation that ran out of context. The wheel was mended and the sieve rebuilt.", obj{"isCompactSummary": true})
}

func (s *story) of(words string) string {
	all := strings.Fields(words)
	return all[s.r.IntN(len(all))]
}

// code is a file of n lines, no two of which are the same.
func (s *story) code(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "def %s_%d(sacks, %s):  # %x\n    return sacks * %d\n", s.of("grind sieve turn weigh pour dry"), i, s.of("stone rye wheel water"), s.r.Uint32(), s.r.IntN(9000))
	}
	return b.String()
}

// thought is one sentence that says something new.
func (s *story) thought() string {
	return fmt.Sprintf(s.any(
		"The %s drops %d sacks, because its counter starts before the %s is full.",
		"I keep the %s at %d turns rather than change the %s, which other mills use too.",
		"Every %s above %d degrees goes through the %s twice, and nobody reads the second result.",
		"The old `open_%s` waited %d ms for `%s.Next()`; the new one asks it once.",
		"Without a lock the %s loses about %d rows of the %s in an hour.",
	), s.of("wheel sieve hopper scale gate belt"), s.r.IntN(90000), s.of("ledger bin chute motor queue store"))
}

func (s *story) any(all ...string) string { return all[s.r.IntN(len(all))] }

// answer is what the agent says at the end of a turn: sentences, and a list, a table or code.
func (s *story) answer() string {
	text := s.thought() + " " + s.thought()
	switch s.r.IntN(4) {
	case 0:
		text += "\n\nTwo ways are open:\n\n- **A**: " + s.thought() + "\n- **B**: " + s.thought() + "\n\nI suggest A."
	case 1:
		text += fmt.Sprintf("\n\n| grain | sacks | ms |\n|---|---|---|\n| rye | %d | %d |\n| oats | %d | %d |\n\n", s.r.IntN(9999), s.r.IntN(9999), s.r.IntN(9999), s.r.IntN(9999)) + s.thought()
	case 2:
		text += fmt.Sprintf("\n\n```python\ndef %s(x):\n    return x // %d\n```\n\n", s.of("mend fill empty"), s.r.IntN(99999)) + s.thought()
	}
	if s.sum != "" {
		text += fmt.Sprintf(" It stands in commit %s, see https://mill.example/commit/%s for all of it.", s.sum, s.sum)
	}
	return text + " " + s.thought() + fmt.Sprintf(" What comes next is the %s of step %d.", s.of("gate belt scale"), s.r.IntN(99999))
}

// work is what a turn does: read, edit, fail, mend, commit.
func (s *story) work(fails, open bool) {
	s.read(fmt.Sprintf("%s/%s%d.py", s.of("mill store road"), s.of("wheel sieve gate"), s.r.IntN(30)), s.code(20+s.r.IntN(60)))
	s.say(s.thought())
	s.change()
	test := fmt.Sprintf("pytest -q tests/test_%s_%d.py", s.of("wheel sieve gate"), s.r.IntN(999))
	if fails {
		s.bash(test, strings.Repeat("collecting rows\n", 20)+fmt.Sprintf("E   AssertionError: Sacks(%d) != Sacks(%d)\n1 failed, %d passed in 2.1s", s.r.IntN(9999), s.r.IntN(9999), s.r.IntN(99)), 1)
		s.change()
	}
	if !open {
		s.bash(test, fmt.Sprintf("....................\n%d passed in 1.%ds", 2+s.r.IntN(99), s.r.IntN(9)), 0)
		sum, subject := fmt.Sprintf("%07x", s.r.Uint32()>>4), fmt.Sprintf("%s: count %d sacks", s.of("wheel sieve gate"), s.r.IntN(9999))
		s.bash(fmt.Sprintf("git commit -qam %q && git log -1 --oneline", subject), fmt.Sprintf("[main %s] %s\n%s %s", sum, subject, sum, subject), 0)
		s.sum = sum
	}
	if !fails && !open {
		s.bash("git push", fmt.Sprintf("To mill\n   %07x..%07x  main -> main", s.r.Uint32()>>4, s.r.Uint32()>>4), 0)
	}
}

// turn is one of the kinds of turns, in an order that the seed has no part in.
func (s *story) turn(i int) {
	grain, n := s.of("rye oats wheat spelt"), s.r.IntN(90000)
	open := i%9 == 5
	fails := open || i%3 == 0
	switch i % 8 {
	case 1:
		s.human(fmt.Sprintf("Which way do we go with the %s of lot %d?", grain, n))
		s.ask(fmt.Sprintf("Shall lot %d be ground or stored?", n), "Ground", "Ground", "Stored")
	case 2:
		rule := fmt.Sprintf("No, never weigh the %s of bin %d twice, the scale wears out.", grain, n)
		s.rules = append(s.rules, rule)
		s.human(rule)
		s.undo()
	case 3:
		s.human(fmt.Sprintf("Plan how the %s of field %d gets to the mill.", grain, n))
		plan := fmt.Sprintf("# Carry %s of field %d\n\n1. %s\n2. %s", grain, n, s.thought(), s.thought())
		if s.refuse("ExitPlanMode", obj{"plan": plan}, fmt.Sprintf("First the cart %d, then the field.", n)); s.agent != "codex" {
			s.do("ExitPlanMode", obj{"plan": plan + "\n3. Cart first."}, "User has approved your plan. You can now start coding.", 0)
		}
		s.todos(1, fmt.Sprintf("mend cart %d", n), "load it", "drive to the mill")
	case 4:
		s.human(fmt.Sprintf("Publish the count of %d sacks of %s.", n, grain))
		s.refuse("Bash", obj{"command": "git push --force"}, fmt.Sprintf("Never force a push, lot %d went missing that way.", n))
	case 5:
		s.human(fmt.Sprintf("Where do the %d sacks of %s lie?", n, grain))
		s.helper(fmt.Sprintf("find the sacks of lot %d", n), fmt.Sprintf("I looked through all bins. %s They are in `store/bin%d.py`.", s.thought(), n), i%16 == 5)
	case 6:
		s.human(fmt.Sprintf("Is there a file of lot %d of %s anywhere? %s", n, grain, strings.Repeat("Look in every bin. ", 1+s.r.IntN(3))))
		s.bash("rm "+s.last, "", 0)
		s.bash(fmt.Sprintf("ls lots/%d", n), fmt.Sprintf("ls: cannot access 'lots/%d': No such file or directory", n), 2)
		s.bash(fmt.Sprintf("rg -n lot_%d .", n), strings.Repeat(fmt.Sprintf("mill/lots.py:%d: lot_%d\n", s.r.IntN(400), n), 3), 0)
	case 7:
		s.human(fmt.Sprintf("How full are the two bins of lot %d?", n))
		s.both(fmt.Sprintf("scale --bin %d --left", n), fmt.Sprintf("scale --bin %d --right", n), fmt.Sprintf("%d sacks", s.r.IntN(9999)))
	default:
		s.human(fmt.Sprintf("The %s of gate %d is counted wrongly. Find out why and mend it.", grain, n))
	}
	for range 1 + s.r.IntN(2) {
		s.work(fails, open)
		fails = false
	}
	s.say(s.answer())
}

// told is a session of so many turns, in which the agent compacted its context once where there are many.
func told(agent string, seed uint64, turns int) *story {
	s := newStory(agent, seed)
	rule := "Don't touch the schema of the ledger."
	s.rules = append(s.rules, rule)
	s.human("We rebuild the mill's books together. " + rule)
	s.work(true, false)
	s.say(s.answer())
	for i := range turns {
		s.turn(i)
		if i == 20 {
			s.boundary()
		}
	}
	return s
}

// TestStoriesHaveEverything has the invented sessions hold every kind of fact that their agent can tell.
func TestStoriesHaveEverything(t *testing.T) {
	for _, agent := range []string{"claude-code", "codex"} {
		st := told(agent, 3, 40)
		s := newSession(agent, agent, st.buf.Bytes(), st.rules)
		have := map[scorecard.Class]int{}
		for _, one := range s.list {
			have[one.Class]++
		}
		for _, class := range scorecard.Classes() {
			claudeOnly := class == scorecard.Questions || class == scorecard.Refusals || class == scorecard.Reports
			if have[class] == 0 && (agent == "claude-code" || !claudeOnly) {
				t.Errorf("%s: no %s", agent, class)
			}
		}
		if len(s.pairs()) < 100 || len(s.rules) < 5 {
			t.Errorf("%s: %d pairs, %d rules", agent, len(s.pairs()), len(s.rules))
		}
	}
}
