package transcript

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestUnderstand(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: new.go\n+x\n*** Update File: a b.go\n*** Move to: c.go\n@@\n-a\n+b\n*** Delete File: d.go\n*** End Patch"
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	files := []FileChange{{Op: Write, Path: "new.go"}, {Op: Rename, Path: "a b.go", To: "c.go"}, {Op: Delete, Path: "d.go"}}
	heredoc := "apply_patch <<'EOF'\n" + patch + "\nEOF"
	for _, c := range []struct {
		tool, input string
		want        Action
	}{
		{"Bash", `{"command":"go test","description":"Run tests"}`, Action{Op: Command, Command: "go test", Query: "Run tests"}},
		{"BashOutput", `{"bash_id":"b1"}`, Action{Op: Command, Stdin: true, Query: "b1", Job: "b1"}},
		{"Read", `{"file_path":"/a.go","offset":10,"limit":20}`, Action{Op: Read, Files: []FileChange{{Op: Read, Path: "/a.go"}}, Lines: [2]int{10, 20}}},
		{"Write", `{"file_path":"/a.go","content":"x"}`, Action{Op: Write, Files: []FileChange{{Op: Write, Path: "/a.go"}}}},
		{"MultiEdit", `{"file_path":"/a.go","edits":[]}`, Action{Op: Edit, Files: []FileChange{{Op: Edit, Path: "/a.go"}}}},
		{"NotebookEdit", `{"notebook_path":"/a.ipynb"}`, Action{Op: Edit, Files: []FileChange{{Op: Edit, Path: "/a.ipynb"}}}},
		{"Grep", `{"pattern":"x+","path":"src"}`, Action{Op: Search, Query: "x+ in src"}},
		{"LS", `{"path":"/src"}`, Action{Op: Search, Query: "/src"}},
		{"WebFetch", `{"url":"https://example.invalid","prompt":"p"}`, Action{Op: Web, Query: "https://example.invalid"}},
		{"TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"id":"7","content":"b"}]}`, Action{Op: Plan, Replace: true, Plan: []PlanItem{{Key: "a", Text: "a", Status: "completed"}, {Key: "7", Text: "b", Status: "pending"}}}},
		{"TaskCreate", `{"subject":"a","description":"long"}`, Action{Op: Plan, Plan: []PlanItem{{Text: "a", Status: "pending"}}}},
		{"TaskUpdate", `{"taskId":"3","status":"completed"}`, Action{Op: Plan, Plan: []PlanItem{{Key: "3", Status: "completed"}}}},
		{"AskUserQuestion", `{"questions":[{"question":"A?"},{"question":"B?"}]}`, Action{Op: Ask, Query: "A? / B?"}},
		{"ExitPlanMode", `{"plan":"# Plan\nx"}`, Action{Op: Ask, Query: "# Plan"}},
		{"Task", `{"description":"Find it","prompt":"p"}`, Action{Op: Agent, Query: "Find it"}},
		{"mcp__tickets__get", `{"id":"T-1"}`, Action{Op: Other, Query: "T-1"}},
		{"shell", quoted(`{"command":["bash","-lc","cd x && make"],"workdir":"/p"}`), Action{Op: Command, Command: "cd x && make", Dir: "/p"}},
		{"shell<|channel|>", quoted(`{"command":["ls","my dir","it's"]}`), Action{Op: Command, Command: `ls 'my dir' 'it'\''s'`}},
		{"shell_command", quoted(`{"command":"ls -la"}`), Action{Op: Command, Command: "ls -la"}},
		{"exec_command", quoted(`{"cmd":"ls","workdir":"/p"}`), Action{Op: Command, Command: "ls", Dir: "/p"}},
		{"write_stdin", quoted(`{"session_id":1,"chars":"y\n"}`), Action{Op: Command, Command: "y\n", Stdin: true, Job: "1"}},
		{"local_shell", `{"type":"exec","command":["/usr/bin/zsh","-lc","pwd"],"working_directory":"/p"}`, Action{Op: Command, Command: "pwd", Dir: "/p"}},
		{"apply_patch", quoted(patch), Action{Op: Edit, Files: files}},
		{"apply_patch", quoted(`{"input":` + quoted(patch) + `}`), Action{Op: Edit, Files: files}},
		{"shell", quoted(`{"command":["bash","-lc",` + quoted(heredoc) + `]}`), Action{Op: Edit, Files: files, Command: heredoc}},
		{"apply_patch", quoted("*** Begin Patch\n*** Delete File: d.go\n*** End Patch"), Action{Op: Delete, Files: []FileChange{{Op: Delete, Path: "d.go"}}}},
		{"Bash", `{"command":"echo '*** Begin Patch'"}`, Action{Op: Command, Command: "echo '*** Begin Patch'"}},
		{"update_plan", quoted(`{"plan":[{"step":"a","status":"in_progress"}]}`), Action{Op: Plan, Replace: true, Plan: []PlanItem{{Key: "a", Text: "a", Status: "in_progress"}}}},
		{"view_image", quoted(`{"path":"a.png"}`), Action{Op: Read, Files: []FileChange{{Op: Read, Path: "a.png"}}}},
		{"web_search", `{"type":"search","query":"","queries":["q1","q2"]}`, Action{Op: Web, Query: "q1"}},
		{"web_search", `{"type":"openPage","url":"https://example.invalid"}`, Action{Op: Web, Query: "https://example.invalid"}},
		{"request_user_input", quoted(`{"questions":[{"question":"A?"}]}`), Action{Op: Ask, Query: "A?"}},
		{"Bash", `{"command":`, Action{Op: Command}},
		{"Bash", `"ls"`, Action{Op: Command, Command: "ls"}},
		{"Read", `[]`, Action{Op: Read}},
		{"", ``, Action{}},
	} {
		t.Run(c.tool+" "+c.input, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Understand(c.tool, []byte(c.input))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		name, tool, raw string
		failed          bool
		want            Outcome
	}{
		{"bash ok", "Bash", `"a\n"`, false, Outcome{Text: "a\n", HasExit: true}},
		{"bash failed", "Bash", `"Exit code 2\nboom"`, true, Outcome{Text: "boom", Exit: 2, HasExit: true, Failed: true}},
		{"bash failed without output", "Bash", `"Exit code 1"`, true, Outcome{Exit: 1, HasExit: true, Failed: true}},
		{"bash prints an exit code", "Bash", `"Exit code 2\nboom"`, false, Outcome{Text: "Exit code 2\nboom", HasExit: true}},
		{"bash error without status", "Bash", `"Command timed out after 2m"`, true, Outcome{Text: "Command timed out after 2m", Failed: true}},
		{"bash in the background", "Bash", `"Command running in background with ID: b1. Output is being written to: /x"`, false, Outcome{Text: "Command running in background with ID: b1. Output is being written to: /x", Running: true, Job: "b1"}},
		{"background done", "BashOutput", `"<status>completed</status>\n\n<exit_code>3</exit_code>\n\n<stdout>\nx\n</stdout>"`, false, Outcome{Text: "<status>completed</status>\n\n<exit_code>3</exit_code>\n\n<stdout>\nx\n</stdout>", Exit: 3, HasExit: true, Failed: true}},
		{"tool error", "Edit", `"<tool_use_error>String to replace not found</tool_use_error>"`, true, Outcome{Text: "String to replace not found", Failed: true}},
		{"refused", "Bash", `"The user doesn't want to proceed with this tool use. STOP"`, true, Outcome{Text: "The user doesn't want to proceed with this tool use. STOP", Failed: true, Rejected: true}},
		{"no permission", "Write", `"Permission to use Write has been denied."`, true, Outcome{Text: "Permission to use Write has been denied.", Failed: true, Rejected: true}},
		{"spilled", "Bash", `"<persisted-output>\nOutput too large (91KB). Full output saved to: /h/s/tool-results/b1.txt\n\nPreview (first 2KB):\n1\n</persisted-output>"`, false, Outcome{Text: "<persisted-output>\nOutput too large (91KB). Full output saved to: /h/s/tool-results/b1.txt\n\nPreview (first 2KB):\n1\n</persisted-output>", HasExit: true, Spilled: "/h/s/tool-results/b1.txt"}},
		{"a text that speaks of it", "Read", `"1\tFull output saved to: /etc/passwd"`, false, Outcome{Text: "1\tFull output saved to: /etc/passwd"}},
		{"image", "Read", `[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","data":"AA=="}},{"type":"text","text":"b"}]`, false, Outcome{Text: "a\nb", Images: 1}},
		{"task created", "TaskCreate", `"Task #3 created successfully: x"`, false, Outcome{Text: "Task #3 created successfully: x", PlanID: "3"}},
		{"agent", "Agent", `[{"type":"text","text":"done"},{"type":"text","text":"agentId: a1b2 (for resuming)"}]`, false, Outcome{Text: "done\nagentId: a1b2 (for resuming)", AgentID: "a1b2"}},
		{"spawned", "spawn_agent", `"{\"agent_id\":\"0199-ab\",\"nickname\":\"x\"}"`, false, Outcome{Text: `{"agent_id":"0199-ab","nickname":"x"}`, AgentID: "0199-ab"}},
		{"codex object", "shell", `"{\"output\":\"a\\n\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.5}}"`, true, Outcome{Text: "a\n", Exit: 1, HasExit: true, Failed: true, Duration: 500 * time.Millisecond}},
		{"codex head", "shell_command", `"Exit code: 0\nWall time: 1.5 seconds\nTotal output lines: 9\nOutput:\nExit code: 7\n"`, false, Outcome{Text: "Exit code: 7\n", HasExit: true, Duration: 1500 * time.Millisecond}},
		{"codex exec", "exec_command", `"Chunk ID: ab\nWall time: 0.1000 seconds\nProcess exited with code 2\nOriginal token count: 1\nOutput:\n"`, true, Outcome{Exit: 2, HasExit: true, Failed: true, Duration: 100 * time.Millisecond}},
		{"codex running", "exec_command", `"Chunk ID: ab\nWall time: 10.0 seconds\nProcess running with session ID 5\nOutput:\nx"`, false, Outcome{Text: "x", Running: true, Job: "5", Duration: 10 * time.Second}},
		{"codex, no status", "shell", `"something else"`, false, Outcome{Text: "something else"}},
		{"codex refused", "shell", `"exec command rejected by user"`, true, Outcome{Text: "exec command rejected by user", Failed: true, Rejected: true}},
		{"codex object output", "shell", `{"content":"a","success":false}`, true, Outcome{Text: "a", Failed: true}},
		{"streams", "run_shell_command", `{"stdout":"a","stderr":"b","exitCode":3}`, false, Outcome{Text: "a\nb", Exit: 3, HasExit: true, Failed: true}},
		{"not json", "Bash", `"torn`, false, Outcome{Text: `"torn`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Explain(c.tool, toolOp(c.tool), []byte(c.raw), c.failed)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
