package compactor

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// filesOf is what State tells of the files of a session, a line each.
func filesOf(t *testing.T, s *script) string {
	t.Helper()
	_, text, ok := strings.Cut(stateOf(t, s.padded()), "### Files")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n### ")
	_, text, _ = strings.Cut(text, "\n")
	var lines []string
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if !strings.Contains(l, "`money") { // the padding's
			lines = append(lines, strings.TrimPrefix(l, "- "))
		} else if _, more, ok := strings.Cut(l, "read: "); ok && !strings.Contains(more, "money") {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

func TestNetEffectOnFiles(t *testing.T) {
	const dir = "/home/me/ledger/"
	patch := func(s *script, body string) {
		s.do("apply_patch", map[string]any{"input": "*** Begin Patch\n" + body + "\n*** End Patch"}, "Success.")
	}
	for _, c := range []struct {
		name string
		do   func(s *script)
		want string
	}{
		{"created", func(s *script) { s.write(dir+"a.go", "x") }, "created `a.go` (#2)"},
		{"created over what was read", func(s *script) {
			s.read(dir+"a.go", "x\n")
			s.do("Write", map[string]any{"file_path": dir + "a.go", "content": "y"}, "The file "+dir+"a.go has been updated.")
		}, "edited `a.go` (#4)"},
		{"written over what was there", func(s *script) {
			s.do("Write", map[string]any{"file_path": dir + "a.go", "content": "y"}, "The file "+dir+"a.go has been updated.")
		}, "edited `a.go` (#2)"},
		{"several edits in one call", func(s *script) {
			s.do("MultiEdit", map[string]any{"file_path": dir + "a.go", "edits": []any{map[string]any{"old_string": "a", "new_string": "b"}}}, "ok")
		}, "edited `a.go` (#2)"},
		{"a cell", func(s *script) {
			s.do("NotebookEdit", map[string]any{"notebook_path": dir + "a.ipynb", "new_source": "b"}, "ok")
		}, "edited `a.ipynb` (#2)"},
		{"deleted", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("rm a.go", "") }, "deleted `a.go` (#4)"},
		{"deleted without being seen", func(s *script) { s.bash("rm -f old.go", "") }, "deleted `old.go` (#2)"},
		{"not deleted", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.fails("rm a.go", "rm: a.go: Permission denied", 1) }, "edited `a.go` (#2)"},
		{"perhaps deleted", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("rm a.go; ls", "rm: cannot remove 'a.go'") }, "edited `a.go` (#2)"},
		{"deleted with its directory", func(s *script) {
			s.edit(dir+"lib/a.go", "a", "b")
			s.read(dir+"lib/b.go", "x")
			s.edit(dir+"library.go", "a", "b")
			s.bash("rm -rf lib", "")
		}, "deleted `lib` (#8)\ndeleted `lib/b.go` (#8)\ndeleted `lib/a.go` (#8)\nedited `library.go` (#6)"},
		{"created, then deleted", func(s *script) { s.write(dir+"a.go", "x"); s.bash("git rm -f a.go", "") }, "created, then deleted `a.go` (#4)"},
		{"deleted and made anew", func(s *script) { s.read(dir+"a.go", "x"); s.bash("rm a.go", ""); s.write(dir+"a.go", "x") }, "deleted, then made anew `a.go` (#6)"},
		{"renamed", func(s *script) { s.read(dir+"a.go", "x"); s.bash("git mv a.go b.go", "") }, "renamed `a.go` -> `b.go` (#4)"},
		{"renamed and edited", func(s *script) {
			s.edit(dir+"a.go", "a", "b")
			s.bash("mv a.go b.go", "")
			s.edit(dir+"b.go", "a", "b")
		}, "renamed `a.go` -> `b.go`, edited 2x (last #6)"},
		{"renamed twice", func(s *script) { s.read(dir+"a.go", "x"); s.bash("mv a.go b.go", ""); s.bash("mv b.go c.go", "") }, "renamed `a.go` -> `c.go` (#6)"},
		{"there and back", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("mv a.go b.go && mv b.go a.go", "") }, "edited `a.go` (#4)"},
		{"created under another name", func(s *script) { s.write(dir+"a.go", "x"); s.bash("mv a.go b.go", "") }, "created `b.go` (#4)"},
		{"renamed, then deleted", func(s *script) { s.read(dir+"a.go", "x"); s.bash("mv a.go b.go", ""); s.bash("rm b.go", "") }, "renamed, then deleted `a.go` -> `b.go` (#6)"},
		{"into a known directory", func(s *script) { s.read(dir+"lib/x.go", "x"); s.edit(dir+"a.go", "a", "b"); s.bash("mv a.go lib", "") }, "renamed `a.go` -> `lib/a.go`, edited 1x (last #6)\nread: `lib/x.go`"},
		{"to what may be a directory", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("mv a.go lib", "") }, "renamed `a.go` -> `lib` (#4)"},
		{"with its directory", func(s *script) { s.edit(dir+"lib/a.go", "a", "b"); s.bash("git mv lib core", "") }, "renamed `lib/a.go` -> `core/a.go`, edited 1x (last #4)"},
		{"put back", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("git checkout -- a.go", "") }, "put back `a.go` (#4)"},
		{"put back, then edited", func(s *script) {
			s.edit(dir+"a.go", "a", "b")
			s.edit(dir+"a.go", "a", "b")
			s.bash("git restore a.go", "")
			s.edit(dir+"a.go", "a", "b")
		}, "edited `a.go` (#8)"},
		{"put back with its directory", func(s *script) {
			s.edit(dir+"lib/a.go", "a", "b")
			s.write(dir+"lib/new.go", "x")
			s.read(dir+"lib/r.go", "x")
			s.bash("git checkout -- lib", "")
		}, "put back `lib/a.go` (#8)\ncreated `lib/new.go` (#4)\nread: `lib/r.go`"},
		{"written by the shell", func(s *script) { s.bash("cat > a.txt <<'EOF'\nx\nEOF", ""); s.bash("echo y >> a.txt", "") }, "written 2x `a.txt` (last #4)"},
		{"written below another directory", func(s *script) { s.bash("cd sub && echo y > a.txt", "") }, "written `sub/a.txt` (#2)"},
		{"touched", func(s *script) { s.bash("touch a.txt", ""); s.read(dir+"b.txt", "x"); s.bash("touch b.txt", "") }, "written `a.txt` (#2)\nread: `b.txt`"},
		{"perhaps put back", func(s *script) { s.bash("rm a.txt; git stash -q; ls", "") }, "deleted, perhaps put back since `a.txt` (#2)"},
		{"read by the shell", func(s *script) {
			s.bash("cat a.txt", "x")
			s.bash("cat gone.txt | head", "cat: gone.txt: No such file or directory")
		}, "read: `a.txt`"},
		{"patches", func(s *script) {
			patch(s, "*** Add File: n.go\n+x\n*** Update File: u.go\n@@\n-a\n+b\n*** Delete File: d.go\n*** Update File: m.go\n*** Move to: m2.go\n@@\n-a\n+b")
		}, "renamed `m.go` -> `m2.go` (#2)\ndeleted `d.go` (#2)\nedited `u.go` (#2)\ncreated `n.go` (#2)"},
		{"refused", func(s *script) {
			s.call("t-1", "Write", map[string]any{"file_path": dir + "a.go", "content": "x"})
			s.result("t-1", "The user doesn't want to proceed with this tool use.", true)
		}, "not changed, refused by the human: `a.go` (#2)"},
		{"of a command in words only", func(s *script) { s.bash("echo 'rm a.go'", "rm a.go"); s.bash("rm $X *.go", "") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			s.human("Work on it.")
			c.do(s)
			if got := filesOf(t, s); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestContentFollowsChanges(t *testing.T) {
	const dir = "/home/me/ledger/"
	for _, c := range []struct {
		name string
		do   func(s *script)
		path string
		want string
	}{
		{"through a rename", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.bash("mv a.go b.go", "")
			s.edit(dir+"b.go", "one", "two")
		}, "b.go", "two\n"},
		{"through a patch that moves", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.do("apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@\n-one\n+two\n*** End Patch"}, "Success.")
		}, "b.go", "two\n"},
		{"a here-document", func(s *script) { s.bash("cat > a.go <<'EOF'\none\nEOF", "") }, "a.go", "one\n"},
		{"lost by a program", func(s *script) { s.write(dir+"a.go", "one\n"); s.bash("make > a.go", "") }, "a.go", ""},
		{"lost by an edit in place", func(s *script) { s.write(dir+"a.go", "one\n"); s.bash("sed -i s/one/two/ a.go", "") }, "a.go", ""},
		{"lost by the human", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.do("Edit", map[string]any{"file_path": dir + "a.go", "old_string": "one", "new_string": "two"}, "The user modified your proposed changes before accepting them.")
		}, "a.go", ""},
		{"known again by a read", func(s *script) { s.bash("make > a.go", ""); s.read(dir+"a.go", "three") }, "a.go", "three"},
		{"put back", func(s *script) { s.write(dir+"a.go", "one\n"); s.bash("git checkout -- a.go", "") }, "a.go", ""},
		{"a formatter, then a patch", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.bash("gofmt -w a.go", "")
			s.do("apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: a.go\n@@\n-one\n+two\n*** End Patch"}, "Success.")
		}, "a.go", ""},
		{"a formatter, then an edit that makes sure", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.bash("gofmt -w a.go", "")
			s.edit(dir+"a.go", "one", "two")
		}, "a.go", "two\n"},
		{"more edits than are kept", func(s *script) {
			s.write(dir+"a.go", "0\n")
			for i := range maxEdits + 1 {
				s.edit(dir+"a.go", fmt.Sprint(i), fmt.Sprint(i+1))
			}
		}, "a.go", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			s.human("Work on it.")
			c.do(s)
			f := fold(t, s.buf.Bytes(), Defaults())
			d := newDraft(f.Compactor, f.text())
			state := f.tables.files.get(hashOf(dir + c.path))
			if state == nil {
				t.Fatal("the file is not known")
			}
			got, _, title := d.content(state)
			if title == "" {
				got = ""
			}
			if got != c.want {
				t.Errorf("got %q (%s), want %q", got, title, c.want)
			}
		})
	}
}

func TestErrorsAreClosedByTheSame(t *testing.T) {
	const a = "/home/me/ledger/a.go"
	failsTool := func(s *script, tool string, in map[string]any) {
		id := fmt.Sprintf("f-%d", s.n)
		s.call(id, tool, in)
		s.result(id, "<tool_use_error>it did not go</tool_use_error>", true)
	}
	edit := map[string]any{"file_path": a, "old_string": "x", "new_string": "y"}
	read := map[string]any{"file_path": a}
	for _, c := range []struct {
		name string
		do   func(s *script)
		open int
	}{
		{"the same command", func(s *script) { s.fails("make", "error: no", 2); s.bash("make", "ok") }, 0},
		{"with another prefix and suffix", func(s *script) {
			s.fails("cd /home/me/ledger && make 2>&1 | tail -3", "error: no", 2)
			s.bash("CC=gcc timeout 30 make", "ok")
		}, 0},
		{"in another directory", func(s *script) { s.fails("make", "error: no", 2); s.bash("cd sub && make", "ok") }, 1},
		{"another command", func(s *script) { s.fails("make", "error: no", 2); s.bash("make all", "ok") }, 1},
		{"the status of a filter", func(s *script) { s.fails("make", "error: no", 2); s.bash("make | tail -3", "error: no") }, 1},
		{"failed again", func(s *script) { s.fails("make", "error: no", 2); s.fails("make", "error: no", 2) }, 1},
		{"an edit by an edit", func(s *script) { failsTool(s, "Edit", edit); s.edit(a, "x", "y") }, 0},
		{"an edit by a write", func(s *script) { failsTool(s, "Edit", edit); s.write(a, "x") }, 0},
		{"an edit not by a read", func(s *script) { failsTool(s, "Edit", edit); s.read(a, "x") }, 1},
		{"a read by a read", func(s *script) { failsTool(s, "Read", read); s.read(a, "x") }, 0},
		{"a read by a write", func(s *script) { failsTool(s, "Read", read); s.write(a, "x") }, 0},
		{"a read not by another file's", func(s *script) { failsTool(s, "Read", read); s.read(a+"x", "x") }, 1},
		{"an edit by the shell", func(s *script) { failsTool(s, "Edit", edit); s.bash("cat > a.go <<'EOF'\nx\nEOF", "") }, 0},
		{"an edit by what deletes the file", func(s *script) { failsTool(s, "Edit", edit); s.bash("rm a.go", "") }, 0},
	} {
		s := newScript()
		s.human("Make it.")
		c.do(s)
		if got := fold(t, s.buf.Bytes(), Defaults()).tables.errors.len(); got != c.open {
			t.Errorf("%s: %d open errors, want %d", c.name, got, c.open)
		}
	}
}

func TestCommandsInTheBackground(t *testing.T) {
	start := func(s *script, cmd string) {
		s.bash(cmd, "Command running in background with ID: b1. Output is being written to: /tmp/b1")
	}
	for _, c := range []struct {
		name string
		do   func(s *script)
		want string
		open int
	}{
		{"going on", func(s *script) { start(s, "make") }, "`make` (no result yet)", 0},
		{"asked for too early", func(s *script) {
			start(s, "make")
			s.do("BashOutput", map[string]any{"bash_id": "b1"}, "<status>running</status>\n<stdout>x</stdout>")
		}, "`make` (no result yet)", 0},
		{"ended", func(s *script) {
			start(s, "make")
			s.do("BashOutput", map[string]any{"bash_id": "b1"}, "<status>completed</status>\n<exit_code>0</exit_code>")
		}, "`make` -> 0", 0},
		{"failed", func(s *script) {
			start(s, "make")
			s.do("BashOutput", map[string]any{"bash_id": "b1"}, "<status>failed</status>\n<exit_code>2</exit_code>\n<stdout>error: no</stdout>")
		}, "`make` -> 2", 1},
		{"stopped", func(s *script) {
			start(s, "make")
			s.do("KillShell", map[string]any{"shell_id": "b1"}, "Successfully killed shell: b1")
		}, "`make` (stopped)", 0},
		{"told by the client", func(s *script) {
			start(s, "make")
			s.human("<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n<summary>Background command \"make\" failed with exit code 3</summary>\n</task-notification>")
		}, "`make` -> 3", 1},
		{"another one", func(s *script) {
			start(s, "make")
			s.do("BashOutput", map[string]any{"bash_id": "b2"}, "<status>completed</status>\n<exit_code>0</exit_code>")
		}, "`make` (no result yet)", 0},
		{"run again", func(s *script) {
			start(s, "make")
			s.bash("make", "ok")
			s.do("BashOutput", map[string]any{"bash_id": "b1"}, "<status>failed</status>\n<exit_code>2</exit_code>")
		}, "`make` -> 0", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			s.human("Make it.")
			c.do(s)
			if got := fold(t, s.buf.Bytes(), Defaults()).tables.errors.len(); got != c.open {
				t.Errorf("%d open errors, want %d", got, c.open)
			}
			wants(t, stateOf(t, s.padded()), c.want+"\n")
		})
	}
}

// A command of Codex that goes on is ended by what is read from it.
func TestCodexCommandsGoOn(t *testing.T) {
	line := func(payload string) string {
		return `{"timestamp":"2026-03-04T09:00:00.000Z","type":"response_item","payload":` + payload + "}\n"
	}
	text := line(`{"type":"message","role":"user","content":[{"type":"input_text","text":"Make it."}]}`) +
		line(`{"type":"function_call","call_id":"c1","name":"exec_command","arguments":"{\"cmd\":\"make\",\"workdir\":\"./\"}"}`) +
		line(`{"type":"function_call_output","call_id":"c1","output":"Chunk ID: a\nWall time: 10 seconds\nProcess running with session ID 7\nOutput:\nx"}`) +
		line(`{"type":"function_call","call_id":"c2","name":"write_stdin","arguments":"{\"session_id\":7,\"chars\":\"\"}"}`) +
		line(`{"type":"function_call_output","call_id":"c2","output":"Chunk ID: b\nWall time: 1 seconds\nProcess exited with code 2\nOutput:\nerror: no"}`)
	f := foldAs(t, "codex", transcript.Main, []byte(text), Defaults())
	if n := f.tables.errors.len(); n != 1 {
		t.Errorf("%d open errors", n)
	}
	all := f.tables.commands.newestFirst()
	if len(all) != 1 || all[0].text != "make" || all[0].exit != 2 || all[0].pending {
		t.Errorf("%+v", all)
	}
}

func TestPlanAsLastLeft(t *testing.T) {
	todo := func(items ...string) map[string]any {
		list := []any{}
		for i := 0; i < len(items); i += 2 {
			list = append(list, map[string]any{"content": items[i], "status": items[i+1]})
		}
		return map[string]any{"todos": list}
	}
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
		{"update_plan", func(s *script) {
			s.do("update_plan", map[string]any{"plan": []any{map[string]any{"step": "a", "status": "completed"}, map[string]any{"step": "b", "status": "pending"}}}, "Plan updated")
		}, "[x] a, [ ] b"},
		{"a sub-agent's is its own", func(s *script) {
			s.do("TodoWrite", todo("a", "pending"), "ok")
			block := map[string]any{"type": "tool_use", "id": "side", "name": "TodoWrite", "input": todo("b", "pending")}
			s.line("assistant", map[string]any{"role": "assistant", "content": []any{block}}, map[string]any{"isSidechain": true})
		}, "[ ] a"},
	} {
		s := newScript()
		s.human("Plan it.")
		c.do(s)
		f := fold(t, s.buf.Bytes(), Defaults())
		var got []string
		for _, p := range f.tables.plan {
			got = append(got, box(p.status)+p.text)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, strings.Join(got, ", "), c.want)
		}
	}
}

// A plan that is too long keeps what is open.
func TestLongPlansKeepWhatIsOpen(t *testing.T) {
	var plan []planItem
	for i := range 40 {
		status := "completed"
		if i%10 == 9 {
			status = "pending"
		}
		plan = append(plan, planItem{text: fmt.Sprintf("step %d", i), status: status})
	}
	shown := planShown(plan, 150)
	for _, n := range []int{9, 19, 29, 39, 38} {
		if shown[n] == "" {
			t.Errorf("step %d is not shown: %v", n, shown)
		}
	}
	if shown[0] != "" {
		t.Error("the oldest step that is done is shown")
	}
}

// Many files stand in groups, and by their names where there is hardly room: all changed ones before any read one.
func TestManyFilesStandInGroups(t *testing.T) {
	s := newScript()
	s.human("Work on the files.")
	for i := range 60 {
		s.write(fmt.Sprintf("/home/me/ledger/some/directory/file%02d.go", i), "x\n")
		s.edit(fmt.Sprintf("/home/me/ledger/some/directory/file%02d.go", i), "x", "y")
		s.read(fmt.Sprintf("/home/me/ledger/other/directory/read%02d.go", i), "x\n")
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	lengths := map[int]int{}
	for _, room := range []int{20000, 4000, 3200, 1500, 400} {
		d := newDraft(f.Compactor, f.text())
		text := d.filesPart(room)
		if n := lexicon.Chars(text); n > room+80 {
			t.Errorf("%d chars for a room of %d", n, room)
		}
		lengths[room] = strings.Count(text, "`some/directory/file")
		if read := strings.Count(text, "`other/directory/read"); lengths[room] < 60 && read > 0 {
			t.Errorf("room %d: %d files are read, %d of 60 changed ones shown", room, read, lengths[room])
		}
		if lengths[room] < 60 {
			wants(t, text, "- changed, or tried to: [ccd ")
		}
	}
	if lengths[4000] != 60 || lengths[3200] != 60 || lengths[400] == 0 || lengths[400] > 20 {
		t.Errorf("changed files by room: %v", lengths)
	}
}

// Short commands are shown where that shows more of them.
func TestCommandsGiveWayInLength(t *testing.T) {
	s := newScript()
	s.human("Run it.")
	for i := range 30 {
		s.bash(fmt.Sprintf("make target%02d ", i)+strings.Repeat("with many words ", 14), "ok")
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	for _, c := range []struct{ room, least int }{{8000, 30}, {4200, 30}, {3300, 30}, {1000, 7}} {
		d := newDraft(f.Compactor, f.text())
		text := d.commandsPart(c.room)
		if n := lexicon.Chars(text); n > c.room {
			t.Errorf("%d chars for a room of %d", n, c.room)
		}
		if got := strings.Count(text, " -> 0\n"); got < c.least {
			t.Errorf("room %d: %d commands with their status:\n%s", c.room, got, text)
		}
	}
}

// However the records were cut, and whatever was asked in between, the tables are the same.
func TestTablesDoNotDependOnTheCuts(t *testing.T) {
	s := newScript()
	s.human("Work on it.")
	for i := range 40 {
		name := fmt.Sprintf("f%d.go", i%9)
		s.write("/home/me/ledger/"+name, fmt.Sprintf("v%d\n", i))
		s.bash(fmt.Sprintf("git mv %s lib/%s && sed -i s/v/w/ lib/%s", name, name, name), "")
		s.fails(fmt.Sprintf("make t%d", i%5), "error: no", 2)
		s.bash(fmt.Sprintf("cd sub; rm f%d.go", i%4), "")
		s.bash("git stash", "")
		s.do("TaskCreate", map[string]any{"subject": fmt.Sprint("task ", i)}, fmt.Sprintf("Task #%d created successfully: x", i))
		s.bash("make slow", fmt.Sprintf("Command running in background with ID: b%d. Output", i))
		s.do("BashOutput", map[string]any{"bash_id": fmt.Sprint("b", i)}, "<status>completed</status>\n<exit_code>0</exit_code>")
	}
	data := s.buf.Bytes()
	want := fold(t, data, Defaults()).compact(t).all()
	for _, step := range []int{1, 7, 4096} {
		f := &folded{Compactor: New(Defaults(), transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "s"}}), data: data}
		d := transcript.NewDecoder("claude-code", transcript.Main)
		n := 0
		for off := 0; off < len(data); off += step {
			end := min(off+step, len(data))
			for r := range d.Records(transcript.Segment{Start: transcript.Cursor{Offset: int64(off)}, Data: data[off:end], Rest: end == len(data)}) {
				f.Add(r)
				if n++; step == 4096 && n%50 == 0 {
					f.data = data[:r.Span.End()]
					f.compact(t)
					f.data = data
				}
			}
		}
		if got := f.compact(t).all(); got != want {
			t.Errorf("cut every %d bytes, another companion", step)
		}
	}
	small := fold(t, data, tokensOf(8000))
	small.check(t, small.compact(t))
}
