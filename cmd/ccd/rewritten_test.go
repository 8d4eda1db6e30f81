package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRewrittenTranscriptKeepsItsPast: what an agent takes out of its transcript stays in every view of the session, once.
func TestRewrittenTranscriptKeepsItsPast(t *testing.T) {
	for agent, summary := range map[string]string{
		"claude-code": strings.Replace(shapes["claude-code"].user, `"type":"user"`, `"type":"user","isCompactSummary":true,"isVisibleInTranscriptOnly":true`, 1), "pi": "", "codex": "",
	} {
		t.Run(agent, func(t *testing.T) {
			w := newWorld(t)
			home, c := w.home, w.chat(agent)
			header := len(c.lines)
			for n := range 12 {
				c.asks(fmt.Sprintf("Weigh cargo %d. ASKMARK%d", n, n))
				c.says(fmt.Sprintf("Weighed %d. %s", n, strings.Repeat("It was on the quay. ", 40)))
			}
			id, path, before := c.save(), filepath.Join(home, c.place()), c.lines
			once(t, home)
			c.lines = slices.Clone(before[:header]) // the last turn stays in the file
			if summary != "" {
				c.row(summary, "This session is being continued from a previous conversation. Cargo was weighed.")
			}
			c.lines = append(c.lines, before[len(before)-2:]...)
			c.asks("Now the crane. NEWMARK")
			c.save()
			once(t, home)
			wants(t, done(t, home, "ls"), "ASKMARK0")
			shown := done(t, home, "show", id)
			timeline := done(t, home, "timeline", id)
			for n := range 12 {
				mark := fmt.Sprintf("ASKMARK%d\"\n", n)
				if _, record, _ := strings.Cut(shown, "\n## Record\n"); strings.Count(record, mark) != 1 {
					t.Errorf("%q stands %d times in the companion:\n%s", mark, strings.Count(shown, mark), shown)
				}
				if mark = fmt.Sprintf("ASKMARK%d [", n); strings.Count(timeline, mark) != 1 {
					t.Errorf("%q stands %d times in\n%s", mark, strings.Count(timeline, mark), timeline)
				}
			}
			wants(t, shown, "\n## rewritten at #1: ", "NEWMARK")
			wants(t, timeline, "before the rewrite at #1: Weigh cargo 0. ASKMARK0", "!before the rewrite at #1: Weigh cargo 11")
			if done(t, home, "compact", id, "--stdout", "-q") != shown {
				t.Error("the companion depends on how the session was read")
			}
			saved := regexp.MustCompile(`~.* -> ~[0-9.K]+`)
			_, _, made := ccdIn(home, "", "compact", id)
			if was, now := saved.FindString(made), saved.FindString(done(t, home, "compact", id, "--dry-run")); was == "" || was != now {
				t.Errorf("a dry run says %q, not %q", now, was)
			}
			m := regexp.MustCompile(`#(-\d+) .*ASKMARK3 \[ccd (\w+)\]`).FindStringSubmatch(timeline)
			if m == nil {
				t.Fatalf("no record below 0 in\n%s", timeline)
			}
			for _, name := range []string{id + "#" + m[1], m[2]} {
				wants(t, done(t, home, "restore", name), "Weigh cargo 3. ASKMARK3")
				if got := done(t, home, "restore", "--raw", name); got != before[header+6] {
					t.Errorf("restore --raw %s: %s", name, got)
				}
			}
			wants(t, done(t, home, "diff", id, "--all"), "ASKMARK0 [", "ASKMARK9 [")
			wants(t, done(t, home, "export", id), "before the rewrite at #1: Weigh cargo 0. ASKMARK0", "NEWMARK", "The agent rewrote its transcript here", `id="r-5"`)
			if out := done(t, home, "resume", id, "--dry-run"); !strings.Contains(out, "would write") {
				t.Errorf("resume: %s", out)
			}
			event := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":"SessionStart","source":"compact"}`, id, path, w.dir)
			if agent != "pi" {
				_, out, _ := ccdIn(home, event, "hook", "--agent", agent, "SessionStart")
				wants(t, out, "ASKMARK9", "NEWMARK")
			}
			must(t, os.Remove(path)) // the archive alone tells the same
			if got := done(t, home, "timeline", id); got != timeline {
				t.Errorf("without its transcript:\n%s", got)
			}
			done(t, home, "archive", "verify")
		})
	}
}
