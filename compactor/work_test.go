package compactor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ccd/internal/transcript"
)

// Commands stand with status, what came out and where; a problem is open until the same goal succeeds, and what looks
// something up is none.
func TestCommandsAndProblems(t *testing.T) {
	s := newScript()
	s.human("Make it build.")
	s.fails("make all", "main.c:3: error: unknown type name 'foo'\nmake: *** [all] Error 1", 2)
	s.fails("pytest -q", strings.Repeat(".....\n", 99)+"E   AssertionError: 1 != 2\n1 failed, 2 passed", 1)
	s.bash("cd /home/me/ledger && make all 2>&1 | tail -5", "cc -o all\n")
	s.fails("grep -rn nothing src", "", 1)
	s.fails("ls nowhere", "ls: cannot access 'nowhere': No such file or directory", 2)
	s.bash("cd /elsewhere && ls -R", "a")
	s.bash("ls -R", "b")
	s.bash("go test ./...", strings.Repeat("ok  some/package 0.1s\n", 100)+"3 passed")
	s.call("t-9", "Bash", map[string]any{"command": "sleep 100"})
	c := told(t, s, Defaults())
	wants(t, c.section("Now"), "Open: #4 Bash `pytest -q` -> 1: `E AssertionError: 1 != 2`; `1 failed, 2 passed` [ccd ", "Under way: #18 Bash `sleep 100` (no result)\n")
	if n := strings.Count(c.section("Now"), "Open: "); n != 1 {
		t.Errorf("%d problems are open:\n%s", n, c.section("Now"))
	}
	inOrder(t, c.section("Commands"), "- #18 `sleep 100` (no result yet)\n", "- #16 `go test ./...` -> 0: `3 passed` (result #17)\n",
		"- #14 `ls -R` -> 0\n", "- #12 `ls -R` in `/elsewhere` -> 0\n", "- #10 `ls nowhere` -> 2\n", "- #8 `grep -rn nothing src` -> 1\n",
		"- #6 `make all` -> 0 (status of the last part) (was 2 at #2): `cc -o all` (result #7)\n", "- #4 `pytest -q` -> 1: `1 failed, 2 passed` (result #5)\n")
	wants(t, c.section("Problems"), "- #2 Bash `make all` -> 2: `main.c:3: error: unknown type name 'foo'`")
	wantsNot(t, c.section("Problems"), "pytest", "grep", "nowhere")
}

// What goes on, what was interrupted, and an answer that came before the last request are told as such.
func TestWhatIsUnderWay(t *testing.T) {
	s := newScript()
	s.human("Start the server.")
	s.bash("npm start", "Command running in background with ID: b1. Output is being written to: /tmp/b1")
	s.say("It runs.")
	s.human("Now build.")
	s.built()
	s.call("x", "Bash", map[string]any{"command": "make it"})
	s.line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "[Request interrupted by user for tool use]"}}}, nil)
	now := told(t, s, Defaults()).section("Now")
	wants(t, now, "Answered last (#4 2026-03-04T09:00Z, before that): It runs.\n",
		"Under way: #2 Bash `npm start` (in the background); #67 interrupted by the human 09:07Z; #66 Bash `make it` (no result)\n")
	s.human("Go on.")
	wants(t, told(t, s, Defaults()).section("Now"), "Under way: #2 Bash `npm start` (in the background)\n")
}

// codexScript writes an invented session in the shape of Codex's transcripts.
type codexScript struct {
	buf bytes.Buffer
	n   int
}

func (s *codexScript) item(payload map[string]any) {
	data, err := json.Marshal(map[string]any{"timestamp": "2026-03-04T09:00:00.000Z", "type": "response_item", "payload": payload})
	if err != nil {
		panic(err)
	}
	s.buf.Write(append(data, '\n'))
}

func (s *codexScript) human(text string) {
	s.item(map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": text}}})
}

// do is a call, its input as JSON text, and what came back.
func (s *codexScript) do(tool string, input map[string]any, output string) {
	s.n++
	args, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	id := fmt.Sprintf("call_%d", s.n)
	s.item(map[string]any{"type": "function_call", "name": tool, "arguments": string(args), "call_id": id})
	s.item(map[string]any{"type": "function_call_output", "call_id": id, "output": output})
}

func (s *codexScript) shell(dir, cmd, output string) {
	s.do("shell", map[string]any{"command": []string{"bash", "-lc", cmd}, "workdir": dir}, output)
}

const ended = `{"output":"fine","metadata":{"exit_code":0,"duration_seconds":0.1}}`

// What a call answers tells how it went where no status does.
func TestFailuresWithoutAStatus(t *testing.T) {
	var s codexScript
	s.human("Write the page, then build.")
	patch := "*** Begin Patch\n*** Add File: docs/page.md\n+# Page\n*** End Patch"
	s.do("apply_patch", map[string]any{"input": patch}, "error: invalid hunk at line 3, '| a |' is not a valid hunk header")
	s.do("apply_patch", map[string]any{"input": patch}, ended)
	s.do("apply_patch", map[string]any{"input": strings.ReplaceAll(patch, "page", "other")}, "error: invalid hunk at line 3")
	s.shell("/w", "make", "failed in sandbox None with execution error: command timed out")
	s.shell("/w", "cat notes", ended)
	s.do("exec_command", map[string]any{"cmd": "make slow", "workdir": "./"}, "Chunk ID: a\nWall time: 10 seconds\nProcess running with session ID 7\nOutput:\nx")
	s.do("write_stdin", map[string]any{"session_id": 7, "chars": ""}, "Chunk ID: b\nWall time: 1 seconds\nProcess exited with code 2\nOutput:\nerror: no")
	for i := range 40 {
		s.shell("/w", fmt.Sprintf("cat part%d", i), `{"output":"`+strings.Repeat("a line of it ", 200)+`","metadata":{"exit_code":0}}`)
	}
	f := foldingAs(t, "codex", transcript.Main, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	wants(t, c.section("Files"), "- created `docs/page.md` (#4)", "not changed, the edit failed: `docs/other.md`")
	wants(t, c.section("Commands"), "`make` in `/w` -> failed: `failed in sandbox None", "`cat notes` in `/w` -> 0\n", "`make slow` -> 2")
	wants(t, c.section("Now"), "execution error: command timed out`\n", "docs/other.md", "make slow")
	wantsNot(t, c.section("Now"), "docs/page.md")
}

func TestGitAsLastSeen(t *testing.T) {
	commit := func(s *script) {
		s.bash("git commit -m x", "[fix/cents 8f31c2e] money: integer cents\n 1 file changed")
	}
	push := func(s *script) { s.bash("git push", "To forge:ledger\n   c01d3aa..8f31c2e  fix/cents -> fix/cents") }
	const last = `branch fix/cents, last commit 8f31c2e "money: integer cents" (#2`
	for _, c := range []struct {
		name string
		do   func(s *script)
		want string
	}{
		{"nothing", func(s *script) { s.bash("make", "ok") }, ""},
		{"a commit", commit, last + ", no push seen since)"},
		{"pushed", func(s *script) { commit(s); push(s) }, last + ", pushed #4)"},
		{"a commit after a push", func(s *script) { push(s); commit(s) }, strings.Replace(last, "#2", "#4", 1) + ", no push seen since)"},
		{"a commit that failed", func(s *script) { s.fails("git commit -m x", "[main 8f31c2e] by a hook\nerror: hook", 1) }, ""},
		{"another branch", func(s *script) { commit(s); s.bash("git switch -c more", "Switched to a new branch 'more'") }, "branch more, last commit 8f31c2e \"money: integer cents\" (#2, no push seen since)"},
		{"another branch, without a word", func(s *script) { s.bash("git checkout -q more && make", "ok") }, "branch more"},
		{"a file taken back", func(s *script) { s.bash("git checkout a.go", "Updated 1 path from the index") }, ""},
		{"a detached head", func(s *script) { s.bash("git commit -m x", "[detached HEAD 8f31c2e] by hand") }, "branch detached HEAD, last commit 8f31c2e \"by hand\" (#2, no push seen since)"},
		{"changes", func(s *script) {
			s.bash("git status", "On branch main\nChanges not staged for commit:\n\tmodified:   a.py\n")
			s.bash("git status -s", " M b.py\n")
		}, "branch main, uncommitted as of #4: `b.py`"},
		{"changes, then a commit", func(s *script) { s.bash("git status -s", " M b.py\n"); commit(s) }, strings.Replace(last, "#2", "#4", 1) + ", no push seen since)"},
		{"a stash", func(s *script) {
			s.bash("git stash", "Saved working directory and index state WIP on main: 1234567 half done")
		}, "stash \"1234567 half done\" (#2)"},
		{"no stash any more", func(s *script) {
			s.bash("git stash", "Saved working directory and index state WIP on main: 1234567 half done")
			s.bash("git stash pop", "Dropped refs/stash@{0}")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			s.human("Do it.")
			c.do(s)
			got := strings.TrimSpace(strings.TrimPrefix(told(t, s.built(), Defaults()).part("Git: "), "Git: "))
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReportsOfSubAgents(t *testing.T) {
	s := newScript()
	s.human("Look around.")
	task := func(id, what string, extra map[string]any) {
		in := map[string]any{"description": what, "prompt": "look", "subagent_type": "Explore"}
		for k, v := range extra {
			in[k] = v
		}
		s.call(id, "Task", in)
	}
	task("t-1", "look around", nil)
	s.result("t-1", "Two files.", false)
	task("t-2", "look closer", nil)
	s.result("t-2", "First of all, this is what I found.\n"+strings.Repeat("- a finding of some length\n", 120), false)
	task("t-3", "look behind", map[string]any{"run_in_background": true})
	s.line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t-3", "content": "Async agent launched."}}},
		map[string]any{"toolUseResult": map[string]any{"agentId": "a77", "status": "async_launched"}})
	s.line("attachment", nil, map[string]any{"attachment": map[string]any{
		"type": "queued_command", "commandMode": "task-notification",
		"prompt": "<task-notification>\n<task-id>a77</task-id>\n<status>completed</status>\n<result>Three <b>files</b>.</result>\n</task-notification>",
	}})
	task("t-4", "look below", nil)
	c := told(t, s.built(), Defaults())
	inOrder(t, c.section("Conversation"), "- #2 sub-agent \"look around\": report: Two files.\n", "- #4 sub-agent \"look closer\": [ccd ", " report", "First of all, this is what I found.",
		"- #6 sub-agent \"look behind\" (session a77): report: Three <b>files</b>.\n", "- #9 sub-agent \"look below\": no report yet\n")
	if n := strings.Count(c.part("1 ·"), "a finding of some length"); n < 25 {
		t.Errorf("%d findings of a report are shown", n)
	}
	wants(t, c.section("Now"), "Under way: #9 sub-agent \"look below\" (no report yet)\n")
	wantsNot(t, c.all(), "<status>")
}

// todo is the input of a plan: items and what became of each.
func todo(items ...string) map[string]any {
	list := []any{}
	for i := 0; i < len(items); i += 2 {
		list = append(list, map[string]any{"content": items[i], "status": items[i+1], "activeForm": items[i]})
	}
	return map[string]any{"todos": list}
}

func TestPlanAsLastLeft(t *testing.T) {
	create := func(s *script, subject, result string) {
		s.do("TaskCreate", map[string]any{"subject": subject, "description": "long"}, result)
	}
	for _, c := range []struct {
		name string
		do   func(s *script)
		want string
	}{
		{"replaced", func(s *script) {
			s.do("TodoWrite", todo("a", "pending"), "ok")
			s.do("TodoWrite", todo("a", "completed", "b", "in_progress"), "ok")
		}, "[x] a, [>] b"},
		{"emptied", func(s *script) { s.do("TodoWrite", todo("a", "pending"), "ok"); s.do("TodoWrite", todo(), "ok") }, ""},
		{"one that failed", func(s *script) {
			s.do("TodoWrite", todo("a", "pending"), "ok")
			s.call("f", "TodoWrite", todo("b", "odd"))
			s.result("f", "<tool_use_error>InputValidationError</tool_use_error>", true)
		}, "[ ] a"},
		{"no result yet", func(s *script) {
			s.do("TodoWrite", todo("a", "pending"), "ok")
			s.call("f", "TodoWrite", todo("b", "pending"))
		}, "[ ] b"},
		{"tasks", func(s *script) {
			create(s, "a", "Task #1 created successfully: a")
			create(s, "b", `{"task":{"id":"2","subject":"b"}}`)
			s.do("TaskUpdate", map[string]any{"taskId": "1", "status": "completed"}, "Updated task #1 status")
			s.do("TaskUpdate", map[string]any{"taskId": 2, "status": "in_progress", "subject": "b2"}, "ok")
		}, "[x] a, [>] b2"},
		{"tasks in one go", func(s *script) {
			for _, id := range []string{"1", "2", "3"} {
				s.call("c"+id, "TaskCreate", map[string]any{"subject": "task " + id})
			}
			s.result("c1", "Task #1 created successfully: task 1", false)
			s.result("c2", "<tool_use_error>no</tool_use_error>", true)
			s.result("c3", "Task #2 created successfully: task 3", false)
			s.do("TaskUpdate", map[string]any{"taskId": "2", "status": "completed"}, "ok")
		}, "[ ] task 1, [x] task 3"},
		{"deleted", func(s *script) {
			create(s, "a", "Task #1 created successfully: a")
			s.do("TaskUpdate", map[string]any{"taskId": "1", "status": "deleted"}, "ok")
		}, ""},
		{"an unknown task", func(s *script) {
			create(s, "a", "Task #1 created successfully: a")
			s.do("TaskUpdate", map[string]any{"taskId": "9", "status": "completed"}, "Task not found")
		}, "[ ] a"},
		{"the list is the truth", func(s *script) {
			create(s, "a", "Task #1 created successfully: a")
			s.do("TaskList", map[string]any{}, "#1 [completed] a\n#4 [in_progress] made elsewhere")
		}, "[x] a, [>] made elsewhere"},
		{"an empty list changes nothing", func(s *script) {
			create(s, "a", "Task #1 created successfully: a")
			s.do("TaskList", map[string]any{}, "No tasks found")
		}, "[ ] a"},
		{"a sub-agent's is its own", func(s *script) {
			s.do("TodoWrite", todo("a", "pending"), "ok")
			block := map[string]any{"type": "tool_use", "id": "side", "name": "TodoWrite", "input": todo("b", "pending")}
			s.line("assistant", map[string]any{"role": "assistant", "content": []any{block}}, map[string]any{"isSidechain": true})
		}, "[ ] a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			s.human("Plan it.")
			c.do(s)
			_, got, _ := strings.Cut(told(t, s.built(), Defaults()).part("Plan as last left (#"), "words:\n- ")
			if got = strings.ReplaceAll(strings.TrimSpace(got), "\n- ", ", "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
