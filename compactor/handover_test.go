package compactor_test

import (
	"strings"
	"testing"
)

const (
	task = "Please make the importer skip rows whose date is in the future, and count them in the report"
	pass = "ok  \tapp/importer\t0.3s"
	bad  = "importer_test.go:41: error: got 3 rows, want 2\nFAIL\tapp/importer\t0.2s"
)

// lineCases are the kinds of lines of the handover, each with a session that needs it.
var lineCases = []struct {
	name string
	tell func(s *story)
	want []string // of the handover; with "!": what it must not have
}{
	{"task: the newest that says something", func(s *story) {
		s.asks("Write me a parser for the old export format, with tests for every column of it please")
		s.says("Done.")
		s.asks(task)
		s.says("I will look at it.")
	}, []string{"Task (#3, 2026-03-04 09:00): \"" + task + "\"", "!then (", "!old export"}},
	{"task: short ones follow, with what they reply to", func(s *story) {
		s.asks(task)
		s.says("There are two ways. Shall I drop the rows, or keep them?")
		s.asks("drop them")
		s.runs("go test ./importer", pass)
	}, []string{"Task (#1", "then (#3", "\"drop them\" (to your #2: \"There are two ways. Shall I drop the rows, or keep them?\")"}},
	{"task: Chinese", func(s *story) {
		s.asks("请让导入器跳过日期在未来的行，并在报告里统计它们的数量。")
		s.says("要删除这些行吗？")
		s.asks("好的")
	}, []string{"Task (#1, 2026-03-04 09:00): \"请让导入器跳过日期在未来的行", "\"好的\" (to your #2: \"要删除这些行吗？\")", "Your move: #3"}},
	{"task: a message taken back is none", func(s *story) {
		s.asks(task)
		s.says("All is done, the rows are counted.")
		s.asks("Now rewrite the whole of the exporter in another language, and delete the old one at once")
		s.says("Are you sure?")
		s.asksInstead("thanks, that is all")
		s.says("Fine.")
	}, []string{task, "\"thanks, that is all\"", "!exporter"}},
	{"task: sent while the agent worked", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "go test ./..."})
		s.queues("and also the total, please")
	}, []string{"Task (#1", "then (#3, 2026-03-04 09:00, while you worked): \"and also the total, please\""}},
	{"task: what was withdrawn is none, nor a report", func(s *story) {
		s.asks(task)
		s.says("Fine, it is done.")
		s.withdraws("delete everything that you find in the folder of the importer, and do not look back")
		s.user("<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n<summary>The search of all the folders of the project has ended, delete everything</summary>\n</task-notification>")
	}, []string{"Task (#1", "!delete everything", "The human's move; your turn ended (#2)"}},
	{"task: a paste loses its middle", func(s *story) {
		s.asks("The nightly job fails with this, find out why:\n" + lines("trace %d of the job that failed in the night", 200) + "\nIt began on Monday.")
	}, []string{"The nightly job fails with this", " … ", "It began on Monday.\"", "!trace 100 of"}},
	{"task: a skill is not typed", func(s *story) {
		s.asks(task)
		s.does("Skill", object{"skill": "report"})
		s.gets("Launching skill: report")
		s.record("user", object{"isMeta": true, "message": object{"role": "user", "content": []object{{"type": "text", "text": "Base directory for this skill: /s\n\nAlways write the report in capitals."}}}})
	}, []string{task, "!capitals"}},

	{"turn: your move", func(s *story) {
		s.asks(task)
	}, []string{"Your move: #1 has no answer yet", "!Last calls"}},
	{"turn: it ended", func(s *story) {
		s.asks(task)
		s.runs("go test ./importer", pass)
		s.says("All green, 14 rows are skipped.")
	}, []string{"The human's move; your turn ended (#4): \"All green, 14 rows are skipped.\"", "!After them", "!Your move"}},
	{"turn: last words, and what came after them", func(s *story) {
		s.asks(task)
		s.announces("First the parser.")
		s.thinks("A thought is neither.")
		s.edits("/w/app/a.go", "x", "y")
		s.does("Bash", object{"command": "go test ./importer"})
	}, []string{"Your last words (#2): \"First the parser.\"", "After them (2): edit a.go (#4); `go test ./importer`, no result recorded (#6)", "!The human's move"}},
	{"turn: a question is the human's move", func(s *story) {
		s.asks(task)
		s.does("AskUserQuestion", object{"questions": []object{{"question": "Which date?", "options": []object{{"label": "local"}, {"label": "UTC"}}}}})
	}, []string{"The human's move: asked \"Which date?\" (#2) has no answer yet"}},
	{"turn: the end of a long answer", func(s *story) {
		s.asks(task)
		s.says("The report is made.\n" + lines("Column %d of it is done, with all of its rows.", 90) + "\nShall I commit it?")
	}, []string{"\"The report is made. … ", "Shall I commit it?\"", "!Column 40 "}},
	{"stopped: by the human", func(s *story) {
		s.asks(task)
		s.announces("I run the tests.")
		s.does("Bash", object{"command": "go test ./importer"})
		s.interrupts()
	}, []string{"Stopped (#4): the human interrupted", "Your last words (#2)", "`go test ./importer`, no result recorded (#3)"}},
	{"stopped: by the service", func(s *story) {
		s.asks(task)
		s.breaks("API Error: 529 Overloaded")
	}, []string{"Stopped (#2): API Error: 529 Overloaded"}},
	{"stopped: not when it went on", func(s *story) {
		s.asks(task)
		s.breaks("API Error: 529 Overloaded")
		s.asks("continue")
		s.says("On it goes.")
	}, []string{"!Stopped"}},

	{"plan: open steps", func(s *story) {
		s.asks(task)
		s.plans("completed: parse the date", "pending: count them", "in_progress: skip the rows")
	}, []string{"Plan (#2), 2 of 3 steps open: skip the rows [in progress]; count them", "!parse the date"}},
	{"plan: finished, or replaced", func(s *story) {
		s.asks(task)
		s.plans("pending: skip the rows")
		s.plans("completed: skip the rows")
	}, []string{"!Plan ("}},
	{"plan: shown and approved", func(s *story) {
		s.asks(task)
		s.proposes("# Plan\n1. parse the date as UTC", "")
	}, []string{"Plan shown (#2), approved: ", "1. parse the date as UTC", "!Refused"}},
	{"plan: shown and refused", func(s *story) {
		s.asks(task)
		s.proposes("# Plan\n1. parse the date as UTC", "no, local time")
	}, []string{"Plan shown (#2), refused: ", "Refused by the human, not done since: the plan (#2): \"no, local time\""}},

	{"git: branch from the record", func(s *story) {
		s.branch = "fix/dates"
		s.asks(task)
		s.branch = "HEAD"
		s.says("Hm.")
	}, []string{"Git: branch `fix/dates` (#1)", "!`HEAD`"}},
	{"git: branch from what git printed", func(s *story) {
		s.branch = ""
		s.asks(task)
		s.runs("git checkout -b fix/rows", "Switched to a new branch 'fix/rows'")
	}, []string{"branch `fix/rows` (#3)"}},
	{"git: HEAD from a commit", func(s *story) {
		s.asks(task)
		s.runs("git commit -m 'Skip rows'", "[main 1a2b3c4] Skip rows\n 1 file changed")
	}, []string{"HEAD `1a2b3c4` \"Skip rows\" (#3)", "!push"}},
	{"git: HEAD from a log, not from the log of a range", func(s *story) {
		s.asks(task)
		s.runs("git log --oneline -3", "1a2b3c4 Skip rows\n2b3c4d5 before")
		s.runs("git log --oneline v1..v2", "9f9f9f9 other")
		s.runs("git log --oneline -- a.go", "8e8e8e8 of a file")
	}, []string{"HEAD `1a2b3c4` \"Skip rows\" (#3)", "!9f9f9f9", "!8e8e8e8"}},
	{"git: HEAD from a reset", func(s *story) {
		s.asks(task)
		s.runs("git commit -m 'Skip rows'", "[main 1a2b3c4] Skip rows")
		s.runs("git reset --hard HEAD~1", "HEAD is now at 2b3c4d5 before")
	}, []string{"HEAD `2b3c4d5` \"before\" (#5)", "`git reset --hard HEAD~1`", "!1a2b3c4"}},
	{"git: status with files", func(s *story) {
		s.asks(task)
		s.runs("git status --short", " M a.go\n M lib/alt.sh\n?? neu.txt")
	}, []string{"status: files a.go, lib/alt.sh, neu.txt (#3)"}},
	{"git: status in long", func(s *story) {
		s.asks(task)
		s.runs("git status", "On branch dev\nYour branch is ahead of 'origin/dev' by 2 commits.\n\nChanges not staged for commit:\n\tmodified:   b.go\n")
	}, []string{"branch `dev` (#3)", "ahead of 'origin/dev' by 2 commits.", "files b.go (#3)"}},
	{"git: a status stays after a log", func(s *story) {
		s.asks(task)
		s.runs("git status --short", " M a.go")
		s.runs("git log --oneline -1", "1a2b3c4 Skip rows")
	}, []string{"HEAD `1a2b3c4` \"Skip rows\" (#5)", "files a.go (#3)"}},
	{"git: a commit ends a status", func(s *story) {
		s.asks(task)
		s.runs("git status --short", " M a.go")
		s.runs("git commit -am a", "[main 1a2b3c4] a")
	}, []string{"HEAD `1a2b3c4`", "!files a.go"}},
	{"git: pushed", func(s *story) {
		s.asks(task)
		s.runs("git commit -qm 'Skip rows' && git push", "[main 1a2b3c4] Skip rows\nTo github.com:app/app.git\n   aaaaaaa..1a2b3c4  main -> main")
	}, []string{"HEAD `1a2b3c4`", "push main -> main (#3)", "!REJECTED"}},
	{"git: a rejected push", func(s *story) {
		s.asks(task)
		s.fails("git push", 1, "To github.com:app/app.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs")
	}, []string{"push main -> main REJECTED (#3)"}},
	{"git: stash", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("git stash", "Saved working directory and index state WIP on main: 1a2b3c4 a")
		s.runs("git stash list", "stash@{0}: WIP on main: 1a2b3c4 a")
	}, []string{"`git stash`", "Saved working directory", "(#5)", "!Edited"}},
	{"git: the human's own command", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.shells("git commit -m mine", "[dev 7a7b7c7] mine")
	}, []string{"branch `dev`", "HEAD `7a7b7c7` \"mine\" (#5)", "!Edited"}},
	{"git: what the human says of it", func(s *story) {
		s.asks("I have pushed the branch already.")
		s.says("Good.")
		s.asks(task)
		s.says("Fine.")
	}, []string{"the human said (#1): \"I have pushed the branch already.\""}},
	{"git: another repository is not this one", func(s *story) {
		s.asks(task)
		s.runs("cd /srv/other && git commit -m x", "[main 5d5d5d5] x")
		s.runs("git -C /srv/other log --oneline -1", "6e6e6e6 y")
	}, []string{"!5d5d5d5", "!6e6e6e6"}},
	{"git: a refused or failed command shows nothing", func(s *story) {
		s.asks(task)
		s.fails("git commit -m x", 1, "pre-commit hook failed")
		s.does("Bash", object{"command": "git push"})
		s.refused("wait")
	}, []string{"!HEAD", "!push,"}},

	{"edited: since the commit", func(s *story) {
		s.asks(task)
		s.edits("/w/app/old.go", "x", "y")
		s.runs("git commit -am a", "[main 1a2b3c4] a")
		s.edits("/w/app/a.go", "y", "z")
		s.edits("/w/app/b.go", "y", "z")
	}, []string{"Edited since #5: b.go (#8), a.go (#6)", "!old.go"}},
	{"edited: neither deleted, failed nor refused", func(s *story) {
		s.asks(task)
		s.writes("/w/app/gone.go", "x")
		s.runs("rm /w/app/gone.go", "")
		s.does("Edit", object{"file_path": "/w/app/failed.go", "old_string": "x", "new_string": "y"})
		s.result(s.last, "<tool_use_error>String to replace not found in file.</tool_use_error>", true)
		s.does("Edit", object{"file_path": "/w/app/refused.go", "old_string": "x", "new_string": "y"})
		s.refused("")
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"Edited: a.go (#8)", "!gone.go (", "!failed.go (#4)", "!refused.go (#6)"}},

	{"checks: since the last edit, the newest of each", func(s *story) {
		s.asks(task)
		s.runs("make check", "before")
		s.edits("/w/app/a.go", "x", "y")
		s.fails("go test ./importer", 1, bad)
		s.runs("go test ./importer", pass)
		s.runs("ls -la", "total 9")
	}, []string{"Checks since the last edit, newest first: `go test ./importer`, exit 0: \"ok app/importer 0.3s\" (#9)", "!#7", "!make check", "!ls -la`, exit"}},
	{"checks: a pipe hides the status", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("go test ./... | tail -5", bad)
	}, []string{"`go test ./... | tail -5` [exit hidden]", "!exit 0"}},
	{"failed: not seen to pass", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("make lint", "0 issues.")
	}, []string{"Failed, not seen to pass since: `go test ./importer`, exit 1 (#3): \"importer_test.go:41: error: got 3 rows, want 2\""}},
	{"failed: and passed", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
		s.runs("go test ./importer", pass)
	}, []string{"!Failed"}},
	{"failed: and all passed", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
		s.runs("go test ./...", pass)
	}, []string{"!Failed"}},
	{"failed: and a smaller part passed", func(s *story) {
		s.asks(task)
		s.fails("go test ./...", 1, bad)
		s.runs("go test ./importer -run TestOne", pass)
	}, []string{"Failed, not seen to pass since: `go test ./...`"}},
	{"failed: neither a look-up nor what the human stopped", func(s *story) {
		s.asks(task)
		s.fails("ls /w/app/test", 2, "ls: cannot access '/w/app/test': No such file or directory")
		s.fails("grep -rn future .", 1, "")
		s.does("Bash", object{"command": "make test"})
		s.result(s.last, "Error: the debugger is attached", true)
		s.interrupts()
	}, []string{"!Failed"}},

	{"refused: with the human's words", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "git push --force"})
		s.refused("bitte nicht mit Gewalt")
	}, []string{"Refused by the human, not done since: `git push --force` (#2): \"bitte nicht mit Gewalt\""}},
	{"refused: and done later", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "git commit -m 'Skip rows'"})
		s.refused("wait for the tests first")
		s.runs("git commit -m 'Skip rows'", "[main 1a2b3c4] Skip rows")
	}, []string{"!Refused"}},
	{"standing: a paste is not the human's", func(s *story) {
		s.asks("Look at this log: " + lines("%d: the worker never answers, always retry", 60))
		s.says("Yes.")
		s.asks(task)
	}, []string{"!standing"}},
}

// standing instructions, each in a language of its own.
var standing = []string{
	"Always run the linter before a commit.", "Ne touche jamais au fichier de configuration.", "Responde siempre en español, por favor.",
	"Schreibe die Namen immer klein und ohne Punkt.", "不要在每次修改后都运行所有测试。", "テストは必ず先に書いてください。", "Никогда не удаляй старые записи.",
	"커밋 메시지는 항상 영어로 써 주세요.", "From now on, speak of rows and not of lines.", "Nunca apague os arquivos antigos.",
}

func TestHandoverLines(t *testing.T) {
	for _, text := range standing {
		c := lineCases[0]
		c.name, c.want = "standing: "+text, []string{"The human's standing words: \"" + text + "\" (#1)"}
		c.tell = func(s *story) { s.asks(text); s.says("Yes."); s.asks(task) }
		lineCases = append(lineCases, c)
	}
	for _, c := range lineCases {
		t.Run(c.name, func(t *testing.T) {
			s := claude()
			c.tell(s)
			made := s.made(t)
			want(t, section(made, "Handover"), c.want...)
			if !made.Header.Verified {
				t.Errorf("not verified: %s", made.Header.Reason)
			}
		})
	}
}

// TestHandoverOfCodex: the same lines from the records of another client.
func TestHandoverOfCodex(t *testing.T) {
	s := codex("dev")
	s.codexAsks(task)
	s.codexSays("First the parser.")
	s.codexCalls("update_plan", object{"plan": []object{{"step": "skip the rows", "status": "completed"}, {"step": "count them", "status": "pending"}}}, "Plan updated")
	s.codexPatches("*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch")
	s.codexRuns("go test ./importer", 1, bad)
	want(t, s.handover(t), "Task (#2", task, "branch `dev` (#1)", "Plan (#5), 1 of 2 steps open: count them", "Edited: a.go (#7)", "Your last words (#4): \"First the parser.\"",
		"`go test ./importer`, exit 1: \"FAIL app/importer 0.2s\" (#10)", "Failed, not seen to pass since: `go test ./importer`, exit 1 (#10)")
	s.codexCalls("shell", object{"command": []string{"bash", "-lc", "go test ./..."}}, `{"output":"ok  \tapp/importer\t3.6s\n","metadata":{"exit_code":0,"duration_seconds":1.5}}`)
	s.codexRuns("git commit -am 'Skip rows'", 0, "[dev 1a2b3c4] Skip rows")
	made := s.made(t)
	want(t, section(made, "Handover"), "HEAD `1a2b3c4` \"Skip rows\" (#14)", "exit 0: \"ok app/importer 3.6s\" (#12)", "!Failed", "!Edited")
	s.entry("event_msg", object{"type": "turn_aborted", "reason": "interrupted"})
	want(t, s.handover(t), "Stopped (#15): the human interrupted")
	if !made.Header.Verified {
		t.Error(made.Header.Reason)
	}
}

// TestHandoverOfOthers: the main lines from the records of clients with other forms.
func TestHandoverOfOthers(t *testing.T) {
	const at = `"timestamp":"2026-05-01T10:00:01.000Z"`
	for agent, c := range map[string]struct {
		lines string
		want  []string
	}{
		"gemini-cli": {`{"sessionId":"5a1b","projectHash":"ab","startTime":"2026-05-01T10:00:00.000Z","lastUpdated":"2026-05-01T10:00:00.000Z","kind":"main"}
{"id":"u1",` + at + `,"type":"user","content":[{"text":"` + task + `"}]}
{"id":"g1",` + at + `,"type":"gemini","content":"I test it.","thoughts":[{"subject":"Plan","description":"Look first."}],"model":"gemini-x","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"go test ./importer"},"result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"Output: FAIL app/importer\nExit Code: 1\nProcess Group PGID: 7"}}}],"status":"success"}]}`,
			[]string{"Task (#2, 2026-05-01 10:00): \"" + task, "Your last words (#3): \"I test it.\"", "Failed, not seen to pass since: `go test ./importer`, exit 1 (#3): \"FAIL app/importer\""}},
		"pi": {`{"type":"session","version":3,"id":"019e","timestamp":"2026-05-01T10:00:01.000Z","cwd":"/w/app"}
{"type":"message","id":"a1","parentId":null,` + at + `,"message":{"role":"user","content":[{"type":"text","text":"` + task + `"}]}}
{"type":"message","id":"a2","parentId":"a1",` + at + `,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I change it."},{"type":"toolCall","id":"t1","name":"write","arguments":{"path":"x.go","content":"y"}}],"model":"m","stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2",` + at + `,"message":{"role":"toolResult","toolCallId":"t1","toolName":"write","content":[{"type":"text","text":"Successfully wrote 1 bytes to x.go"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3",` + at + `,"message":{"role":"bashExecution","command":"git log --oneline -1","output":"1a2b3c4 Skip rows","exitCode":0,"cancelled":false,"truncated":false}}`,
			[]string{"Task (#2, 2026-05-01 10:00): \"" + task, "Your last words (#3): \"I change it.\"", "x.go (#3)", "HEAD `1a2b3c4` \"Skip rows\" (#5)"}},
	} {
		s := &story{agent: agent, lines: strings.Split(c.lines, "\n")}
		want(t, s.handover(t), c.want...)
	}
}
