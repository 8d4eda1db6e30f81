package compactor

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// padded appends rounds of work, so that what came before is out of the verbatim part.
func (s *script) padded() *script {
	for i := range 40 {
		s.round(1000 + i)
	}
	return s
}

func stateOf(t *testing.T, s *script) string {
	t.Helper()
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	return c.section("State")
}

func wants(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("missing %q in\n%s", w, text)
		}
	}
}

func wantsNot(t *testing.T, text string, not ...string) {
	t.Helper()
	for _, w := range not {
		if strings.Contains(text, w) {
			t.Errorf("there is %q in\n%s", w, text)
		}
	}
}

func TestStateHasHumanMessagesInOrder(t *testing.T) {
	s := newScript()
	s.human("First, count the cents.")
	s.say("Shall I count the euros as well?")
	s.human("yes please")
	s.human(strings.Repeat("A long paste about invoices. ", 200) + "The very end.")
	s.line("user", map[string]any{"role": "user", "content": "<system-reminder>machine text</system-reminder>"}, map[string]any{"isMeta": true})
	s.padded()
	text := stateOf(t, s)
	wants(t, text, "### Asked (", "1. #1 2026-03-04T09:00Z\n   > First, count the cents.", `to #2: "Shall I count the euros as well?"`,
		"   > yes please", "The very end.", "cut, 5813 chars]")
	wantsNot(t, text, "machine text")
	if strings.Index(text, "First, count") > strings.Index(text, "yes please") {
		t.Error("not in order")
	}
}

func TestStateCountsWhatAskedCannotHold(t *testing.T) {
	s := newScript()
	s.human("The first wish of all.")
	for i := range 300 {
		s.say("Done.")
		s.human(fmt.Sprintf("Wish number %d: %s", i, strings.Repeat("do more of it. ", 30)))
	}
	s.human("The newest wish.")
	f := fold(t, s.buf.Bytes(), tokensOf(13333))
	c := f.compact(t)
	f.check(t, c)
	text := c.section("State")
	wants(t, text, "> The first wish of all.", "> The newest wish.", "range of ", "of 302, in order)")
	if k := c.Header.KeyInformation; k.Recoverable < 200 || k.Lost > 0 {
		t.Errorf("key information = %+v", k)
	}
}

// Where State is short of room, what a person said gets the most of it.
func TestAskedHasTheLargestShare(t *testing.T) {
	s := newScript()
	for i := range 12 {
		s.human(fmt.Sprintf("Message %d: %s", i, strings.Repeat("count the cents of the invoices and keep them whole. ", 12)))
		for j := range 8 {
			s.bash(fmt.Sprintf("make part%d-%d with some words behind it, so that it is long", i, j), "fine")
			s.fails(fmt.Sprintf("pytest -q tests/test_%d_%d.py", i, j), "E   AssertionError: Money(48212) != Money(48213)\n1 failed", 1)
		}
	}
	c := fold(t, s.padded().buf.Bytes(), tokensOf(13333)).compact(t)
	sizes := map[string]int{}
	for _, part := range strings.Split("\n"+c.section("State"), "\n### ")[1:] {
		name, _, _ := strings.Cut(part, " ")
		sizes[name] = lexicon.Chars(part)
	}
	if asked, all := sizes["Asked"], lexicon.Chars(c.section("State")); asked*2 < all {
		t.Errorf("Asked has %d of %d chars: %v", asked, all, sizes)
	}
}

func TestStateOfDuplicateMessages(t *testing.T) {
	paste := strings.Repeat("the same paste of a log line\n", 20)
	s := newScript()
	s.human(paste)
	s.say("Seen.")
	s.human(paste)
	text := stateOf(t, s.padded())
	wants(t, text, "dup of #3, 580 chars]")
	if strings.Count(text, "the same paste") > 20 {
		t.Error("both copies are shown")
	}
}

func TestStateOfCommandsAndOpenErrors(t *testing.T) {
	s := newScript()
	s.human("Make it build.")
	s.fails("make all", "main.c:3: error: unknown type name 'foo'\nmake: *** [all] Error 1", 2)
	s.fails("pytest -q", "E   AssertionError: 1 != 2\n1 failed, 2 passed", 1)
	s.bash("cd /home/me/ledger && make all 2>&1 | tail -5", "cc -o all\n")
	s.fails("grep -rn nothing src", "", 1)
	s.call("t-9", "Bash", map[string]any{"command": "sleep 100"})
	text := stateOf(t, s.padded())
	wants(t, text, "make all 2>&1 | tail -5` -> 0 (was 2 at #2)", "### Open errors", "`pytest -q` -> 1: `E AssertionError: 1 != 2`", "`sleep 100` (no result yet)")
	_, open, _ := strings.Cut(text, "### Open errors")
	open, mended, _ := strings.Cut(open, "### Errors made good since")
	wants(t, mended, "#2 Bash `make all` -> 2: `main.c:3: error: unknown type name 'foo'`")
	wantsNot(t, open, "unknown type name", "grep -rn nothing")
}

func TestStateOfFiles(t *testing.T) {
	s := newScript()
	s.human("Work on the files.")
	s.write("/home/me/ledger/new.go", "package new\n")
	s.edit("/home/me/ledger/new.go", "new", "old")
	s.read("/home/me/ledger/a.go", "package a\n")
	s.edit("/home/me/ledger/a.go", "package a", "package b")
	s.edit("/home/me/ledger/a.go", "package b", "package c")
	s.read("/elsewhere/only/read/by/us.go", "package us\n")
	s.call("t-1", "Edit", map[string]any{"file_path": "/home/me/ledger/no.go", "old_string": "x", "new_string": "y"})
	s.result("t-1", "<tool_use_error>String to replace not found in file.</tool_use_error>", true)
	text := stateOf(t, s.padded())
	wants(t, text, "(working directory /home/me/ledger, branch main)", "- created, then edited 1x `new.go`", "- edited 2x `a.go` (last #10)",
		"read: ", "`/elsewhere/only/read/by/us.go`", "not changed, the edit failed: `no.go`")
}

func TestStateOfPlan(t *testing.T) {
	todo := func(items ...string) map[string]any {
		var list []any
		for i := 0; i < len(items); i += 2 {
			list = append(list, map[string]any{"content": items[i], "status": items[i+1], "activeForm": items[i]})
		}
		return map[string]any{"todos": list}
	}
	s := newScript()
	s.human("Plan it.")
	s.do("TodoWrite", todo("find it", "in_progress", "fix it", "pending"), "ok")
	s.do("TodoWrite", todo("find it", "completed", "fix it", "in_progress", "test it", "pending"), "ok")
	text := stateOf(t, s.padded())
	wants(t, text, "### Plan as last left (#4)", "- [x] find it\n- [>] fix it\n- [ ] test it\n")
}

func TestStateOfTalk(t *testing.T) {
	s := newScript()
	s.human("Count the cents. You must never use floats. Thanks for all of it.")
	s.say("Let me look. We'll parse the text, because a float has no exact cents. Then I go on. Or would you choose decimals?")
	s.say("I wait for your word.")
	s.human("No, use the other parser.")
	s.do("Task", map[string]any{"description": "find every float", "prompt": "find", "subagent_type": "Explore"}, "Seven places, all in ledger/.")
	s.padded()
	s.say("All is done: the cents are exact.")
	for i := range 60 {
		s.bash(fmt.Sprintf("tail -n %d log", i), strings.Repeat("some line of a log\n", 60))
	}
	text := stateOf(t, s)
	wants(t, text, "- You must never use floats. (#1)", "- No, use the other parser. (#4)", "because a float has no exact cents. (#2)",
		`"find every float"`, "Seven places, all in ledger/.", "### Last answer", "> All is done: the cents are exact.")
	wantsNot(t, text, "- Thanks for all of it", "- Or would you choose")
}

func TestSubAgentsShowTheirTask(t *testing.T) {
	s := newScript()
	s.line("user", map[string]any{"role": "user", "content": "Find every float on a money path."}, map[string]any{"isSidechain": true, "agentId": "a1"})
	s.padded()
	f := foldAs(t, "claude-code", transcript.SubAgent, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	wants(t, c.section("State"), "### Task given by the parent session (#1)", "> Find every float on a money path.")
}

func TestStateIsNearlyWholeAtTenThousandChars(t *testing.T) {
	s := day(12)
	whole := fold(t, s.buf.Bytes(), Defaults()).compact(t).section("State")
	f := fold(t, s.buf.Bytes(), tokensOf(13333))
	c := f.compact(t)
	f.check(t, c)
	if got := c.section("State"); len(got)*10 < len(whole)*9 {
		t.Errorf("State has %d chars of %d:\n%s", len(got), len(whole), got)
	}
}

func TestFilesComeBackWithTheirEdits(t *testing.T) {
	s := newScript()
	s.human("Work on the files.")
	s.read("/home/me/ledger/a.go", "package a\n\nfunc one() {}\n")
	s.edit("/home/me/ledger/a.go", "func one() {}", "func two() {}")
	s.write("/home/me/ledger/b.go", "package b\n")
	s.read("/home/me/ledger/c.go", "package c\n")
	s.edit("/home/me/ledger/c.go", "not there", "x") // reported as done, yet it does not apply: content unknown
	for i := range 60 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat("building a unit of it\n", 60))
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	text := c.section("Files")
	wants(t, text, "### `a.go` as of #4", "> func two() {}", "### `b.go` as of #6", "> package b")
	wants(t, text, "### `c.go` last edit at #10 (its whole content is not known)\n> - not there\n> + x")
	wantsNot(t, text, "func one", "package c")
}

func TestEarlierForms(t *testing.T) {
	s := newScript()
	s.used = 20000
	s.human("Go on.")
	s.read("/home/me/ledger/a.go", strings.Repeat("package a\n", 100))
	s.bash("go test ./...", strings.Repeat("ok  some/package 0.1s\n", 100)+"3 passed")
	s.fails("go vet ./...", strings.Repeat("# some/package\n", 100)+"a.go:7: error: cannot use x\na.go:9: error: cannot use y\n", 1)
	s.do("Grep", map[string]any{"pattern": "float"}, strings.Repeat("ledger/money.py:12: float(x)\n", 40))
	s.say(strings.Repeat("This explains the state of affairs at length. ", 60))
	s.say("Short remark.")
	s.edit("/home/me/ledger/a.go", strings.Repeat("old line\n", 30), strings.Repeat("new line\n", 30))
	s.bash("cat same", strings.Repeat("the same output\n", 100))
	s.bash("cat same again", strings.Repeat("the same output\n", 100))
	for i := range 12 {
		s.round(1000 + i)
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	text := c.section("Earlier")
	wants(t, text, "file a.go, 100 lines, read 2026-03-04T09:00Z, edited 1x later]", "- #4 Bash `go test ./...` -> 0: 3 passed [ccd ",
		"-> 1: `a.go:7: error: cannot use x`; `a.go:9: error: cannot use y` [ccd ", " output, 102 lines", "40 hits: `ledger/money.py:12: float(x)`",
		"assistant [ccd ", "summary: This explains", "assistant: Short remark.", "`- old line` `+ new line`", "dup of #1")
	if len(c.Header.Saved) < 4 {
		t.Errorf("saved = %+v", c.Header.Saved)
	}
}
