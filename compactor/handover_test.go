package compactor_test

import (
	"fmt"
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
	}, []string{"Task (#3, 2026-03-04 09:00):\n> " + task}},
	{"task: a number picks an option", func(s *story) {
		s.asks(task)
		s.says("There are two ways:\n\n1. drop the rows\n2. keep them in a second file\n\nWhich one?")
		s.asks("2, but compressed")
	}, []string{"(of #2: \"2. keep them in a second file\")", "> 2, but compressed"}},
	{"task: the steps of a long one", func(s *story) {
		s.asks("# Outline\n\n" + lines("Background %d of the whole matter, which is long.\n", 40) + "\n1. **Setup**: run `make deps`\n   - and wait\n\n2. **Load** the rows of `a.csv`\n\n3. **Report** the totals\n\n" + lines("Rule %d for the format.\n", 160))
	}, []string{"> # Outline", "> 1. **Setup**: run `make deps`", "> 2. **Load** the rows of `a.csv`", "> 3. **Report** the totals", "[ccd "}},
	{"task: short ones follow with what they answer", func(s *story) {
		s.asks(task)
		s.says("There are two ways.\n\nShall I drop the rows, or keep them in a second file?")
		s.asks("drop them")
		s.runs("go test ./importer", pass)
	}, []string{"> " + task, "Then (#3", "(answers #2: \"Shall I drop the rows, or keep them in a second file?\")", "> drop them"}},
	{"task: a question of its own answers none", func(s *story) {
		s.asks(task)
		s.says("All is planned. Shall I begin?")
		s.asks("what of the rows without a date?")
	}, []string{"Asked before (#1, 2026-03-04 09:00, ended with #2):\n> " + task, "Task (#3, 2026-03-04 09:00):\n> what of", "!(answers"}},
	{"task: continue refers back", func(s *story) {
		s.asks(task)
		s.says("Half of it is done.")
		s.asks("continue")
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"> " + task, "> continue"}},
	{"task: Chinese", func(s *story) {
		s.asks("请让导入器跳过日期在未来的行，并在报告里统计它们的数量。")
		s.says("要删除这些行吗？")
		s.asks("好的")
		s.says("正在修改。")
	}, []string{"> 请让导入器跳过日期在未来的行", "(answers #2: \"要删除这些行吗？\")", "> 好的", "State: nothing done since the agent's words #4"}},
	{"task: Spanish", func(s *story) {
		s.asks("Haz que el importador omita las filas con fecha futura y las cuente en el informe final")
		s.says("¿Borro las filas?")
		s.asks("sí, hazlo")
	}, []string{"> Haz que el importador", "(answers #2: \"¿Borro las filas?\")", "> sí, hazlo", "State: nothing done since the last message (#3)"}},
	{"task: a message taken back is none", func(s *story) {
		s.asks(task)
		s.says("All is done, the rows are counted.")
		s.asks("Now rewrite the whole of the exporter in another language, and delete the old one at once")
		s.says("Are you sure?")
		s.asksInstead("thanks, that is all")
		s.says("Fine.")
	}, []string{"> " + task, "> thanks, that is all", "!exporter"}},
	{"task: a question that was answered is spent", func(s *story) {
		s.asks("¿No viste el comentario del informe? Me parece que todavía nadie lo ha contestado hasta hoy")
		s.runs("cat notas.txt", "nada")
		s.says("Sí, lo vi.")
		s.asks("arregla el importador ahora")
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"Asked before (#1, 2026-03-04 09:00, ended with #4)", "Task (#5, 2026-03-04 09:00):\n> arregla el importador ahora"}},
	{"task: an approved plan", func(s *story) {
		s.asks(task)
		s.proposes("# Plan\n1. parse the date as UTC\n2. count what is skipped", "")
		s.says("I begin.")
	}, []string{"Task: the plan of #2, which the human approved:", "> 1. parse the date as UTC"}},
	{"task: a message after the plan", func(s *story) {
		s.asks(task)
		s.says("Where should the count go?")
		s.asks("into the last line")
		s.proposes("# Plan\n1. parse the date as UTC\n2. count what is skipped", "")
		s.asks("put the count into the first line instead")
		s.says("I begin.")
	}, []string{"Task: the plan of #4, which the human approved, as changed by what they wrote since\nThen (#6, ", "!(#3, "}},
	{"task: a refused plan is not approved", func(s *story) {
		s.asks(task)
		s.proposes("# Plan\n1. parse the date as UTC", "no, local time")
	}, []string{"!approved", "In force: the human refused the plan of #2 (#3) and said: \"no, local time\""}},
	{"task: a better plan ends a refusal", func(s *story) {
		s.asks(task)
		s.proposes("# Plan\n1. parse the date as UTC", "no, local time")
		s.proposes("# Plan\n1. parse the date as local time", "")
	}, []string{"Task: the plan of #4, which the human approved:", "!In force"}},
	{"task: sent while the agent worked", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "go test ./..."})
		s.queues("and also the total, please")
	}, []string{"Then, sent while the agent worked (#3", "> and also the total, please"}},
	{"task: a paste loses its middle", func(s *story) {
		s.asks("The nightly job fails with this, find out why and repair it without touching the schema:\n\n" + lines("trace %d of the job that failed in the night", 200) + "\n\nIt began on Monday.")
	}, []string{"find out why and repair it", "> trace 0 of", "> trace 199 of", "> It began on Monday.", "!trace 100 of", "[ccd "}},

	{"state: nothing done", func(s *story) {
		s.asks(task)
	}, []string{"State: nothing done since the last message (#1)."}},
	{"state: ended turn", func(s *story) {
		s.asks(task)
		s.runs("go test ./importer", pass)
		s.says("All green, 14 rows are skipped.")
	}, []string{"State: nothing done since the agent's words #4:\n> All green, 14 rows are skipped.", "!Since then"}},
	{"state: at work", func(s *story) {
		s.asks(task)
		s.says("First the parser.")
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"State: at work. Last words (#2):\n> First the parser.", "Since then: #3 edited `a.go`"}},
	{"state: a call without a result", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "go test ./importer"})
	}, []string{"State: at work.", "Since then: #2 ran `go test ./importer`, sent, no result: check"}},
	{"state: a call without a result that went well before", func(s *story) {
		s.asks(task)
		s.runs("# first\ngh api repos/app/app/comments/2734662585/replies -f body=\"Fixed.\"", "{}")
		s.does("Bash", object{"command": "gh api repos/app/app/comments/2734662585/replies -f body=\"It is fixed now.\""})
	}, []string{", sent, no result; the same went well at #2: check"}},
	{"state: in the background", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "npm run dev", "run_in_background": true})
		s.gets("Command running in background with ID: b1. Output is being written to: /tmp/b1.output")
		s.says("It serves.")
	}, []string{"Not ended: #2 ran `npm run dev` (in the background)"}},
	{"state: interrupted", func(s *story) {
		s.asks(task)
		s.runs("go test ./importer", pass)
		s.interrupts()
	}, []string{"State: the human interrupted the agent at #4."}},
	{"state: an interruption comes after the calls before it", func(s *story) {
		s.asks(task)
		s.announces("I run the tests.")
		s.runs("go test ./importer", pass)
		s.interrupts()
	}, []string{"State: the human interrupted the agent at #5. Last words before it (#2):\n> I run the tests.\nBefore that: #3 ran `go test ./importer`"}},
	{"state: a refusal without a word", func(s *story) {
		s.asks(task)
		s.announces("I push.")
		s.does("Bash", object{"command": "git push"})
		s.refused("")
	}, []string{"State: refused was `git push` (#3), nothing since. Last words before it (#2):\n> I push.", "!at work"}},
	{"state: what a long answer ends with", func(s *story) {
		s.asks(task)
		s.says(lines("The report of column %d is done.\n\n", 60) + "Shall I commit it?")
	}, []string{"State: nothing done since the agent's words #2 (whole below):", "> Shall I commit it?"}},
	{"task: the first message after a question answers it", func(s *story) {
		s.asks(task)
		s.says("Do you want the rows in the report, too?")
		s.asks("Yes, and while you are at it, also write the name of the file and the number of the line of each row into the report, so that people find it, and sort the rows by date.")
		s.runs("go test ./importer", pass)
		s.asks("continue")
	}, []string{"(after the question of #2: \"Do you want the rows in the report, too?\")\n> Yes, and while", "Then (#6, 2026-03-04 09:00):\n> continue"}},
	{"task: what is picked from a list that was asked for", func(s *story) {
		s.asks("give me the list of all the things that are still open in this importer, once more")
		s.says("1. sort the rows\n2. name the file\n3. count them")
		s.asks("do 2 and 3")
		s.runs("go test ./importer", pass)
	}, []string{"Task (#3", "(of #2: \"2. name the file\", \"3. count them\")\n> do 2 and 3", "!Task (#1"}},
	{"task: several commands with a long text", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.does("Bash", object{"command": "go vet ./... && go test ./importer <<'EOF'\none\ntwo\nEOF"})
	}, []string{"`go vet ./... … go test ./importer`"}},
	{"state: asked after an interruption", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "make"})
		s.interrupts()
		s.asks("why?")
	}, []string{"Then (#4", "> why?", "State: nothing done since the last message (#4).", "!sent while"}},

	{"git: branch from the record", func(s *story) {
		s.branch = "fix/dates"
		s.asks(task)
	}, []string{"Git: branch `fix/dates`"}},
	{"git: detached HEAD is no branch", func(s *story) {
		s.asks(task)
		s.branch = "HEAD"
		s.says("Hm.")
	}, []string{"Git: branch `main`", "!`HEAD`"}},
	{"git: branch from its output", func(s *story) {
		s.branch = ""
		s.asks(task)
		s.runs("git checkout -b fix/rows", "Switched to a new branch 'fix/rows'")
	}, []string{"Git: branch `fix/rows`"}},
	{"git: commit, not pushed", func(s *story) {
		s.asks(task)
		s.runs("git commit -m 'Skip rows'", "[main 1a2b3c4] Skip rows\n 1 file changed")
	}, []string{"last commit seen `1a2b3c4` \"Skip rows\" (#3), no push seen since"}},
	{"git: pushed", func(s *story) {
		s.asks(task)
		s.runs("git commit -qm 'Skip rows' && git push", "[main 1a2b3c4] Skip rows\nTo github.com:app/app.git\n   aaa..1a2b3c4  main -> main")
	}, []string{"`1a2b3c4` \"Skip rows\" (#3), pushed (#2)"}},
	{"git: a rejected push is none", func(s *story) {
		s.asks(task)
		s.runs("git commit -m 'Skip rows'", "[main 1a2b3c4] Skip rows")
		s.fails("git push", 1, "To github.com:app/app.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs")
	}, []string{"the remote rejected the push (#4): \"[rejected] main -> main (fetch first)\"", "!pushed (#"}},
	{"git: a merge moves the branch", func(s *story) {
		s.asks(task)
		s.runs("git commit -m 'Skip rows' && git push", "[main 1a2b3c4] Skip rows\nTo github.com:app/app.git\n   aaaaaaa..1a2b3c4  main -> main")
		s.runs("git merge origin/dev --no-edit", "Merge made by the 'ort' strategy.\n a.go | 2 +-")
	}, []string{"`1a2b3c4` \"Skip rows\" (#3), then a merge (#4), no push seen since", "!pushed"}},
	{"git: the range of a push has the newest commit", func(s *story) {
		s.asks(task)
		s.runs("git commit -m 'Skip rows'", "[main 1a2b3c4] Skip rows")
		s.runs("git merge origin/dev --no-edit", "Merge made by the 'ort' strategy.\n a.go | 2 +-")
		s.runs("git push", "To github.com:app/app.git\n   1a2b3c4..df4c638  main -> main")
	}, []string{"then a merge (#4), pushed (#6) at `df4c638`"}},
	{"git: a merge of nothing moves nothing", func(s *story) {
		s.asks(task)
		s.runs("git commit -m 'Skip rows'", "[main 1a2b3c4] Skip rows")
		s.runs("git pull", "Already up to date.")
	}, []string{"`1a2b3c4` \"Skip rows\" (#3), no push seen since", "!then a"}},
	{"git: a commit on another branch", func(s *story) {
		s.asks(task)
		s.runs("git commit -m 'Skip rows'", "[release 1a2b3c4] Skip rows")
		s.says("Committed.")
	}, []string{"branch `main`", "`1a2b3c4` on `release`"}},
	{"git: conflict", func(s *story) {
		s.asks(task)
		s.fails("git merge dev", 1, "Auto-merging a.go\nCONFLICT (content): Merge conflict in a.go\nAutomatic merge failed")
	}, []string{"a merge stopped at a conflict (#2), not ended", "!Failed last"}},
	{"git: a conflict that ended", func(s *story) {
		s.asks(task)
		s.fails("git merge dev", 1, "CONFLICT (content): Merge conflict in a.go")
		s.runs("git commit -am merged", "[main 1a2b3c4] merged")
	}, []string{"!conflict"}},

	{"open: no commit", func(s *story) {
		s.asks(task)
		n := s.edits("/w/app/a.go", "x", "y")
		s.edits("/tmp/notes.md", "x", "y")
		_ = n
	}, []string{"Not committed (no commit by the agent seen since): `a.go` (#2)", "!`/tmp/notes.md` (#"}},
	{"open: a commit without a result", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.does("Bash", object{"command": "git add a.go && git commit -m a"})
	}, []string{"Perhaps not committed (#4 commits, no result): `a.go` (#2)", "!Not committed"}},
	{"open: what git lists besides", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("git status --short", " M a.go\n M lib/alt.sh\n?? neu.txt")
	}, []string{"Changed besides, by `git status` (#4): `lib/alt.sh`, `neu.txt`"}},
	{"open: a list before a commit", func(s *story) {
		s.asks(task)
		s.runs("git status", "On branch main\nChanges not staged for commit:\n\tmodified:   b.go\n")
		s.runs("git commit -am a", "[main 1a2b3c4] a")
	}, []string{"!Changed besides"}},
	{"open: lines removed from outside", func(s *story) {
		s.asks("Escribe una introducción breve y clara en el archivo LEEME, con una lista de requisitos")
		s.edits("/w/app/LEEME.md", "# App", "# App\nRápida y segura.\n## Requisitos\n- Go 1.22")
		s.says("Hecho.")
		s.asks("sigue")
		s.reads("/w/app/LEEME.md", numbered("# App", "## Requisitos", "- Go"))
	}, []string{"Removed or changed in `LEEME.md` from outside, seen at #6: \"Rápida y segura.\", \"- Go 1.22\""}},
	{"open: lines that a command may have removed", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "var skipped int")
		s.runs("make fmt", "")
		s.reads("/w/app/a.go", numbered("package a", "var other int"))
	}, []string{"!Removed or"}},
	{"open: add names paths", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.edits("/w/app/b.go", "x", "y")
		s.runs("git add a.go && git commit -m a", "[main 1a2b3c4] a\n 1 file changed")
	}, []string{"Not committed (no commit by the agent seen since): `b.go` (#4)\n"}},
	{"open: add -A takes all", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("git add -A && git commit -m a", "[main 1a2b3c4] a\n 1 file changed")
	}, []string{"!Not committed"}},
	{"open: commit -am takes all", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.edits("/w/app/b.go", "x", "y")
		s.runs("git commit -am both", "[main 1a2b3c4] both")
	}, []string{"!Not committed"}},
	{"open: a silent commit", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("git add a.go && git commit -qm a", "")
	}, []string{"!Not committed"}},
	{"open: a failed commit takes nothing", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.fails("git add a.go && git commit -m a", 1, "pre-commit hook failed")
	}, []string{"Not committed (no commit by the agent seen since): `a.go`"}},
	{"open: a clean status", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("git status", "On branch main\nnothing to commit, working tree clean")
	}, []string{"!Not committed"}},
	{"open: stash", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("git stash", "Saved working directory and index state WIP on main: 1a2b3c4 a")
	}, []string{"!Not committed"}},
	{"open: listing stashes changes nothing", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("git stash list", "")
	}, []string{"Not committed (no commit by the agent seen since): `a.go`"}},
	{"open: edited after the commit", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("git commit -am a", "[main 1a2b3c4] a")
		s.edits("/w/app/a.go", "y", "z")
	}, []string{"Not committed (no commit by the agent seen since): `a.go` (#6)"}},
	{"open: an edit that failed", func(s *story) {
		s.asks(task)
		s.does("Edit", object{"file_path": "/w/app/a.go", "old_string": "x", "new_string": "y"})
		s.result(s.last, "<tool_use_error>String to replace not found in file.</tool_use_error>", true)
	}, []string{"!Not committed", "Failed last, no success seen: a change of `a.go` (#2): \"String to replace not found in file.\""}},
	{"open: an edit that failed, whatever said to go on since", func(s *story) {
		s.asks(task)
		s.does("Edit", object{"file_path": "/w/app/a.go", "old_string": "x", "new_string": "y"})
		s.result(s.last, "sh: line 3: warning: here-document delimited by end-of-file\nInvalid patch hunk on line 4: no header", true)
		for range 3 {
			s.asks("continue")
			s.says("I read on.")
		}
	}, []string{"Failed last, no success seen: a change of `a.go` (#2): \"Invalid patch hunk on line 4"}},
	{"open: an edit that failed and was made", func(s *story) {
		s.asks(task)
		s.does("Edit", object{"file_path": "/w/app/a.go", "old_string": "x", "new_string": "y"})
		s.result(s.last, "<tool_use_error>String to replace not found in file.</tool_use_error>", true)
		s.edits("/w/app/a.go", "x ", "y")
	}, []string{"Not committed", "!Failed last"}},

	{"run: since the last edit", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("go test ./importer", pass)
	}, []string{"Run since the last change (#2): `go test ./importer` (#4, exit 0): \"ok app/importer 0.3s\""}},
	{"run: what ran before is a check, and a trial that a later run replaced is none", func(s *story) {
		s.asks(task)
		s.runs("make dup", "0 issues")
		s.edits("/w/app/a.go", "x", "y")
		s.runs("make dup", "0 issues")
		s.fails("tool run -c /dev/null", 1, "can't load config")
		s.runs("tool run -c a.yml", "fine")
		s.runs("prepare --here", "done")
		s.runs("other --here", "done")
	}, []string{"Run since the last change (#4): `make dup` (#6, exit 0)", "!/dev/null"}},
	{"run: none since", func(s *story) {
		s.asks(task)
		s.runs("go test ./importer", pass)
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"Run since the last change (#4): none; last before it `go test ./importer` (#2, exit 0)"}},
	{"run: nothing at all", func(s *story) {
		s.asks(task)
		s.runs("scripts/paths.sh --json", "{}")
		s.runs("scripts/paths.sh --json", "{}")
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"!last edit"}},
	{"run: without a result", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.does("Bash", object{"command": "go test ./..."})
	}, []string{"Run since the last change (#2): `go test ./...` (#4, sent, no result: check)"}},
	{"run: a result that other runs have, too", func(s *story) {
		s.asks(task)
		s.runs("make lint", "running\n0 issues.")
		s.edits("/w/app/a.go", "x", "y")
		s.runs("make lint", "running\n0 issues.")
	}, []string{"`make lint` (#6, exit 0): \"0 issues.\""}},
	{"run: a failure's place comes before its summary", func(s *story) {
		s.asks(task)
		s.fails("make lint", 1, "ERROR task failed\na.go:81:15: the string has 3 occurrences (goconst)")
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"none; last before it `make lint` (#2, exit 1): \"a.go:81:15: the string has 3 occurrences (goconst)\""}},
	{"run: a failure is named by its class", func(s *story) {
		s.asks(task)
		s.fails("pytest -q", 2, "==== ERRORS ====\n/usr/lib/python3/json/decoder.py:353: in raw_decode\nE   json.decoder.JSONDecodeError: Expecting ',' delimiter: line 221\nERROR tests/test_a.py - json.decoder.JSONDecodeError: Expectin...\n7 errors in 0.49s")
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"(#2, exit 2): \"E json.decoder.JSONDecodeError: Expecting ',' delimiter: line 221\""}},
	{"run: a short result is told whole", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("golangci-lint linters | grep dup", "dupl: finds copies of code\ndupword: finds words that stand twice")
	}, []string{"\"dupl: finds copies of code dupword: finds words that stand twice\""}},
	{"run: a pipe hides the status", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("go test ./... | tail -5", bad)
	}, []string{"(#4, exit unknown)", "!exit 0"}},
	{"run: a list hides the status", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("go test ./...; echo done", bad+"\ndone")
	}, []string{"exit unknown", "!exit 0"}},
	{"run: pipefail shows it", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("set -o pipefail; go test ./... | tail -5", pass)
	}, []string{"(#4, exit 0)"}},

	{"failed last", func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.fails("go test ./importer", 1, bad)
	}, []string{"Run since the last change (#2): `go test ./importer` (#4, exit 1): \"importer_test.go:41: error: got 3 rows, want 2\"", "!Failed last"}},
	{"failed last, without an edit", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
	}, []string{"Failed last, no success seen: `go test ./importer` (#2, exit 1): \"importer_test.go:41: error: got 3 rows, want 2\""}},
	{"failed: fixed", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
		s.runs("go test ./...", pass)
	}, []string{"!Failed last"}},
	{"failed: the same tests passed", func(s *story) {
		s.asks(task)
		s.fails("go test -run 'TestOld|TestRows' ./importer", 1, "--- PASS: TestOld (0.05s)\n--- FAIL: TestRows (0.05s)\nFAIL\tapp/importer\t0.6s")
		s.edits("/w/app/a.go", "x", "y")
		s.runs("go test -run TestRows ./importer", pass)
	}, []string{"!Failed before"}},
	{"failed: another test passed", func(s *story) {
		s.asks(task)
		s.fails("go test -run 'TestOld|TestRows' ./importer", 1, "--- FAIL: TestRows (0.05s)\nFAIL\tapp/importer\t0.6s")
		s.edits("/w/app/a.go", "x", "y")
		s.runs("go test -run TestOld ./importer", pass)
	}, []string{"Failed before the last edit, no success seen: `go test -run 'TestOld|TestRows' ./importer` (#2, exit 1)"}},
	{"failed: a run of everything passed", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("make test", "all 14 passed")
	}, []string{"`make test` (#6, exit 0)", "!Failed before"}},
	{"failed: another kind of run passed", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("make lint", "0 issues.")
	}, []string{"Failed before the last edit, no success seen: `go test ./importer` (#2, exit 1)"}},
	{"failed: its file was mended, and the tests of everything passed", func(s *story) {
		s.asks(task)
		s.fails("go build ./...", 1, "importer/rows.go:41:2: undefined: skipped")
		s.edits("/w/app/importer/rows.go", "x", "y")
		s.runs("make test | tail -3", "ok  \tapp/importer\t0.3s")
	}, []string{"`make test` (#6, exit unknown, no error printed): \"ok app/importer 0.3s\"", "!no success seen"}},
	{"failed: its file was mended, and only a linter passed", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
		s.edits("/w/app/importer_test.go", "x", "y")
		s.runs("make lint", "0 issues.")
	}, []string{"Failed before the last edit, no success seen: `go test ./importer` (#2, exit 1)"}},
	{"failed: a tool, twice with the same error", func(s *story) {
		s.asks(task)
		for range 2 {
			s.does("Glob", object{"pattern": "**/*.md"})
			s.result(s.last, "ENOENT: no such file or directory, posix_spawn '/opt/client'", true)
		}
	}, []string{"Fails each time: Glob, the last 2 calls, newest #4: \"ENOENT"}},
	{"failed: overtaken by an edit", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"!Failed last"}},
	{"failed: overtaken by a commit", func(s *story) {
		s.asks(task)
		s.fails("go test ./importer", 1, bad)
		s.runs("git commit -am wip", "[main 1a2b3c4] wip")
	}, []string{"!Failed last"}},
	{"failed: a look-up", func(s *story) {
		s.asks(task)
		s.fails("ls /w/app/none", 2, "ls: cannot access '/w/app/none': No such file or directory")
		s.fails("grep -rn future .", 1, "")
	}, []string{"!Failed last"}},
	{"failed: refused", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "make deploy"})
		s.refused("")
	}, []string{"!Failed last"}},
	{"failed: Spanish", func(s *story) {
		s.asks("Arregla la prueba del importador, que falla desde ayer en todas las máquinas del equipo")
		s.fails("make prueba", 2, "prueba.c:12:5: error: «fecha» no se ha declarado\nmake: *** [Makefile:4: prueba] Error 1")
	}, []string{"Failed last, no success seen: `make prueba` (#2, exit 2)"}},

	{"plan: unfinished", func(s *story) {
		s.asks(task)
		s.plans("completed: parse the date", "in_progress: skip the rows", "pending: count them")
	}, []string{"Plan, unfinished as of #2 (2 open of 3): skip the rows (in progress); count them", "!parse the date"}},
	{"plan: acts since", func(s *story) {
		s.asks(task)
		s.plans("completed: parse the date", "in_progress: run the tests")
		s.runs("go test ./...", pass)
	}, []string{"Plan, unfinished as of #2 (1 open of 2, calls since: 1): run the tests", "!in progress"}},
	{"plan: a message since", func(s *story) {
		s.asks(task)
		s.plans("pending: skip the rows")
		s.queues("count them first")
		s.reads("/w/app/a.go", "x")
	}, []string{"Plan, unfinished as of #2 (1 open of 1, before the message #4, calls since: 1): skip the rows"}},
	{"plan: a turn ended since", func(s *story) {
		s.asks(task)
		s.plans("completed: parse the date", "in_progress: skip the rows", "pending: count them")
		s.edits("/w/app/a.go", "x", "y")
		s.says("The rows are skipped.")
		s.asks("thanks")
	}, []string{"Plan, not begun as of #2 (1 open of 3, a turn ended since, calls since: 1): count them", "!skip the rows"}},
	{"plan: finished", func(s *story) {
		s.asks(task)
		s.plans("pending: skip the rows")
		s.plans("completed: skip the rows")
	}, []string{"State: all 1 steps of the plan are completed (#4)"}},
	{"plan: old", func(s *story) {
		s.asks(task)
		s.plans("pending: skip the rows")
		for range 9 {
			s.asks("Something quite different now, which has nothing to do with rows or dates at all")
			s.says("Done.")
		}
	}, []string{"!Plan"}},
	{"plan: Chinese", func(s *story) {
		s.asks("请修复导入器里的日期错误，并补上测试和说明文档。")
		s.plans("completed: 修复日期", "pending: 补上测试")
	}, []string{"Plan, unfinished as of #2 (1 open of 2): 补上测试"}},

	{"in force: a refusal with its reason", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "git push --force"})
		s.refused("never push by force")
	}, []string{"In force: the human refused `git push --force` (#3) and said: \"never push by force\""}},
	{"in force: spent", func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "git commit -m 'Skip rows'"})
		s.refused("wait for the tests first")
		s.runs("go test ./...", pass)
		s.runs("git commit -m 'Skip rows'", "[main 1a2b3c4] Skip rows")
	}, []string{"!In force"}},
	{"in force: Chinese", func(s *story) {
		s.asks(task)
		s.does("Edit", object{"file_path": "/w/app/schema.sql", "old_string": "x", "new_string": "y"})
		s.refused("不要改数据库结构")
	}, []string{"In force: the human refused a change of `schema.sql` (#3) and said: \"不要改数据库结构\"", "!Not committed"}},
}

func TestHandoverLines(t *testing.T) {
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
	edit := s.codexPatches("*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch")
	s.codexRuns("go test ./importer", 1, bad)
	want(t, s.handover(t), "Task (#2", "> "+task, "Git: branch `dev`", "Plan, unfinished as of #5 (1 open of 2, calls since: 2, edited: `a.go` #7): count them",
		"Not committed (no commit by the agent seen since): `a.go` (#7)", "Run since the last change (#7): `go test ./importer` (#9, exit 1): \"importer_test.go:41: error",
		"State: at work. Last words (#4):\n> First the parser.")
	if edit != 7 {
		t.Errorf("the edit is record %d", edit)
	}
	s.codexRuns("git commit -am 'Skip rows'", 0, "[dev 1a2b3c4] Skip rows")
	want(t, s.handover(t), "last commit seen `1a2b3c4` \"Skip rows\" (#12)", "!Not committed", "!Failed last")
}

// TestHandoverOfASandbox: what a client's sandbox puts around an output is not the reason of a failure.
func TestHandoverOfASandbox(t *testing.T) {
	s := codex("dev")
	s.codexAsks(task)
	s.codexCalls("shell", object{"command": []string{"bash", "-lc", "pytest -q"}}, "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: \nE   ValueError: no row 7\n1 error in 0.4s\n, stderr: ")
	want(t, s.handover(t), "Failed last, no success seen: `pytest -q` (#4, exit 2): \"E ValueError: no row 7\"", "!sandbox")
}

// textCases are kinds of lines below the handover, each with a session that needs it and the room it gets.
var textCases = []struct {
	name string
	room int
	tell func(s *story)
	want []string // with "!": what the text must not have
}{
	{"a change that is cut keeps what it adds", 1500, func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", lines("gone %d is a line of the old table\n", 30), lines("come %d is a line of the new table\n", 30))
	}, []string{"come 0 is a line", "!gone 0 is a line"}},
	{"an entry whose nested ones are cut", 2500, func(s *story) {
		s.asks(task)
		s.says("All is done.\n\n- Changed parts:\n" + lines("  - part %d of the importer with some words about it, which go on and on and say nothing that is of use\n", 40) + "- The report counts 14 rows")
		s.asks("Now do the same for the exporter, with the same report, and say how many rows are left there")
	}, []string{"!Changed parts:\n> - The report"}},
	{"a refusal that was followed", 9000, func(s *story) {
		s.asks(task)
		s.does("Bash", object{"command": "git push"})
		s.refused("wait for the merge")
		s.runs("git merge dev", "Merge made by the 'ort' strategy.")
		s.runs("git push", "To github.com:app/app.git\n   1a2b3c4..df4c638  main -> main")
	}, []string{"refused `git push` (since then #6): \"wait for the merge\""}},
	{"what was read while nothing was changed, the newest first", 2600, func(s *story) {
		s.asks("¿Por qué faltan filas en el informe? Busca la causa en el importador y dime qué hay que cambiar")
		for i := range 12 {
			s.says(fmt.Sprintf("Miro el archivo %d.", i))
			s.reads(fmt.Sprintf("/w/app/f%d.go", i), numbered(fmt.Sprintf("package f%d", i), lines("// una línea larga de comentario número %d que no dice nada\n", 9), fmt.Sprintf("var corte%d = 1", i)))
		}
	}, []string{"var corte11", "!var corte0"}},
	{"what is read twice", 9000, func(s *story) {
		s.asks(task)
		s.runs("git status", "On branch main\n"+lines("\tmodified:   file%d.go\n", 8))
		s.says("I wait for the tests of the importer, 3 of them.")
		s.runs("git status", "On branch main\n"+lines("\tmodified:   file%d.go\n", 8))
	}, []string{"#6 gave:\n> On branch main", "!#3 gave:"}},
	{"a deleted file is not in use", 9000, func(s *story) {
		s.asks(task)
		s.writes("/w/app/blue.md", "# Blue")
		s.runs("rm blue.md", "")
		s.edits("/w/app/red.md", "x", "y")
	}, []string{"`red.md` (#6)", "!blue.md*"}},
	{"a request to another address", 9000, func(s *story) {
		s.asks(task)
		s.fails("gh api repos/a/b/comments/7/replies -f body=done", 1, "gh: Parent comment not found (HTTP 404)")
		s.runs("gh api repos/a/b/comments", "ID: 9")
	}, []string{"Parent comment not found (HTTP 404)", "!worked at"}},
	{"an edit that was undone is none", 9000, func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "var rows int", "var skipped int")
		s.edits("/w/app/a.go", "var skipped int", "var rows int")
		s.edits("/w/app/b.go", "x", "y")
	}, []string{"Not committed (no commit by the agent seen since): `b.go` (#6)", "Other files, the last used first: a.go\n"}},
	{"an approved plan with a newer message is an outline with its file", 9000, func(s *story) {
		s.asks(task)
		s.writes("/w/app/plan.md", "# Plan\nRows are skipped by date.\n## Count\nThe last line has the count.\n")
		s.proposes("# Plan\nRows are skipped by date.\n## Count\nThe last line has the count.", "")
		s.asks("put the count into the first line instead")
		s.says("I begin.")
	}, []string{"the human approved the plan of #4, which stands in `plan.md`:\n> # Plan\n> ## Count\n"}},
	{"an edit that a later one replaced", 9000, func(s *story) {
		s.asks("Pon el enlace del tema en azul, por favor, y deja el resto del archivo tal como está ahora")
		s.edits("/w/app/tema.css", "enlace: negro;", "enlace: azul;")
		s.says("El enlace es azul.")
		s.asks("Mejor en verde, el azul se parece demasiado al título de la página, cámbialo otra vez")
		s.edits("/w/app/tema.css", "  enlace: azul;\n", "  enlace: verde;\n")
		s.says("Listo.")
	}, []string{"### #1 to #4, what it changed: replaced by #6, 2026-03-04 09:00\n> Pon el enlace", "!El enlace es azul", "+   enlace: verde;"}},
	{"an edit that a part of a line replaced", 9000, func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.json", "\"a\": 1,", "\"a\": 1,\n\"link\": \"blue\",\n\"bullet\": \"red\",")
		s.asks("Now the link shall be green, and nothing else of the theme shall change with it, please")
		s.edits("/w/app/a.json", "blue", "green")
		s.asks("And lastly the link shall be white, as it was in the old theme that you have seen before")
		s.edits("/w/app/a.json", "\"link\": \"green\"", "\"link\": \"white\"")
	}, []string{"Effect: changed `a.json` (#2)", "> + \"bullet\": \"red\",", "!+ \"link\": \"blue\"", "what it changed: replaced by #8"}},
	{"a file that was written anew", 9000, func(s *story) {
		s.asks(task)
		s.writes("/w/app/plan.md", "# Plan\nfirst the parser")
		s.says("Written.")
		s.asks("Write the plan anew, it shall begin with the report and leave the parser as it is today")
		s.writes("/w/app/plan.md", "# Plan\nfirst the report")
	}, []string{"what it changed: replaced by #6", "!> first the parser", "> first the report"}},
	{"what was removed and written again stands", 9000, func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "var skipped int\nvar counted int\nreturn nil")
		s.asks("Take the two variables out for a moment, so that I see what it looks like without them, please")
		s.edits("/w/app/a.go", "var skipped int\nvar counted int\nreturn nil", "panic(1)")
		s.asks("Now put both of the variables in again, as they were before, and take out what you added then")
		s.edits("/w/app/a.go", "panic(1)", "var skipped int\nvar counted int\nreturn nil")
	}, []string{"what it changed: replaced by #8", "Effect: changed `a.go` (#2)", "!replaced by #5"}},
	{"a run that was interrupted did not fail", 9000, func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.does("Bash", object{"command": "make report"})
		s.result(s.last, "Error: the debugger is attached", true)
		s.interrupts()
		s.asks("Tell me first what the report is to show, and which of the rows it has to leave out of it")
	}, []string{"`make report` (#4, aborted)", "#4 ran `make report`, aborted\n", "!failed", "!Failed"}},
	{"a change of nothing is no edit and mends nothing", 9000, func(s *story) {
		s.asks(task)
		s.does("Edit", object{"file_path": "/w/app/a.go", "old_string": "x", "new_string": "y"})
		s.result(s.last, "Error: String to replace not found in file.", true)
		s.edits("/w/app/a.go", "var counted int", "var counted int")
	}, []string{"!worked at", "#4 edited `a.go`, no change", "Failed last, no success seen: a change of `a.go` (#2)", "!Not committed"}},
	{"a path that no record found", 9000, func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.runs("grep -n rows src/editor.go | head", "grep: src/editor.go: nothing of that name")
	}, []string{"!editor.go*", "!first: src"}},
	{"words that may announce a step are no answer", 9000, func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
		s.announces("Now the signatures:")
	}, []string{"State: the agent's last words are #4:\n> Now the signatures:", "!answered", "!nothing done since"}},
	{"a file that was removed", 9000, func(s *story) {
		s.asks(task)
		s.writes("/w/app/blue.md", "# Blue is a colour")
		s.runs("rm blue.md", "")
		s.edits("/w/app/red.md", "x", "# Red is a colour")
	}, []string{"!Blue is a colour", "Red is a colour"}},
	{"words about what was removed", 9000, func(s *story) {
		s.asks(task)
		s.writes("/w/app/blue.md", "# Blue is a colour")
		s.says("The page blue.md is made, with 1 heading.")
		s.runs("rm blue.md", "")
		s.edits("/w/app/red.md", "x", "# Red is a colour")
		s.says("The page red.md is made, with 1 heading.")
	}, []string{"!blue.md is made", "red.md is made"}},
	{"a reset that takes all back", 9000, func(s *story) {
		s.asks(task)
		s.edits("/w/app/a.go", "x", "var skipped int")
		s.runs("git reset --hard", "HEAD is now at 1a2b3c4 a")
		s.edits("/w/app/b.go", "x", "var counted int")
	}, []string{"!var skipped", "var counted"}},
	{"a failure that is over", 9000, func(s *story) {
		s.asks(task)
		s.fails("make report", 2, "report.go:9:2: error: undefined: skipped")
		s.edits("/w/app/report.go", "x", "var skipped int")
		s.runs("make report", "14 rows")
		s.says("It builds.")
	}, []string{"#2 ran `make report`, exit 2: \"report.go:9:2: error: undefined: skipped\"; worked at #6", "(#6, exit 0): \"14 rows\"", "!no success"}},
	{"another command is not the one that failed", 9000, func(s *story) {
		s.asks(task)
		s.fails("git checkout -b dates", 128, "fatal: a branch named 'dates' already exists")
		s.asks("Take the branch that is there already, and tell me then which commit it is at, please")
		s.runs("git checkout dates", "Switched to branch 'dates'")
	}, []string{"!worked at"}},
	{"going on belongs to what was broken off", 9000, func(s *story) {
		s.asks("请给队列组件加上宽度检查，任何一行都不能比终端更宽，然后补上测试。")
		s.says("我先看一下组件。")
		s.interrupts()
		s.asks("继续")
		s.edits("/w/app/queue.ts", "x", "check(width)")
		s.says("完成。")
		s.asks("Now write the notes for the release, with a line for each of the changes of this week")
		s.edits("/w/app/notes.md", "x", "y")
	}, []string{"### #1 to #7, 2026-03-04 09:00\n> 请给队列组件加上宽度检查", "!### #4"}},
	{"an offer that was taken up", 9000, func(s *story) {
		s.asks("Say what could be better in the notes that stand in this folder, and in which order to do it")
		s.says("They are fine.\n\n1. add a table\n2. name the authors\n\nShall I do both of these at once?")
		s.asks("yes")
		s.edits("/w/app/notes.md", "x", "| a | b |")
		s.says("Both are done.")
	}, []string{"!The message follows"}},
	{"a long text of which nothing came", 9000, func(s *story) {
		s.asks("Write some lines of text so that I see how they look on this screen of mine, please do")
		s.says("# Demo\n" + lines("Line %d of a text that is only for show and means nothing at all.\n", 30))
		s.asks(task)
		s.edits("/w/app/a.go", "x", "y")
	}, []string{"#2 the agent answered: [ccd ", "!only for show"}},
	{"an answer that a change overtook", 2200, func(s *story) {
		for range 3 {
			s.asks("Which colour has the link, and which one has the bullet of a list in the theme of today?")
			s.says("The link has `#81a2be`, the bullet `#8abeb7`.\n\n" + lines("Value %d of the theme is as before, it is taken from the old program and not changed.\n", 20))
		}
		s.asks("Change the bullet to the colour of the link please, in both of the themes that we have here")
		s.edits("/w/app/dark.json", "bullet: `#8abeb7`", "bullet: `#81a2be`")
		s.says("Changed.")
	}, []string{"!Value 12"}},
}

func TestTexts(t *testing.T) {
	for _, c := range textCases {
		t.Run(c.name, func(t *testing.T) {
			s := claude()
			c.tell(s)
			want(t, rendered(companion(t, s.agent, s.data(), c.room)), c.want...)
		})
	}
}
