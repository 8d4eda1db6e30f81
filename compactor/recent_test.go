package compactor

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
)

// A file that was touched last stands once: what its last edits made of it under Files, the edits themselves under Recent.
func TestFilesAndRecentShareTheirContent(t *testing.T) {
	s := newScript()
	s.human("Change the file.")
	s.built()
	s.read("/home/me/ledger/a.go", strings.Repeat("a line of the ledger\n", 20)+"the old end\n")
	s.edit("/home/me/ledger/a.go", "the old end", "the new end")
	s.write("/home/me/ledger/b.go", strings.Repeat("package b // of the ledger\n", 10))
	s.say("Done with a.go.")
	c := told(t, s, Defaults())
	wants(t, c.section("Recent"), "#62 Read `a.go`\n> a line of the ledger\n", "#66 Write `b.go`\n> package b // of the ledger\n", "#64 Edit `a.go`\n> - the old end\n> + the new end\n")
	for line, most := range map[string]int{"> a line of the ledger\n": 20, "> package b // of the ledger\n": 10} {
		if n := strings.Count(c.all(), line); n != most {
			t.Errorf("%q stands %d times, want %d", line, n, most)
		}
	}
	wants(t, c.section("Files"), "- edited `a.go` (#64)", "- created `b.go` (#66)")
}

// Recent holds the newest records, word by word, calls with their results; what is too large comes in shortened, so that
// what stands before it may come too.
func TestRecentHoldsTheNewest(t *testing.T) {
	s := newScript()
	s.human("Look at the log.")
	s.built()
	s.say("Now the log, all of it.")
	s.bash("make log", strings.Repeat("a line of the log\n", 5000)+"the last line of the log")
	s.fails("make check", strings.Repeat("fine\n", 2000)+"error: the beam is bent\n"+strings.Repeat("fine\n", 2000), 2)
	s.do("ExitPlanMode", map[string]any{"plan": "# The plan\n\n- parse \"text\"\n" + strings.Repeat("- and so on\n", 10) + "- stop\n", "steps": 2}, "ok")
	s.bash("cat <<'EOF' > a\n"+strings.Repeat("a word of it ", 20)+"\nEOF", "")
	s.say("It is long. So I stop.")
	for _, tokens := range []int{72000, 40000} {
		c := told(t, s, tokensOf(tokens))
		recent := c.section("Recent")
		inOrder(t, recent, "#62 assistant\n> Now the log, all of it.\n", "#63 Bash `make log` -> 0\n> a line of the log\n", " cut, ", "> the last line of the log\n",
			"#65 Bash `make check` -> 2\n> fine\n", " cut, ", "> error: the beam is bent\n",
			"> plan:\n> # The plan\n> \n> - parse \"text\"\n> - and so on\n", "> - stop\n> steps: 2\n", "> cat <<'EOF' > a\n", "> EOF\n")
		if n := strings.Count(recent, strings.Repeat("a word of it ", 10)); n != 2 {
			t.Errorf("20 words of the command stand as %d times 10", n)
		}
		if n := lexicon.Chars(recent); n > tokens*3/4/4 {
			t.Errorf("%d chars of %d are Recent", n, tokens*3/4)
		}
	}
	if small := told(t, s, tokensOf(10000)); small.section("Recent") != "" {
		t.Errorf("there is no room for it:\n%s", small.section("Recent"))
	}
}

func TestFilesComeBackWithTheirEdits(t *testing.T) {
	s := newScript()
	s.human("Work on the files.")
	s.read("/home/me/ledger/a.go", "package a\n\nfunc one() {}\n")
	s.edit("/home/me/ledger/a.go", "func one() {}", "func two() {}")
	s.write("/home/me/ledger/b.go", "package b\n")
	s.read("/home/me/ledger/c.go", "package c\n")
	s.edit("/home/me/ledger/c.go", "not there", "x") // reported as done, yet it does not apply: content unknown
	text := told(t, s.built(), Defaults()).section("Files")
	wants(t, text, "### `a.go` as of #4 (3 lines)\n", "> func two() {}", "### `b.go` as of #6 (1 lines)\n> package b\n",
		"### `c.go` last edit at #10 (its whole content is not known)\n> - not there\n> + x")
	wantsNot(t, text, "func one", "package c")
}

// Recently read or edited files come back, the edited ones first, each and all of them within their limits.
func TestRestoredFiles(t *testing.T) {
	s := newScript()
	s.human("Work on the files.")
	line := func(n int) string { return fmt.Sprintf("file %d has a line of some fifty characters in it\n", n) }
	for i := range 8 {
		s.write(fmt.Sprintf("/home/me/ledger/f%d.py", i), strings.Repeat(line(i), 30))
	}
	s.read("/home/me/ledger/f1.py", strings.Repeat(line(1), 30))
	s.built()
	for _, c := range []struct {
		name   string
		change func(*Options)
		want   string // the files, in order
		cut    bool
	}{
		{"as shipped", func(*Options) {}, "f1 f7 f6 f5 f4", false},
		{"fewer", func(o *Options) { o.RestoreFiles = 2 }, "f1 f7", false},
		{"none", func(o *Options) { o.RestoreFiles = 0 }, "", false},
		{"less of all", func(o *Options) { o.RestoreTotal = 4800 }, "f1 f7", false}, // 3600 chars: two files and a little
		{"less of each", func(o *Options) { o.RestoreTokens = 1000 }, "f1 f7 f6 f5 f4", true},
	} {
		o := Defaults()
		c.change(&o)
		_, text, _ := strings.Cut(told(t, s, o).section("Files"), "### `")
		var got []string
		for part := range strings.SplitSeq(text, "### `") {
			if name, _, ok := strings.Cut(part, ".py`"); ok {
				got = append(got, name)
			}
			if n := lexicon.Chars(part); n > o.RestoreTokens*3/4 {
				t.Errorf("%s: %d chars of %.20s", c.name, n, part)
			}
		}
		if n := lexicon.Chars(text); n > o.RestoreTotal*3/4 {
			t.Errorf("%s: all take %d chars", c.name, n)
		}
		if all := strings.Join(got, " "); !strings.HasPrefix(all, c.want) || len(all) > len(c.want) && c.name != "less of all" {
			t.Errorf("%s: %s come back, want %s", c.name, all, c.want)
		}
		if cut := strings.Contains(text, " cut, "); cut != c.cut && c.name != "less of all" {
			t.Errorf("%s: cut %t, want %t", c.name, cut, c.cut)
		}
	}
}

// Each call has a form of its own in the conversation: what was read, what came out, what was found, what was changed.
func TestFormsOfWork(t *testing.T) {
	s := newScript()
	s.used = 20000
	s.human("Go on.")
	s.read("/home/me/ledger/a.go", strings.Repeat("package a\n", 1000))
	s.bash("go test ./...", strings.Repeat("ok  some/package 0.1s\n", 1000)+"3 passed")
	s.fails("go vet ./...", strings.Repeat("# some/package\n", 1000)+"a.go:7: error: cannot use x\na.go:9: error: cannot use y\n", 1)
	s.do("Grep", map[string]any{"pattern": "float"}, strings.Repeat("ledger/money.py:12: float(x)\n", 400))
	s.say(strings.Repeat("This explains the state of affairs at length. ", 60))
	s.say("Short remark.")
	s.edit("/home/me/ledger/a.go", strings.Repeat("old line\n", 30), strings.Repeat("new line\n", 30))
	s.bash("cat same", strings.Repeat("the same output\n", 1000))
	s.bash("cat same again", strings.Repeat("the same output\n", 1000))
	s.fails("rm -r out", "rm: out: Permission denied", 1)
	for i := range 12 {
		s.round(1000 + i)
	}
	c := told(t, s, tokensOf(20000))
	inOrder(t, c.section("Conversation"), "- #2 Read [ccd ", " file a.go, 1000 lines, read 2026-03-04T09:00Z, edited 1x later]\n", "- #4 Bash `go test ./...` -> 0: 3 passed [ccd ",
		" output, 1001 lines, ", "- #6 Bash `go vet ./...` -> 1: `a.go:7: error: cannot use x`; `a.go:9: error: cannot use y` [ccd ",
		"- #8 Grep `float`: 400 hits: `ledger/money.py:12: float(x)`", "- #10 ", "This explains the state of affairs at length.", "- #11 said: Short remark.\n",
		"- #12 Edit `a.go`: `- old line` `+ new line` [ccd ", "- #14 Bash `cat same` -> 0 [ccd ", " dup of #17, 16000 chars]\n", "- #18 Bash `rm -r out` -> 1: ")
	if len(c.Header.Saved) < 4 {
		t.Errorf("saved = %+v", c.Header.Saved)
	}
}

// What a tool was given stands as it was, also where it is no proper Unicode.
func TestChangesAreExact(t *testing.T) {
	line := `{"type":"assistant","message":{"id":"m%d","role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"%s","input":%s}]},"uuid":"u%d","timestamp":"2026-03-01T09:00:00Z"}` + "\n"
	data := fmt.Sprintf(line, 1, 1, "Write", `{"file_path":"/a","content":"one \ud800 two"}`, 1) +
		fmt.Sprintf(line, 2, 2, "Edit", "{\"file_path\":\"/a\",\"old_string\":\"x\",\"new_string\":\"y \xff z\"}", 2)
	wants(t, folding(t, []byte(data), Defaults()).compact(t).all(), `one \xed\xa0\x80 two`, `y \xff z`)
}
