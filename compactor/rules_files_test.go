package compactor

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
)

// Recently read or edited files come back, newest first, each and all of them within their limits.
func TestRestoredFiles(t *testing.T) {
	s := newScript()
	s.human("Work on the files.")
	for i := range 8 {
		s.write(fmt.Sprintf("/home/me/ledger/f%d.py", i), strings.Repeat(fmt.Sprintf("file %d has a line of some fifty characters in it\n", i), 30))
	}
	s.read("/home/me/ledger/f1.py", strings.Repeat("file 1 has a line of some fifty characters in it\n", 30))
	for i := range 60 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("building unit %d\n", i), 90))
	}
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
		f := fold(t, s.buf.Bytes(), *ruled(c.change))
		out := f.compact(t)
		f.check(t, out)
		text := out.section("Files")
		var got []string
		for _, part := range strings.Split(text, "### `")[1:] {
			name, _, _ := strings.Cut(part, ".py`")
			got = append(got, name)
			if n := lexicon.Chars(part); n > f.o.RestoreTokens*3/4 {
				t.Errorf("%s: %s takes %d chars", c.name, name, n)
			}
		}
		if n := lexicon.Chars(text); n > f.o.RestoreTotal*3/4 {
			t.Errorf("%s: all take %d chars", c.name, n)
		}
		if all := strings.Join(got, " "); all != c.want && !(c.name == "less of all" && strings.HasPrefix(all, c.want)) {
			t.Errorf("%s: %s come back, want %s", c.name, all, c.want)
		}
		if cut := strings.Contains(text, " cut, "); cut != c.cut && c.name != "less of all" {
			t.Errorf("%s: cut %t, want %t", c.name, cut, c.cut)
		}
	}
}

// Work is closed where a failure was made good since, and where a sub-agent has reported.
func TestClosedWork(t *testing.T) {
	s := newScript()
	s.human("Work.")
	s.fails("make mended", "error: no", 2)
	s.fails("make broken", "error: no", 2)
	s.bash("make mended", "fine")
	s.do("Task", map[string]any{"description": "look", "prompt": "look"}, "seen")
	f := fold(t, s.buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	for call, want := range map[int32]bool{1: true, 3: false, 5: false, 7: true} {
		if got := d.isClosed(unit{first: call, result: call + 1}); got != want {
			t.Errorf("the work of #%d is closed: %t, want %t", call+1, got, want)
		}
	}
}
