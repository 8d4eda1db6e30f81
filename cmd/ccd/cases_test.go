package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/internal/words"
)

// The cases below are situations that users of agents reported, as small transcripts with invented text. Each goes through the
// commands that show a session.

// world is a home with transcripts that a case writes, and ccd in it.
type world struct {
	*testing.T
	home, dir string // dir is the sessions' working directory
	rows      int    // written so far; each has a time of its own
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	return &world{T: t, home: home, dir: filepath.Join(home, "shop")}
}

func (w *world) now() string {
	w.rows++
	return time.Date(2026, 9, 14, 8, 0, 7*w.rows, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

// ccd runs a command that succeeds, and returns what it prints on stdout and stderr.
func (w *world) ccd(args ...string) string {
	w.Helper()
	code, out, said := ccdIn(w.home, "", args...)
	if code != words.ExitDone {
		w.Fatalf("%q: exit %d: %s%s", args, code, out, said)
	}
	return out + said
}

// prints runs a command that may fail, and returns what it prints on stdout and stderr.
func (w *world) prints(args ...string) string {
	w.Helper()
	_, out, said := ccdIn(w.home, "", args...)
	return out + said
}

// begins calls Claude Code's hook at the start of a session, and returns what it prints.
func (w *world) begins(session, transcript, source string) string {
	w.Helper()
	in := rowOf(object{"session_id": session, "transcript_path": transcript, "cwd": w.dir, "hook_event_name": "SessionStart", "source": source})
	code, out, said := ccdIn(w.home, in, "hook", "SessionStart", "--agent", "claude-code")
	if code != words.ExitDone {
		w.Errorf("a start by %s: exit %d: %s%s", source, code, out, said)
	}
	return out
}

// once archives everything.
func (w *world) once() {
	w.Helper()
	w.ccd("run", "--once", "-q")
}

// shows checks that an output of ccd contains each of the texts, and none of those that begin with "!".
func (w *world) shows(what, out string, texts ...string) {
	w.Helper()
	for _, text := range texts {
		if want, not := strings.CutPrefix(text, "!"); strings.Contains(out, want) == not {
			w.Errorf("%s: %q in:\n%s", what, text, out)
		}
	}
}

// object is a JSON object; marshal never fails for what the cases write.
type object = map[string]any

func rowOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// claudeRows is a transcript of Claude Code in the making, and what only these have.
type claudeRows struct{ *chat }

func (w *world) claude(n int) *claudeRows {
	c := w.chat("claude-code")
	c.id = fmt.Sprintf("%08d-0000-4000-8000-000000000001", n)
	return &claudeRows{c}
}

// row adds a record behind the newest one.
func (c *claudeRows) row(kind string, more object) (uuid string) { return c.rowAt(c.last, kind, more) }

// rowAt adds a record behind another one, "" for none.
func (c *claudeRows) rowAt(parent, kind string, more object) (uuid string) {
	uuid = fmt.Sprintf("u%d", c.w.rows+1)
	row := object{"type": kind, "uuid": uuid, "parentUuid": nil, "sessionId": c.id, "timestamp": c.w.now(), "cwd": c.w.dir, "version": "2.1.220", "gitBranch": "main"}
	if parent != "" {
		row["parentUuid"] = parent
	}
	maps.Copy(row, more)
	c.lines, c.last = append(c.lines, rowOf(row)), uuid
	return uuid
}

func message(role string, content any) object {
	return object{"message": object{"role": role, "content": content}}
}

// does adds a call and its result, nil for none.
func (c *claudeRows) does(tool string, input object, result any) (uuid string) {
	id := fmt.Sprintf("toolu_%d", c.w.rows)
	c.row("assistant", message("assistant", []object{{"type": "tool_use", "id": id, "name": tool, "input": input}}))
	if result == nil {
		return c.last
	}
	return c.row("user", message("user", []object{{"type": "tool_result", "tool_use_id": id, "content": result}}))
}

// compacts adds what Claude Code writes when it compacts its context.
func (c *claudeRows) compacts(tokens int) {
	c.rowAt("", "system", object{"subtype": "compact_boundary", "compactMetadata": object{"trigger": "auto", "preTokens": tokens}})
	row := message("user", "This session is being continued.")
	row["isCompactSummary"] = true
	c.row("user", row)
}

// fails adds what Claude Code writes when the API refuses a request.
func (c *claudeRows) fails(text string) {
	c.row("assistant", object{"isApiErrorMessage": true, "message": object{"role": "assistant", "model": "<synthetic>", "content": []object{{"type": "text", "text": text}}}})
}

// picture is a block of a message.
func picture(data string) object {
	return object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": data}}
}

func (c *claudeRows) text() string { return strings.Join(c.lines, "\n") + "\n" }

// claudePath is where the transcript of a session of Claude Code is.
func (w *world) claudePath(session string) string {
	return filepath.Join(w.home, ".claude/projects/-shop", session+".jsonl")
}

// rows is a transcript of another agent in the making.
type rows struct {
	w     *world
	lines []string
}

func (r *rows) add(v any) { r.lines = append(r.lines, rowOf(v)) }

func (r *rows) write(path string) {
	r.w.Helper()
	put(r.w.T, filepath.Join(r.w.home, path), strings.Join(r.lines, "\n")+"\n")
}

// codexRows is a rollout in the making, and what only rollouts have.
type codexRows struct{ *chat }

func (w *world) codex() codexRows { return codexRows{w.chat("codex")} }

func (c codexRows) line(kind string, payload object) {
	c.add(object{"timestamp": c.w.now(), "type": kind, "payload": payload})
}

// script adds a call in code mode: what events report of it, and its output.
func (c codexRows) script(text string, head string, events []object, output ...string) {
	id := fmt.Sprintf("call_%d", c.w.rows)
	c.line("response_item", object{"type": "custom_tool_call", "call_id": id, "name": "exec", "input": text})
	c.result(id, head, events, output...)
}

func (c codexRows) result(id, head string, events []object, output ...string) {
	for _, e := range events {
		c.line("event_msg", object{"type": "item_completed", "item": e})
	}
	parts := []object{{"type": "input_text", "text": head + "\nWall time 1.2 seconds\nOutput:\n"}}
	for _, o := range output {
		parts = append(parts, object{"type": "input_text", "text": o})
	}
	c.line("response_item", object{"type": "custom_tool_call_output", "call_id": id, "output": parts})
}

func execution(command string, exit int, output string) object {
	return object{
		"type": "CommandExecution", "id": "exec-1", "command": []string{"/bin/bash", "-lc", command}, "cwd": "file:///home/me/shop",
		"status": "completed", "aggregated_output": output, "exit_code": exit,
	}
}

// TestCodeMode: a script that calls other tools is what it does: commands with their status, files, commits.
func TestCodeMode(t *testing.T) {
	w := newWorld(t)
	c := w.codex()
	id := c.id
	c.asks("Round halves up.")
	c.script(`const r = await tools.exec_command({"cmd":"go test ./ledger","workdir":"/w"}); text(r.output);`, "Script completed",
		[]object{execution("go test ./ledger", 1, "--- FAIL: TestRound")}, "--- FAIL: TestRound")
	c.script("text(await tools.apply_patch(\"*** Begin Patch\\n*** Add File: ledger/half.go\\n+package half\\n*** End Patch\")); const r = await tools.exec_command({cmd:`go vet`}); text(r.output)",
		"Script completed", []object{execution("go vet", 1, "bad")}, "bad")
	c.script(`const a = await tools.exec_command({cmd:"go test ./ledger"}); const b = await tools.exec_command({cmd:"git commit -am 'halves'"}); text(a.output + b.output);`,
		"Script completed", []object{execution("go test ./ledger", 0, "ok"), execution("git commit -am 'halves'", 0, "[main abc1234] halves")}, "ok\n[main abc1234] halves")
	// No events, but the script printed what it got.
	c.script(`text(await tools.exec_command({cmd:"go build ./broken"}));`, "Script completed", nil, `{"chunk_id":"1","exit_code":2,"output":"undefined: x"}`)
	// Only the events say what a loop ran.
	c.script(`for (const f of files) { await tools.exec_command({cmd: "gofmt -l " + f}); await tools.apply_patch(made(f)); }`, "Script completed", []object{
		execution("gofmt -l looped.go", 3, "looped.go"),
		{"type": "FileChange", "id": "exec-2", "status": "completed", "changes": object{"/w/looped.go": object{"type": "add", "content": "package looped\n"}}},
	}, "done")
	// A model that writes the script as JSON.
	c.line("response_item", object{"type": "function_call", "call_id": "call_json", "name": "exec", "arguments": `{"code":"await tools.exec_command({cmd:\"make json\"}); await tools.mcp__x__y({})"}`})
	c.line("event_msg", object{"type": "item_completed", "item": object{"type": "McpToolCall", "id": "m", "server": "x", "tool": "y", "status": "failed", "error": object{"message": "denied"}}})
	c.line("response_item", object{"type": "function_call_output", "call_id": "call_json", "output": "Script completed\nWall time 1 seconds\nOutput:\n{\"exit_code\":6,\"output\":\"no\"}"})
	// Nothing says it.
	c.script(`await tools[name]({})`, "Script completed", nil, "{}")
	// A script that goes on, and is waited for.
	c.script(`text((await tools.exec_command({cmd:"make slow"})).output)`, "Script running with cell ID 7", nil)
	c.line("response_item", object{"type": "function_call", "name": "wait", "call_id": "call_wait", "arguments": `{"cell_id":"7"}`})
	c.result("call_wait", "Script completed", []object{execution("make slow", 4, "no rule")}, "no rule")
	c.says("Halves are rounded up.")
	c.save()
	w.once()
	line := w.ccd("timeline", id)
	w.shows("timeline", line, "`go test ./ledger` -> 1", "half.go", "`go build ./broken` -> 2", "gofmt -l looped.go", "looped.go")
	w.shows("search", w.ccd("search", "--path", "ledger/half.go", "--", "package half"), id)
	w.shows("restore", w.ccd("restore", "--file", "ledger/half.go", id), "package half\n")
	w.shows("restore of what events report", w.ccd("restore", "--file", "/w/looped.go"), "package looped\n")
	w.shows("show", w.ccd("show", id), "abc1234", "verified: true", "`make slow`, exit 4", "`make json`, exit 6", "denied")
	w.shows("doctor", w.prints("doctor"), "1 call that ccd cannot look into")
	// A copy for another agent has what the agent saw, and each call once.
	w.shows("a copy", w.ccd("resume", id, "--as", "claude", "--dry-run"), "!cannot")
}

// TestBackgroundCommands: a command that goes on ends with the call that waits for it, in all forms of OpenClaw's records.
func TestBackgroundCommands(t *testing.T) {
	w := newWorld(t)
	r := rows{w: w}
	r.add(object{"type": "session", "version": 3, "id": "claw", "timestamp": w.now(), "cwd": w.dir})
	add := func(message object) {
		message["timestamp"] = 1789372821000 + w.rows
		r.add(object{"type": "message", "id": fmt.Sprintf("m%d", w.rows), "timestamp": w.now(), "message": message})
	}
	call := func(tool string, arguments object, text string, details object) {
		id := fmt.Sprintf("c%d", w.rows)
		add(object{"role": "assistant", "provider": "x", "content": []object{{"type": "toolCall", "id": id, "name": tool, "arguments": arguments}}})
		add(object{"role": "toolResult", "toolCallId": id, "toolName": tool, "content": []object{{"type": "text", "text": text}}, "details": details})
	}
	add(object{"role": "user", "content": "Build it all."})
	goes := "Command still running (session %s, pid 7). Use process (list/poll) for follow-up."
	call("exec", object{"command": "make structured"}, fmt.Sprintf(goes, "amber-bloom"), object{"status": "running", "sessionId": "amber-bloom", "pid": 7})
	call("process", object{"action": "poll", "sessionId": "amber-bloom"}, "half\n\nProcess still running.", object{"status": "running", "sessionId": "amber-bloom"})
	call("process", object{"action": "poll", "sessionId": "amber-bloom"}, "cc: no rule", object{"status": "failed", "sessionId": "amber-bloom", "exitCode": 2})
	call("exec", object{"command": "make told"}, fmt.Sprintf(goes, "mild-willow"), nil)
	call("process", object{"action": "poll", "sessionId": "mild-willow"}, "half\n\nProcess still running.", nil)
	call("process", object{"action": "poll", "sessionId": "mild-willow"}, "no rule\n\nProcess exited with code 3.", nil)
	call("exec", object{"command": "make good"}, fmt.Sprintf(goes, "old-brook"), nil)
	call("process", object{"action": "poll", "sessionId": "old-brook"}, "made\n\nProcess exited with code 0.", nil)
	r.write(".openclaw/agents/main/sessions/claw.jsonl")
	w.once()
	w.shows("timeline", w.ccd("timeline", "claw"), "`make structured` -> 2", "`make told` -> 3", "!`make good` ->")
}

// TestOnlyThePersonTakesBack: what the shape of the tree alone shows is no person's act; what a person did is.
func TestOnlyThePersonTakesBack(t *testing.T) {
	const third = "Build the third."
	work := func(c *claudeRows, from int) (uuids []string) { // two turns
		for n := from; n < from+2; n++ {
			uuids = append(uuids, c.asks(fmt.Sprintf("Make part %d.", n)))
			c.does("Edit", object{"file_path": fmt.Sprintf("/p/part%d.go", n), "old_string": "a", "new_string": "b"}, "The file has been updated.")
			uuids = append(uuids, c.says("Made."))
		}
		return uuids
	}
	used := func(tokens int) object {
		return object{"message": object{"id": fmt.Sprint("msg_", tokens), "role": "assistant", "content": []object{{"type": "text", "text": "Built."}}, "usage": object{"input_tokens": tokens, "output_tokens": 1}}}
	}
	for name, c := range map[string]struct {
		write func(c *claudeRows)
		back  int
	}{
		"two terminals": {func(c *claudeRows) {
			at := work(c, 1)[1]
			a := c.last
			c.rowAt(at, "user", message("user", third))
			b := c.says("Built.")
			c.rowAt(a, "user", message("user", "More of A."))
			a = c.says("More.")
			c.rowAt(b, "user", message("user", "More of B."))
			c.says("More.")
			c.rowAt(a, "user", message("user", "Still more of A."))
		}, 0},
		"the other terminal only answers": {func(c *claudeRows) {
			at := work(c, 1)[1]
			a := c.last
			c.rowAt(at, "user", message("user", third))
			c.last = a
			c.says("Late.")
		}, 0},
		"a retry below an old parent": {func(c *claudeRows) {
			at := work(c, 1)[0]
			c.asks(third)
			c.fails("API Error: 403")
			c.rowAt(at, "user", message("user", third))
			c.fails("API Error: 403")
			c.rowAt(at, "user", message("user", third))
			c.says("Built.")
		}, 0},
		"a retry of what nobody answered": {func(c *claudeRows) {
			at := work(c, 1)[1]
			c.asks(third)
			c.rowAt(at, "user", message("user", third))
			c.says("Built.")
		}, 0},
		"a record of a program with an old parent": {func(c *claudeRows) {
			at := work(c, 1)[1]
			c.rowAt(at, "system", object{"subtype": "turn_duration"})
			c.asks(third)
			c.says("Built.")
		}, 0},
		"no parent, but a logical one": {func(c *claudeRows) {
			work(c, 1)
			more := message("user", third)
			more["logicalParentUuid"] = c.last
			c.rowAt("", "user", more)
		}, 0},
		"no parent, and a beginning that nobody typed": {func(c *claudeRows) {
			c.says("Hello.")
			work(c, 1)
			c.rowAt("", "user", message("user", third))
		}, 0},
		"no parent after a compaction": {func(c *claudeRows) {
			work(c, 1)
			c.compacts(9)
			c.rowAt("", "user", message("user", third))
		}, 0},
		"no parent, and all the context": {func(c *claudeRows) {
			c.asks("Begin.")
			c.row("assistant", used(1000))
			work(c, 1)
			c.rowAt("", "user", message("user", third))
			c.row("assistant", used(1200))
		}, 0},
		"a rewind": {func(c *claudeRows) { c.rowAt(work(c, 1)[1], "user", message("user", third)); c.says("Built.") }, 1},
		"a rewind to the beginning": {func(c *claudeRows) {
			work(c, 1)
			c.rowAt("", "user", message("user", third))
			c.row("assistant", used(9))
		}, 2},
		"a rewind after an error": {func(c *claudeRows) {
			at := work(c, 1)[1]
			c.asks("Build the fourth.")
			c.fails("API Error: 403")
			c.rowAt(at, "user", message("user", third))
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.claude(1)
			c.write(s)
			w.takenBack(s.save(), c.back)
		})
	}
}

// takenBack archives, and checks how many turns are taken back in the views of a session.
func (w *world) takenBack(session string, want int) {
	w.Helper()
	w.once()
	out := w.ccd("timeline", session)
	if got := strings.Count(out, "taken back: "); got != want {
		w.Errorf("%d turns are taken back, not %d:\n%s", got, want, out)
	}
	out = w.ccd("search", "--session", session, "Make part")
	if got := strings.Contains(out, "taken back"); got != (want > 0) {
		w.Errorf("search: taken back is %v:\n%s", got, out)
	}
	w.ccd("resume", session, "--as", "gemini")
	out = w.newest(".gemini/tmp/*/chats/*")
	if got := strings.Contains(out, `"text":"Make part 2."`); got != (want == 0) {
		w.Errorf("the copy has part 2: %v:\n%s", got, out)
	}
}

// TestOnlyThePersonTakesBackInPi is the same for trees of Pi.
func TestOnlyThePersonTakesBackInPi(t *testing.T) {
	branch := func(more string) string { return `{"id":THIS,"parentId":LAST,"timestamp":NOW,"type":` + more + `}` }
	for name, c := range map[string]struct {
		write func(s *chat, first, second string) // behind two parts, the records of the answers
		back  int
	}{
		"two terminals": {func(s *chat, first, second string) {
			s.rowAt(first, s.user, "Other.")
			other := s.says("Done.")
			s.rowAt(second, s.user, "Go on.")
			s.rowAt(other, s.user, "Go on, too.")
		}, 0},
		"an extension's branch summary": {func(s *chat, first, second string) {
			s.rowAt(first, branch(`"branch_summary","fromId":"`+second+`","summary":"part 2 is made","fromHook":true`), "")
			s.asks("Go on.")
		}, 0},
		"an extension's entry": {func(s *chat, first, _ string) {
			s.rowAt(first, branch(`"custom","customType":"state","data":{}`), "")
			s.asks("Go on.")
		}, 0},
		"a retry": {func(s *chat, first, _ string) {
			s.asks("Go on.")
			s.row(s.failed, "")
			s.rowAt(first, s.user, "Go on.")
		}, 0},
		"a person's branch summary": {func(s *chat, first, second string) {
			s.rowAt(first, branch(`"branch_summary","fromId":"`+second+`","summary":"part 2 was tried"`), "")
			s.row(branch(`"model_change","modelId":"m","provider":"p"`), "")
			s.asks("Go on.")
		}, 1},
		"a rewind": {func(s *chat, first, _ string) { s.rowAt(first, s.user, "Go on.") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.chat("pi")
			s.asks("Make part 1.")
			first := s.says("Made.")
			s.asks("Make part 2.")
			c.write(s, first, s.says("Made."))
			w.takenBack(s.save(), c.back)
		})
	}
}

// TestSaidOnce: words that stand in several records are said once, and words of a program never.
func TestSaidOnce(t *testing.T) {
	const words = "Also keep the currency sign in the receipt."
	queue := func(c *claudeRows, operation, text string) {
		c.add(object{"type": "queue-operation", "operation": operation, "content": text, "timestamp": c.w.now(), "sessionId": c.id})
	}
	for name, write := range map[string]func(c *claudeRows){
		"removed, then attached": func(c *claudeRows) {
			queue(c, "enqueue", words)
			c.does("Bash", object{"command": "ls"}, "a.py")
			queue(c, "remove", "")
			c.row("attachment", object{"attachment": object{"type": "queued_command", "prompt": words, "commandMode": "prompt"}})
			c.says("Working on both.")
		},
		"removed by its words, then a prompt": func(c *claudeRows) {
			queue(c, "enqueue", words)
			c.says("Working.")
			queue(c, "remove", words)
			c.asks(words)
			c.says("Working on both.")
		},
		"repeated after a compaction": func(c *claudeRows) {
			c.asks(words)
			c.says("Working on both.")
			c.compacts(9000)
			c.asks(words)
			c.says("Going on.")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.claude(1)
			c.asks("Fix the basket total.")
			c.says("I look first.")
			write(c)
			s := c.save()
			w.once()
			for what, out := range map[string]string{
				"timeline": w.ccd("timeline", s), "search": w.ccd("search", "currency sign"), "show": w.ccd("show", s, "--section", "record"),
			} {
				if n := strings.Count(out, words); n != 1 {
					t.Errorf("%s: said %d times:\n%s", what, n, out)
				}
			}
		})
	}
}

// TestInterrupted: a call that the person stopped was neither refused nor did it fail by itself.
func TestInterrupted(t *testing.T) {
	w := newWorld(t)
	c := w.claude(1)
	c.asks("Build it.")
	call := func(content string, more object) {
		id := fmt.Sprintf("t%d", w.rows)
		c.row("assistant", message("assistant", []object{{"type": "tool_use", "id": id, "name": "Bash", "input": object{"command": "make all"}}}))
		row := message("user", []object{{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": content}})
		maps.Copy(row, more)
		c.row("user", row)
	}
	call("[Request interrupted by user for tool use]", nil)
	c.asks("[Request interrupted by user for tool use]")
	call("Exit code 137\n[Request interrupted by user for tool use]", nil)
	call("half\n<error>Command was aborted before completion</error>", object{"toolUseResult": object{"stdout": "half", "interrupted": true}})
	claude := c.save()

	x := w.codex()
	codex := x.id
	x.asks("Build it.")
	x.line("response_item", object{"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": `{"cmd":"make all"}`})
	x.line("response_item", object{"type": "function_call_output", "call_id": "c1", "output": "aborted by user after 3.2s"})
	x.save()
	w.once()
	for s, failed := range map[string]string{claude: " · 1 failed", codex: "!failed"} { // that with an exit status
		w.shows("timeline", w.ccd("timeline", s), "!refused", failed)
		w.shows("show", w.ccd("show", s), "make all", "interrupted", "!refused")
	}
}

// TestNotRecordedIsNotNot: what an agent does not record, and what ccd does not read, is called so.
func TestNotRecordedIsNotNot(t *testing.T) {
	t.Run("results", func(t *testing.T) {
		w := newWorld(t)
		r := rows{w: w}
		say := func(role string, content ...object) {
			r.add(object{"role": role, "message": object{"content": content}})
		}
		say("user", object{"type": "text", "text": "<user_query>\nRun the tests and commit.\n</user_query>"})
		say("assistant", object{"type": "tool_use", "name": "Shell", "input": object{"command": "go test ./..."}})
		say("assistant", object{"type": "tool_use", "name": "Shell", "input": object{"command": "git commit -am done"}})
		say("assistant", object{"type": "text", "text": "It is committed."})
		const id = "cdb75f9a-36d6-4d3d-a2b5-c2e5ff8dfd37"
		r.write(".cursor/projects/shop/agent-transcripts/" + id + "/" + id + ".jsonl")
		put(t, filepath.Join(w.home, ".cursor/projects/shop/agent-transcripts/0db75f9a-36d6-4d3d-a2b5-c2e5ff8dfd37.txt"), "user:\n<user_query>\nHello\n</user_query>\n\nassistant:\nYes.\n")
		w.once()
		w.shows("show", w.ccd("show", id), "git commit -am done", "!no result", "!Not ended")
		w.shows("doctor", w.prints("doctor"), "1 file with what looks like a transcript", "0db75f9a-36d6-4d3d-a2b5-c2e5ff8dfd37.txt", "!all transcripts are archived")
	})
	t.Run("too deep", func(t *testing.T) {
		w := newWorld(t)
		c := w.claude(1)
		c.asks("Weigh the parcels.")
		c.says("Weighed.")
		put(t, filepath.Join(w.home, ".claude/projects/-shop/-shop/"+c.id+".jsonl"), c.text())
		put(t, filepath.Join(w.home, ".claude/projects/-shop/odd/notes.jsonl"), c.text())
		q := rows{w: w}
		q.add(object{"type": "user", "uuid": "a", "sessionId": "s", "timestamp": w.now(), "cwd": w.dir, "version": "0.24.4", "message": object{"role": "user", "parts": []object{{"text": "Bake bread."}}}})
		q.write(".qwen/projects/-shop/chats/chats/0ab75f9a-36d6-4d3d-a2b5-c2e5ff8dfd37.jsonl")
		w.once()
		w.shows("timeline", w.ccd("timeline", c.id), "Weigh the parcels.")
		w.shows("doctor", w.prints("doctor"), "2 files with what looks like a transcript", "!all transcripts are archived")
		w.shows("status", w.prints("status"), "2 files with what looks like a transcript")
	})
	t.Run("a compaction over 16 MB", func(t *testing.T) {
		w := newWorld(t)
		c := w.codex()
		c.asks("Count the sheep.")
		c.says("Counted.")
		c.line("compacted", object{"message": "", "replacement_history": []object{
			{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": "Count the sheep."}}},
			{"type": "message", "role": "user", "content": []object{{"type": "input_image", "image_url": "data:image/png;base64," + strings.Repeat("QUJD", 17<<18)}}},
		}})
		c.asks("Go on.")
		c.save()
		w.once()
		w.shows("ls", w.ccd("ls", "--all"), "COMPACTED")
		w.shows("diff", w.prints("diff", c.id), "!has not compacted")
	})
	t.Run("a picture over 16 MB", func(t *testing.T) {
		huge, text := picture(strings.Repeat("QUJD", 17<<18)), object{"type": "text", "text": "Which sheep is that?"}
		for name, content := range map[string][]object{"before": {huge, text}, "behind": {text, huge}} {
			w := newWorld(t)
			c := w.claude(1)
			c.row("user", message("user", content))
			c.says("Dolly.")
			s := c.save()
			w.once()
			w.shows(name+" timeline", w.ccd("timeline", s), "Which sheep is that?")
			w.shows(name+" search", w.ccd("search", "Which sheep"), "Which sheep is that?")
			w.shows(name+" restore", w.ccd("restore", s+"#1"), "Which sheep is that?")
			w.shows(name+" show", w.ccd("show", s), "Which sheep is that?")
		}
	})
	t.Run("the branch", func(t *testing.T) {
		w := newWorld(t)
		c := w.codex()
		c.asks("Count the sheep.")
		c.says("Counted.")
		c.line("session_meta", object{"id": c.id, "cwd": w.dir, "git": object{"branch": "spring"}})
		c.asks("Go on.")
		c.says("On.")
		c.line("session_meta", object{"id": "01a30000-0000-7000-8000-000000000009", "cwd": "/elsewhere", "git": object{"branch": "foreign"}})
		c.save()
		w.once()
		w.shows("show", w.ccd("show", c.id), "branch `spring`")
	})
}

// TestOlderGenerations: of a transcript that was set back, or overwritten with nothing, what it lacks now is told before the rest, and
// what is known of the session stays.
func TestOlderGenerations(t *testing.T) {
	order := func(w *world, s string, texts ...string) {
		w.Helper()
		out, at := w.ccd("timeline", s), 0
		for _, text := range texts {
			i := strings.Index(out[at:], text)
			if i < 0 || strings.Count(out, text) != 1 {
				w.Fatalf("%q is not once behind the others:\n%s", text, out)
			}
			at += i
		}
	}
	for name, build := range map[string]func(w *world) (session string, write []func()){
		"claude": func(w *world) (string, []func()) {
			c := w.claude(1)
			c.asks("Part one.")
			c.says("Made.")
			early, last := c.text(), c.last
			c.asks("Part two, lost.")
			c.says("Made.")
			return c.save(), []func(){func() {
				c.lines, c.last = strings.Split(strings.TrimSpace(early), "\n"), last
				c.asks("Part three.")
				c.says("Made.")
				c.save()
			}}
		},
		"codex, twice": func(w *world) (string, []func()) {
			c := w.codex()
			c.asks("Part one.")
			c.says("Made.")
			early := slices.Clone(c.lines)
			c.asks("Part two, lost.")
			c.says("Made.")
			c.save()
			next := func(text string) func() {
				return func() {
					c.lines = slices.Clone(early)
					c.asks(text)
					c.says("Made.")
					c.save()
				}
			}
			return c.id, []func(){next("Part between."), next("Part three.")}
		},
		"overwritten": func(w *world) (string, []func()) {
			c := w.claude(1)
			for _, text := range []string{"Part one.", "Part two, lost.", "Part three."} {
				c.asks(text)
				c.says("Made.")
			}
			return c.save(), []func(){func() {
				put(w.T, w.claudePath(c.id), `{"type":"permission-mode","permissionMode":"default","sessionId":"s"}`+"\n")
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s, then := build(w)
			w.once()
			for _, write := range then {
				write()
				w.once()
			}
			told := []string{"Part two, lost.", "Part one.", "Part three."}
			if name == "overwritten" {
				told = []string{"Part one.", "Part two, lost.", "Part three."}
			}
			order(w, s, told...)
			w.shows("show", w.ccd("show", s), "Part two, lost.", "Part three.", "verified: true")
			w.shows("ls", w.ccd("ls", "--all"), w.dir)
			w.shows("resume", w.ccd("resume", s, "--dry-run"), "!continue that instead")
			must(t, os.MkdirAll(w.dir, 0o700))
			t.Chdir(w.dir)
			w.shows("the agent's search", w.ccd("agent", "search", "Part two"), "Part two, lost.")
		})
	}
}

// TestRefusedByTheAPI: a session that the API refuses is not one to go on with.
func TestRefusedByTheAPI(t *testing.T) {
	w := newWorld(t)
	c := w.claude(1)
	c.row("user", message("user", []object{{"type": "text", "text": "What is on it?"}, picture("UE9JU09O")}))
	c.fails("API Error: 400 Could not process image")
	s := c.save()
	w.once()
	w.shows("resume", w.ccd("resume", s, "--as", "claude"), "Could not process image", "!continue that instead")
	copies, err := filepath.Glob(filepath.Join(w.home, ".claude/projects/*/*.jsonl"))
	if err != nil || len(copies) != 2 {
		t.Fatalf("%q, %v", copies, err)
	}
	for _, path := range copies {
		text := read(t, path)
		if !strings.Contains(path, s) && (strings.Contains(string(text), "UE9JU09O") || !strings.Contains(string(text), "What is on it?")) {
			t.Errorf("the copy has the picture:\n%s", text)
		}
	}
}

// TestCopies: a copy is called one, is never the latest session, and what ccd wrote is not taken for a compaction.
func TestCopies(t *testing.T) {
	w := newWorld(t)
	c := w.claude(1)
	c.last = "0000abcd-0000-4000-8000-000000000001"
	c.add(object{"type": "user", "uuid": c.last, "sessionId": c.id, "timestamp": w.now(), "cwd": w.dir, "message": object{"role": "user", "content": "Weigh the parcels."}})
	c.says("Weighed.")
	s := c.save()
	for _, name := range []string{s + ".sync-conflict-20260914-080501-ABCDEFG", s + " (conflicted copy 2026-09-14)", "00000002-0000-4000-8000-000000000001"} {
		put(t, w.claudePath(name), strings.ReplaceAll(c.text(), s, "00000002-0000-4000-8000-000000000001"))
	}
	w.once()
	w.ccd("resume", s, "--as", "gemini")
	w.once()
	w.shows("latest", w.ccd("show", "latest"), "session: "+s)
	out := w.ccd("ls", "--all")
	if n := strings.Count(out, "\tcopy\n"); n != 4 {
		t.Errorf("%d sessions are called copies:\n%s", n, out)
	}
	w.shows("ls", out, "!1x", time.Now().UTC().Format("2006-01-02")) // the copy is dated now

	// A fork that does not say so and goes on is one to go on with.
	c.asks("And the letters.")
	c.says("Weighed, too.")
	put(t, w.claudePath("00000002-0000-4000-8000-000000000001"), c.text())
	w.once()
	w.shows("latest", w.ccd("show", "latest"), "session: 00000002-0000-4000-8000-000000000001")
	w.shows("ls", w.ccd("ls", "--all"), "[fork] Weigh the parcels.")
}

// TestAttachments: what a person attached is called what it is.
func TestAttachments(t *testing.T) {
	w := newWorld(t)
	pdf := base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\n1 0 obj <</Type /Pages /Count 2>>\n2 0 obj <</Type /Page>>\n3 0 obj <</Type /Page>>\n"))
	c := w.claude(1)
	c.row("user", message("user", []object{
		{"type": "text", "text": "What does it say?"},
		{"type": "document", "source": object{"type": "base64", "media_type": "application/pdf", "data": pdf}},
		picture("UE9JU09O"),
	}))
	c.says("Nothing.")
	s := c.save()
	w.once()
	w.ccd("resume", s, "--as", "qwen")
	out := w.newest(".qwen/projects/*/chats/*.jsonl")
	w.shows("copy", out, "PDF, 2 pages, ", ": only here; ccd agent restore ", "!read again")

	// In each agent, the handover names them, and a message that is only a picture is one.
	block := func(kind, media string) string {
		return `{"type":"` + kind + `","source":{"type":"base64","media_type":"` + media + `","data":"` + pdf + `"}}`
	}
	inline := `{"inlineData":{"mimeType":"application/pdf","data":"` + pdf + `"}}`
	for agent, as := range map[string][2]string{ // the content, and that with a document
		"claude-code":   {`"content":TEXT`, `"content":[` + block("document", "application/pdf") + `WORDS]`},
		"codex":         {`"content":[{"type":"input_text","text":TEXT}]`, `"content":[{"type":"input_image","image_url":"data:application/pdf;base64,` + pdf + `"}WORDS]`},
		"gemini-cli":    {`"content":[{"text":TEXT}]`, `"content":[` + inline + `WORDS]`},
		"qwen-code":     {`"parts":[{"text":TEXT}]`, `"parts":[` + inline + `WORDS]`},
		"copilot-cli":   {`"content":TEXT`, `"content":TEXT,"attachments":[{"type":"blob","mimeType":"application/pdf","data":"` + pdf + `"}]`},
		"pi":            {`"content":TEXT`, `"content":[{"type":"image","mimeType":"application/pdf","data":"` + pdf + `"}WORDS]`},
		"factory-droid": {`"content":[{"type":"text","text":TEXT}]`, `"content":[` + block("image", "application/pdf") + `WORDS]`},
	} {
		words := map[string]string{"codex": `,{"type":"input_text","text":TEXT}`, "gemini-cli": `,{"text":TEXT}`, "qwen-code": `,{"text":TEXT}`}[agent]
		if words == "" {
			words = `,{"type":"text","text":TEXT}`
		}
		w := newWorld(t)
		s := w.chat(agent)
		user := strings.Replace(s.user, as[0], as[1], 1)
		s.row(strings.Replace(user, "WORDS", words, 1), "What does it say?")
		s.says("Nothing.")
		id := s.save()
		w.once()
		w.shows(agent, w.ccd("show", id), ` with [PDF, 2 pages, 91 bytes]): "What does it say?"`, "verified: true")
		if agent == "copilot-cli" {
			continue
		}
		w = newWorld(t)
		s = w.chat(agent)
		s.row(strings.Replace(user, "WORDS", "", 1), "")
		s.says("Nothing.")
		id = s.save()
		w.once()
		w.shows(agent, w.ccd("show", id), "human 2026-09-14 08:00Z: ", "verified: true")
		w.shows(agent, w.ccd("timeline", id), "[PDF, 2 pages, 91 bytes]")
		w.shows(agent, w.ccd("ls"), "[PDF, 2 pages, 91 bytes]")
	}
}

// TestFactsBesideTheTranscript: names that agents keep in other files are shown and found, and homes that hooks name are known.
func TestFactsBesideTheTranscript(t *testing.T) {
	w := newWorld(t)
	x := w.codex()
	codex := x.id
	x.asks("Count the sheep.")
	x.save()
	put(t, filepath.Join(w.home, ".codex/session_index.jsonl"), rowOf(object{"id": codex, "thread_name": "old"})+"\n"+rowOf(object{"id": codex, "thread_name": "Night watch"})+"\nno JSON\n")
	c := w.claude(1)
	c.asks("Weigh the parcels.")
	claude := c.save()
	put(t, filepath.Join(w.home, ".claude/projects/-shop/sessions-index.json"), rowOf(object{"version": 1, "entries": []object{{"sessionId": claude, "summary": "Post office"}}}))
	w.once()
	w.shows("ls", w.ccd("ls", "--all"), "Night watch", "Post office")
	if out := w.begins(claude, filepath.Join(w.home, ".claude-work/projects/-shop", claude+".jsonl"), "startup"); out != "" {
		t.Errorf("a start in an unknown home: %s", out)
	}
	w.shows("doctor", w.prints("doctor"), "Claude Code also writes transcripts below "+filepath.Join(w.home, ".claude-work/projects"))
	for _, name := range []string{"Night watch", "Post office"} {
		w.shows("search", w.prints("search", name), "title")
	}

	// Gemini's projects have names of their own; an agent there finds its sessions.
	g := w.chat("gemini-cli")
	g.asks("Count the goats.")
	g.says("Counted.")
	gemini := g.save()
	put(t, filepath.Join(w.home, ".gemini/projects.json"), rowOf(object{"projects": object{w.dir: "shop"}}))
	// A teammate's records name its team, and that names the session that leads.
	m := w.claude(2)
	m.row("user", object{"teamName": "sheep", "agentName": "dog", "message": object{"role": "user", "content": "<teammate-message teammate_id=\"lead\">Bark.</teammate-message>"}})
	m.says("Barked.")
	mate := m.save()
	put(t, filepath.Join(w.home, ".claude/teams/sheep/config.json"), rowOf(object{"name": "sheep", "leadSessionId": claude}))
	w.once()
	w.shows("ls", w.ccd("ls", "--json"), gemini, `"project": "`+w.dir+`"`)
	w.shows("ls of the sub-agents", w.ccd("ls", "--json", "--all"), `"parent": "`+claude+`"`, mate)
	must(t, os.MkdirAll(w.dir, 0o700))
	t.Chdir(w.dir)
	w.shows("the agent's search", w.ccd("agent", "search", "goats"), "Count the goats.")
}

// newest returns the text of the one file that matches.
func (w *world) newest(pattern string) string {
	w.Helper()
	files, err := filepath.Glob(filepath.Join(w.home, pattern))
	if err != nil || len(files) != 1 {
		w.Fatalf("%s: %q, %v", pattern, files, err)
	}
	return string(read(w, files[0]))
}
