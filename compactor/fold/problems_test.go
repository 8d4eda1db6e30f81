package fold

import (
	"fmt"
	"testing"
)

func TestProblemsAreClosedByTheSame(t *testing.T) {
	const a = "/home/me/ledger/a.go"
	failsTool := func(s *session, tool string, in map[string]any) {
		id := fmt.Sprintf("f-%d", s.n)
		s.call(id, tool, in)
		s.result(id, "<tool_use_error>it did not go</tool_use_error>", true)
	}
	edit := map[string]any{"file_path": a, "old_string": "x", "new_string": "y"}
	read := map[string]any{"file_path": a}
	for _, c := range []struct {
		name string
		do   func(s *session)
		open int
	}{
		{"the same command", func(s *session) { s.fails("make", "error: no", 2); s.bash("make", "ok") }, 0},
		{"with another prefix and suffix", func(s *session) {
			s.fails("cd /home/me/ledger && make 2>&1 | tail -3", "error: no", 2)
			s.bash("CC=gcc timeout 30 make", "ok")
		}, 0},
		{"in another directory", func(s *session) { s.fails("make", "error: no", 2); s.bash("cd sub && make", "ok") }, 1},
		{"another command", func(s *session) { s.fails("make", "error: no", 2); s.bash("make all", "ok") }, 1},
		{"the status of a filter", func(s *session) { s.fails("make", "error: no", 2); s.bash("make | tail -3", "error: no") }, 1},
		{"failed again", func(s *session) { s.fails("make", "error: no", 2); s.fails("make", "error: no", 2) }, 1},
		{"an edit by an edit", func(s *session) { failsTool(s, "Edit", edit); s.edit(a, "x", "y") }, 0},
		{"an edit by a write", func(s *session) { failsTool(s, "Edit", edit); s.write(a, "x") }, 0},
		{"an edit not by a read", func(s *session) { failsTool(s, "Edit", edit); s.read(a, "x") }, 1},
		{"a read is none", func(s *session) { failsTool(s, "Read", read) }, 0},
		{"a search is none", func(s *session) { failsTool(s, "Grep", map[string]any{"pattern": "x"}) }, 0},
		{"an edit below a directory that is deleted", func(s *session) { failsTool(s, "Edit", edit); s.bash("rm -rf /home/me/ledger", "") }, 0},
		{"an edit not by what deletes another file", func(s *session) { failsTool(s, "Edit", edit); s.bash("rm b.go", "") }, 1},
		{"an edit by the shell", func(s *session) { failsTool(s, "Edit", edit); s.bash("cat > a.go <<'EOF'\nx\nEOF", "") }, 0},
		{"an edit by what deletes the file", func(s *session) { failsTool(s, "Edit", edit); s.bash("rm a.go", "") }, 0},
	} {
		s := newSession()
		s.human("Make it.")
		c.do(s)
		if got := len(s.fold(t).Problems()); got != c.open {
			t.Errorf("%s: %d problems, want %d", c.name, got, c.open)
		}
	}
}

// stateOf is what is known of a command, as text.
func stateOf(c *Command) string {
	switch {
	case c.Stopped:
		return fmt.Sprintf("`%s` (stopped)", c.Text)
	case c.Ended:
		return fmt.Sprintf("`%s` -> %d", c.Text, c.Exit)
	case c.Pending:
		return fmt.Sprintf("`%s` (no result yet)", c.Text)
	}
	return c.Text
}

func TestCommandsInTheBackground(t *testing.T) {
	start := func(s *session, cmd string) {
		s.bash(cmd, "Command running in background with ID: b1. Output is being written to: /tmp/b1")
	}
	for _, c := range []struct {
		name string
		do   func(s *session)
		want string
		open int
	}{
		{"going on", func(s *session) { start(s, "make") }, "`make` (no result yet)", 0},
		{"asked for too early", func(s *session) {
			start(s, "make")
			s.do("BashOutput", map[string]any{"bash_id": "b1"}, "<status>running</status>\n<stdout>x</stdout>")
		}, "`make` (no result yet)", 0},
		{"ended", func(s *session) {
			start(s, "make")
			s.do("BashOutput", map[string]any{"bash_id": "b1"}, "<status>completed</status>\n<exit_code>0</exit_code>")
		}, "`make` -> 0", 0},
		{"failed", func(s *session) {
			start(s, "make")
			s.do("BashOutput", map[string]any{"bash_id": "b1"}, "<status>failed</status>\n<exit_code>2</exit_code>\n<stdout>error: no</stdout>")
		}, "`make` -> 2", 1},
		{"stopped", func(s *session) {
			start(s, "make")
			s.do("KillShell", map[string]any{"shell_id": "b1"}, "Successfully killed shell: b1")
		}, "`make` (stopped)", 0},
		{"told by the client", func(s *session) {
			start(s, "make")
			s.human("<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n<summary>Background command \"make\" failed with exit code 3</summary>\n</task-notification>")
		}, "`make` -> 3", 1},
		{"another one", func(s *session) {
			start(s, "make")
			s.do("BashOutput", map[string]any{"bash_id": "b2"}, "<status>completed</status>\n<exit_code>0</exit_code>")
		}, "`make` (no result yet)", 0},
		{"run again", func(s *session) {
			start(s, "make")
			s.bash("make", "ok")
			s.do("BashOutput", map[string]any{"bash_id": "b1"}, "<status>failed</status>\n<exit_code>2</exit_code>")
		}, "`make` -> 0", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSession()
			s.human("Make it.")
			c.do(s)
			if got := len(s.fold(t).Problems()); got != c.open {
				t.Errorf("%d problems, want %d", got, c.open)
			}
			f := s.fold(t)
			cmd := f.Commands()[0]
			got := stateOf(cmd)
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if jobs := f.Jobs(); (len(jobs) == 1 && jobs[0].Name == "b1") != cmd.Pending {
				t.Errorf("%+v go on", jobs)
			}
		})
	}
}

// goalCases are commands that fail, such as succeed later, and how many problems are left.
var goalCases = []struct {
	failed, then string
	open         int
}{
	{"go test ./money -run TestCents", "go test ./money", 0},
	{"go test ./money -run TestCents", "go test ./...", 0},
	{"go test ./money", "go test ./money -run TestCents", 1},
	{"go test ./money -run TestA", "go test ./money -run TestB", 1},
	{"go test ./money -run TestA", "go test -count=1 -run TestA ./...", 0},
	{"go test ./...", "go test ./money", 1},
	{"go test ./money/...", "go test ./money", 1},
	{"go test ./money", "go vet ./money", 1},
	{"go test ./money", "cd money && go test", 0},
	{"go test ./money", "cd export && go test", 1},
	{"go test ./money", "go test ./money; echo $?", 1},
	{"pytest tests/test_a.py::test_one", "pytest tests/test_a.py", 0},
	{"pytest tests/test_a.py::test_one", "pytest -q", 0},
	{"pytest tests/test_a.py", "python -m pytest tests", 0},
	{"python3 -m pytest tests/test_a.py -x", ".venv/bin/pytest tests/test_a.py", 0},
	{"pytest tests/test_a.py", "pytest tests/test_b.py", 1},
	{"pytest", "pytest tests/test_b.py", 1},
	{"pytest tests", "pytest -k cents tests", 1},
	{"pytest tests", "pytest --collect-only tests", 1},
	{"npm run build", "npm run build -- --verbose", 0},
	{"npm run build", "npm run lint", 1},
	{"npm run build && npm test", "npm run build", 1},
	{"npm run build && npm test", "npm run build && npm test -- --silent", 0},
	{"make test", "make test | tail -3", 0},
	{"make", "make --version", 1},
	{"make -C web", "cd web && make", 0},
	{"git push", "git push -u origin main", 0},
	{"git push", "cd web && git push", 0},
	{"git push", "git pull", 1},
	{"git merge a", "git merge b", 1},
	{"python3 check.py --all", "python3 check.py", 0},
	{"python3 check.py", "python3 other.py", 1},
	{"python3 check.py", `python3 -c "print(1)"`, 1},
	{"./build.sh --fast", "./build.sh", 0},
	{"curl -sf http://localhost:8080/health", "curl http://localhost:8080/health", 0},
	{"curl -sf http://localhost:8080/health", "curl http://localhost:8080/", 1},
	{"curl -X POST http://localhost:8080/health", "curl http://localhost:8080/health", 1},
	{"sudo FOO=1 cargo build", "cargo build", 0},
	{"mkdir -p out && go build ./cmd/x", "go build ./cmd/x", 0},
	{"cp a b", "go build ./cmd/x", 1},
	{"for d in a b; do make $d; done", "make", 1},
	{"make all || true", "make all", 0},
	{"make all", "make all || true", 1},
}

// A success of the same goal makes a failure good, though the command is another one.
func TestProblemsAreClosedByTheGoal(t *testing.T) {
	for _, c := range goalCases {
		s := newSession()
		s.human("Make it.")
		s.fails(c.failed, "error: no", 2)
		s.bash(c.then, "ok")
		if got := len(s.fold(t).Problems()); got != c.open {
			t.Errorf("%q, then %q: %d problems, want %d", c.failed, c.then, got, c.open)
		}
	}
	s := newSession()
	s.human("Make it.")
	s.fails("npm run build && npm test", "error: no", 2)
	s.bash("npm test", "ok")
	s.bash("npm run build", "ok")
	s.fails("go test ./money", "error: no", 2)
	s.bash("go test ./... | tail -3", "FAIL: money")
	if f := s.fold(t); len(f.Problems()) != 1 || !f.IsOpen(f.Problems()[0].Result) {
		t.Errorf("%d problems, want the tests' alone", len(f.Problems()))
	}
}
