package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// screenWidths are the widths that TestScreens tests.
var screenWidths = []uint16{80, 120}

// masks replace what differs between runs and machines.
var masks = []struct {
	found *regexp.Regexp
	shown string
}{
	{regexp.MustCompile(`/tmp/ccd-screens-[0-9a-f]{8}`), "/home/maintainer/projects"},
	{regexp.MustCompile(`, [0-9.]+ [KMGT]?i?B\s+free\s+on\s+its\s+disk`), ", SIZE free on its disk"},
	{regexp.MustCompile(`[0-9.]+\s+[KM]iB\s+\([0-9.]+\s+[KM]iB`), "SIZE (SIZE"},
	{regexp.MustCompile(`archive [0-9]+ KiB`), "archive SIZE"}, // it depends on how many transactions wrote it
	{regexp.MustCompile(` +TIME  `), "  TIME  "},
	{regexp.MustCompile(` +[0-9.]+(µs|ms|s)\b *`), "  TIME  "},
	{regexp.MustCompile(`20(2[5-9]|[3-9][0-9])-[0-9]{2}-[0-9]{2} [0-9:]{5}`), "(a day from now)"},
}

// TestScreens compares what the most used commands print on narrow and wide terminals with goldens and with docs/LOOK.md,
// and checks that no line of a list is too wide.
func TestScreens(t *testing.T) {
	home := fmt.Sprintf("/tmp/ccd-screens-%08x", os.Getpid()) // of constant length, because paths are wrapped by length
	must(t, os.Mkdir(home, 0o700))
	t.Cleanup(func() { os.RemoveAll(home) })
	const stories = "../../internal/agent/registry/testdata/story/"
	for path, parts := range map[string][]string{
		".claude/projects/-home-me-ledger/5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl":                       {"story/ledger.jsonl", "story/compaction.jsonl"},
		".codex/sessions/2024/09/14/rollout-2024-09-14T08-00-01-019a4c00-7b1e-7c20-9f00-5a0b6c7d8e01.jsonl": {stories + "codex.jsonl"},
		".pi/agent/sessions/--home-me-shop--/2024-01-02T10-00-00-000Z_a-name-of-its-own.jsonl":              {stories + "pi.jsonl"},
	} {
		var session []byte
		for _, part := range parts {
			b, err := os.ReadFile(part)
			must(t, err)
			session = append(session, b...)
		}
		session = regexp.MustCompile(`"202[0-9]-`).ReplaceAll(session, []byte(`"2024-`)) // so that no age is relative
		putScreen(t, filepath.Join(home, path), session)
	}
	tomorrow := time.Now().AddDate(0, 0, 1).UTC().Format("2006-01-02T")
	putScreen(t, filepath.Join(home, ".claude/projects/-home-you-ledger/c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl"),
		bytes.ReplaceAll(bytes.Join(newStory().lines, nil), []byte("2026-01-15T"), []byte(tomorrow))) // live
	commandIn(t, home, nil, "run", "--once", "-q")
	shown := map[string]string{}
	for _, s := range []struct {
		name, line string
		fits       bool // no line is wider than the terminal
		head       int  // lines to compare, 0: all
	}{
		{"ls", "ls --all", true, 0},
		{"status", "status", true, 0},
		{"top", "top --once", true, 0},
		{"search", "search Decimal everywhere", true, 0},
		{"timeline", "timeline 5d2f7a1e", true, 0},
		{"show", "show 5d2f7a1e", false, 12},
		{"restore", "restore --info 5d2f7a1e#21", false, 0},
		{"diff", "diff 5d2f7a1e", false, 28},
		{"compact", "compact --dry-run 5d2f7a1e", false, 0},
		{"help", "help", false, 0},
		{"totals", "status --totals", true, 0},
	} {
		t.Run(s.name, func(t *testing.T) {
			var b strings.Builder
			for _, width := range screenWidths {
				screen := onScreen(t, home, width, strings.Fields(s.line))
				text := sgr.ReplaceAllString(screen, "")
				for line := range strings.SplitSeq(text, "\n") {
					if s.fits && cellsOf(line) > int(width) {
						t.Errorf("%d cells on a terminal of %d: %s", cellsOf(line), width, line)
					}
				}
				if s.name == "ls" && text == screen {
					t.Error("ls shows a session that is nearly full as any other")
				}
				for _, m := range masks {
					text = m.found.ReplaceAllString(text, m.shown)
				}
				lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
				if s.head > 0 {
					lines = lines[:min(s.head, len(lines))]
				}
				fmt.Fprintf(&b, "== %d columns: ccd %s\n%s\n\n", width, s.line, strings.Join(lines, "\n"))
			}
			shown[s.name] = b.String()
			golden(t, "testdata/screens/"+s.name+".txt", b.String())
		})
	}
	if shown["ls"] == "" || shown["totals"] == "" { // -run has chosen some of them
		return
	}
	look, err := os.ReadFile("../../docs/LOOK.md")
	must(t, err)
	const head, foot = "<!-- screens -->\n", "<!-- /screens -->"
	before, rest, begun := strings.Cut(string(look), head)
	_, after, ended := strings.Cut(rest, foot)
	if !begun || !ended {
		t.Fatalf("docs/LOOK.md has no part between %q and %q", head, foot)
	}
	var screens strings.Builder
	for _, name := range []string{"ls", "top", "search", "diff", "show", "timeline", "status", "totals"} {
		screens.WriteString("```console\n" + strings.TrimSpace(shown[name]) + "\n```\n\n")
	}
	golden(t, "../../docs/LOOK.md", before+head+screens.String()+foot+after)
}

func putScreen(t *testing.T, path string, text []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, text, 0o600))
}
