package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFit: a table fits the terminal. A column that no row has is left out, columns that can be cut share the room, others are
// dropped in order, and no line is too wide, whatever the characters.
func TestFit(t *testing.T) {
	at := func(i int) func([]string) string { return func(r []string) string { return r[i] } }
	columns := []Column[[]string]{
		{Head: "SESSION", Text: at(0)},
		{Head: "TITLE", Text: at(1), Least: 10},
		{Head: "PROJECT", Text: at(2), Drop: 2},
		{Head: "AGE", Text: at(3), Drop: 1, Piped: func(r []string) string { return "since " + r[3] }},
		{Head: "NOTE", Text: func([]string) string { return "" }},
	}
	rows := [][]string{
		{"0199b261-401d", "Fix the cents of invoice 48213", "ledger", "3h ago"},
		{"0199b261-9999", "請求書の一セントを直す ✅", "ledger", "12 Nov"},
	}
	for _, c := range []struct {
		width int
		want  []string
	}{
		{80, []string{
			"SESSION        TITLE                           PROJECT  AGE",
			"0199b261-401d  Fix the cents of invoice 48213  ledger   3h ago",
			"0199b261-9999  請求書の一セントを直す ✅       ledger   12 Nov",
		}},
		{50, []string{
			"SESSION        TITLE               PROJECT  AGE",
			"0199b261-401d  Fix the cents of …  ledger   3h ago",
			"0199b261-9999  請求書の一セント…   ledger   12 Nov",
		}},
		{40, []string{"SESSION        TITLE             PROJECT", "0199b261-401d  Fix the cents o…  ledger", "0199b261-9999  請求書の一セン…   ledger"}},
		{30, []string{"SESSION        TITLE", "0199b261-401d  Fix the cents …", "0199b261-9999  請求書の一セン…"}},
		{24, []string{"SESSION        TITLE", "0199b261-401d  Fix the …", "0199b261-9999  請求書の…"}},
		{20, []string{"SESSION", "0199b261-401d", "0199b261-9999"}},
		{5, []string{"SESS…", "0199…", "0199…"}},
	} {
		got := Fit(rows, columns, c.width, false)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", c.width, diff)
		}
		for _, line := range got {
			if CellsOf(line) > c.width {
				t.Errorf("width %d: %d cells: %s", c.width, CellsOf(line), line)
			}
		}
	}
	if got, want := Tabbed(rows[:1], columns), "SESSION\tTITLE\tPROJECT\tAGE\tNOTE\n0199b261-401d\tFix the cents of invoice 48213\tledger\tsince 3h ago\t\n"; got != want {
		t.Errorf("piped: %q", got)
	}
	columns[0].Tone = func([]string) Tone { return Bad }
	if got := Fit(rows, columns, 20, true)[1]; got != "\x1b[31m0199b261-401d\x1b[0m" {
		t.Errorf("coloured: %q", got)
	}
}

// TestCutMiddle: of a path that is too long both ends stay.
func TestCutMiddle(t *testing.T) {
	for cells, want := range map[int]string{40: "cmd/ccd/internal/table/fit.go", 20: "cmd/c…l/table/fit.go", 8: "c…fit.go"} {
		if got := CutMiddle("cmd/ccd/internal/table/fit.go", cells); got != want {
			t.Errorf("%d: %s", cells, got)
		}
	}
	if got := CutMiddle("請求書/一セント/直す.md", 12); CellsOf(got) > 12 || !strings.HasSuffix(got, ".md") {
		t.Error(got)
	}
}

// TestFacts: a long value continues on the next line, broken between words if possible.
func TestFacts(t *testing.T) {
	got := Facts([][]string{{"daemon", "not running"}, {"root", "codex /home/you/a/very/long/path/of/sessions, watched"}}, 30, false)
	want := []string{"daemon  not running", "root    codex", "        /home/you/a/very/long/", "        path/of/sessions,", "        watched"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = Facts([][]string{{"ok", "archive", "4 MiB for 23 MiB"}, {"wrong", "program", "not in $PATH"}, {"", "", "fix: move it"}}, 30, true)
	want = []string{"\x1b[32mok\x1b[0m     archive  4 MiB for 23", "                MiB", "\x1b[31mwrong\x1b[0m  program  not in $PATH", "                fix: move it"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for width := 1; width < 40; width++ {
		text := "a word 請求書の一セントを直す and/a/long/one"
		if lines := WrapCells(text, max(width, 2)); strings.ReplaceAll(strings.Join(lines, ""), " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("width %d: %q", width, lines)
		}
	}
}
