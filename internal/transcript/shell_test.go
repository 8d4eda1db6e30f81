package transcript

import (
	"fmt"
	"path"
	"strings"
	"testing"
)

// told writes what is known of a command's files: "delete a", "rename a -> b (loose)", with "if silent" where only
// silence proves it.
func told(cmd string) string {
	var all []string
	for _, c := range shellChanges(cmd) {
		s := map[Op]string{
			Read: "read", Write: "write", Edit: "edit", Delete: "delete", Rename: "rename", Revert: "revert", Touch: "touch", Other: "perhaps",
		}[c.Op] + " " + c.Path
		if c.Tree && c.Op != Rename {
			s += "/"
		}
		if c.To != "" {
			s += " -> " + c.To
		}
		if c.Loose {
			s += " (loose)"
		}
		if c.Proof == Silence {
			s += " if silent"
		}
		if c.known {
			s += fmt.Sprintf(" %q", c.text)
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

func TestShellChanges(t *testing.T) {
	for _, c := range [][2]string{
		// what is certain
		{"rm a.go", "delete a.go"},
		{"rm -f a.go 'b c.go' \"d.go\" e\\ f.go", "delete a.go; delete b c.go; delete d.go; delete e f.go"},
		{"rm -rf build/ ./out", "delete build/; delete out/"},
		{"rm -- -odd", "delete -odd"},
		{"/bin/rm a && sudo rm b", "delete a; delete b"},
		{"mv a.go b.go", "rename a.go -> b.go"},
		{"mv a.go lib/", "rename a.go -> lib/a.go"},
		{"mv a.go b.go lib", "rename a.go -> lib/a.go; rename b.go -> lib/b.go"},
		{"mv a.go lib", "rename a.go -> lib (loose)"},
		{"mv -T a.go lib", "rename a.go -> lib"},
		{"mkdir -p lib && mv a.go lib", "rename a.go -> lib/a.go"},
		{"mv x/a.go ..", "rename x/a.go -> ../a.go"},
		{"git mv a.go b.go", "rename a.go -> b.go"},
		{"git -C sub mv a.go b.go", "rename sub/a.go -> sub/b.go"},
		{"git rm -q a.go", "delete a.go"},
		{"git rm -r old", "delete old/"},
		{"git checkout -- a.go b.go", "revert a.go/; revert b.go/"},
		{"git checkout HEAD~1 -- a.go", "revert a.go/"},
		{"git restore a.go", "revert a.go/"},
		{"git restore --source=HEAD~2 --staged --worktree a.go", "revert a.go/"},
		{"cp a.go b.go", "write b.go"},
		{"cp a.go lib/", "write lib/a.go"},
		{"touch a.go b.go", "touch a.go; touch b.go"},
		{"sed -i 's/a/b/' a.go", "edit a.go"},
		{"sed -i '' -e s/a/b/ a.go", "edit a.go"},
		{"sed -i.bak -E 's/a/b/' a.go b.go", "edit a.go; edit b.go"},
		{"cat > a.txt <<'EOF'\none $HOME\ntwo\nEOF\n", `write a.txt "one $HOME\ntwo\n"`},
		{"cat <<EOF > a.txt\nplain\nEOF", `write a.txt "plain\n"`},
		{"cat <<-EOF > a.txt\n\tplain\n\tEOF", `write a.txt "plain\n"`},
		{"cat >> a.txt <<'EOF'\nmore\nEOF", `edit a.txt "more\n"`},
		{"tee a.txt <<'EOF'\none\nEOF", `write a.txt "one\n"`},
		{"tee -a a.txt b.txt <<'EOF'\none\nEOF", `edit a.txt "one\n"; edit b.txt "one\n"`},
		{"echo hello 'big  world' > a.txt", `write a.txt "hello big  world\n"`},
		{"make > out.log 2>&1", "write out.log"},
		{"make &> out.log", "write out.log"},
		{"make 2>> err.log", "edit err.log"},
		{"sort a | uniq > out.txt", "write out.txt"},
		{"cd sub && rm a.go", "delete sub/a.go"},
		{"cd /abs/dir && rm a.go ../b.go", "delete /abs/dir/a.go; delete /abs/b.go"},
		{"cd sub && cd .. && rm a.go", "delete a.go"},
		{"FOO=1 BAR=$(date) rm a.go", "delete a.go"},
		{"rm a.go \\\n  b.go # and a comment", "delete a.go; delete b.go"},
		{"go build ./... && rm a.go && git commit -m \"$(cat <<'EOF'\nIt's (done\nEOF\n)\"", "delete a.go"},
		{"set -euo pipefail\nrm a.go\nmake", "delete a.go if silent"},
		{"make || exit_code=1 && rm a.go", "delete a.go"},
		{"rm 'a b' \"c $\" $'d'", "perhaps a b/; perhaps c $/"},
		{"rm \"a$\"", "delete a$"},
		{"cat a.go", "read a.go"},
		{"cat -n a.go b.go", "read a.go; read b.go"},
		{"sed -n '1,200p' a.go", "read a.go"},
		{"head -50 a.go; tail -n 5 b.go", "read a.go if silent; read b.go"},
		{"nl -ba a.go | sed -n 1,20p", "read a.go if silent"},

		// what only silence proves: the status is another command's
		{"rm a.go; ls", "delete a.go if silent"},
		{"mv a.go b.go\ngo test ./...", "rename a.go -> b.go if silent"},
		{"cd sub; rm a.go", "delete sub/a.go if silent"},
		{"mkdir x && mv a.go x/; ls", "rename a.go -> x/a.go if silent"},

		// what may have been
		{"rm a.go || true", "perhaps a.go"},
		{"rm a.go 2>/dev/null; true", "perhaps a.go"},
		{"make && rm a.go; ls", "perhaps a.go"},
		{"git checkout main", "perhaps ./"},
		{"git checkout a.go", "perhaps ./"},
		{"git stash", "perhaps ./"},
		{"git reset --hard", "perhaps ./"},
		{"git restore 'a*.go' *.go", "perhaps ./"},
		{"gofmt -w a.go", "perhaps a.go"},
		{"npx prettier --write src/a.ts", "perhaps src/a.ts"},
		{"python3 - <<'EOF'\nopen('src/a.py', 'w').write('x')\nEOF", "perhaps src/a.py"},

		// what is not claimed
		{"rm *.go", ""},
		{"rm -rf \"$DIR\"", ""},
		{"rm -rf $DIR/a.go b.go", "perhaps b.go/"},
		{"rm ${DIR}/a.go", ""},
		{"rm `ls`", ""},
		{"rm $(cat list)", ""},
		{"rm a{1,2}.go", ""},
		{"rm ~/a.go", ""},
		{"rm a?.go", ""},
		{"rm [ab].go", ""},
		{"rm -i a.go", "perhaps a.go/"},
		{"git diff --quiet && rm a.go; echo done", "perhaps a.go"},
		{"git grep -q x && git rm a.go; echo done", "perhaps a.go"},
		{"sed '/x/q1' a.go >/dev/null && rm b.go; echo done", "perhaps b.go"},
		{"set -e; set +e; rm a.go; echo ok", "delete a.go if silent"},
		{"rm -f a.go\r\necho ok\r\n", ""},
		{"rm -f ./a.go/", ""},
		{"builtin cd sub && rm a.go", ""},
		{"./rm a.go", ""},
		{"sed -e's/in/out/' -e 's/x/y/' a.go", ""},
		{"sed -l 5 -n -i 's/x/y/p' a.go", "perhaps s/x/y/p; perhaps a.go"},
		{"rm --help a.go", "perhaps a.go/"},
		{"rm -rf /", ""},
		{"rm -rf . ..", ""},
		{"(rm a.go)", ""},
		{"{ rm a.go; }", ""},
		{"! rm a.go", ""},
		{"if true; then rm a.go; fi", ""},
		{"for f in a b; do rm $f; done", ""},
		{"while read f; do rm a.go; done", ""},
		{"rm a.go & ", ""},
		{"rm a.go & wait", ""},
		{"f() { rm a.go; }", ""},
		{"exit 0; rm a.go", ""},
		{"eval 'rm a.go'; rm b.go", ""},
		{"bash -c 'rm x'", ""},
		{"echo rm a.go", ""},
		{"echo 'rm a.go'", ""},
		{"echo \"; rm a.go\"", ""},
		{"git commit -m 'rm a.go'", ""},
		{"# rm a.go", ""},
		{"ls | xargs rm", ""},
		{"find . -name '*.go' -delete", ""},
		{"rm a.go 'unbalanced", ""},
		{"rm a.go \"unbalanced", ""},
		{"rm a.go $(unbalanced", ""},
		{"rm a.go &&", ""},
		{"&& rm a.go", ""},
		{"rm a.go ;; rm b.go", ""},
		{"rm a.go <(ls)", ""},
		{"cat > a.txt <<EOF\nnever ended", ""},
		{"mv a.go $TO", "perhaps a.go/"},
		{"mv -n a.go b.go", "perhaps a.go/; perhaps b.go/"},
		{"mv a.go", ""},
		{"cp -r a b", "perhaps a/; perhaps b/"},
		{"cp a.go lib", ""},
		{"git rm --cached a.go", ""},
		{"git restore --staged a.go", ""},
		{"git checkout -b new", ""},
		{"git reset HEAD a.go", ""},
		{"git stash list", ""},
		{"make > /dev/null 2>&1", ""},
		{"make > $LOG", ""},
		{"cd $DIR && rm a.go", ""},
		{"cd - && rm a.go", ""},
		{"cd && rm a.go", ""},
		{"pushd sub && rm a.go", ""},
		{"source env.sh && rm a.go", ""},
		{"cd sub || true; rm a.go", ""},
		{"sed 's/a/b/' a.go", ""},
		{"cat a*.go", ""},
		{"cat < a.go", ""},
		{"[[ -f a.go ]] && rm a.go", ""},
		{"rm a.go\x00", ""},
		{"", ""},
	} {
		if got := told(c[0]); got != c[1] && !(c[0] == "rm a.go\x00") {
			t.Errorf("%q:\n got %s\nwant %s", c[0], got, c[1])
		}
	}
	// Absolute paths hold wherever the shell is.
	if got := told("cd $DIR && rm /abs/a.go"); got != "delete /abs/a.go" {
		t.Error(got)
	}
	// Here-documents with expansions have content that is not known.
	if got := told("cat > a.txt <<EOF\n$HOME\nEOF"); got != "write a.txt" {
		t.Error(got)
	}
}

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
