package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestFit holds that a table is cut to a terminal's width where that can be, in the middle of the columns that may be
// cut, and not at all where it is piped.
func TestFit(t *testing.T) {
	rows := func() [][]string {
		return [][]string{
			{"AGENT", "SESSION", "PROJECT", "AGE"},
			{"codex", "0199b261-401d-short", "/home/you/some/where/very/deep/ledger", "3d"},
			{"codex", "s", "/é", "12d"},
		}
	}
	project, session := column{at: 2, least: 8}, column{at: 1, least: 13}
	for _, c := range []struct {
		width int
		want  []string
	}{
		{0, []string{"codex", "0199b261-401d-short", "/home/you/some/where/very/deep/ledger", "3d"}},
		{70, []string{"codex", "0199b261-401d-short", "/home/you/some/where/very/deep/ledger", "3d"}},
		{55, []string{"codex", "0199b261-401d-short", "/home/you/…deep/ledger", "3d"}},
		{40, []string{"codex", "0199b261…01d-short", "/ho…dger", "3d"}},
		{30, []string{"codex", "0199b2…-short", "/ho…dger"}},
		{21, []string{"codex", "0199b2…-short"}},
		{1, []string{"codex"}},
	} {
		got := fit(rows(), c.width, project, session)
		if diff := cmp.Diff(c.want, got[1]); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", c.width, diff)
		}
		if c.width > 5 && lineWidth(got) > c.width {
			t.Errorf("width %d: lines of %d characters", c.width, lineWidth(got))
		}
	}
}

func TestMiddle(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 20} {
		got := middle("a naïve name of 23 char", n)
		if utf8.RuneCountInString(got) != n || !strings.Contains(got, "…") {
			t.Errorf("%d: %q", n, got)
		}
	}
	if got := middle("short", 5); got != "short" {
		t.Errorf("%q", got)
	}
}
