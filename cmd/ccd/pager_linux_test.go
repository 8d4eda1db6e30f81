package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// TestPager: long output on a terminal goes through the pager, escaped. A missing pager, or one that quits early, is no
// error. Pipes and --no-pager get no pager.
func TestPager(t *testing.T) {
	home := chooseHome(t, 3*time.Hour, 2*time.Hour, time.Hour)
	long := filepath.Join(home, ".claude", "projects", "-p", "dddd4444-0000-4000-8000-00000000000d.jsonl")
	var text strings.Builder
	for n := range 4000 {
		fmt.Fprintf(&text, `{"type":"user","uuid":"u%d","timestamp":"2026-01-15T09:00:00Z","message":{"role":"user","content":"sack \u001b[2J%d of the rye"}}`+"\n", n, n)
	}
	if err := os.WriteFile(long, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, said := ccdIn(home, "", "run", "--once", "-q"); code != exitDone {
		t.Fatal(said)
	}
	const marks = "sed s/^/paged:/"
	cases := map[string]struct {
		env   []string
		args  []string
		piped bool
		paged bool
		first string // what is shown
		code  int
	}{
		"show":                 {[]string{"CCD_PAGER=" + marks}, []string{"show", chosenA}, false, true, "paged:ccd: 1", 0},
		"PAGER":                {[]string{"PAGER=" + marks}, []string{"ls"}, false, true, "paged:", 0},
		"by a shell":           {[]string{"PAGER=cat", "CCD_PAGER=" + marks + " | cat"}, []string{"timeline", "dddd"}, false, true, "3999 of the rye", 0},
		"escaped":              {[]string{"CCD_PAGER=" + marks}, []string{"restore", "dddd#4"}, false, true, `paged:sack \x1b[2J3 of`, 0},
		"help":                 {[]string{"CCD_PAGER=" + marks}, []string{"restore", "--help"}, false, true, "paged:Usage:", 0},
		"what fails":           {[]string{"CCD_PAGER=" + marks}, []string{"show", "nothere"}, false, false, "ccd: resolve session nothere: not found", 3},
		"raw":                  {[]string{"CCD_PAGER=" + marks}, []string{"restore", "--raw", "dddd#4"}, false, false, `3 of the rye`, 0},
		"--no-pager":           {[]string{"CCD_PAGER=" + marks}, []string{"show", "--no-pager", chosenA}, false, false, "## Handover", 0},
		"cat":                  {[]string{"CCD_PAGER=cat", "PAGER=" + marks}, []string{"show", chosenA}, false, false, "## Handover", 0},
		"none":                 {[]string{"CCD_PAGER=", "PAGER=" + marks}, []string{"show", chosenA}, false, false, "## Handover", 0},
		"missing":              {[]string{"CCD_PAGER=no-such-pager -x"}, []string{"show", chosenA}, false, false, "## Handover", 0},
		"a pipe":               {[]string{"CCD_PAGER=" + marks}, []string{"show", chosenA}, true, false, "", 0},
		"a dumb terminal":      {[]string{"CCD_PAGER=" + marks, "TERM=dumb"}, []string{"show", chosenA}, false, false, "## Handover", 0},
		"quits early":          {[]string{"CCD_PAGER=head -n 1"}, []string{"restore", "--session", "dddd"}, false, false, `"uuid":"u0"`, 0},
		"quits at once":        {[]string{"CCD_PAGER=true"}, []string{"restore", "--session", "dddd"}, false, false, "", 0},
		"not of other comands": {[]string{"CCD_PAGER=" + marks}, []string{"version"}, false, false, "companion format 1", 0},
	}
	for _, name := range testkit.Sample(t, slices.Sorted(maps.Keys(cases)), 6) {
		c := cases[name]
		t.Run(name, func(t *testing.T) {
			var out *bytes.Buffer
			if c.piped {
				out = &bytes.Buffer{}
			}
			cmd, _, seen := startOnTerminal(t, home, 200, 50, c.env, out, c.args...)
			if c.first != "" {
				seen.has(t, c.first)
			}
			if code := exitOf(t, cmd, seen); code != c.code {
				t.Errorf("exit %d, want %d: %.400q", code, c.code, seen.String())
			}
			if got := strings.Contains(seen.String(), "paged:"); got != c.paged {
				t.Errorf("paged: %v, want %v: %.400q", got, c.paged, seen.String())
			}
			if out != nil && (strings.Contains(out.String(), "paged:") || !strings.Contains(out.String(), "## Handover")) {
				t.Errorf("in the pipe: %.400q", out.String())
			}
			if c.paged && strings.Contains(seen.String(), "\x1b[2J") {
				t.Errorf("the terminal is steered: %.400q", seen.String())
			}
		})
	}
}

// TestStderrWaitsForThePager: messages appear after the pager has ended.
func TestStderrWaitsForThePager(t *testing.T) {
	home := chooseHome(t, 3*time.Hour, 2*time.Hour, time.Hour)
	cmd, _, seen := startOnTerminal(t, home, 200, 50, []string{"CCD_PAGER=sed -e '$aend of the pager'"}, nil, "search", "--limit", "1", "e")
	seen.has(t, "stopped after 1 hit")
	if code := exitOf(t, cmd, seen); code != exitDone {
		t.Errorf("exit %d", code)
	}
	if text := seen.String(); strings.Index(text, "end of the pager") > strings.Index(text, "stopped after 1 hit") || !strings.Contains(text, "end of the pager") {
		t.Errorf("%q", text)
	}
}
