package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOneScreenOfSessions: ls fills the terminal and no more, newest first, each with its agent, and says how many are left out.
func TestOneScreenOfSessions(t *testing.T) {
	home := t.TempDir()
	for i := range 70 {
		id := fmt.Sprintf("%08x-1a2b-4c3d-8e4f-5a6b7c8d9e0f", i)
		line := fmt.Sprintf(`{"type":"user","uuid":"a","sessionId":%q,"timestamp":"2024-01-15T10:%02d:00.000Z","cwd":"/src/mill","message":{"role":"user","content":"Grind %d"}}`+"\n", id, i%60, i)
		put(t, filepath.Join(home, ".claude/projects/-src-mill", id+".jsonl"), line)
	}
	once(t, home)
	screen := sgr.ReplaceAllString(onScreen(t, home, 80, []string{"ls"}), "")
	lines := strings.Split(strings.TrimSpace(screen), "\n")
	if last := lines[len(lines)-1]; len(lines) != 58 || last != "14 more sessions: ccd ls -n 70" || !strings.HasPrefix(lines[1], "0000003b  ") {
		t.Errorf("%d lines on a screen of 60:\n%s", len(lines), screen)
	}
	for _, l := range lines[1 : len(lines)-1] {
		if !strings.Contains(l, "  claude") {
			t.Errorf("no agent: %s", l)
		}
	}
	if all := onScreen(t, home, 80, []string{"ls", "-n", "70"}); strings.Count(all, "claude") != 70 {
		t.Errorf("not all of them:\n%s", all)
	}
}

// TestAllFiles: files lists all in a pipe and in JSON, on a terminal one screen, and says that there is more.
func TestAllFiles(t *testing.T) {
	home, lines := t.TempDir(), ""
	for i := range 70 {
		lines += fmt.Sprintf(`{"type":"assistant","uuid":"a%d","timestamp":"2024-01-15T10:00:00.000Z","cwd":"/src/mill","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Write","input":{"file_path":"/src/mill/%d.py","content":"x"}}]}}
{"type":"user","uuid":"r%d","timestamp":"2024-01-15T10:00:00.000Z","cwd":"/src/mill","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"File created successfully at: /src/mill/%d.py"}]}}
`, i, i, i, i, i, i)
	}
	put(t, filepath.Join(home, ".claude/projects/-src-mill/5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl"), lines)
	once(t, home)
	for line, want := range map[string]int{"files": 70, "files --json": 70, "files -n 0": 70, "files -n 69": 69} {
		if n := strings.Count(done(t, home, strings.Fields(line)...), ".py"); n != want {
			t.Errorf("ccd %s: %d files", line, n)
		}
	}
	if screen := onScreen(t, home, 100, []string{"files"}); strings.Count(screen, "\n") != 58 || !strings.Contains(screen, "\nmore: ccd files -n 224, or -n 0 for all\n") {
		t.Errorf("a screen of 60 lines:\n%s", screen)
	}
	if screen := onScreen(t, home, 50, []string{"files"}); strings.Count(screen, "\n") != 58 || !regexp.MustCompile(`\nthe file then:\nccd restore --file \S+ --at 5d2f7a1e#\d+\n$`).MatchString(screen) {
		t.Errorf("a narrow screen of 60 lines:\n%s", screen)
	}
	if screen := onScreen(t, home, 100, []string{"files", "--json"}); strings.Count(screen, ".py") != 70 {
		t.Errorf("not all in JSON:\n%s", screen)
	}
}

// TestScreensFit: tables and hints fit the terminal, and a narrow ls has when or in which state a session is.
func TestScreensFit(t *testing.T) {
	home := t.TempDir()
	for _, id := range []string{"ses_with_a_name_of_its_ow", "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f"} {
		put(t, filepath.Join(home, ".claude/projects/-src-mill", id+".jsonl"), fmt.Sprintf(`{"type":"user","uuid":"a","sessionId":%q,"timestamp":"2024-01-15T10:00:00.000Z","cwd":"/src/mill","message":{"role":"user","content":"Grind the flour of all the sacks behind the mill"}}`+"\n", id))
	}
	put(t, filepath.Join(home, ".codex/config.toml"), "")
	once(t, home)
	for _, columns := range []uint16{60, 80, 120} {
		for _, line := range []string{"agents", "agents status claude", "doctor", "status", "ls", "ls --sort size", "setup --dry-run"} {
			screen := onScreen(t, home, columns, strings.Fields(line))
			fits(t, screen, int(columns))
			if line == "ls" && !strings.Contains(screen, "2024-01-15") {
				t.Errorf("no time in %d columns:\n%s", columns, screen)
			}
			if line == "ls --sort size" && !strings.Contains(screen, "TOKENS") {
				t.Errorf("what it is sorted by is not in %d columns:\n%s", columns, screen)
			}
		}
	}
}

// TestImagesAreNotPrinted: on a terminal, a record with an image prints its words, and several records have headings.
func TestImagesAreNotPrinted(t *testing.T) {
	home := t.TempDir()
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	text := fmt.Sprintf(`{"type":"user","uuid":"a","timestamp":"2024-01-15T10:00:00.000Z","cwd":"/src","message":{"role":"user","content":[{"type":"text","text":"What is this?"},%s]}}`+"\n", image)
	put(t, filepath.Join(home, ".claude/projects/-src/5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl"), (text + strings.Replace(text, `{"type":"text","text":"What is this?"},`, "", 1)))
	once(t, home)
	screen := onScreen(t, home, 80, []string{"restore", "5d2f7a1e#1-#2"})
	if strings.Contains(screen, "PNG") || !strings.Contains(screen, "\nWhat is this?\n\n#2 · 2024-01-15 10:00 · image\n") || strings.Count(screen, "1 image left out: ccd restore -o FILE ") != 2 {
		t.Errorf("%q", screen)
	}
}

// TestProjectsAreToldApart: files and week name two directories of one name by as much of their paths as differs, also where other
// columns have no room.
func TestProjectsAreToldApart(t *testing.T) {
	home := t.TempDir()
	for i, dir := range []string{"/home/maria/north/flour-mill", "/home/maria/south/flour-mill"} {
		line := fmt.Sprintf(`{"type":"user","uuid":"u","timestamp":"2024-01-15T10:00:00.000Z","cwd":%[1]q,"message":{"role":"user","content":"Grind"}}
{"type":"assistant","uuid":"a","timestamp":"2024-01-15T10:00:00.000Z","cwd":%[1]q,"message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"%[1]s/CLAUDE.md","content":"x"}}]}}
{"type":"user","uuid":"r","timestamp":"2024-01-15T10:00:00.000Z","cwd":%[1]q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"File created successfully at: %[1]s/CLAUDE.md"}]}}
`, dir)
		put(t, filepath.Join(home, ".claude/projects/-src", fmt.Sprintf("%d0d2f7a1-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl", i)), line)
	}
	once(t, home)
	for _, line := range []string{"files", "week --since 2024-01-01"} {
		if screen := onScreen(t, home, 72, strings.Fields(line)); !strings.Contains(screen, " no") || !strings.Contains(screen, " so") || strings.Count(screen, "mill") != 2+strings.Count(screen, "flour-mill/CLAUDE.md") {
			t.Errorf("ccd %s:\n%s", line, screen)
		}
	}
}
