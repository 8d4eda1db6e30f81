package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/account"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// story is an invented session; each line is a minute later than the one before.
type story struct {
	b   strings.Builder
	at  time.Time
	n   int
	cwd string
	id  string
}

func newStory() *story {
	return &story{at: time.Date(2026, 2, 3, 4, 0, 0, 0, time.UTC), cwd: "/src/ink", id: "t"}
}

func (s *story) line(kind string, block map[string]any, told any) {
	s.n++
	s.at = s.at.Add(time.Minute)
	m := map[string]any{
		"type": kind, "uuid": fmt.Sprint(s.id, s.n), "timestamp": s.at.Format(time.RFC3339), "cwd": s.cwd,
		"message": map[string]any{"role": kind, "content": []any{block}},
	}
	if told != nil {
		m["toolUseResult"] = told
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	s.b.Write(append(data, '\n'))
}

func (s *story) do(tool string, input map[string]any, result string, failed bool, told any) *story {
	id := fmt.Sprint(s.id, "-", s.n)
	s.line("assistant", map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input}, nil)
	s.line("user", map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}, told)
	return s
}

func (s *story) write(path, text string) *story {
	return s.do("Write", map[string]any{"file_path": path, "content": text}, "File created successfully at: "+path, false, nil)
}

func (s *story) edit(path, old, new string) *story {
	return s.do("Edit", map[string]any{"file_path": path, "old_string": old, "new_string": new}, "The file "+path+" has been updated.", false, nil)
}

// read shows the lines from number first on.
func (s *story) read(path string, first, limit int, lines ...string) *story {
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, "%6d\t%s\n", first+i, l)
	}
	in := map[string]any{"file_path": path}
	if limit > 0 {
		in["offset"], in["limit"] = first, limit
	}
	return s.do("Read", in, strings.TrimSuffix(b.String(), "\n"), false, nil)
}

func (s *story) bash(cmd string, exit int) *story {
	if exit != 0 {
		return s.do("Bash", map[string]any{"command": cmd}, fmt.Sprintf("Exit code %d\nbad", exit), true, nil)
	}
	return s.do("Bash", map[string]any{"command": cmd}, "", false, nil)
}

func (s *story) patch(body string) *story {
	return s.do("apply_patch", map[string]any{"input": "*** Begin Patch\n" + body + "\n*** End Patch"}, "Success.", false, nil)
}

// file archives the story alone and asks for a file, which it writes in words.
func (s *story) file(t *testing.T, w sought) string {
	t.Helper()
	shelf := newShelf(t)
	one := shelf.put("S", transcript.Main, 1, s.b.String())
	return told(fileIn(context.Background(), [][]Reading{{shelf.reading(one)}}, w, func() {}))
}

func told(v *Version, err error) string {
	var unknown *UnknownError
	switch {
	case errors.As(err, &unknown) && !unknown.Last.IsZero():
		return err.Error() + "; until " + unknown.Last.Format("15:04")
	case err != nil:
		return err.Error()
	}
	s := fmt.Sprintf("%s %s #%d %q", v.Path, v.How, v.Record, v.Text)
	if v.Gone != nil {
		s += " " + v.Gone.What
	}
	if v.Doubt != nil {
		s += fmt.Sprintf(" doubt #%d", v.Doubt.Record)
	}
	return s
}

// A name is resolved where the session was by then, and of calls at once only those that are asked for count.
func TestFileUntil(t *testing.T) {
	moved := newStory()
	moved.cwd = "/p/x"
	moved.write("/p/x/a.go", "x\n")
	moved.cwd = "/p/y"
	moved.write("/p/y/a.go", "y\n")
	at := time.Date(2026, 2, 3, 4, 2, 30, 0, time.UTC)
	if got := moved.file(t, sought{Path: "a.go", At: at}); got != `/p/x/a.go written #2 "x\n"` {
		t.Error(got)
	}
	const a = "/src/ink/a.go"
	once := newStory().write(a, "one\n")
	once.line("assistant", map[string]any{"type": "tool_use", "id": "slow", "name": "Bash", "input": map[string]any{"command": "true"}}, nil)
	once.line("assistant", map[string]any{"type": "tool_use", "id": "fast", "name": "Edit", "input": map[string]any{"file_path": a, "old_string": "one", "new_string": "two"}}, nil)
	once.line("user", map[string]any{"type": "tool_result", "tool_use_id": "fast", "content": "The file " + a + " has been updated."}, nil)
	once.line("user", map[string]any{"type": "tool_result", "tool_use_id": "slow", "content": ""}, nil)
	if got := once.file(t, sought{Path: a, session: "S", Record: 3}); got != a+` written #2 "one\n"` {
		t.Error(got)
	}
}

func TestFile(t *testing.T) {
	const a = "/src/ink/a.go"
	old := newStory().write(a, "one\n").edit(a, "one", "two")
	for _, c := range []struct {
		name string
		s    *story
		path string
		want string
	}{
		{"written and edited", newStory().write(a, "one\n").edit(a, "one", "two").read("/b", 1, 0, "x"), a, a + ` edited #4 "two\n"`},
		{"relative to the session", old, "a.go", a + ` edited #4 "two\n"`},
		{"by its end", old, "ink/a.go", a + ` edited #4 "two\n"`},
		{"not touched", old, "b.go", "find file b.go: not found: no archived session touched it"},
		{"the end of a name is no path", old, "o", "find file o: not found: no archived session touched it"},
		{"read", newStory().read(a, 1, 0, "one", "two", ""), a, a + ` read #2 "one\ntwo\n"`},
		{"read in part", newStory().read(a, 1, 2, "one", "two").read(a, 7, 2, "seven", "eight"), a, "restore file " + a + ": only a part of it is in the transcript"},
		{"a part that agrees", newStory().write(a, "one\ntwo\n").read(a, 2, 1, "two"), a, a + ` read #4 "one\ntwo\n"`},
		{"a part that contradicts", newStory().write(a, "one\ntwo\n").read(a, 2, 9, "2", ""), a, "restore file " + a + ": only a part of it is in the transcript; until 04:02"},
		{"an edit that failed", newStory().write(a, "one\n").do("Edit", map[string]any{"file_path": a, "old_string": "one", "new_string": "x"}, "<tool_use_error>no</tool_use_error>", true, nil), a, a + ` written #2 "one\n"`},
		{"an edit that does not apply", newStory().write(a, "one\n").edit(a, "five", "x"), a, "restore file " + a + ": its content is not in the transcript since it was edited at S#4; until 04:02"},
		{"the first of two that do not apply", newStory().write(a, "one\n").edit(a, "five", "x").edit(a, "one", "two"), a, "restore file " + a + ": its content is not in the transcript since it was edited at S#4; until 04:02"},
		{"the client's copy mends it", newStory().write(a, "one\n").do("Edit", map[string]any{"file_path": a, "old_string": "five", "new_string": "5"}, "The file has been updated.", false,
			map[string]any{"filePath": a, "originalFile": "four\nfive\n"}), a, a + ` edited #4 "four\n5\n"`},
		{"what the human changed is not known", newStory().write(a, "one\n").do("Edit", map[string]any{"file_path": a, "old_string": "one", "new_string": "1"}, "The file has been updated.", false,
			map[string]any{"filePath": a, "originalFile": "one\n", "userModified": true}), a, "restore file " + a + ": its content is not in the transcript since it was edited at S#4; until 04:02"},
		{"the client's copy of a read is whole", newStory().do("Read", map[string]any{"file_path": a}, "     1\tone", false,
			map[string]any{"type": "text", "file": map[string]any{"filePath": a, "content": "one\ntwo\n", "startLine": 1, "numLines": 3, "totalLines": 3}}), a, a + ` read #2 "one\ntwo\n"`},
		{"another copy is not taken", newStory().do("Read", map[string]any{"file_path": a}, "     1\tone", false,
			map[string]any{"type": "text", "file": map[string]any{"filePath": "/b", "content": "x", "startLine": 1, "numLines": 1, "totalLines": 1}}), a, a + ` read #2 "one"`},
		{"deleted", newStory().write(a, "one\n").bash("rm a.go", 0), a, a + ` written #2 "one\n" deleted`},
		{"not deleted", newStory().write(a, "one\n").bash("rm a.go", 1), a, a + ` written #2 "one\n" doubt #4`},
		{"deleted with its directory", newStory().write(a, "one\n").bash("rm -rf /src/ink", 0), a, a + ` written #2 "one\n" deleted`},
		{"made anew", newStory().write(a, "one\n").bash("rm a.go", 0).write(a, "two\n"), a, a + ` written #6 "two\n"`},
		{"renamed", newStory().write(a, "one\n").bash("git mv a.go b.go", 0).edit("/src/ink/b.go", "one", "two"), "b.go", `/src/ink/b.go edited #6 "two\n"`},
		{"under its old name", newStory().write(a, "one\n").bash("git mv a.go b.go", 0), a, a + ` written #2 "one\n" renamed to /src/ink/b.go`},
		{"moved into a directory", newStory().write(a, "one\n").bash("mv a.go lib", 0), "lib/a.go", `/src/ink/lib/a.go renamed #4 "one\n"`},
		{"with its directory", newStory().write("/src/ink/lib/a.go", "one\n").bash("mv lib core", 0), "core/a.go", `/src/ink/core/a.go renamed #4 "one\n"`},
		{"there and back", newStory().write(a, "one\n").bash("mv a.go b.go", 0).bash("mv b.go a.go", 0), a, a + ` renamed #6 "one\n"`},
		{"here-document", newStory().bash("cat > a.go <<'EOF'\none\nEOF", 0).bash("cat >> a.go <<'EOF'\ntwo\nEOF", 0), a, a + ` edited #4 "one\ntwo\n"`},
		{"output of a program", newStory().write(a, "one\n").bash("make > a.go", 0), a, "restore file " + a + ": its content is not in the transcript since it was written at S#4; until 04:02"},
		{"put back", newStory().write(a, "one\n").bash("git checkout -- a.go", 0), a, "restore file " + a + ": its content is not in the transcript since it was restored by git at S#4; until 04:02"},
		{"perhaps formatted", newStory().write(a, "one\n").bash("gofmt -w a.go", 0), a, a + ` written #2 "one\n" doubt #4`},
		{"an edit makes sure", newStory().write(a, "one\n").bash("gofmt -w a.go", 0).edit(a, "one", "two"), a, a + ` edited #6 "two\n"`},
		{
			"a patch does not", newStory().patch("*** Add File: a.go\n+one").bash("gofmt -w a.go", 0).patch("*** Update File: a.go\n@@\n-one\n+two"), a,
			"restore file " + a + ": its content is not in the transcript since it was edited at S#6; until 04:02",
		},
		{"patched and moved", newStory().patch("*** Add File: a.go\n+one\n+two").patch("*** Update File: a.go\n*** Move to: b.go\n@@\n-one\n+1"), "b.go", `/src/ink/b.go renamed #4 "1\ntwo\n"`},
		{"refused", newStory().write(a, "one\n").do("Write", map[string]any{"file_path": a, "content": "x"}, "The user doesn't want to proceed with this tool use.", true, nil), a, a + ` written #2 "one\n"`},
		{"of a notebook's cells", newStory().do("NotebookEdit", map[string]any{"notebook_path": "/n.ipynb", "new_source": "x"}, "ok", false, nil), "/n.ipynb", "restore file /n.ipynb: its content is not in the transcript; it was edited at S#2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.s.file(t, sought{Path: c.path, Dir: "/home/me"}); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestFileAt(t *testing.T) {
	const a = "/src/ink/a.go"
	s := newStory().write(a, "one\n").edit(a, "one", "two").bash("rm a.go", 0)
	for _, c := range []struct{ at, want string }{
		{"04:01", "find file a.go: not found: no archived session touched it by 2026-02-03T04:01Z"},
		{"04:02", a + ` written #2 "one\n"`},
		{"04:03", a + ` written #2 "one\n"`},
		{"04:04", a + ` edited #4 "two\n"`},
		{"04:59", a + ` edited #4 "two\n" deleted`},
	} {
		at, err := time.Parse("2006-01-02T15:04", "2026-02-03T"+c.at)
		testkit.Must(t, err)
		if got := s.file(t, sought{Path: "a.go", Dir: "/src/ink", At: at}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.at, got, c.want)
		}
	}
}

// TestFileAsAnEditFoundIt: what is read in part before an edit is what the client's copy shows that the edit found.
func TestFileAsAnEditFoundIt(t *testing.T) {
	const a = "/src/ink/a.go"
	edit := func(old string, copy map[string]any) *story {
		return newStory().read(a, 1, 1, "one").do("Edit", map[string]any{"file_path": a, "old_string": old, "new_string": "2"}, "The file has been updated.", false, copy)
	}
	at := time.Date(2026, 2, 3, 4, 3, 0, 0, time.UTC)
	for want, s := range map[string]*story{
		a + ` found by an edit #4 "one\ntwo\n"`:                                          edit("two", map[string]any{"filePath": a, "originalFile": "one\ntwo\n"}),
		"restore file " + a + ": only a part of it is in the transcript":                 edit("two", nil),
		"restore file " + a + ": only a part of it is in the transcript; another's copy": edit("two", map[string]any{"filePath": "/b", "originalFile": "one\ntwo\n"}),
	} {
		want, _, _ = strings.Cut(want, "; another")
		if got := s.file(t, sought{Path: "a.go", Dir: "/src/ink", At: at}); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

// TestFileFoundLaterIsNoOther: what an edit found is not shown for a time since which the file was deleted, replaced or changed by a
// command; a command that may have changed it is a doubt.
func TestFileFoundLaterIsNoOther(t *testing.T) {
	const a, b, part = "/src/ink/a.go", "/src/ink/b.go", "restore file /src/ink/a.go: only a part of it is in the transcript"
	found := func(s *story, path string) *story {
		return s.do("Edit", map[string]any{"file_path": path, "old_string": "two", "new_string": "2"}, "The file has been updated.", false, map[string]any{"filePath": path, "originalFile": "one\ntwo\n"})
	}
	begin := func() *story { return newStory().read(a, 1, 1, "one") }
	at := time.Date(2026, 2, 3, 4, 3, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		s    *story
		want string
	}{
		"read again":             {found(begin().bash("ls", 0).read(a, 2, 1, "two"), a), a + ` found by an edit #8 "one\ntwo\n"`},
		"named by a command":     {found(begin().bash("ls", 0).bash("gofmt -w a.go", 0), a), a + ` found by an edit #8 "one\ntwo\n" doubt #6`},
		"named before that time": {found(begin().bash("gofmt -w a.go", 0), b).read(a, 1, 1, "one"), part},
		"deleted":                {found(begin().bash("ls", 0).bash("rm a.go", 0).bash("python make.py a.go", 0), a), part},
		"another one since":      {found(found(begin().bash("ls", 0), b).bash("mv b.go a.go", 0), a), part},
		"an edit without a copy": {found(begin().bash("ls", 0).edit(a, "one", "1"), a), part},
	} {
		if got := c.s.file(t, sought{Path: a, Dir: "/src/ink", At: at}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
	gone := found(newStory().read(a, 1, 1, "one").bash("rm a.go", 0).bash("ls", 0).bash("python make.py a.go", 0), a)
	if got := gone.file(t, sought{Path: a, Dir: "/src/ink", At: at.Add(2 * time.Minute)}); !strings.HasPrefix(got, "restore file") {
		t.Errorf("deleted at that time: got %s", got)
	}
}

func TestFileOfSeveralSessions(t *testing.T) {
	const a = "/src/ink/a.go"
	shelf := newShelf(t)
	put := func(id string, s *story) Reading {
		return shelf.reading(shelf.put(id, transcript.Main, 1, s.b.String()))
	}
	main := newStory().write(a, "one\ntwo\nthree\n").edit(a, "three", "3")
	sub := newStory()
	sub.id = "sub"
	sub.b.WriteString(main.b.String()) // a copy of what its parent did, as some sub-agents' transcripts begin with
	sub.at = main.at
	sub.edit(a, "two", "2")
	main.at = sub.at
	main.edit(a, "one", "1")
	family := []Reading{put("main", main), put("sub", sub)}
	ask := func(families [][]Reading, path, dir string) string {
		return told(fileIn(context.Background(), families, sought{Path: path, Dir: dir}, func() {}))
	}
	if got, want := ask([][]Reading{family}, a, "/"), a+` edited #6 "1\n2\n3\n"`; got != want {
		t.Errorf("with its sub-agent: got %s, want %s", got, want)
	}
	if got, want := ask([][]Reading{family[:1]}, a, "/"), "not in the transcript"; strings.Contains(got, want) || !strings.Contains(got, `"1\ntwo\n3\n"`) {
		t.Errorf("alone: got %s", got)
	}
	other := []Reading{put("other", newStory().write("/elsewhere/a.go", "other\n"))}
	other[0].Path = "/h/other.jsonl"
	for _, c := range []struct{ path, dir, want string }{
		{"a.go", "/src/ink", a}, // the newest session's only ends with it
		{"a.go", "/elsewhere", "/elsewhere/a.go"},
		{"a.go", "/", a}, // where the session works
		{"/elsewhere/a.go", "/", "/elsewhere/a.go"},
		{"elsewhere/a.go", "/home", "/elsewhere/a.go"},
	} {
		if got := ask([][]Reading{other, family}, c.path, c.dir); !strings.HasPrefix(got, c.want+" ") {
			t.Errorf("%s in %s: got %s, want %s", c.path, c.dir, got, c.want)
		}
	}
	two := []Reading{put("two", newStory().write("/x/lib/b.go", "1").write("/y/lib/b.go", "2"))}
	_, err := fileIn(context.Background(), [][]Reading{two}, sought{Path: "lib/b.go", Dir: "/"}, func() {})
	var several *AmbiguousError
	if !errors.As(err, &several) || len(several.Matches) != 2 {
		t.Errorf("two files of one end: %v", err)
	}
}

// TestChanges: each version of a file in its order, and how it came about.
func TestChanges(t *testing.T) {
	const a = "/src/ink/a.go"
	copied := map[string]any{"filePath": a, "originalFile": "four\nfive\n"}
	amended := map[string]any{"filePath": a, "originalFile": "four\nfive\n", "userModified": true}
	for _, c := range []struct {
		s    *story
		want string
	}{
		{newStory().write(a, "one\n").edit(a, "one", "two").bash("rm a.go", 0), `written "one\n" edited "two\n" deleted ""`},
		{
			newStory().read(a, 1, 1, "four").do("Edit", map[string]any{"file_path": a, "old_string": "five", "new_string": "5"}, "ok", false, copied),
			`read "" found by an edit "four\nfive\n" edited "four\n5\n"`,
		},
		{
			newStory().do("Edit", map[string]any{"file_path": a, "old_string": "five", "new_string": "5"}, "ok", false, amended).bash("rm a.go", 0),
			`found by an edit "four\nfive\n" edited "" deleted ""`,
		},
	} {
		s := newShelf(t)
		one := s.put("S", transcript.Main, 1, c.s.b.String())
		l := Library{Place: &account.Place{Archive: s.Archive}}
		path, all, err := l.Changes(t.Context(), l.Session(t.Context(), one.Key), a)
		testkit.Must(t, err)
		got := path
		for _, c := range all {
			got += fmt.Sprintf(" %s %q", c.How, c.Text)
		}
		if want := a + " " + c.want; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A version is compared with the last one before it that is known.
func TestVersionsAreCompared(t *testing.T) {
	var h history
	for _, text := range []string{"one\ntwo\n", "", "one\n2\n", "one\n2\n"} {
		h.add(Version{Text: text, Known: text != ""})
	}
	if h.all[2].Diff() != "@@ -1,2 +1,2 @@\n one\n-two\n+2\n" || h.all[0].Diff()+h.all[1].Diff()+h.all[3].Diff() != "" || h.all[3].Before.Text != "one\n2\n" {
		t.Errorf("%+v", h.all)
	}
}
