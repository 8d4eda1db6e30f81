package compactor_test

import (
	"strings"
	"testing"

	"ccd/internal/transcript"
)

const (
	task = "Please make the importer skip rows whose date is in the future, and count them in the report"
	pass = " => ok  \tapp/importer\t0.3s"
	bad  = " => exit 1: importer_test.go:41: error: got 3 rows, want 2\nFAIL\tapp/importer\t0.2s"
	made = " => The file has been updated successfully."
)

// lineCases are the kinds of lines of the handover, each with a session that needs it: what follows the task, which is record 1. A "!" is
// before what the handover must not have.
var lineCases = []struct {
	name  string
	steps []string
	want  []string
}{
	{
		"task: the newest that says something",
		[]string{"last Done.", "human Write me a parser for the old export format, with tests for every column of it please", "agent I look."},
		[]string{"Task (#3, 2026-03-04 09:00Z): \"Write me a parser", "!then (", "!importer"},
	},
	{
		"task: a short one, with what it replies to and what was asked before",
		[]string{"last There are two ways. Shall I drop the rows, or keep them?", "human drop them", "$ go test ./importer" + pass},
		[]string{"Asked before (#1, 2026-03-04 09:00Z, your turn ended #2): \"" + task + "\"", "Task (#3", "\"drop them\" (to your #2: \"There are two ways. Shall I drop the rows, or keep them?\")"},
	},
	{
		"task: Chinese",
		[]string{"human 请让导入器跳过日期在未来的行，并在报告里统计它们的数量。", "last 要删除这些行吗？", "human 好的"},
		[]string{"Asked before (#2, 2026-03-04 09:00Z, your turn ended #3): \"请让导入器跳过日期在未来的行", "\"好的\" (to your #3: \"要删除这些行吗？\")", "Your move: #4"},
	},
	{
		"task: a message taken back is none",
		[]string{"last Done.", "human Now rewrite the whole of the exporter in another language, and delete the old one at once", "last Sure?", "instead thanks, that is all", "last Fine."},
		[]string{task, "\"thanks, that is all\"", "!exporter"},
	},
	{
		"task: sent while the agent worked",
		[]string{"$ go test ./...", "queued and also the total, please"},
		[]string{"Task (#1", "then (#3, 2026-03-04 09:00Z, while you worked): \"and also the total, please\""},
	},
	{
		"task: neither what was withdrawn, nor a report",
		[]string{"last Fine, it is done.", "withdrawn delete everything that you find in the folder of the importer, and do not look back", "report The search has ended, delete everything that it found in all the folders of the project"},
		[]string{"Task (#1", "!delete everything", "The human's move; your turn ended (#2)"},
	},
	{
		"task: a paste loses its middle",
		[]string{"human The nightly job fails with this, find out why:\n" + lines("trace %d of the job that failed in the night", 200) + "\nIt began on Monday."},
		[]string{"The nightly job fails with this", " … ", "It began on Monday.\"", "!trace 100 of"},
	},

	{"turn: your move", nil, []string{"Your move: #1 has no answer yet", "!Last calls"}},
	{
		"turn: it ended",
		[]string{"$ go test ./importer" + pass, "last All green, 14 rows are skipped."},
		[]string{"The human's move; your turn ended (#4): \"All green, 14 rows are skipped.\"", "!Last calls", "!Your move"},
	},
	{
		"turn: last words, and what came after them",
		[]string{"agent First the parser.", "thought A thought is neither.", "edit a.go" + made, "$ go test ./importer"},
		[]string{"Your last words (#2): \"First the parser.\"", "Last calls since #2 (2): edit a.go (#4); `go test ./importer`, no result recorded (#6)", "!The human's move"},
	},
	{
		"task: of a long one its headings before what is below them",
		[]string{"human # Move the importer\n" + lines("- a note %d on the rows", 30) + "\n## Changes\n" + lines("- change %d of them", 30) + "\n## Tests\n" + lines("- test %d of them", 30) + "\nThen stop.", "agent I look."},
		[]string{"# Move the importer", "## Changes", "## Tests", "Then stop."},
	},
	{"turn: nothing after the last words", []string{"agent Shall I go on with the parser?"}, []string{"Your last words (#2, nothing after them): \"Shall I"}},
	{"turn: a question is the human's move", []string{"ask Which date?"}, []string{"The human's move: asked \"Which date?\" (#2) has no answer yet"}},
	{"turn: a question that was answered", []string{"ask Which date? => answer: UTC"}, []string{"!The human's move"}},
	{
		"task: what names something, in few words",
		[]string{"last Done.", "human Now support OpenPrintTag", "agent I look."},
		[]string{"Task (#3, 2026-03-04 09:00Z): \"Now support OpenPrintTag\"", "!importer"},
	},
	{
		"task: a short question is about what was asked before",
		[]string{"last Done.", "human and in the exporter too?", "agent I look."},
		[]string{"Asked before (#1", "Task (#3, 2026-03-04 09:00Z): \"and in the exporter too?\""},
	},
	{
		"task: the first, if the human corrected it while the agent worked",
		[]string{"$ go test ./importer", "interrupted", "human use the date of the server instead of that of the machine, it is the only right one", "agent I look."},
		[]string{"Task (#1", "then (#4"},
	},
	{
		"task: the items that a reply names",
		[]string{"last Three ways:\n" + lines("%d. way with a long name, and its reasons, in a list that has to be cut", 20) + "\nWhich?", "human 2,3 and 5, but later", "agent I look."},
		[]string{"Asked before (#1", "Task (#3", "2. way with a long name, and its reasons, in a list that has to be cut", "3. way with a long name", "5. way with a long name, and its reasons, in a list that has to be cut", "Which?", "!9. way with a long name, and"},
	},
	{"task: a choice is the human's word", []string{"ask Which date? => answer: UTC", "agent I look."}, []string{"Task (#1", "then (#3", "choosing): \"", "UTC"}},
	{
		"turn: words before a new task are not the last",
		[]string{"last All 27 tests pass now, and the tree is clean.", "human Now make the exporter skip the rows whose date is in the past, with a test for each", "edit a.go" + made},
		[]string{"Task (#3", "!Your last words", "Last calls (1): edit a.go"},
	},
	{"turn: a thought after the last words", []string{"agent I look.", "thought The third file is left.", "$ ls => a"}, []string{"Your last words (#2)", "Your last thought (#3): \"The third file is left.\""}},
	{
		"turn: the end of a long answer",
		[]string{"last The report is made.\n" + lines("Column %d of it is done, with all of its rows.", 90) + "\nShall I commit it?"},
		[]string{"\"The report is made. Column 0", " … Shall I commit it?\"", "!Column 40 "},
	},
	{
		"stopped: by the human",
		[]string{"agent I run the tests.", "$ go test ./importer", "interrupted"},
		[]string{"Stopped (#4): the human interrupted", "Your last words (#2)", "`go test ./importer`, no result recorded (#3)"},
	},
	{"stopped: after words that the human did not want", []string{"agent I shall rewrite the parser.", "interrupted", "human no, only the date, and leave the rest as it was before you began"}, []string{"Your last words (#2, then stopped #3)"}},
	{"stopped: by the service", []string{"broken API Error: 529 Overloaded"}, []string{"Stopped (#2): API Error: 529 Overloaded"}},
	{"stopped: not when it went on", []string{"broken API Error: 529 Overloaded", "human continue", "last On it goes."}, []string{"!Stopped"}},

	{
		"plan: open steps",
		[]string{"todo completed: parse the date; pending: count them; in_progress: skip the rows => Todos have been modified."},
		[]string{"Plan (#2), 2 of 3 steps open: skip the rows [in progress]; count them", "!parse the date"},
	},
	{"plan: long ago, in little room", []string{"todo pending: skip the rows => ok", "last Fine.", "human " + task, "last Done.", "human " + task, "last Done.", "human " + task + " again"}, []string{"!Plan ("}},
	{"plan: nothing replaced it", []string{"todo pending: skip the rows => ok", "$ seq 3000 => " + lines("%d is the number of a row", 3000), "last Fine.", "human " + task, "last Done.", "human " + task, "last Done.", "human " + task + " again"}, []string{"Plan (#2), 1 of 1 steps open: skip the rows; the human spoke since, last #11"}},
	{"checks: the echo of a runner", []string{"$ mise run lint => 0 issues.\n[lint] $ golangci-lint run"}, []string{"exit 0: \"0 issues.\""}},
	{"plan: finished", []string{"todo pending: skip the rows => ok", "todo completed: skip the rows => ok"}, []string{"!Plan ("}},
	{
		"plan: shown and approved",
		[]string{"plan # Plan\n1. parse the date as UTC => User has approved your plan. You can now start coding."},
		[]string{"then (#2, 2026-03-04 09:00Z, approving the plan): \"# Plan 1. parse the date as UTC\"", "!Refused"},
	},
	{"plan: shown and refused", []string{"plan # Plan\n1. parse the date as UTC => no: in local time"}, []string{"refusing the plan): \"in local time\"", "!approved"}},

	{"git: branch from the record", []string{"branch fix/dates", "agent Hm.", "branch HEAD", "agent Hm."}, []string{"Git: detached HEAD (#3)", "!fix/dates"}},
	{"git: branch from what git printed", []string{"branch ", "$ git checkout -b fix/rows => Switched to a new branch 'fix/rows'"}, []string{"branch `fix/rows` (#3)"}},
	{"git: HEAD from a commit", []string{"$ git commit -m 'Skip rows' => [main 1a2b3c4] Skip rows\n 1 file changed"}, []string{"HEAD `1a2b3c4` \"Skip rows\" (#3)", "!push"}},
	{
		"git: HEAD from a log, not from that of a range or a path",
		[]string{"$ git log --oneline -3 => 1a2b3c4 Skip rows\n2b3c4d5 before", "$ git log --oneline v1..v2 => 9f9f9f9 other", "$ git log --oneline -- a.go => 8e8e8e8 of a file"},
		[]string{"HEAD `1a2b3c4` \"Skip rows\" (#3)", "!9f9f9f9", "!8e8e8e8"},
	},
	{
		"git: HEAD from a reset",
		[]string{"$ git commit -m 'Skip rows' => [main 1a2b3c4] Skip rows", "$ git reset --hard HEAD~1 => HEAD is now at 2b3c4d5 before"},
		[]string{"HEAD `2b3c4d5` \"before\" (#5)", "`git reset --hard HEAD~1`", "!1a2b3c4"},
	},
	{"git: status in short", []string{"$ git status --short =>  M a.go\n M lib/alt.sh\n?? neu.txt"}, []string{"status: files M a.go, M lib/alt.sh, ?? neu.txt (#3)"}},
	{
		"git: status in long",
		[]string{"branch ", "$ git status => On branch dev\nYour branch is ahead of 'origin/dev' by 2 commits.\n\nChanges not staged for commit:\n\tmodified:   b.go\n"},
		[]string{"branch `dev` (#3)", "ahead of 'origin/dev' by 2 commits.", "files modified: b.go (#3)"},
	},
	{"git: a status stays after a log", []string{"$ git status --short =>  M a.go", "$ git log --oneline -1 => 1a2b3c4 Skip rows"}, []string{"HEAD `1a2b3c4` \"Skip rows\" (#5)", "files M a.go (#3)"}},
	{"git: by its directory", []string{"$ git -C /w/app status --short =>  M a.go", "$ git -C /other status --short =>  M z.go"}, []string{"files M a.go (#3)", "!z.go"}},
	{
		"git: a conflict of one command in a line",
		[]string{"$ git fetch origin && git merge origin/a-rather-long-name-of-a-branch-that-is-merged => exit 1: Auto-merging a.go\nCONFLICT (content): Merge conflict in a.go\nAutomatic merge failed"},
		[]string{"`git merge origin/a-rather-long-name-of-a-branch-that-is-merged`, exit 1: \"CONFLICT (content): Merge conflict in a.go\" (#3)"},
	},
	{"git: a conflict of one of several", []string{"$ git stash && git pull --rebase && git stash pop => exit 1: CONFLICT (content): Merge conflict in a.go"}, []string{"!`git stash pop`, exit", "exit 1"}},
	{"git: a stash beside another command", []string{"$ git stash list; cat notes.md => * First thing\nOn branch of a tree"}, []string{"!`First`", "!`of`"}},
	{"git: another directory behind an option", []string{"$ git --no-pager -C /other log --oneline -1 => 6e6e6e6 Skip rows", "$ git -C /w/app -C ../other log --oneline -1 => 7e7e7e7 Skip rows"}, []string{"!HEAD `6e6e6e6`", "!HEAD `7e7e7e7`"}},
	{
		"git: what a stash brings back",
		[]string{"$ git stash pop => On branch dev\nChanges not staged for commit:\n\tmodified:   b.go\n\nDropped refs/stash@{0} (1a2b3c4)"},
		[]string{"branch `dev` (#3)", "files modified: b.go (#3)"},
	},
	{"git: a commit ends a status", []string{"$ git status --short =>  M a.go", "$ git commit -am a => [main 1a2b3c4] a"}, []string{"HEAD `1a2b3c4`", "!files M a.go"}},
	{
		"git: pushed",
		[]string{"$ git commit -qm 'Skip rows' && git push => [main 1a2b3c4] Skip rows\nTo github.com:app/app.git\n   aaaaaaa..1a2b3c4  main -> main"},
		[]string{"HEAD `1a2b3c4`", "push aaaaaaa..1a2b3c4 to main (#3)"},
	},
	{"git: a rejected push", []string{"$ git push => exit 1: To github.com:app/app.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs"}, []string{"push [rejected] to main (#3)"}},
	{
		"git: stash",
		[]string{"edit a.go" + made, "$ git stash => Saved working directory and index state WIP on main: 1a2b3c4 a", "$ git stash list => stash@{0}: WIP on main: 1a2b3c4 a"},
		[]string{"`git stash`", "Saved working directory", "(#5)", "!Edited"},
	},
	{"git: the human's own command", []string{"branch ", "edit a.go" + made, "! git commit -m mine => [dev 7a7b7c7] mine"}, []string{"branch `dev`", "HEAD `7a7b7c7` \"mine\" (#5)", "!Edited", "!Your move"}},
	{"git: another repository is not this one", []string{"$ cd /srv/other && git commit -m x => [main 5d5d5d5] x", "$ git -C /srv/other log --oneline -1 => 6e6e6e6 y"}, []string{"!5d5d5d5", "!6e6e6e6"}},
	{
		"git: no HEAD from a log or a commit that is named by its hash",
		[]string{"$ git show 8312232 => commit 8312232561e5aa\n\n    Old one", "$ git log -1 8312232 => commit 8312232561e5aa"},
		[]string{"!HEAD"},
	},
	{
		"git: commits after a push, below a merge",
		[]string{"$ git push => To github.com:app/app.git\n   1a2b3c5..9f8e7d6  main -> main", "$ git commit -am a => [main c74bdb7] a", "$ git merge dev => Merge made by the 'ort' strategy."},
		[]string{"push 1a2b3c5..9f8e7d6 to main (#3)", "`git merge dev`"},
	},
	{"git: a commit after a push is HEAD", []string{"$ git push => To x:y\n   1a2b3c5..9f8e7d6  main -> main", "$ git commit -am a => [main c74bdb7] a"}, []string{"HEAD `c74bdb7`", "push 1a2b3c5..9f8e7d6 to main (#3)"}},
	{"git: a checkout that failed, and one that did not", []string{"$ git checkout -b dev => exit 128: fatal: a branch named 'dev' already exists", "$ git checkout dev => Switched to branch 'dev'"}, []string{"Git: branch `dev` (#5)\n"}},
	{
		"git: a push ends what a status said of the branch, not of the files",
		[]string{"$ git status -sb => ## main...origin/main [ahead 1]\n M a.go", "$ git push => To github.com:app/app.git\n   1a2b3c5..9f8e7d6  main -> main"},
		[]string{"files M a.go (#3)", "push 1a2b3c5..9f8e7d6 to main (#5)", "!ahead 1"},
	},
	{
		"git: a merge that stopped, until it is committed",
		[]string{"$ git merge dev => exit 1: CONFLICT (content): Merge conflict in a.go", "$ git checkout --theirs a.go => Updated 1 path from the index"},
		[]string{"Git: branch `main` (#5), `git merge dev`, exit 1: \"CONFLICT (content): Merge conflict in a.go\" (#3)"},
	},
	{"git: and after it", []string{"$ git merge dev => exit 1: CONFLICT (content): Merge conflict in a.go", "$ git commit -am merged => [main 1a2b3c4] merged"}, []string{"HEAD `1a2b3c4`", "!Git: branch `main` (#5), `git merge dev`"}},
	{
		"git: a quiet commit",
		[]string{"edit a.go" + made, "$ git add -A && git commit -q -m wip => ", "edit b.go" + made},
		[]string{"Git: branch `main` (#7)\n", "Edited since #5: b.go (#6)\n"},
	},
	{"git: what another command of the line printed is not a status", []string{"$ git log --oneline -2; git status --short => 1a2b3c5 one\n2b3c4d6 two"}, []string{"!status:"}},
	{"git: neither what failed nor what was refused", []string{"$ git commit -m x => exit 1: pre-commit hook failed", "$ git push => no: wait"}, []string{"!HEAD", "!, push"}},

	{"edited: since the commit", []string{"edit old.go" + made, "$ git commit -am a => [main 1a2b3c4] a", "edit a.go" + made, "edit b.go" + made}, []string{"Edited since #5: b.go (#8), a.go (#6)", "!, old.go"}},
	{
		"edited: neither deleted, failed nor refused",
		[]string{"write gone.go => File created", "$ rm /w/app/gone.go => ", "edit failed.go => error: String to replace not found", "edit refused.go => no: wait", "edit a.go" + made},
		[]string{"Edited: a.go (#10)\n"},
	},
	{
		"edited: before the human went back, who may have restored the files",
		[]string{"last Done.", "human Now rewrite the exporter too, and delete the old one", "edit a.go" + made, "last Sure?", "instead thanks, that is all", "edit b.go" + made},
		[]string{"Edited: b.go (#8), a.go (#4, then taken back: look at the file)\n"},
	},
	{"edited: under its new name", []string{"edit a.go" + made, "$ mv a.go b.go => "}, []string{"Edited: b.go (#"}},

	{
		"checks: since the last edit, the newest of each",
		[]string{"$ make check => before", "edit a.go" + made, "$ go test ./importer" + bad, "$ go test ./importer" + pass, "$ ls -la => total 9"},
		[]string{"Checks since the edit #4, newest first: `go test ./importer`, exit 0: \"ok app/importer 0.3s\" (#9)\n", "!; `make check`"},
	},
	{"checks: in a line that commits", []string{"edit a.go" + made, "$ ansible-lint roles/backup && git commit -am a => Passed: 0 failure(s)\n[main 1a2b3c4] a"}, []string{"Checks since the edit #2, newest first: `ansible-lint roles/backup", "!No check"}},
	{"checks: failed before a rebase", []string{"$ go test ./..." + bad, "$ git rebase main => Successfully rebased and updated refs/heads/dev."}, []string{"No check since git changed the files #5; the newest before: `go test ./...`, exit 1"}},
	{"checks: a conflict changes the files", []string{"$ go test ./..." + pass, "$ git merge dev => exit 1: CONFLICT (content): Merge conflict in a.go"}, []string{"No check since git changed the files #5"}},
	{"checks: a new branch does not", []string{"$ go test ./..." + pass, "$ git checkout -b dev => Switched to a new branch 'dev'"}, []string{"Checks, newest first: `go test ./...`"}},
	{"checks: options before the goal", []string{"$ mvn -q test => Tests run: 12, Failures: 0"}, []string{"Checks, newest first: `mvn -q test`, exit 0: \"Tests run: 12, Failures: 0\""}},
	{"checks: a pipe hides the status", []string{"$ go test ./... | tail -5 => FAIL"}, []string{"`go test ./... | tail -5` [exit hidden]", "!exit 0"}},
	{"checks: none since the last edit", []string{"$ go test ./importer" + pass, "edit a.go" + made}, []string{"No check since the edit #4; the newest before: `go test ./importer`, exit 0: \"ok app/importer 0.3s\" (#3)"}},
	{"failed: not seen to pass", []string{"$ go test ./importer" + bad, "edit a.go" + made}, []string{"Failed, not seen to pass since: `go test ./importer`, exit 1 (#3): \"importer_test.go:41: error: got 3 rows, want 2\""}},
	{"failed: and something else passed", []string{"$ go test ./importer" + bad, "$ make lint => 0 issues.", "edit a.go" + made}, []string{"Failed, not seen to pass since: `go test ./importer`"}},
	{"checks: a hidden status beside one that is seen", []string{"$ go test ./..." + pass, "$ go test ./... -run X | tail -1 => PASS"}, []string{"[exit hidden]", "`go test ./...`, exit 0"}},
	{"checks: a script that checks some thing", []string{"$ tools/check-paths.sh --json => {}", "$ make check => 0 issues."}, []string{"Checks, newest first: `make check`, exit 0: \"0 issues.\" (#5)\n"}},
	{"checks: neither a line that repeats nor the client's", []string{"$ make test => 3 passed\nWaiting.\nWaiting.\nCommand exited with code 1"}, []string{"\"3 passed\""}},
	{"failed: once, if the checks tell it", []string{"$ go test ./importer" + bad}, []string{"Checks, newest first: `go test ./importer`, exit 1: \"importer_test.go:41", "!Failed"}},
	{"failed: and a smaller part passed", []string{"$ go test ./..." + bad, "$ go test ./importer -run TestOne" + pass}, []string{"Failed, not seen to pass since: `go test ./...`"}},
	{"failed: and passed", []string{"$ go test ./importer" + bad, "$ go test ./importer" + pass}, []string{"!Failed"}},
	{"failed: and passed with all", []string{"$ go test ./importer" + bad, "$ go test ./..." + pass}, []string{"!Failed"}},
	{"failed: and passed as part of a longer command", []string{"$ go test ./importer" + bad, "$ go vet ./... && go test ./..." + pass}, []string{"!Failed"}},
	{"failed: a build, and a task of the project tested", []string{"$ go build ./..." + bad, "$ make check" + pass}, []string{"!Failed"}},
	{"failed: a test, and a task of the project built", []string{"$ go test ./..." + bad, "$ make build" + pass, "edit a.go" + made}, []string{"Failed, not seen to pass since: `go test ./...`"}},
	{"git: a merge that failed keeps HEAD", []string{"$ git log --oneline -1 => 1a2b3c4 Skip rows", "$ git merge dev => exit 1: CONFLICT (content): Merge conflict in a.go\nAutomatic merge failed; fix conflicts and then commit the result."}, []string{"HEAD `1a2b3c4`", "`git merge dev`, exit 1"}},
	{"git: edits before another branch", []string{"$ git commit -am a => [main 1a2b3c4] a", "edit a.go" + made, "$ git switch dev => Switched to branch 'dev'", "edit b.go" + made}, []string{"Edited since #3: b.go (#8), a.go (#4)"}},
	{"git: edits that a stash brought back", []string{"$ git commit -am a => [main 1a2b3c4] a", "edit a.go" + made, "$ git stash => Saved working directory and index state WIP on main: 1a2b3c4 a", "$ git stash pop => Dropped refs/stash@{0}", "edit b.go" + made}, []string{"Edited since #3: b.go (#10), a.go (#4)"}},
	{"git: no HEAD of another branch", []string{"branch main", "$ git log --oneline -1 => 1a2b3c4 Skip rows", "branch HEAD", "$ git checkout 90ab12c => HEAD est maintenant sur 90ab12c Corrige"}, []string{"detached HEAD", "!`1a2b3c4`"}},
	{"git: a forced push of the human", []string{"! git push --force => To github.com:app/app.git\n + 1a2b3c5...9f8e7d6 main -> main (forced update)"}, []string{"the human's push 1a2b3c5...9f8e7d6 to main, forced"}},
	{"checks: since git changed the files", []string{"edit a.go" + made, "$ go test ./..." + bad, "$ git stash => Saved working directory and index state WIP on main: 1a2b3c4 a", "$ go test ./importer" + pass}, []string{"Checks since git changed the files #7, newest first: `go test ./importer`"}},
	{"refused: and the human ran it", []string{"$ git push --force => no: wait", "! git push --force => To github.com:app/app.git"}, []string{"!Refused"}},
	{"standing: not what happened", []string{"last Fine.", "human But I never saw the window open.", "last Yes.", "human " + task + ", once more"}, []string{"!standing"}},
	{"git: no HEAD after a merge", []string{"$ git log --oneline -1 => 1a2b3c5 Skip rows", "$ git merge dev => Merge made by the 'ort' strategy."}, []string{"`git merge dev`", "!1a2b3c5"}},
	{"git: a pull that finds nothing new", []string{"$ git log --oneline -1 => 1a2b3c4 Skip rows", "edit a.go" + made, "$ go test ./..." + pass, "$ git pull --rebase => Already up to date."}, []string{"HEAD `1a2b3c4`", "Checks since the edit #4"}},
	{"git: a fetch is no push", []string{"$ git fetch && git push => exit 128: From github.com:app/app\n   1a2b3c5..9f8e7d6  main       -> origin/main\nfatal: could not read Username"}, []string{"push, exit 128 (#3)", "!9f8e7d6"}},
	{"git: a dry run is no push", []string{"$ git push -n => To x:y\n   1a2b3c5..9f8e7d6  main -> main"}, []string{"!push 1a2b3c5"}},
	{"git: a branch and a tag in one push", []string{"$ git push => To x:y\n   1a2b3c4..1a2b3c5  main -> main", "$ git push --follow-tags => To x:y\n   1a2b3c5..9f8e7d6  main -> main\n * [new tag]         v1 -> v1"}, []string{"push 1a2b3c5..9f8e7d6 to main (#5)"}},
	{"git: a tag is pushed after a branch", []string{"$ git push => To x:y\n   1a2b3c5..9f8e7d6  main -> main", "$ git push --tags => To x:y\n * [new tag]         v1 -> v1"}, []string{"push 1a2b3c5..9f8e7d6 to main (#3)"}},
	{"git: a status indented with spaces, and a clean one", []string{"$ git status => On branch main\n\nChanges not staged for commit:\n        modified:   b.go\n\nUntracked files:\n        c.go"}, []string{"files modified: b.go, c.go (#3)"}},
	{"git: a clean one", []string{"$ git status => On branch main\nYour branch is up to date with 'origin/main'.\n\nnothing to commit, working tree clean"}, []string{"Your branch is up to date with 'origin/main'. (#3), nothing to commit, working tree clean (#3)"}},
	{"git: a clean one, and the message of a commit", []string{"$ git status && git log -1 => On branch main\nnothing to commit, working tree clean\ncommit 1234567890123456789012345678901234567890\nAuthor: a <a@b>\n\n    Fix the thing"}, []string{"status: nothing to commit, working tree clean (#3)"}},
	{"git: a branch that git names in another language", []string{"$ git switch -c neu => Zu neuem Branch 'neu' gewechselt"}, []string{"branch `neu` (#3)"}},
	{"git: a status in another language", []string{"$ git status => Auf Branch main\nIhr Branch ist 1 Commit vor 'origin/main'.\n\nnichts zu committen, Arbeitsverzeichnis unverändert"}, []string{"Ihr Branch ist 1 Commit vor", "nichts zu committen"}},
	{"git: a line that failed", []string{"$ git switch main && git pull => exit 1: error: pathspec 'main' did not match"}, []string{"`git switch main && git pull`, exit 1", "!`git pull`"}},
	{"git: a checkout in the line of the commit that has it", []string{"$ git checkout --theirs a.go && git add a.go && git commit -m merged => [main 1a2b3c4] merged"}, []string{"HEAD `1a2b3c4` \"merged\" (#3)\n"}},
	{"git: HEAD from a revert", []string{"$ git revert HEAD => [main 9f8e7d6] Revert \"a\""}, []string{"HEAD `9f8e7d6`"}},
	{"edited: committed, and the push failed", []string{"edit a.go" + made, "$ git add a.go && git commit -m a && git push => exit 1: [main 1a2b3c4] a\nTo x:y\n ! [rejected]        main -> main (fetch first)"}, []string{"HEAD `1a2b3c4`", "!Edited"}},
	{"edited: before a commit", []string{"edit a.go" + made, "edit b.go" + made, "$ git add a.go && git commit -m a => [main 1a2b3c4] a"}, []string{"!Edited"}},
	{"edited: all was added", []string{"edit a.go" + made, "edit b.go" + made, "$ git add -A && git commit -m a => [main 1a2b3c4] a", "edit c.go" + made}, []string{"Edited since #7: c.go (#8)"}},
	{"edited: and put back", []string{"edit a.go" + made, "edit b.go" + made, "$ git checkout -- a.go => "}, []string{"Edited: b.go (#4)\n"}},
	{"checks: what ran elsewhere", []string{"edit a.go" + made, "$ cd /other && go test ./..." + pass}, []string{"!Checks"}},
	{"failed: and passed elsewhere", []string{"$ go test ./..." + bad, "$ cd /other && go test ./..." + pass, "edit a.go" + made}, []string{"Failed, not seen to pass since: `go test ./...`"}},
	{"edited: and another repository committed by git -C", []string{"edit a.go" + made, "$ git -C ../docs commit -qam x => "}, []string{"Edited: a.go (#2)\n"}},
	{"checks: what git printed is no result", []string{"edit a.go" + made, "$ go vet ./... && git push => branch 'main' set up to track 'origin/main'. 1"}, []string{"`go vet ./... && git push`, exit 0 (#"}},
	{"refused: a question is none", []string{"ask Local or UTC? => no: wait, what is the difference?"}, []string{"!Refused"}},
	{"task: what was said since", []string{"human " + task, "human One.", "human Two.", "human Three.", "human Four."}, []string{"then (#2", "then, after #3, #4, #5 (#6"}},
	{"task: not a question that was answered", []string{"human Which of the two importers is the one that the nightly job really uses, and why?", "last The second one.", "human ok"}, []string{"Asked before, 1 more since (#1"}},
	{"failed: neither a look-up nor what the human stopped", []string{"$ ls test => exit 2: ls: cannot access 'test'", "$ grep -rn test . => exit 1: ", "$ make test => error: Error: the debugger is attached", "interrupted"}, []string{"!Failed"}},

	{"refused: the words were answered", []string{"$ git push --force => no: bitte nicht mit Gewalt", "last Fine.", "human " + task + " again"}, []string{"Refused, not run since: `git push --force` (#2)", "!push --force` (#2): "}},
	{"refused: the words are the newest", []string{"human " + task, "$ git push --force => no: bitte nicht mit Gewalt"}, []string{", refusing `git push --force`): \"bitte nicht mit Gewalt\"", "Refused, not run since: `git push --force` (#3)"}},
	{"refused: and done with other words", []string{"$ git commit -am 'Skip rows.' => no: in German, please", "$ git add b.go && git commit -am 'Zeilen weg' => [main 1a2b3c4] Zeilen weg"}, []string{"!Refused"}},
	{"refused: and done with another body", []string{"$ gh pr comment 7 --body \"$(cat <<'EOF'\nit's `a`\nEOF\n)\" => no: read this first", "$ gh pr comment 7 --body \"$(cat <<'EOF'\nit's `b`\nEOF\n)\" => posted"}, []string{"!Refused"}},
	{"refused: another option", []string{"$ git push --force => no: wait", "$ git push => To x:y\n   1a2b3c5..9f8e7d6  main -> main"}, []string{"Refused, not run since: `git push --force` (#2)"}},
	{"refused: long ago", []string{"$ git push --force => no: wait, let us talk about it", "last Fine.", "human " + task, "last Done.", "human " + task + " again"}, []string{"!Refused"}},
	{"refused: and done later", []string{"$ git commit -m 'Skip rows' => no: tests first", "$ git commit -m 'Skip rows' => [main 1a2b3c4] Skip rows"}, []string{"!Refused"}},
	{
		"standing: the newer one of two about one thing",
		[]string{"human Always run `make race` after each change.", "last Yes.", "human From now on, run `make race` before the commit only, never after each change.", "last Yes.", "human " + task + ", once more"},
		[]string{"standing words: \"From now on, run `make race` before", "!\"Always run"},
	},
	{
		"standing: what was said of it later",
		[]string{"human Never edit train.py.", "last Yes.", "human You may change the batch size in train.py now", "last Yes.", "human " + task + ", once more"},
		[]string{"standing words: \"Never edit train.py.\" (#2, see also #4)"},
	},
	{"standing: neither a paste nor the agent's own words", []string{"last I always run all tests.", "human Look: " + lines("%d: the worker never answers, always retry", 60), "last Yes.", "human " + task + ", once more"}, []string{"!standing"}},
}

// standing are instructions that hold until they are taken back.
var standing = []string{
	"Always run the linter before a commit.", "Ne touche jamais au fichier de configuration.", "Responde siempre en español, por favor.",
	"Schreibe die Namen immer klein und ohne Punkt.", "不要在每次修改后都运行所有测试。", "テストは必ず先に書いてください。", "Никогда не удаляй старые записи.",
	"Please don't touch the schema of the ledger.", "Keine neuen Abhängigkeiten in diesem Projekt.", "Пиши тесты и не трогай старые файлы.", "既存のURLは変更しないこと。",
	"커밋 메시지는 항상 영어로 써 주세요.", "Commit the changes after each step that passes.", "From now on, speak of rows and not of lines.", "Nunca apague os arquivos antigos.",
}

func TestHandoverLines(t *testing.T) {
	cases := lineCases
	for _, text := range standing {
		c := lineCases[0]
		c.name, c.steps, c.want = "standing: "+text, []string{"last Fine.", "human " + text, "last Yes.", "human " + task + ", once more"}, []string{"The human's standing words: \"" + text + "\" (#3)"}
		cases = append(cases, c)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			made := claude("human " + task).tell(c.steps...).made(t)
			want(t, section(made, "Handover"), c.want...)
			if !made.Header.Verified {
				t.Errorf("not verified: %s", made.Header.Reason)
			}
		})
	}
}

// TestHandoverOfOthers: the main lines from the records of clients with other forms.
func TestHandoverOfOthers(t *testing.T) {
	const at = `"timestamp":"2026-05-01T10:00:01.000Z"`
	for agent, c := range map[string]struct {
		lines string
		want  []string
	}{
		"claude-code": { // a commit of a sub-agent, which is in no call of the session
			`{"type":"user","uuid":"a","cwd":"/w/app","gitBranch":"dev",` + at + `,"message":{"role":"user","content":"` + task + `"}}
{"type":"assistant","uuid":"b","isSidechain":true,"cwd":"/w/app","gitBranch":"dev",` + at + `,"message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"git commit -am x"}}]}}
{"type":"user","uuid":"c","isSidechain":true,"cwd":"/w/app","gitBranch":"dev",` + at + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"[dev 1a2b3c4] x"}]}}`,
			[]string{"Task (#1, 2026-05-01 10:00Z): \"" + task, "branch `dev` (#", "!Edited"},
		},
		"codex": {
			`{` + at + `,"type":"session_meta","payload":{"id":"s","cwd":"/w/app","cli_version":"0.124.0","git":{"branch":"dev"}}}
{` + at + `,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + task + `"}]}}
{` + at + `,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>"}]}}`,
			[]string{"Task (#2, 2026-05-01 10:00Z): \"" + task, "branch `dev` (#1)", "Stopped (#3): the human interrupted"},
		},
		"gemini-cli": {
			`{"sessionId":"5a1b","projectHash":"ab","startTime":"2026-05-01T10:00:00.000Z","lastUpdated":"2026-05-01T10:00:00.000Z","kind":"main"}
{"id":"u1",` + at + `,"type":"user","content":[{"text":"` + task + `"}]}
{"id":"g1",` + at + `,"type":"gemini","content":"I test it.","thoughts":[{"subject":"Plan","description":"Look first."}],"model":"gemini-x","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"go test ./importer"},"result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"Output: FAIL app/importer\nExit Code: 1\nProcess Group PGID: 7"}}}],"status":"success"}]}`,
			[]string{"Task (#2, 2026-05-01 10:00Z): \"" + task, "Your last words (#3): \"I test it.\"", "Checks, newest first: `go test ./importer`, exit 1: \"FAIL app/importer\" (#3)"},
		},
		"pi": {
			`{"type":"session","version":3,"id":"019e","timestamp":"2026-05-01T10:00:01.000Z","cwd":"/w/app"}
{"type":"message","id":"a1","parentId":null,` + at + `,"message":{"role":"user","content":[{"type":"text","text":"` + task + `"}]}}
{"type":"message","id":"a2","parentId":"a1",` + at + `,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I change it."},{"type":"toolCall","id":"t1","name":"write","arguments":{"path":"x.go","content":"y"}}],"model":"m","stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2",` + at + `,"message":{"role":"toolResult","toolCallId":"t1","toolName":"write","content":[{"type":"text","text":"Successfully wrote 1 bytes to x.go"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3",` + at + `,"message":{"role":"bashExecution","command":"git log --oneline -1","output":"1a2b3c4 Skip rows","exitCode":0,"cancelled":false,"truncated":false}}`,
			[]string{"Task (#2, 2026-05-01 10:00Z): \"" + task, "Your last words (#3): \"I change it.\"", "x.go (#3)", "HEAD `1a2b3c4` \"Skip rows\" (#5)", "!Your move"},
		},
	} {
		want(t, (&story{agent: agent, lines: strings.Split(c.lines, "\n")}).handover(t), c.want...)
	}
}

// TestAForkKeepsItsPast: the file of a fork of a session that ccd compacted begins with ccd's text and copies of messages, which stand
// nowhere else in it.
func TestAForkKeepsItsPast(t *testing.T) {
	row := func(kind, extra, content string) string {
		return `{"type":"` + kind + `","uuid":"` + kind + extra + `","sessionId":"f","cwd":"/w","timestamp":"2026-05-01T10:00:00Z"` + extra + `,"message":{"role":"` + kind + `","content":` + content + `}}`
	}
	live := transcript.LiveHead("old", 40, 2) + "Record of earlier work.\n" + transcript.HistoryNote + "\n## Record\n#7 agent: \"The parser lives in halyard.go.\"\n"
	s := &story{agent: "claude-code", lines: []string{
		`{"type":"system","subtype":"compact_boundary","uuid":"b","sessionId":"f","cwd":"/w","timestamp":"2026-05-01T10:00:00Z","compactMetadata":{"trigger":"manual"}}`,
		strings.Replace(row("user", "", string(transcript.Quote(live))), `"uuid":"user"`, `"uuid":"u0","isCompactSummary":true`, 1),
		strings.Replace(row("user", "", string(transcript.Quote(task))), `"uuid":"user"`, `"uuid":"u1"`, 1),
		row("assistant", "", `[{"type":"text","text":"I parse it."}]`),
	}}
	made := s.made(t)
	want(t, section(made, "Handover"), "Task (#3", task)
	want(t, section(made, "Record"), "halyard.go", "I parse it.")
}
