package transcript

import (
	"fmt"
	"path"
	"strings"
	"testing"
)

// TestDeepCommands: a command that nests too deep, or is too long, is not read; none of them exhausts the stack.
func TestDeepCommands(t *testing.T) {
	for _, one := range []string{"(", "((", "$(", "$[", "${a:-", "{ ", "if ", "while ", "! ", "a | ", "a && ", "`\\", "`a`"} {
		for _, size := range []int{maxShell, 4 * maxShell} {
			if _, ok := SplitCommand(strings.Repeat(one, size/len(one))); ok {
				t.Errorf("%d bytes of %q are a command", size, one)
			}
		}
	}
	if _, ok := SplitCommand("python3 - '" + strings.Repeat("f(x)[0] ", 2000) + "'"); !ok {
		t.Error("closed brackets count")
	}
	if got := NormalizeRun("/w", strings.Repeat("cd a;", maxShell)+"x"); got.Dir != "/w" {
		t.Errorf("a command that is too long is taken apart: %.40q", got.Dir)
	}
}

func TestChangesNeedProof(t *testing.T) {
	run := func(cmd string, o Outcome) string {
		a := Action{Op: Command, Command: cmd}
		inShell(&a, "Bash", Node{})
		a.Resolve("/w")
		var all []string
		for _, f := range a.Changes(&o) {
			all = append(all, fmt.Sprint(f.Op, f.Path))
		}
		return strings.Join(all, " ")
	}
	ok := Outcome{HasExit: true}
	for _, c := range []struct {
		cmd  string
		o    Outcome
		want string
	}{
		{"rm a", ok, fmt.Sprint(Delete, "/w/a")},
		{"rm ~/a", ok, fmt.Sprint(Delete, "~/a")},
		{"rm a; ls", ok, fmt.Sprint(Delete, "/w/a")},
		{"rm a; ls", Outcome{HasExit: true, Text: "rm: cannot remove 'a': No such file or directory\nb"}, fmt.Sprint(Other, "/w/a")},
		{"rm a; ls", Outcome{HasExit: true, Spilled: "/x"}, fmt.Sprint(Other, "/w/a")},
		{"rm a", Outcome{HasExit: true, Exit: 1, Failed: true}, fmt.Sprint(Other, "/w/a")},
		{"rm a", Outcome{Text: "no status"}, fmt.Sprint(Other, "/w/a")},
		{"rm a", Outcome{HasExit: true, Running: true}, fmt.Sprint(Other, "/w/a")},
		{"rm a", Outcome{Rejected: true, Failed: true}, ""},
		{"cat a", Outcome{HasExit: true, Exit: 1, Failed: true}, ""},
		{"gofmt -w a.go", ok, fmt.Sprint(Other, "/w/a.go")},
	} {
		if got := run(c.cmd, c.o); got != c.want {
			t.Errorf("%q %+v: got %q, want %q", c.cmd, c.o, got, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ cwd, dir, path, want string }{
		{"/w", "", "a.go", "/w/a.go"},
		{"/w", "sub", "./a.go", "/w/sub/a.go"},
		{"/w", "/x", "../a.go", "/a.go"},
		{"/w", "./", "/abs/../a.go", "/a.go"},
		{"", "", "a.go", "a.go"},
		{"", "sub", "a.go", "sub/a.go"},
		{"/w", "", "~/a.go", "~/a.go"},
		{`C:\w`, "", "src/a.go", `C:\w\src\a.go`},
		{`C:\w`, "", `D:\a.go`, `D:\a.go`},
		{`\\host\w`, "sub", `..\a.go`, `\\host\w\a.go`},
		{"/w", "", "", ""},
	} {
		a := Action{Op: Edit, Dir: c.dir, Files: []FileChange{{Op: Rename, Path: c.path, To: c.path}}}
		a.Resolve(c.cwd)
		if a.Files[0].Path != c.want || a.Files[0].To != c.want {
			t.Errorf("%+v: got %+v", c, a.Files[0])
		}
	}
	c := &Client{Ops: map[string]Op{"bash": Command, "powershell": Command, "shell": Command}}
	a := c.Understand("Bash", []byte(`{"command":"rm a"}`))
	a.Resolve(`C:\w`)
	if a.Files[0].Proof != Silence {
		t.Error("the status of a shell of Windows proves a change")
	}
	if a := c.Understand("PowerShell", []byte(`{"command":"rm a"}`)); len(a.Files) > 0 {
		t.Errorf("%+v", a.Files)
	}
	if a := c.Understand("shell", []byte(`{"command":["powershell.exe","-Command","rm a"]}`)); len(a.Files) > 0 {
		t.Errorf("%+v", a.Files)
	}
	in := `{"command":["bash","-lc","cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch\nEOF"]}`
	if a := c.Understand("shell", []byte(in)); len(a.Files) != 1 || a.Files[0].Path != "sub/a.go" {
		t.Errorf("%+v", a.Files)
	}
}

func FuzzShell(f *testing.F) {
	for _, s := range []string{"cd a && rm b", "cat <<'E' > f\nx\nE\n", "a \"$(b 'c')\" | d; e", "x 2>&1 >>y", "`a` ${b} $((1+2)) $'c'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cmd string) {
		for _, c := range shellChanges(cmd) {
			if c.Path == "" || len(c.Path) > 2*len(cmd)+2 {
				t.Errorf("%q: path %q", cmd, c.Path)
			}
			// What is claimed stands in the command, apart from quotes and needless elements.
			if c.Op == Delete && !strings.ContainsAny(cmd, `'"\/`) && !strings.Contains(cmd, path.Base(c.Path)) {
				t.Errorf("%q: claims %q", cmd, c.Path)
			}
		}
		// In quotes nothing is a command.
		quoted := "echo '" + strings.ReplaceAll(cmd, "'", "") + "'"
		for _, c := range shellChanges(quoted) {
			t.Errorf("%q: claims %+v", quoted, c)
		}
	})
}
