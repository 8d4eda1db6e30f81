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

	"ccd/cmd/ccd/internal/table"
)

// screenWidths are the widths that TestScreens tests.
var screenWidths = []uint16{80, 120}

// TestScreens checks that no line of a list is wider than the terminal, and that a nearly full session has a color.
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
			b := read(t, part)
			session = append(session, b...)
		}
		session = regexp.MustCompile(`"202[0-9]-`).ReplaceAll(session, []byte(`"2024-`)) // so that no age is relative
		putScreen(t, filepath.Join(home, path), session)
	}
	tomorrow := time.Now().AddDate(0, 0, 1).UTC().Format("2006-01-02T")
	putScreen(t, filepath.Join(home, ".claude/projects/-home-you-ledger/c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl"),
		bytes.ReplaceAll(bytes.Join(newStory().lines, nil), []byte("2026-01-15T"), []byte(tomorrow))) // live
	commandIn(t, home, nil, "run", "--once", "-q")
	for _, line := range []string{"ls --all", "status", "top --once", "search Decimal everywhere", "timeline 5d2f7a1e", "show latest", "status --totals"} {
		t.Run(line, func(t *testing.T) {
			for _, width := range screenWidths {
				screen := onScreen(t, home, width, strings.Fields(line))
				text := sgr.ReplaceAllString(screen, "")
				for l := range strings.SplitSeq(text, "\n") {
					if table.CellsOf(l) > int(width) {
						t.Errorf("%d cells on a terminal of %d: %s", table.CellsOf(l), width, l)
					}
				}
				if line == "show latest" && strings.Count(text, "c0ffee00-1a2b, ") != 1 {
					t.Errorf("show does not name its session once:\n%s", text)
				}
				if line == "ls --all" && text == screen {
					t.Error("ls shows a session that is nearly full as any other")
				}
			}
		})
	}
}

// TestOneScreenOfSessions: ls fills the terminal and no more, newest first, each with its agent, and says how many are left out.
func TestOneScreenOfSessions(t *testing.T) {
	home := t.TempDir()
	for i := range 70 {
		id := fmt.Sprintf("%08x-1a2b-4c3d-8e4f-5a6b7c8d9e0f", i)
		line := fmt.Sprintf(`{"type":"user","uuid":"a","sessionId":%q,"timestamp":"2024-01-15T10:%02d:00.000Z","cwd":"/src/mill","message":{"role":"user","content":"Grind %d"}}`+"\n", id, i%60, i)
		putScreen(t, filepath.Join(home, ".claude/projects/-src-mill", id+".jsonl"), []byte(line))
	}
	commandIn(t, home, nil, "run", "--once", "-q")
	screen := sgr.ReplaceAllString(onScreen(t, home, 80, []string{"ls"}), "")
	lines := strings.Split(strings.TrimSpace(screen), "\n")
	if last := lines[len(lines)-1]; len(lines) != 58 || last != "14 more: ccd ls --all-pages" || !strings.HasPrefix(lines[1], "0000003b-1a2b") {
		t.Errorf("%d lines on a screen of 60:\n%s", len(lines), screen)
	}
	for _, l := range lines[1 : len(lines)-1] {
		if !strings.HasSuffix(l, "claude") {
			t.Errorf("no agent: %s", l)
		}
	}
	if all := onScreen(t, home, 80, []string{"ls", "--all-pages"}); strings.Count(all, "claude") != 70 {
		t.Errorf("not all of them:\n%s", all)
	}
}

// TestImagesAreNotPrinted: on a terminal, a record with an image prints its words.
func TestImagesAreNotPrinted(t *testing.T) {
	home := t.TempDir()
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	text := fmt.Sprintf(`{"type":"user","uuid":"a","timestamp":"2024-01-15T10:00:00.000Z","cwd":"/src","message":{"role":"user","content":[{"type":"text","text":"What is this?"},%s]}}`+"\n", image)
	putScreen(t, filepath.Join(home, ".claude/projects/-src/5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl"), []byte(text+strings.Replace(text, `{"type":"text","text":"What is this?"},`, "", 1)))
	commandIn(t, home, nil, "run", "--once", "-q")
	screen := onScreen(t, home, 80, []string{"restore", "5d2f7a1e#1-#2"})
	if strings.Contains(screen, "PNG") || !strings.Contains(screen, "What is this?\n") || strings.Count(screen, "1 image left out: ccd restore -o FILE ") != 2 {
		t.Errorf("%q", screen)
	}
}

func putScreen(t *testing.T, path string, text []byte) {
	t.Helper()
	put(t, path, string(text))
}
