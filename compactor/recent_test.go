package compactor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ccd/internal/transcript"
)

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
	s.shell("/elsewhere", "ls -R", ended)
	s.shell("/w", "ls -R", ended)
	for i := range 40 {
		s.shell("/w", fmt.Sprintf("cat part%d", i), `{"output":"`+strings.Repeat("a line of it ", 200)+`","metadata":{"exit_code":0}}`)
	}
	f := foldAs(t, "codex", transcript.Main, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	text := c.section("State")
	wants(t, text, "- created `docs/page.md` (#4)", "not changed, the edit failed: `docs/other.md`", "`make` -> failed\n", "`cat notes` -> 0",
		"`ls -R` in `/elsewhere` -> 0", "`ls -R` in `/w` -> 0", "execution error: command timed out`\n")
}

// A file that the agent touched last stands once: in Files as it is now, with a line where it was read.
func TestFilesAndRecentShareTheirContent(t *testing.T) {
	s := newScript()
	s.human("Change the file.")
	for i := range 30 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat("building a unit of it\n", 60))
	}
	content := strings.Repeat("a line of the ledger\n", 20) + "the old end\n"
	s.read("/home/me/ledger/a.go", content)
	s.edit("/home/me/ledger/a.go", "the old end", "the new end")
	s.write("/home/me/ledger/b.go", strings.Repeat("package b // of the ledger\n", 10))
	s.say("Done with a.go.")
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	wants(t, c.section("Files"), "### `a.go` as of #64 (21 lines)", "> the new end", "### `b.go` as of #66 (10 lines)")
	wants(t, c.section("Recent"), "#62 Read `a.go`: see Files\n", "#66 Write `b.go`: see Files\n", "> - the old end", "> + the new end")
	if n := strings.Count(c.all(), "> a line of the ledger\n"); n != 20 {
		t.Errorf("%d of 20 lines", n)
	}
	if n := strings.Count(c.all(), "> package b // of the ledger\n"); n != 10 {
		t.Errorf("%d of 10 lines", n)
	}
	// The control: without what Files holds, Recent shows it all.
	d := newDraft(f.Compactor, f.text())
	if p := d.recentUnits(61, 20000, 20000); strings.Count(p.text, "> a line of the ledger\n") != 20 {
		t.Errorf("Recent alone does not show the file:\n%s", p.text)
	}
}

// A unit that is too large for the room that is left comes in shortened, so that what stands before it may come too.
func TestLargeUnitsAreShortened(t *testing.T) {
	s := newScript()
	s.human("Look at the log.")
	s.bash("make log", strings.Repeat("a line of the log\n", 5000)+"the last line of the log")
	s.say("It is long. So I stop.")
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	wants(t, c.section("Recent"), "#2 Bash `make log` -> 0\n> a line of the log\n", "> the last line of the log")
}

func TestInputsAreReadable(t *testing.T) {
	s := newScript()
	s.human("Plan it.")
	for i := range 20 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat("building a unit of it\n", 60))
	}
	s.do("ExitPlanMode", map[string]any{"plan": "# The plan\n\n- parse \"text\"\n" + strings.Repeat("- and so on\n", 10) + "- stop\n", "steps": 2}, "ok")
	long := "cat <<'EOF' > a\n" + strings.Repeat("a word of it ", 20) + "\nEOF"
	s.bash(long, "")
	s.say("Done.")
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	wants(t, c.section("Recent"), "> plan:\n> # The plan\n> \n> - parse \"text\"\n> - and so on\n", "> - stop\n> steps: 2\n", "> EOF\n")
	if n := strings.Count(c.section("Recent"), strings.Repeat("a word of it ", 10)); n != 2 {
		t.Errorf("20 words of the command stand as %d times 10", n)
	}
	if got := fieldsOf([]byte(`{"a":"b"}`)); got != "" {
		t.Errorf("an input of one line became %q", got)
	}
	for _, broken := range []string{`["a\n"]`, `{"a\n"`, `{"a":`, `\n`, `{"a\n":}`} {
		if got := fieldsOf([]byte(broken)); got != "" {
			t.Errorf("fieldsOf(%q) = %q", broken, got)
		}
	}
	patch := "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch"
	raw, err := json.Marshal(map[string]string{"input": patch})
	if err != nil {
		t.Fatal(err)
	}
	if got := patchText(raw); got != patch {
		t.Errorf("patchText = %q", got)
	}
}

// What State shows of the last answer, Earlier does not repeat.
func TestTheLastAnswerStandsOnce(t *testing.T) {
	s := newScript()
	s.human("Count the cents of the invoices.")
	for i := range 30 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat("building a unit of it\n", 60))
	}
	answer := "All of it is counted: 48,213 cents. " + strings.Repeat("Nothing else is known of it. ", 30)
	s.say(answer)
	for _, budget := range []int{72000, 20000, 13333, 8000} {
		f := fold(t, s.buf.Bytes(), tokensOf(budget))
		c := f.compact(t)
		f.check(t, c)
		if n := strings.Count(c.all(), "All of it is counted"); n != 1 {
			t.Errorf("%d tokens: the answer stands %d times:\n%s", budget, n, c.all())
		}
	}
}

func TestReportsOfSubAgents(t *testing.T) {
	s := newScript()
	s.human("Look around.")
	s.call("t-1", "Task", map[string]any{"description": "look around", "prompt": "look", "subagent_type": "Explore"})
	s.result("t-1", "Two files.", false)
	s.call("t-2", "Task", map[string]any{"description": "look closer", "prompt": "look", "subagent_type": "Explore"})
	s.result("t-2", "First of all, this is what I found.\n"+strings.Repeat("- a finding of some length\n", 120), false)
	text := stateOf(t, s.padded())
	wants(t, text, "- #4 \"look closer\":\n  > First of all", "  > - a finding of some length\n", " result, 3.4 KB]", "> Two files.")
	if n := strings.Count(text, "a finding of some length"); n < 25 {
		t.Errorf("%d findings of a report are shown", n)
	}
	s = newScript()
	s.human("Look around.")
	s.call("t-1", "Task", map[string]any{"description": "look around", "prompt": "look", "subagent_type": "Explore", "run_in_background": true})
	s.line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t-1", "content": "Async agent launched."}}},
		map[string]any{"toolUseResult": map[string]any{"agentId": "a77", "status": "async_launched"}})
	s.line("attachment", nil, map[string]any{"attachment": map[string]any{
		"type": "queued_command", "commandMode": "task-notification",
		"prompt": "<task-notification>\n<task-id>a77</task-id>\n<status>completed</status>\n<result>Three <b>files</b>.</result>\n</task-notification>",
	}})
	text = stateOf(t, s.padded())
	wants(t, text, "\"look around\" agent a77:\n  > Three <b>files</b>.\n")
	wantsNot(t, text, "<status>")
}

// What a tool was given stands as it was, also where it is no proper Unicode.
func TestChangesAreExact(t *testing.T) {
	line := `{"type":"assistant","message":{"id":"m%d","role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"%s","input":%s}]},"uuid":"u%d","timestamp":"2026-03-01T09:00:00Z"}` + "\n"
	data := fmt.Sprintf(line, 1, 1, "Write", `{"file_path":"/a","content":"one \ud800 two"}`, 1) +
		fmt.Sprintf(line, 2, 2, "Edit", "{\"file_path\":\"/a\",\"old_string\":\"x\",\"new_string\":\"y \xff z\"}", 2)
	c := fold(t, []byte(data), Defaults()).compact(t)
	for _, want := range []string{`one \xed\xa0\x80 two`, `y \xff z`} {
		if !strings.Contains(c.all(), want) {
			t.Errorf("%q does not stand in:\n%s", want, c.all())
		}
	}
}
