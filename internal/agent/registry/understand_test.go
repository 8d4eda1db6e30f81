package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// clientOf returns the client of the first row that knows the tool, or of the first row.
func clientOf(tool string) *transcript.Client {
	for _, f := range (registry.Table{}).All() {
		if f.Client.Op(tool) != transcript.Other {
			return f.Client
		}
	}
	return registry.Table{}.All()[0].Client
}

func TestUnderstand(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: new.go\n+x\n*** Update File: a b.go\n*** Move to: c.go\n@@\n-a\n+b\n*** Delete File: d.go\n*** End Patch"
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	files := []transcript.FileChange{{Op: transcript.Write, Path: "new.go"}, {Op: transcript.Rename, Path: "a b.go", To: "c.go"}, {Op: transcript.Delete, Path: "d.go"}}
	heredoc := "apply_patch <<'EOF'\n" + patch + "\nEOF"
	for _, c := range []struct {
		tool, input string
		want        transcript.Action
	}{
		{"Bash", `{"command":"go test","description":"Run tests"}`, transcript.Action{Op: transcript.Command, Command: "go test", Query: "Run tests"}},
		{"BashOutput", `{"bash_id":"b1"}`, transcript.Action{Op: transcript.Command, Stdin: true, Query: "b1", Job: "b1"}},
		{"Read", `{"file_path":"/a.go","offset":10,"limit":20}`, transcript.Action{Op: transcript.Read, Files: []transcript.FileChange{{Op: transcript.Read, Path: "/a.go"}}, Lines: [2]int{10, 20}}},
		{"Write", `{"file_path":"/a.go","content":"x"}`, transcript.Action{Op: transcript.Write, Files: []transcript.FileChange{{Op: transcript.Write, Path: "/a.go"}}}},
		{"MultiEdit", `{"file_path":"/a.go","edits":[]}`, transcript.Action{Op: transcript.Edit, Files: []transcript.FileChange{{Op: transcript.Edit, Path: "/a.go"}}}},
		{"NotebookEdit", `{"notebook_path":"/a.ipynb"}`, transcript.Action{Op: transcript.Edit, Files: []transcript.FileChange{{Op: transcript.Edit, Path: "/a.ipynb"}}}},
		{"Grep", `{"pattern":"x+","path":"src"}`, transcript.Action{Op: transcript.Search, Query: "x+ in src"}},
		{"LS", `{"path":"/src"}`, transcript.Action{Op: transcript.Search, Query: "/src"}},
		{"WebFetch", `{"url":"https://example.invalid","prompt":"p"}`, transcript.Action{Op: transcript.Web, Query: "https://example.invalid"}},
		{"TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"id":"7","content":"b"}]}`, transcript.Action{Op: transcript.Plan, Replace: true, Plan: []transcript.PlanItem{{Key: "a", Text: "a", Status: "completed"}, {Key: "7", Text: "b", Status: "pending"}}}},
		{"TaskCreate", `{"subject":"a","description":"long"}`, transcript.Action{Op: transcript.Plan, Plan: []transcript.PlanItem{{Text: "a", Status: "pending"}}}},
		{"TaskUpdate", `{"taskId":"3","status":"completed"}`, transcript.Action{Op: transcript.Plan, Plan: []transcript.PlanItem{{Key: "3", Status: "completed"}}}},
		{"AskUserQuestion", `{"questions":[{"question":"A?"},{"question":"B?"}]}`, transcript.Action{Op: transcript.Ask, Query: "A? / B?"}},
		{"ExitPlanMode", `{"plan":"# Plan\nx"}`, transcript.Action{Op: transcript.Ask, Query: "# Plan"}},
		{"Task", `{"description":"Find it","prompt":"p"}`, transcript.Action{Op: transcript.Agent, Query: "Find it"}},
		{"mcp__tickets__get", `{"id":"T-1"}`, transcript.Action{Op: transcript.Other, Query: "T-1"}},
		{"shell", quoted(`{"command":["bash","-lc","cd x && make"],"workdir":"/p"}`), transcript.Action{Op: transcript.Command, Command: "cd x && make", Dir: "/p"}},
		{"shell<|channel|>", quoted(`{"command":["ls","my dir","it's"]}`), transcript.Action{Op: transcript.Command, Command: `ls 'my dir' 'it'\''s'`}},
		{"shell_command", quoted(`{"command":"ls -la"}`), transcript.Action{Op: transcript.Command, Command: "ls -la"}},
		{"exec_command", quoted(`{"cmd":"ls","workdir":"/p"}`), transcript.Action{Op: transcript.Command, Command: "ls", Dir: "/p"}},
		{"write_stdin", quoted(`{"session_id":1,"chars":"y\n"}`), transcript.Action{Op: transcript.Command, Command: "y\n", Stdin: true, Job: "1"}},
		{"local_shell", `{"type":"exec","command":["/usr/bin/zsh","-lc","pwd"],"working_directory":"/p"}`, transcript.Action{Op: transcript.Command, Command: "pwd", Dir: "/p"}},
		{"apply_patch", quoted(patch), transcript.Action{Op: transcript.Edit, Files: files}},
		{"apply_patch", quoted(`{"input":` + quoted(patch) + `}`), transcript.Action{Op: transcript.Edit, Files: files}},
		{"shell", quoted(`{"command":["bash","-lc",` + quoted(heredoc) + `]}`), transcript.Action{Op: transcript.Edit, Files: files, Command: heredoc}},
		{"apply_patch", quoted("*** Begin Patch\n*** Delete File: d.go\n*** End Patch"), transcript.Action{Op: transcript.Delete, Files: []transcript.FileChange{{Op: transcript.Delete, Path: "d.go"}}}},
		{"Bash", `{"command":"echo '*** Begin Patch'"}`, transcript.Action{Op: transcript.Command, Command: "echo '*** Begin Patch'"}},
		{"update_plan", quoted(`{"plan":[{"step":"a","status":"in_progress"}]}`), transcript.Action{Op: transcript.Plan, Replace: true, Plan: []transcript.PlanItem{{Key: "a", Text: "a", Status: "in_progress"}}}},
		{"view_image", quoted(`{"path":"a.png"}`), transcript.Action{Op: transcript.Read, Files: []transcript.FileChange{{Op: transcript.Read, Path: "a.png"}}}},
		{"web_search", `{"type":"search","query":"","queries":["q1","q2"]}`, transcript.Action{Op: transcript.Web, Query: "q1"}},
		{"web_search", `{"type":"openPage","url":"https://example.invalid"}`, transcript.Action{Op: transcript.Web, Query: "https://example.invalid"}},
		{"request_user_input", quoted(`{"questions":[{"question":"A?"}]}`), transcript.Action{Op: transcript.Ask, Query: "A?"}},
		{"Bash", `{"command":`, transcript.Action{Op: transcript.Command}},
		{"Bash", `"ls"`, transcript.Action{Op: transcript.Command, Command: "ls"}},
		{"Read", `[]`, transcript.Action{Op: transcript.Read}},
		{"", ``, transcript.Action{}},
	} {
		t.Run(c.tool+" "+c.input, func(t *testing.T) {
			if diff := cmp.Diff(c.want, clientOf(c.tool).Understand(c.tool, []byte(c.input))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		name, tool, raw string
		failed          bool
		want            transcript.Outcome
	}{
		{"bash ok", "Bash", `"a\n"`, false, transcript.Outcome{Text: "a\n", HasExit: true}},
		{"bash failed", "Bash", `"Exit code 2\nboom"`, true, transcript.Outcome{Text: "boom", Exit: 2, HasExit: true, Failed: true}},
		{"bash failed without output", "Bash", `"Exit code 1"`, true, transcript.Outcome{Exit: 1, HasExit: true, Failed: true}},
		{"bash prints an exit code", "Bash", `"Exit code 2\nboom"`, false, transcript.Outcome{Text: "Exit code 2\nboom", HasExit: true}},
		{"bash error without status", "Bash", `"Command timed out after 2m"`, true, transcript.Outcome{Text: "Command timed out after 2m", Failed: true}},
		{"bash in the background", "Bash", `"Command running in background with ID: b1. Output is being written to: /x"`, false, transcript.Outcome{Text: "Command running in background with ID: b1. Output is being written to: /x", Running: true, Job: "b1"}},
		{"background done", "BashOutput", `"<status>completed</status>\n\n<exit_code>3</exit_code>\n\n<stdout>\nx\n</stdout>"`, false, transcript.Outcome{Text: "<status>completed</status>\n\n<exit_code>3</exit_code>\n\n<stdout>\nx\n</stdout>", Exit: 3, HasExit: true, Failed: true}},
		{"tool error", "Edit", `"<tool_use_error>String to replace not found</tool_use_error>"`, true, transcript.Outcome{Text: "String to replace not found", Failed: true}},
		{"refused", "Bash", `"The user doesn't want to proceed with this tool use. STOP"`, true, transcript.Outcome{Text: "The user doesn't want to proceed with this tool use. STOP", Failed: true, Rejected: true}},
		{"no permission", "Write", `"Permission to use Write has been denied."`, true, transcript.Outcome{Text: "Permission to use Write has been denied.", Failed: true, Rejected: true}},
		{"spilled", "Bash", `"<persisted-output>\nOutput too large (91KB). Full output saved to: /h/s/tool-results/b1.txt\n\nPreview (first 2KB):\n1\n</persisted-output>"`, false, transcript.Outcome{Text: "<persisted-output>\nOutput too large (91KB). Full output saved to: /h/s/tool-results/b1.txt\n\nPreview (first 2KB):\n1\n</persisted-output>", HasExit: true, Spilled: "/h/s/tool-results/b1.txt"}},
		{"a text that speaks of it", "Read", `"1\tFull output saved to: /etc/passwd"`, false, transcript.Outcome{Text: "1\tFull output saved to: /etc/passwd"}},
		{"image", "Read", `[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","data":"AA=="}},{"type":"text","text":"b"}]`, false, transcript.Outcome{Text: "a\nb", Images: 1}},
		{"task created", "TaskCreate", `"Task #3 created successfully: x"`, false, transcript.Outcome{Text: "Task #3 created successfully: x", PlanID: "3"}},
		{"agent", "Agent", `[{"type":"text","text":"done"},{"type":"text","text":"agentId: a1b2 (for resuming)"}]`, false, transcript.Outcome{Text: "done\nagentId: a1b2 (for resuming)", AgentID: "a1b2"}},
		{"spawned", "spawn_agent", `"{\"agent_id\":\"0199-ab\",\"nickname\":\"x\"}"`, false, transcript.Outcome{Text: `{"agent_id":"0199-ab","nickname":"x"}`, AgentID: "0199-ab"}},
		{"codex object", "shell", `"{\"output\":\"a\\n\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.5}}"`, true, transcript.Outcome{Text: "a\n", Exit: 1, HasExit: true, Failed: true}},
		{"codex head", "shell_command", `"Exit code: 0\nWall time: 1.5 seconds\nTotal output lines: 9\nOutput:\nExit code: 7\n"`, false, transcript.Outcome{Text: "Exit code: 7\n", HasExit: true}},
		{"codex exec", "exec_command", `"Chunk ID: ab\nWall time: 0.1000 seconds\nProcess exited with code 2\nOriginal token count: 1\nOutput:\n"`, true, transcript.Outcome{Exit: 2, HasExit: true, Failed: true}},
		{"codex running", "exec_command", `"Chunk ID: ab\nWall time: 10.0 seconds\nProcess running with session ID 5\nOutput:\nx"`, false, transcript.Outcome{Text: "x", Running: true, Job: "5"}},
		{"codex, no status", "shell", `"something else"`, false, transcript.Outcome{Text: "something else"}},
		{"codex refused", "shell", `"exec command rejected by user"`, true, transcript.Outcome{Text: "exec command rejected by user", Failed: true, Rejected: true}},
		{"codex object output", "shell", `{"content":"a","success":false}`, true, transcript.Outcome{Text: "a", Failed: true}},
		{"streams", "run_shell_command", `{"stdout":"a","stderr":"b","exitCode":3}`, false, transcript.Outcome{Text: "a\nb", Exit: 3, HasExit: true, Failed: true}},
		{"not json", "Bash", `"torn`, false, transcript.Outcome{Text: `"torn`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			by := clientOf(c.tool)
			if diff := cmp.Diff(c.want, by.Explain(c.tool, by.Op(c.tool), []byte(c.raw), c.failed)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
