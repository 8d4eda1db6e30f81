package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// known returns the text of a content, or whether a part is known.
func known(c transcript.Content) string {
	text, ok := c.Text()
	switch {
	case ok:
		return text
	case c.Known():
		return "a part"
	}
	return "nothing"
}

func jsonOf(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	testkit.Must(t, err)
	return data
}

// clientOf returns the client of the first row that knows the tool, or of the first row.
func clientOf(tool string) *transcript.Client {
	for _, f := range (registry.Table{}).All() {
		if f.Client.Op(tool) != transcript.Other {
			return f.Client
		}
	}
	return registry.Table{}.All()[0].Client
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
	const unknown = "nothing"
	for _, c := range []struct {
		name, tool string
		input      []byte
		n          int
		before     transcript.Content
		want       string
	}{
		{"write", "Write", jsonOf(t, map[string]any{"file_path": "/a.go", "content": "a\nb"}), 0, transcript.Content{}, "a\nb"},
		{"edit", "Edit", edit("b", "B", false), 0, transcript.Whole("a b c"), "a B c"},
		{"not found", "Edit", edit("x", "B", false), 0, transcript.Whole("a b c"), unknown},
		{"ambiguous", "Edit", edit("a", "B", false), 0, transcript.Whole("a a"), unknown},
		{"all", "Edit", edit("a", "B", true), 0, transcript.Whole("a a"), "B B"},
		{"of nothing", "Edit", edit("a", "B", false), 0, transcript.Content{}, unknown},
		{"makes the file", "Edit", edit("", "new\n", false), 0, transcript.Content{}, "new\n"},
		{"takes the line end with it", "Edit", edit("b", "", false), 0, transcript.Whole("a\nb\nc\n"), "a\nc\n"},
		{"but not in a line", "Edit", edit("b", "", false), 0, transcript.Whole("a\nb c\n"), "a\n c\n"},
		{"what it puts in is taken as it is", "Edit", edit("b", "$1 $& \\1", false), 0, transcript.Whole("a b"), "a $1 $& \\1"},
		{"several", "MultiEdit", jsonOf(t, map[string]any{"file_path": "/a.go", "edits": []any{
			map[string]any{"old_string": "a", "new_string": "b2"}, map[string]any{"old_string": "b2 b", "new_string": "c"},
		}}), 0, transcript.Whole("a b"), "c"},
		{"cells", "NotebookEdit", jsonOf(t, map[string]any{"notebook_path": "/a.ipynb", "new_source": "x"}), 0, transcript.Whole("{}"), unknown},
		{"added by a patch", "apply_patch", jsonOf(t, map[string]any{"input": patch}), 0, transcript.Content{}, "package b\nvar x = 1\n"},
		{"patched", "apply_patch", jsonOf(t, map[string]any{"input": patch}), 1, transcript.Whole("func\none\ntwo\nthree\nfour\nfive\n"), "func\none\n2\nthree\nfour\n5\n"},
		{"patched as text", "apply_patch", jsonOf(t, patch), 1, transcript.Whole("func\none\ntwo\nthree\nfive"), "func\none\n2\nthree\n5\n"},
		{"patch of another text", "apply_patch", jsonOf(t, patch), 1, transcript.Whole("func\none\nthree\n"), unknown},
		{"whole lines only", "apply_patch", update("@@\n-two\n+2"), 0, transcript.Whole("not two\n"), unknown},
		{"the first of several", "apply_patch", update("@@\n-x\n+y"), 0, transcript.Whole("x\nx\n"), "y\nx\n"},
		{"behind its context", "apply_patch", update("@@ second\n-x\n+y"), 0, transcript.Whole("first\nx\nsecond\nx\n"), "first\nx\nsecond\ny\n"},
		{"in order", "apply_patch", update("@@\n-b\n+B\n@@\n-a\n+A"), 0, transcript.Whole("a\nb\n"), unknown},
		{"loosely if not exactly", "apply_patch", update("@@ second\n x\n-y\n+z"), 0, transcript.Whole("x\ny\n  second\n\tx \n\ty\nx\ny \n"), "x\ny\n  second\n\tx \n\ty\nx\nz\n"},
		{"with the patch's white space", "apply_patch", update("@@\n x\n-y\n+z"), 0, transcript.Whole("\tx \n\ty\n"), "x\nz\n"},
		{"at the end", "apply_patch", update("@@\n-x\n+y\n*** End of File"), 0, transcript.Whole("x\na\nx\n"), "x\na\ny\n"},
		{"without the empty last line", "apply_patch", update("@@\n-a\n+b"), 0, transcript.Whole("a\n\n"), "b\n"},
		{"only adds", "apply_patch", update("@@\n+z"), 0, transcript.Whole("a\nb\n"), "a\nb\nz\n"},
		{"moved and patched", "apply_patch", update("*** Move to: b.go\n@@\n-a\n+b"), 0, transcript.Whole("a\n"), "b\n"},
		{"only moved", "apply_patch", update("*** Move to: b.go"), 0, transcript.Whole("a"), "a"},
		{"no such file of the patch", "apply_patch", update("@@\n-a\n+b"), 1, transcript.Whole("a\n"), unknown},
		{"deleted", "apply_patch", jsonOf(t, "*** Begin Patch\n*** Delete File: a.go\n*** End Patch"), 0, transcript.Whole("a"), unknown},
		{"here-document", "Bash", shell("cat > a.txt <<'EOF'\none\nEOF"), 0, transcript.Content{}, "one\n"},
		{"appended", "Bash", shell("cat >> a.txt <<'EOF'\ntwo\nEOF"), 0, transcript.Whole("one\n"), "one\ntwo\n"},
		{"appended to nothing known", "Bash", shell("cat >> a.txt <<'EOF'\ntwo\nEOF"), 0, transcript.Content{}, unknown},
		{"output of a command", "Bash", shell("make > a.txt"), 0, transcript.Whole("one"), unknown},
		{"in place", "Bash", shell("sed -i s/a/b/ a.txt"), 0, transcript.Whole("one"), unknown},
		{"the second of two", "Bash", shell("rm b && mv a.txt c.txt"), 1, transcript.Whole("one"), "one"},
		{"a patch through the shell", "shell", jsonOf(t, map[string]any{"command": []string{"bash", "-lc", "apply_patch <<'EOF'\n" + patch + "\nEOF"}}), 0, transcript.Content{}, "package b\nvar x = 1\n"},
		{"a command that speaks of a patch", "Bash", shell("echo '*** Begin Patch' > a.txt"), 0, transcript.Content{}, "*** Begin Patch\n"},
		{"not an edit", "Bash", shell("ls"), 0, transcript.Whole("a"), unknown},
		{"not JSON", "Edit", []byte("{"), 0, transcript.Whole("a"), unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := known(clientOf(c.tool).After(c.tool, c.input, c.n, c.before)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReading(t *testing.T) {
	const whole = "# a\n\n1\tb\n"
	agent := map[string]string{"Read": "claude-code", "Bash": "claude-code", "shell": "codex", "read": "pi", "read_file": "gemini-cli"}
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
		{"something else follows", "Read", `{"file_path":"/a"}`, "1\ta\n... 12 more lines", "a part"},
		{"some lines", "Read", `{"file_path":"/a","offset":5,"limit":2}`, "5\ta\n6\tb", "a part"},
		{"up to the end", "Read", `{"file_path":"/a","offset":1,"limit":5}`, "1\ta\n2\tb", "a\nb"},
		{"as many as the tool gives", "Read", `{"file_path":"/a"}`, many(2000), "a part"},
		{"a line that may be cut", "Read", `{"file_path":"/a"}`, "1\ta\n2\t" + strings.Repeat("x", 2000) + "\n3\tb", "a part"},
		{"not numbered", "Read", `{"file_path":"/a"}`, "a\nb", "nothing"},
		{"cat", "shell", `{"command":["cat","a"]}`, "a\nb\n", "a\nb\n"},
		{"cat without a line end", "shell", `{"command":["cat","a"]}`, "a\nb", "a part"},
		{"cat that was cut", "shell", `{"command":["cat","a"]}`, "a\n…12 tokens truncated…\nb\n", "nothing"},
		{"cat of two", "shell", `{"command":["cat","a","b"]}`, "a\nb\n", "nothing"},
		{"cat and more", "shell", `{"command":["bash","-lc","cat a && ls"]}`, "a\nb\n", "nothing"},
		{"cat in a shell that trims", "Bash", `{"command":"cat a"}`, "a\nb\n", "nothing"},
		{"sed", "shell", `{"command":["sed","-n","3,4p","a"]}`, "c\nd\n", "a part"},
		{"sed up to the end", "shell", `{"command":["sed","-n","1,400p","a"]}`, "c\nd\n", "c\nd\n"},
		{"head", "shell", `{"command":["head","-n","2","a"]}`, "c\nd\n", "a part"},
		{"tail", "shell", `{"command":["tail","-n","2","a"]}`, "c\nd\n", "nothing"},
		{"nl", "shell", `{"command":["nl","-ba","a"]}`, "     1\tc\n     2\td\n", "a part"},
		// Tools that do not number lines, and say in a notice that some are missing.
		{"whole", "read", `{"path":"/a"}`, whole, whole},
		{"brackets of the file's own", "read", `{"path":"/a"}`, "a\n\n[b]", "a\n\n[b]"},
		{"no more lines than asked for", "read", `{"path":"/a","limit":9}`, whole, whole},
		{"from a line to the end", "read", `{"path":"/a","offset":5}`, "e\nf", "a part"},
		{"part", "read", `{"path":"/a","offset":2,"limit":2}`, "b\nc\n\n[4 more lines in file. Use offset=4 to continue.]", "a part"},
		{"the first lines", "read", `{"path":"/a"}`, "a\nb\n\n[Showing lines 1-2 of 9 (50.0KB limit). Use offset=3 to continue.]", "a part"},
		{"part, in 2025", "read", `{"path":"/a","limit":1}`, "a\n\n... (620 more lines not shown. Use offset=2 to continue reading)", "a part"},
		{"cut lines, in 2025", "read", `{"path":"/a"}`, "a\n\n... (Some lines were truncated to 2000 characters for display)", "nothing"},
		{"a line too long", "read", `{"path":"/a"}`, "[Line 1 is 80.0KB, exceeds 50.0KB limit. Use bash: sed -n '1p' a | head -c 51200]", "nothing"},
		{"no text", "read", `{"path":"/a"}`, "a\ufffdb", "nothing"},
		{"whole", "read_file", `{"file_path":"/a"}`, whole, whole},
		{"part", "read_file", `{"file_path":"/a"}`, "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-2 of 9 total lines.\n\n--- FILE CONTENT (truncated) ---\na\nb", "nothing"},
		{"part, in 2025", "read_file", `{"file_path":"/a"}`, "[File content truncated: showing lines 1-2 of 9 total lines. Use offset/limit parameters to view more.]\na\nb", "nothing"},
		{"from a line on", "read_file", `{"file_path":"/a","offset":3}`, "d\ne", "nothing"},
		{"a GEMINI.md follows", "read_file", `{"file_path":"/a"}`, "a\n\n--- Newly Discovered Project Context ---\nx\n--- End Project Context ---", "nothing"},
		{"no text", "read_file", `{"file_path":"/a"}`, "Cannot display content of binary file: a", "nothing"},
	} {
		t.Run(c.tool+" "+c.name, func(t *testing.T) {
			f, _ := agents().Lookup(agent[c.tool])
			a := f.Client.Understand(c.tool, []byte(c.input))
			out := transcript.Outcome{Text: c.text, HasExit: true}
			if got := known(f.Client.Reading(c.tool, &a, &out)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			out.Failed, out.Exit = true, 1
			if got := known(f.Client.Reading(c.tool, &a, &out)); got != "nothing" {
				t.Errorf("a failed read tells %q", got)
			}
		})
	}
}

func TestCopyOf(t *testing.T) {
	copied := func(told any) (c transcript.Copy, ok bool) {
		line := jsonOf(t, map[string]any{"type": "user", "uuid": "u", "sessionId": "s", "message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": "t", "content": "x"},
		}}, "toolUseResult": told})
		for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: line, Rest: true}) {
			return transcript.CopyOf(r)
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
		{"whole", file("a\nb\n", 1, 3, 3), "/a seen a\nb\n before nothing"},
		{"part", file("b", 2, 1, 3), "/a seen a part before nothing"},
		{"numbers that do not agree", file("b\nc", 2, 1, 3), "/a seen nothing before nothing"},
		{"edit", map[string]any{"filePath": "/a", "originalFile": "x\n"}, "/a seen nothing before x\n"},
		{"edit of a new file", map[string]any{"filePath": "/a", "originalFile": nil}, "/a seen nothing before nothing"},
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

// FuzzAfter checks that replaying any call is safe, and gives text or nothing.
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
		c := clientOf(tool)
		a := c.Understand(tool, []byte(input))
		for n := range a.Files {
			whole := c.After(tool, []byte(input), n, transcript.Whole(text))
			part := c.After(tool, []byte(input), n, transcript.Some(2, text, true))
			for _, after := range []transcript.Content{whole, part} {
				if got, ok := after.Text(); ok && known(transcript.Whole(got)) != got {
					t.Errorf("%q is not the text of its lines", got)
				}
			}
		}
	})
}
