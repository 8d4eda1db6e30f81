package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// told is the model of a session of Claude Code. Each step is `$ command` with `=> output` or `=> exit N: output`, `Tool file` or
// `Tool {input}` with the same, a record as it is, or a message of the human.
func told(steps ...string) *session.Session {
	var lines []string
	line := func(kind, content string) {
		lines = append(lines, fmt.Sprintf(`{"type":%q,"uuid":"u%d","sessionId":"s","cwd":"/w","message":{"role":%q,"content":%s}}`, kind, len(lines), kind, content))
	}
	quote := func(s string) string { return string(transcript.Quote(s)) }
	for i, step := range steps {
		call, result, has := strings.Cut(step, " => ")
		tool, what, _ := strings.Cut(call, " ")
		input := `{"file_path":` + quote(what) + `,"old_string":"x","new_string":"y","content":"z","bash_id":` + quote(what) + `}`
		switch {
		case strings.HasPrefix(step, "{"):
			lines = append(lines, step)
			continue
		case !has:
			line("user", quote(step))
			continue
		case tool == "$":
			tool, input = "Bash", `{"command":`+quote(what)+`}`
		case strings.HasPrefix(what, "{"):
			input = what
		}
		line("assistant", fmt.Sprintf(`[{"type":"tool_use","id":"t%d","name":%q,"input":%s}]`, i, tool, input))
		failed := ""
		if kind, output, _ := strings.Cut(result, ": "); kind == "no" {
			failed, result = `,"is_error":true`, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"+output
		} else if status, is := strings.CutPrefix(kind, "exit "); is {
			failed, result = `,"is_error":true`, "Exit code "+status+"\n"+output
		}
		line("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":%s%s}]`, i, quote(result), failed))
	}
	s := session.New(limits.Defaults(), transcript.Session{})
	for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: []byte(strings.Join(lines, "\n") + "\n"), Rest: true}) {
		s.Add(r)
	}
	return s
}

// kinds are the names of the kinds of events.
var kinds = strings.Fields("asked queued withdrawn reason answer shell said thought did summed noted stopped ended")

// TestEvents: what becomes an event, and of which kind.
func TestEvents(t *testing.T) {
	reply := func(more, block string) string {
		return `{"type":"assistant","uuid":"r","sessionId":"s"` + more + `,"message":{"role":"assistant","model":"m","content":[` + block + `]}}`
	}
	queue := func(operation string) string {
		return `{"type":"queue-operation","operation":"` + operation + `","content":"and the total"}`
	}
	const bg, ended = "$ make => Command running in background with ID: b1. Output is being written to: /tmp/b1", "<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n<summary>failed with exit code 3</summary>\n</task-notification>"
	for _, c := range []struct {
		steps []string
		want  string
	}{
		{[]string{"Fix it", reply("", `{"type":"text","text":"Yes."}`)}, "asked said"},
		{[]string{reply("", `{"type":"thinking","thinking":"Hm.","signature":"x"}`), reply("", `{"type":"thinking","thinking":"","signature":"x"}`)}, "thought"},
		{[]string{queue("enqueue"), queue("popAll")}, "withdrawn"},
		{[]string{queue("enqueue"), queue("remove")}, "queued"},
		{[]string{queue("enqueue"), queue("dequeue"), "and the total"}, "asked"},
		{[]string{queue("enqueue")}, ""},
		{[]string{"<bash-input>ls</bash-input>", "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"}, "shell"},
		{[]string{bg, ended}, "did ended noted"},
		{[]string{ended}, "noted"},
		{[]string{"$ make => ok", "[Request interrupted by user]"}, "did stopped"},
		{[]string{strings.Replace(reply(`,"isApiErrorMessage":true`, `{"type":"text","text":"API Error: 529"}`), `"m"`, `"<synthetic>"`, 1)}, "stopped"},
		{[]string{`AskUserQuestion {"questions":[{"question":"Which?"}]} => User has answered your questions: "Which?"="this".`}, "did answer"},
		{[]string{"$ git push => no: wait"}, "did reason"},
		{[]string{`{"type":"user","uuid":"c","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"We did it."}}`}, "summed"},
	} {
		var got []string
		for _, e := range told(c.steps...).Events {
			got = append(got, kinds[e.Kind])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.steps, got, c.want)
		}
	}
	if c := told(bg, ended).Events[0].Call; c.State != session.Failed || c.Exit != 3 || told(bg).Events[0].Call.State != session.Running {
		t.Errorf("a background command ended: %+v", c)
	}
	if c := told("$ make => exit 1: no", "[Request interrupted by user]").Events[0].Call; c.Aborted {
		t.Error("a command with a status was aborted")
	}
	if c := told("<bash-input>ls</bash-input>", "<bash-stdout>a</bash-stdout>").Events[0].Call; c.Command != "ls" || c.Result.Zero() {
		t.Errorf("the human's command: %+v", c)
	}
}

// TestGoals: what a command line aims at, whether it only looks, checks, or hides its status.
func TestGoals(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./a": "go test, checks", "cd /w && CC=gcc timeout 30 make": "make", "npm run build && npm test": "npm run build, npm test, checks", "uv run pytest -q": "pytest, checks",
		"ls | head": "looks, hides", "git log -3": "looks", "git commit -m test": "git commit", "sed -n 9p a": "looks", "sed -i s/a/b/ c": "sed", "go vet ./... | tail -3": "go vet, checks, hides",
		"set -o pipefail; make lint | tail": "make lint, checks", "make || true": "make, hides", "make; echo done": "make, hides", "find . -delete": "find",
	} {
		c := told("$ " + line + " => ok").Events[0].Call
		got := []string{c.Goal}
		for _, is := range []struct {
			name string
			so   bool
		}{{"looks", c.LookUp}, {"checks", c.Checks()}, {"hides", c.Silent}} {
			if is.so {
				got = append(got, is.name)
			}
		}
		if text := strings.TrimPrefix(strings.Join(got, ", "), ", "); text != want {
			t.Errorf("%s: %q, want %q", line, text, want)
		}
	}
}

// TestCommits: commits and pushes are those that git printed.
func TestCommits(t *testing.T) {
	const one, push, rejected = "$ git commit -m x => [main 1a2b3c4] Skip rows\n 1 file changed", "$ git push => To github.com:a/b.git\n   aaaaaaa..1a2b3c4  main -> main", "$ git push => exit 1: To github.com:a/b.git\n ! [rejected]        main -> main (fetch first)"
	for _, c := range []struct {
		steps []string
		want  []session.Commit
	}{
		{[]string{one}, []session.Commit{{Branch: "main", Hash: "1a2b3c4", Subject: "Skip rows", Pushed: -1}}},
		{[]string{one, push}, []session.Commit{{Branch: "main", Hash: "1a2b3c4", Subject: "Skip rows", Pushed: 1}}},
		{[]string{one, rejected}, []session.Commit{{Branch: "main", Hash: "1a2b3c4", Subject: "Skip rows", Pushed: -1}}},
		{[]string{push, one}, []session.Commit{{Event: 1, Branch: "main", Hash: "1a2b3c4", Subject: "Skip rows", Pushed: -1}}},
		{[]string{"$ git commit -m x => [detached HEAD (root-commit) 1a2b3c4] x", "$ git push => Everything up-to-date"}, []session.Commit{{Hash: "1a2b3c4", Subject: "x", Pushed: 1}}},
		{[]string{"$ git commit -qm x => ", "$ git commit -m x => exit 1: hook failed", "$ cat log => 1a2b3c4 x"}, nil},
	} {
		if diff := cmp.Diff(c.want, told(c.steps...).Commits); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.steps, diff)
		}
	}
}

// TestFiles: what is known of a file after edits and commands. It is one file under all its names.
func TestFiles(t *testing.T) {
	const edit, write = "Edit /w/a.go => The file has been updated.", "Write /w/a.go => File created successfully at: /w/a.go"
	for _, c := range []struct {
		steps []string
		path  string
		want  string // how many edits and files; created, deleted
	}{
		{[]string{edit, edit}, "/w/a.go", "2 1 false false"},
		{[]string{write}, "/w/a.go", "1 1 true false"},
		{[]string{edit, "$ rm a.go => "}, "/w/a.go", "2 1 false true"},
		{[]string{write, "$ rm ./a.go => ", write}, "/w/a.go", "3 1 true false"},
		{[]string{edit, "$ mv a.go sub/../b.go => "}, "/w/a.go", "2 2 false true"},
		{[]string{edit, "$ mv a.go sub/../b.go => "}, "/w/b.go", "1 2 false false"},
		{[]string{edit, "$ git checkout -- a.go => "}, "/w/a.go", "2 1 false false"},
		{[]string{"Edit /w/a.go => exit 1: not found"}, "/w/a.go", "0 1 false false"},
		{[]string{"Edit C:\\w\\A.go => The file has been updated.", "Read c:/w/a.go => x"}, "C:\\w\\a.go", "1 1 false false"},
	} {
		s := told(c.steps...)
		i := slices.IndexFunc(s.Files, func(f *session.File) bool { return transcript.PathKey(f.Path) == transcript.PathKey(c.path) })
		if i < 0 {
			t.Errorf("%q: no file %s", c.steps, c.path)
			continue
		}
		f := s.Files[i]
		if got := fmt.Sprint(len(f.Edits), len(s.Files), f.Created, f.Deleted); got != c.want {
			t.Errorf("%q: %s, want %s", c.steps, got, c.want)
		}
	}
}

// TestPlan: a plan is what the last call that did not fail has left of it.
func TestPlan(t *testing.T) {
	const two, one = `TodoWrite {"todos":[{"content":"parse","status":"completed"},{"content":"count","status":"pending"}]} => ok`, `TodoWrite {"todos":[{"content":"parse","status":"in_progress"}]}`
	for _, c := range []struct {
		steps []string
		want  string
	}{
		{[]string{two}, "count"},
		{[]string{two, one + " => ok"}, "parse"},
		{[]string{two, one + " => exit 1: no"}, "count"},
		{[]string{one + " => exit 1: no"}, ""},
		{[]string{two, `TodoWrite {"todos":[]} => ok`}, ""},
		{[]string{`TaskCreate {"subject":"parse"} => Task #1 created successfully: parse`, `TaskCreate {"subject":"count"} => Task #2 created successfully: count`, `TaskUpdate {"taskId":"1","status":"completed"} => ok`}, "count"},
	} {
		var got []string
		p := told(c.steps...).Plan
		for _, step := range p.Unfinished() {
			got = append(got, step.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: open %q, want %q", c.steps, got, c.want)
		}
	}
}

// TestPlanIsLookedAt: a listing that changes nothing is not the newest change of a plan.
func TestPlanIsLookedAt(t *testing.T) {
	for list, want := range map[string]int32{"#1 [pending] parse": 0, "#1 [completed] parse": 1} {
		if got := told(`TaskCreate {"subject":"parse"} => Task #1 created successfully: parse`, "TaskList {} => "+list).Plan.Event; got != want {
			t.Errorf("%s: changed by call %d, want %d", list, got, want)
		}
	}
}
