package compactor

import (
	"fmt"
	"strings"
	"testing"
)

// built appends runs of a build, which touch no file, so that what came before is out of the verbatim part.
func (s *script) built() *script {
	for i := range 30 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat("building a unit of it\n", 60))
	}
	return s
}

// filesOf returns the lines about the files of a session, one for each file, without content.
func filesOf(t *testing.T, s *script) string {
	t.Helper()
	text, _, _ := strings.Cut(told(t, s.built(), Defaults()).section("Files"), "### ")
	return strings.TrimSpace(strings.ReplaceAll("\n"+text, "\n- ", "\n"))
}

func TestNetEffectOnFiles(t *testing.T) {
	const dir = "/home/me/ledger/"
	patch := func(s *script, body string) {
		s.do("apply_patch", map[string]any{"input": "*** Begin Patch\n" + body + "\n*** End Patch"}, "Success.")
	}
	for _, c := range []struct {
		name string
		do   func(s *script)
		want string
	}{
		{"created", func(s *script) { s.write(dir+"a.go", "x") }, "created `a.go` (#2)"},
		{"created over what was read", func(s *script) {
			s.read(dir+"a.go", "x\n")
			s.do("Write", map[string]any{"file_path": dir + "a.go", "content": "y"}, "The file "+dir+"a.go has been updated.")
		}, "edited `a.go` (#4)"},
		{"written over what was there", func(s *script) {
			s.do("Write", map[string]any{"file_path": dir + "a.go", "content": "y"}, "The file "+dir+"a.go has been updated.")
		}, "edited `a.go` (#2)"},
		{"several edits in one call", func(s *script) {
			s.do("MultiEdit", map[string]any{"file_path": dir + "a.go", "edits": []any{map[string]any{"old_string": "a", "new_string": "b"}}}, "ok")
		}, "edited `a.go` (#2)"},
		{"a cell", func(s *script) {
			s.do("NotebookEdit", map[string]any{"notebook_path": dir + "a.ipynb", "new_source": "b"}, "ok")
		}, "edited `a.ipynb` (#2)"},
		{"deleted", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("rm a.go", "") }, "deleted `a.go` (#4)"},
		{"deleted without being seen", func(s *script) { s.bash("rm -f old.go", "") }, "deleted `old.go` (#2)"},
		{"not deleted", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.fails("rm a.go", "rm: a.go: Permission denied", 1) }, "edited `a.go` (#2)"},
		{"perhaps deleted", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("rm a.go; ls", "rm: cannot remove 'a.go'") }, "edited `a.go` (#2)"},
		{"deleted with its directory", func(s *script) {
			s.edit(dir+"lib/a.go", "a", "b")
			s.read(dir+"lib/b.go", "x")
			s.edit(dir+"library.go", "a", "b")
			s.bash("rm -rf lib", "")
		}, "deleted `lib` (#8)\ndeleted `lib/b.go` (#8)\ndeleted `lib/a.go` (#8)\nedited `library.go` (#6)"},
		{"created, then deleted", func(s *script) { s.write(dir+"a.go", "x"); s.bash("git rm -f a.go", "") }, "created, then deleted `a.go` (#4)"},
		{"deleted and made anew", func(s *script) { s.read(dir+"a.go", "x"); s.bash("rm a.go", ""); s.write(dir+"a.go", "x") }, "deleted, then made anew `a.go` (#6)"},
		{"renamed", func(s *script) { s.read(dir+"a.go", "x"); s.bash("git mv a.go b.go", "") }, "renamed `a.go` -> `b.go` (#4)"},
		{"renamed and edited", func(s *script) {
			s.edit(dir+"a.go", "a", "b")
			s.bash("mv a.go b.go", "")
			s.edit(dir+"b.go", "a", "b")
		}, "renamed `a.go` -> `b.go`, edited 2x (last #6)"},
		{"renamed twice", func(s *script) { s.read(dir+"a.go", "x"); s.bash("mv a.go b.go", ""); s.bash("mv b.go c.go", "") }, "renamed `a.go` -> `c.go` (#6)"},
		{"there and back", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("mv a.go b.go && mv b.go a.go", "") }, "edited `a.go` (#4)"},
		{"created under another name", func(s *script) { s.write(dir+"a.go", "x"); s.bash("mv a.go b.go", "") }, "created `b.go` (#4)"},
		{"renamed, then deleted", func(s *script) { s.read(dir+"a.go", "x"); s.bash("mv a.go b.go", ""); s.bash("rm b.go", "") }, "renamed, then deleted `a.go` -> `b.go` (#6)"},
		{"into a known directory", func(s *script) { s.read(dir+"lib/x.go", "x"); s.edit(dir+"a.go", "a", "b"); s.bash("mv a.go lib", "") }, "renamed `a.go` -> `lib/a.go`, edited 1x (last #6)\nread: `lib/x.go`"},
		{"to what may be a directory", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("mv a.go lib", "") }, "renamed `a.go` -> `lib` (#4)"},
		{"with its directory", func(s *script) { s.edit(dir+"lib/a.go", "a", "b"); s.bash("git mv lib core", "") }, "renamed `lib/a.go` -> `core/a.go`, edited 1x (last #4)"},
		{"put back", func(s *script) { s.edit(dir+"a.go", "a", "b"); s.bash("git checkout -- a.go", "") }, "put back `a.go` (#4)"},
		{"put back, then edited", func(s *script) {
			s.edit(dir+"a.go", "a", "b")
			s.edit(dir+"a.go", "a", "b")
			s.bash("git restore a.go", "")
			s.edit(dir+"a.go", "a", "b")
		}, "edited `a.go` (#8)"},
		{"put back with its directory", func(s *script) {
			s.edit(dir+"lib/a.go", "a", "b")
			s.write(dir+"lib/new.go", "x")
			s.read(dir+"lib/r.go", "x")
			s.bash("git checkout -- lib", "")
		}, "put back `lib/a.go` (#8)\ncreated `lib/new.go` (#4)\nread: `lib/r.go`"},
		{"written by the shell", func(s *script) { s.bash("cat > a.txt <<'EOF'\nx\nEOF", ""); s.bash("echo y >> a.txt", "") }, "written 2x `a.txt` (last #4)"},
		{"written below another directory", func(s *script) { s.bash("cd sub && echo y > a.txt", "") }, "written `sub/a.txt` (#2)"},
		{"touched", func(s *script) { s.bash("touch a.txt", ""); s.read(dir+"b.txt", "x"); s.bash("touch b.txt", "") }, "written `a.txt` (#2)\nread: `b.txt`"},
		{"perhaps put back", func(s *script) { s.bash("rm a.txt; git stash -q; ls", "") }, "deleted, perhaps put back since `a.txt` (#2)"},
		{"read by the shell", func(s *script) {
			s.bash("cat a.txt", "x")
			s.bash("cat gone.txt | head", "cat: gone.txt: No such file or directory")
		}, "read: `a.txt`"},
		{"patches", func(s *script) {
			patch(s, "*** Add File: n.go\n+x\n*** Update File: u.go\n@@\n-a\n+b\n*** Delete File: d.go\n*** Update File: m.go\n*** Move to: m2.go\n@@\n-a\n+b")
		}, "renamed `m.go` -> `m2.go` (#2)\ndeleted `d.go` (#2)\nedited `u.go` (#2)\ncreated `n.go` (#2)"},
		{"refused", func(s *script) {
			s.call("t-1", "Write", map[string]any{"file_path": dir + "a.go", "content": "x"})
			s.result("t-1", "The user doesn't want to proceed with this tool use.", true)
		}, "not changed, refused by the human: `a.go` (#2)"},
		{"of a command in words only", func(s *script) { s.bash("echo 'rm a.go'", "rm a.go"); s.bash("rm $X *.go", "") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			s.human("Work on it.")
			c.do(s)
			if got := filesOf(t, s); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestContentFollowsChanges(t *testing.T) {
	const dir = "/home/me/ledger/"
	for _, c := range []struct {
		name string
		do   func(s *script)
		path string
		want string
	}{
		{"through a rename", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.bash("mv a.go b.go", "")
			s.edit(dir+"b.go", "one", "two")
		}, "b.go", "two"},
		{"through a patch that moves", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.do("apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@\n-one\n+two\n*** End Patch"}, "Success.")
		}, "b.go", "two"},
		{"a here-document", func(s *script) { s.bash("cat > a.go <<'EOF'\none\nEOF", "") }, "a.go", "one"},
		{"lost by a program", func(s *script) { s.write(dir+"a.go", "one\n"); s.bash("make > a.go", "") }, "a.go", ""},
		{"lost by an edit in place", func(s *script) { s.write(dir+"a.go", "one\n"); s.bash("sed -i s/one/two/ a.go", "") }, "a.go", ""},
		{"lost by the human", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.do("Edit", map[string]any{"file_path": dir + "a.go", "old_string": "one", "new_string": "two"}, "The user modified your proposed changes before accepting them.")
		}, "a.go", ""},
		{"known again by a read", func(s *script) { s.bash("make > a.go", ""); s.read(dir+"a.go", "three") }, "a.go", "three"},
		{"put back", func(s *script) { s.write(dir+"a.go", "one\n"); s.bash("git checkout -- a.go", "") }, "a.go", ""},
		{"a formatter, then a patch", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.bash("gofmt -w a.go", "")
			s.do("apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: a.go\n@@\n-one\n+two\n*** End Patch"}, "Success.")
		}, "a.go", ""},
		{"a formatter, then an edit that makes sure", func(s *script) {
			s.write(dir+"a.go", "one\n")
			s.bash("gofmt -w a.go", "")
			s.edit(dir+"a.go", "one", "two")
		}, "a.go", "two"},
		{"more edits than are kept", func(s *script) {
			s.write(dir+"a.go", "0\n")
			for i := range 99 {
				s.edit(dir+"a.go", fmt.Sprint(i), fmt.Sprint(i+1))
			}
		}, "a.go", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			s.human("Work on it.")
			c.do(s)
			text := told(t, s.built(), Defaults()).part("`" + c.path + "` as of")
			if c.want == "" && text != "" {
				t.Errorf("its content is told:\n%s", text)
			}
			if c.want != "" && strings.TrimSpace(text) != "> "+c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}
