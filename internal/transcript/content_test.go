package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// known writes what is known of a content: its text, or its line ranges.
func known(c Content) string {
	if text, ok := c.Text(); ok {
		return text
	}
	return fmt.Sprint("lines ", c.Known())
}

func jsonOf(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSeen(t *testing.T) {
	abc := Some(1, "a\nb\nc", true)
	for _, c := range []struct {
		name string
		have Content
		read Content
		want string
	}{
		{"nothing was known", Content{}, Some(3, "c\nd", true), "lines [[3 4]]"},
		{"a whole read is the newest", Whole("old"), Whole("new"), "new"},
		{"an empty read changes nothing", Whole("old"), Content{}, "old"},
		{"two stretches", abc, Some(7, "g", true), "lines [[1 3] [7 7]]"},
		{"next to each other", abc, Some(4, "d", true), "lines [[1 4]]"},
		{"overlapping", abc, Some(2, "b\nc\nd\ne", true), "lines [[1 5]]"},
		{"within", abc, Some(2, "b", true), "lines [[1 3]]"},
		{"the end closes it", abc, Some(4, "d\n", false), "a\nb\nc\nd\n"},
		{"all pieces in any order", Some(3, "c\n", false), Some(1, "a\nb", true), "a\nb\nc\n"},
		{"contradicting", abc, Some(3, "C\nd", true), "lines [[3 4]]"},
		{"a part of what is whole", Whole("a\nb\nc"), Some(2, "b", true), "a\nb\nc"},
		{"not a part of it", Whole("a\nb\nc"), Some(2, "B", true), "lines [[2 2]]"},
		{"behind its end", Whole("a\nb"), Some(3, "c", true), "lines [[3 3]]"},
		{"another end", Some(4, "d", false), Some(5, "e", false), "lines [[5 5]]"},
	} {
		before := known(c.have)
		if got := known(c.have.Seen(c.read)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if known(c.have) != before {
			t.Errorf("%s: the content before is not what it was", c.name)
		}
	}
}

func TestReplacedInPart(t *testing.T) {
	have := Some(2, "b\nc\nd", true).Seen(Some(10, "j\nk", true))
	for _, c := range []struct {
		old, new string
		all      bool
		want     string
	}{
		{"c", "C1\nC2", false, "lines [[2 5] [11 12]]"},
		{"c\n", "", false, "lines [[2 3] [9 10]]"},
		{"j", "J", false, "lines [[2 4] [10 11]]"},
		{"d", "", false, "lines []"}, // whether a line end goes with it cannot be told
		{"x", "y", false, "lines []"},
		{"c", "C", true, "lines []"},
		{"", "y", false, "lines []"},
	} {
		if got := known(have.replaced(c.old, c.new, c.all)); got != c.want {
			t.Errorf("%q -> %q: got %s, want %s", c.old, c.new, got, c.want)
		}
	}
}

func TestAfter(t *testing.T) {
	patch := "*** Begin Patch\n*** Add File: b.go\n+package b\n+var x = 1\n*** Update File: a.go\n@@ func\n one\n-two\n+2\n three\n@@\n-five\n+5\n*** End Patch"
	update := func(body string) []byte {
		return jsonOf(t, map[string]any{"input": "*** Begin Patch\n*** Update File: a.go\n" + body + "\n*** End Patch"})
	}
	edit := func(old, new string, all bool) []byte {
		return jsonOf(t, map[string]any{"file_path": "/a.go", "old_string": old, "new_string": new, "replace_all": all})
	}
	shell := func(cmd string) []byte { return jsonOf(t, map[string]any{"command": cmd}) }
	const unknown = "lines []"
	for _, c := range []struct {
		name, tool string
		input      []byte
		n          int
		before     Content
		want       string
	}{
		{"write", "Write", jsonOf(t, map[string]any{"file_path": "/a.go", "content": "a\nb"}), 0, Content{}, "a\nb"},
		{"edit", "Edit", edit("b", "B", false), 0, Whole("a b c"), "a B c"},
		{"not found", "Edit", edit("x", "B", false), 0, Whole("a b c"), unknown},
		{"ambiguous", "Edit", edit("a", "B", false), 0, Whole("a a"), unknown},
		{"all", "Edit", edit("a", "B", true), 0, Whole("a a"), "B B"},
		{"of nothing", "Edit", edit("a", "B", false), 0, Content{}, unknown},
		{"makes the file", "Edit", edit("", "new\n", false), 0, Content{}, "new\n"},
		{"takes the line end with it", "Edit", edit("b", "", false), 0, Whole("a\nb\nc\n"), "a\nc\n"},
		{"but not in a line", "Edit", edit("b", "", false), 0, Whole("a\nb c\n"), "a\n c\n"},
		{"what it puts in is taken as it is", "Edit", edit("b", "$1 $& \\1", false), 0, Whole("a b"), "a $1 $& \\1"},
		{"several", "MultiEdit", jsonOf(t, map[string]any{"file_path": "/a.go", "edits": []any{
			map[string]any{"old_string": "a", "new_string": "b2"}, map[string]any{"old_string": "b2 b", "new_string": "c"},
		}}), 0, Whole("a b"), "c"},
		{"cells", "NotebookEdit", jsonOf(t, map[string]any{"notebook_path": "/a.ipynb", "new_source": "x"}), 0, Whole("{}"), unknown},
		{"added by a patch", "apply_patch", jsonOf(t, map[string]any{"input": patch}), 0, Content{}, "package b\nvar x = 1\n"},
		{"patched", "apply_patch", jsonOf(t, map[string]any{"input": patch}), 1, Whole("func\none\ntwo\nthree\nfour\nfive\n"), "func\none\n2\nthree\nfour\n5\n"},
		{"patched as text", "apply_patch", jsonOf(t, patch), 1, Whole("func\none\ntwo\nthree\nfive"), "func\none\n2\nthree\n5\n"},
		{"patch of another text", "apply_patch", jsonOf(t, patch), 1, Whole("func\none\nthree\n"), unknown},
		{"whole lines only", "apply_patch", update("@@\n-two\n+2"), 0, Whole("not two\n"), unknown},
		{"the first of several", "apply_patch", update("@@\n-x\n+y"), 0, Whole("x\nx\n"), "y\nx\n"},
		{"behind its context", "apply_patch", update("@@ second\n-x\n+y"), 0, Whole("first\nx\nsecond\nx\n"), "first\nx\nsecond\ny\n"},
		{"in order", "apply_patch", update("@@\n-b\n+B\n@@\n-a\n+A"), 0, Whole("a\nb\n"), unknown},
		{"at the end", "apply_patch", update("@@\n-x\n+y\n*** End of File"), 0, Whole("x\na\nx\n"), "x\na\ny\n"},
		{"only adds", "apply_patch", update("@@\n+z"), 0, Whole("a\nb\n"), "a\nb\nz\n"},
		{"moved and patched", "apply_patch", update("*** Move to: b.go\n@@\n-a\n+b"), 0, Whole("a\n"), "b\n"},
		{"only moved", "apply_patch", update("*** Move to: b.go"), 0, Whole("a"), "a"},
		{"no such file of the patch", "apply_patch", update("@@\n-a\n+b"), 1, Whole("a\n"), unknown},
		{"deleted", "apply_patch", jsonOf(t, "*** Begin Patch\n*** Delete File: a.go\n*** End Patch"), 0, Whole("a"), unknown},
		{"here-document", "Bash", shell("cat > a.txt <<'EOF'\none\nEOF"), 0, Content{}, "one\n"},
		{"appended", "Bash", shell("cat >> a.txt <<'EOF'\ntwo\nEOF"), 0, Whole("one\n"), "one\ntwo\n"},
		{"appended to nothing known", "Bash", shell("cat >> a.txt <<'EOF'\ntwo\nEOF"), 0, Content{}, unknown},
		{"output of a command", "Bash", shell("make > a.txt"), 0, Whole("one"), unknown},
		{"in place", "Bash", shell("sed -i s/a/b/ a.txt"), 0, Whole("one"), unknown},
		{"the second of two", "Bash", shell("rm b && mv a.txt c.txt"), 1, Whole("one"), "one"},
		{"a patch through the shell", "shell", jsonOf(t, map[string]any{"command": []string{"bash", "-lc", "apply_patch <<'EOF'\n" + patch + "\nEOF"}}), 0, Content{}, "package b\nvar x = 1\n"},
		{"a command that speaks of a patch", "Bash", shell("echo '*** Begin Patch' > a.txt"), 0, Content{}, "*** Begin Patch\n"},
		{"not an edit", "Bash", shell("ls"), 0, Whole("a"), unknown},
		{"not JSON", "Edit", []byte("{"), 0, Whole("a"), unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := known(After(c.tool, c.input, c.n, c.before)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReading(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%6d\tx\n", i+1)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	for _, c := range []struct {
		name, tool, input string
		text              string
		want              string
	}{
		{"whole", "Read", `{"file_path":"/a"}`, "     1\ta\n     2\t", "a\n"},
		{"without a last line end", "Read", `{"file_path":"/a"}`, "     1→a\n     2→b", "a\nb"},
		{"a reminder follows", "Read", `{"file_path":"/a"}`, "1\ta\n2\t\n\n<system-reminder>\nx\n</system-reminder>", "a\n"},
		{"something else follows", "Read", `{"file_path":"/a"}`, "1\ta\n... 12 more lines", "lines [[1 1]]"},
		{"some lines", "Read", `{"file_path":"/a","offset":5,"limit":2}`, "5\ta\n6\tb", "lines [[5 6]]"},
		{"up to the end", "Read", `{"file_path":"/a","offset":1,"limit":5}`, "1\ta\n2\tb", "a\nb"},
		{"as many as the tool gives", "Read", `{"file_path":"/a"}`, many(2000), "lines [[1 2000]]"},
		{"a line that may be cut", "Read", `{"file_path":"/a"}`, "1\ta\n2\t" + strings.Repeat("x", 2000) + "\n3\tb", "lines [[1 1] [3 3]]"},
		{"not numbered", "Read", `{"file_path":"/a"}`, "a\nb", "lines []"},
		{"cat", "shell", `{"command":["cat","a"]}`, "a\nb\n", "a\nb\n"},
		{"cat without a line end", "shell", `{"command":["cat","a"]}`, "a\nb", "lines [[1 2]]"},
		{"cat that was cut", "shell", `{"command":["cat","a"]}`, "a\n…12 tokens truncated…\nb\n", "lines []"},
		{"cat of two", "shell", `{"command":["cat","a","b"]}`, "a\nb\n", "lines []"},
		{"cat and more", "shell", `{"command":["bash","-lc","cat a && ls"]}`, "a\nb\n", "lines []"},
		{"cat in a shell that trims", "Bash", `{"command":"cat a"}`, "a\nb\n", "lines []"},
		{"sed", "shell", `{"command":["sed","-n","3,4p","a"]}`, "c\nd\n", "lines [[3 4]]"},
		{"sed up to the end", "shell", `{"command":["sed","-n","1,400p","a"]}`, "c\nd\n", "c\nd\n"},
		{"head", "shell", `{"command":["head","-n","2","a"]}`, "c\nd\n", "lines [[1 2]]"},
		{"tail", "shell", `{"command":["tail","-n","2","a"]}`, "c\nd\n", "lines []"},
		{"nl", "shell", `{"command":["nl","-ba","a"]}`, "     1\tc\n     2\td\n", "lines [[1 2]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Understand(c.tool, []byte(c.input))
			out := Outcome{Text: c.text, HasExit: true}
			if got := known(Reading(c.tool, &a, &out)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			out.Failed, out.Exit = true, 1
			if got := known(Reading(c.tool, &a, &out)); got != "lines []" {
				t.Errorf("a failed read tells %q", got)
			}
		})
	}
}

func TestCopyOf(t *testing.T) {
	copied := func(told any) (c Copy, ok bool) {
		line := jsonOf(t, map[string]any{"type": "user", "uuid": "u", "sessionId": "s", "message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": "t", "content": "x"},
		}}, "toolUseResult": told})
		for r := range NewDecoder("claude-code", Main).Records(Segment{Data: line, Rest: true}) {
			return CopyOf(r)
		}
		return c, false
	}
	file := func(text string, start, lines, total int) any {
		return map[string]any{"type": "text", "file": map[string]any{"filePath": "/a", "content": text, "startLine": start, "numLines": lines, "totalLines": total}}
	}
	for _, c := range []struct {
		name string
		told any
		want string
	}{
		{"whole", file("a\nb\n", 1, 3, 3), "/a seen a\nb\n before lines []"},
		{"part", file("b", 2, 1, 3), "/a seen lines [[2 2]] before lines []"},
		{"numbers that do not agree", file("b\nc", 2, 1, 3), "/a seen lines [] before lines []"},
		{"edit", map[string]any{"filePath": "/a", "originalFile": "x\n"}, "/a seen lines [] before x\n"},
		{"edit of a new file", map[string]any{"filePath": "/a", "originalFile": nil}, "/a seen lines [] before lines []"},
		{"not of a file", map[string]any{"stdout": "x"}, ""},
		{"text", "Error: x", ""},
	} {
		got := ""
		if k, ok := copied(c.told); ok {
			got = k.Path + " seen " + known(k.Seen) + " before " + known(k.Before)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if k, _ := copied(map[string]any{"filePath": "/a", "userModified": true}); !k.Amended {
		t.Error("what the human changed goes unnoticed")
	}
}

// Notices, tasks and jobs.
func TestTold(t *testing.T) {
	job, exit, ok := Notice("<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n<summary>Background command \"make\" failed with exit code 12</summary>\n</task-notification>")
	if job != "b1" || exit != 12 || !ok {
		t.Error(job, exit, ok)
	}
	if _, exit, ok := Notice("<task-notification><task-id>b1</task-id><status>killed</status></task-notification>"); exit != -1 || !ok {
		t.Error(exit, ok)
	}
	for _, text := range []string{"", "<task-notification>", "<task-notification><task-id>b1</task-id><status>running</status></task-notification>"} {
		if _, _, ok := Notice(text); ok {
			t.Errorf("%q is a notice", text)
		}
	}
	list := planTold("Tasks:\n#1 [completed] Buy rye\n#2. [in_progress] Grind it [blocked by #1]\n- #3 [pending] Sell it\n#x [pending] no\n#4 [odd] no\nfix #5 [pending]")
	if got := fmt.Sprint(list); got != "[{1 Buy rye completed} {2 Grind it in_progress} {3 Sell it pending}]" {
		t.Error(got)
	}
	list = planTold(`{"tasks":[{"id":7,"subject":"Buy rye","status":"completed"}]}`)
	if got := fmt.Sprint(list); got != "[{7 Buy rye completed}]" {
		t.Error(got)
	}
	for text, want := range map[string]string{
		"Task #3 created successfully: x": "3", `{"task":{"id":"4","subject":"x"}}`: "4", `{"id":5}`: "5", `{"ok":true}`: "", "Task #3 was deleted": "",
	} {
		if got := created(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string][2]bool{
		"File created successfully at: /a": {true, false}, "The file /a has been updated.": {false, true}, "ok": {},
	} {
		if o := Explain("Write", Write, jsonOf(t, text), false); [2]bool{o.Created, o.Replaced} != want {
			t.Errorf("%q: %+v", text, o)
		}
	}
	if !Explain("apply_patch", Edit, jsonOf(t, "error: Failed to find expected lines"), false).Failed {
		t.Error("a patch that did not apply goes unnoticed")
	}
	if !Explain("Edit", Edit, jsonOf(t, "The user modified your proposed changes before accepting them."), false).Amended {
		t.Error("what the human changed goes unnoticed")
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct{ dir, cmd, want string }{
		{"/w", "make", "/w make"},
		{"/w", "cd sub && make", "/w/sub make"},
		{"/w", "cd /x; make all 2>&1 | tail -5", "/x make all filtered"},
		{"/w", "cd 'sub' && cd .. && make", "/w make"},
		{"/w", "FOO=1 BAR=x make", "/w make"},
		{"/w", "timeout 30 make", "/w make"},
		{"/w", "timeout -k 5 30s make -j2", "/w make -j2"},
		{"/w", "env A=1 make 2>&1", "/w make"},
		{"/w", "make | head | tail -3", "/w make filtered"},
		{"/w", "set -o pipefail; make | tail", "/w set -o pipefail; make"},
		{"/w", "make | grep x", "/w make | grep x"},
		{"/w", "make || tail x", "/w make || tail x"},
		{"/w", "echo 'a | tail'", "/w echo 'a | tail'"},
		{"/w", "cd $X && make", "/w cd $X && make"},
		{"/w", "A=$(b) make", "/w A=$(b) make"},
		{"/w", "timeout", "/w timeout"},
		{"/w", "cd sub", "/w cd sub"},
		{"", "  make  ", " make"},
	} {
		r := Same(c.dir, c.cmd)
		got := r.Dir + " " + r.Command
		if r.Filtered {
			got += " filtered"
		}
		if got != c.want {
			t.Errorf("%q in %q: got %q, want %q", c.cmd, c.dir, got, c.want)
		}
	}
}

// Whatever a call holds, replaying it is safe, and what comes of it is a text or nothing.
func FuzzAfter(f *testing.F) {
	for _, s := range [][3]string{
		{"Edit", `{"file_path":"/a","old_string":"a","new_string":"b"}`, "a\nb"},
		{"MultiEdit", `{"file_path":"/a","edits":[{"old_string":"","new_string":"b"},{"old_string":"b","new_string":""}]}`, ""},
		{"apply_patch", `"*** Begin Patch\n*** Update File: a\n@@ x\n-a\n+b\n*** End of File\n*** End Patch"`, "x\na\n"},
		{"shell", `{"command":["bash","-lc","cat >> a <<'E'\nx\nE"]}`, "a\n"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, tool, input, text string) {
		a := Understand(tool, []byte(input))
		for n := range a.Files {
			whole := After(tool, []byte(input), n, Whole(text))
			part := After(tool, []byte(input), n, Some(2, text, true))
			for _, c := range []Content{whole, part} {
				if got, ok := c.Text(); ok && known(Whole(got)) != got {
					t.Errorf("%q is not the text of its lines", got)
				}
				last := 0
				for _, k := range c.Known() {
					if k[0] <= last || k[1] < k[0] {
						t.Errorf("known lines %v", c.Known())
					}
					last = k[1]
				}
			}
			// What applies to a part does the same to the whole that holds the part alone.
			if lines := part.Known(); len(lines) == 1 && a.Op == Edit && strings.EqualFold(tool, "edit") {
				if got, ok := whole.Text(); ok && strings.Count(got, "\n") != lines[0][1]-lines[0][0] && !strings.Contains(input, `"new_string":""`) {
					t.Errorf("the whole has %d lines, the part %v", strings.Count(got, "\n")+1, lines)
				}
			}
		}
	})
}
