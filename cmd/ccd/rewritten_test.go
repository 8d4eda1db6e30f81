package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rewrite is a session before and after its agent rewrites the transcript in place.
type rewrite struct {
	path          string
	before, after []string
}

const rewrittenID = "01a10300-0000-7000-8000-00000000000a"

// rewrites are sessions of several agents with 12 turns; the last of them stays in the file.
func rewrites() map[string]rewrite {
	all := map[string]rewrite{}
	text := func(n int) (asked, said string) {
		return fmt.Sprintf("Weigh cargo %d. ASKMARK%d", n, n), fmt.Sprintf("Weighed %d. %s", n, strings.Repeat("It was on the quay. ", 40))
	}
	claude := func(n int, typ, text, more string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":"u%d","parentUuid":"u%d","timestamp":"2026-09-14T08:%02d:00.000Z","cwd":"/home/me/shop","sessionId":%q,"version":"2.1.250"%s,"message":{"id":"m%d","role":%[1]q,"content":[{"type":"text","text":%[8]q}]}}`,
			typ, n, n-1, n, rewrittenID, more, n, text)
	}
	pi := func(n int, role, text string) string {
		return fmt.Sprintf(`{"type":"message","id":"a%d","parentId":"a%d","timestamp":"2026-09-14T08:%02d:00Z","message":{"role":%q,"content":[{"type":"text","text":%q}]}}`, n, n-1, n, role, text)
	}
	codex := func(n int, role, kind, text string) string {
		return fmt.Sprintf(`{"timestamp":"2026-09-14T08:%02d:00.000Z","type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}}`, n, role, kind, text)
	}
	var c, p, x []string
	pi0 := `{"type":"session","version":3,"id":"` + rewrittenID + `","timestamp":"2026-09-14T08:00:00.000Z","cwd":"/home/me/shop"}`
	x0 := `{"timestamp":"2026-09-14T08:00:00.000Z","type":"session_meta","payload":{"id":"` + rewrittenID + `","timestamp":"2026-09-14T08:00:00.000Z","cwd":"/home/me/shop","originator":"codex_cli_rs","cli_version":"0.153.4","source":"cli"}}`
	for n := range 12 {
		asked, said := text(n)
		c = append(c, claude(2*n+1, "user", asked, ""), claude(2*n+2, "assistant", said, ""))
		p = append(p, pi(2*n+1, "user", asked), pi(2*n+2, "assistant", said))
		x = append(x, codex(2*n+1, "user", "input_text", asked), codex(2*n+2, "assistant", "output_text", said))
	}
	all["claude-code"] = rewrite{
		".claude/projects/-home-me-shop/" + rewrittenID + ".jsonl", c,
		[]string{claude(50, "user", "This session is being continued from a previous conversation. Cargo was weighed.", `,"isCompactSummary":true,"isVisibleInTranscriptOnly":true`), c[22], c[23], claude(51, "user", "Now the crane. NEWMARK", "")},
	}
	all["pi"] = rewrite{
		".pi/agent/sessions/--home-me-shop--/2026-09-14T08-00-00-000Z_" + rewrittenID + ".jsonl", append([]string{pi0}, p...),
		[]string{pi0, p[22], p[23], pi(51, "user", "Now the crane. NEWMARK")},
	}
	all["codex"] = rewrite{
		".codex/sessions/2026/09/14/rollout-2026-09-14T08-00-00-" + rewrittenID + ".jsonl", append([]string{x0}, x...),
		[]string{x0, x[22], x[23], codex(51, "user", "input_text", "Now the crane. NEWMARK")},
	}
	return all
}

// TestRewrittenTranscriptKeepsItsPast: what an agent takes out of its transcript stays in every view of the session, once.
func TestRewrittenTranscriptKeepsItsPast(t *testing.T) {
	for agent, one := range rewrites() {
		t.Run(agent, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, one.path)
			put(t, path, strings.Join(one.before, "\n")+"\n")
			once(t, home)
			put(t, path, strings.Join(one.after, "\n")+"\n")
			once(t, home)
			wants(t, done(t, home, "ls"), []string{"ASKMARK0"})
			shown := done(t, home, "show", rewrittenID)
			timeline := done(t, home, "timeline", rewrittenID)
			for n := range 12 {
				mark := fmt.Sprintf("ASKMARK%d\"\n", n)
				if _, record, _ := strings.Cut(shown, "\n## Record\n"); strings.Count(record, mark) != 1 {
					t.Errorf("%q stands %d times in the companion:\n%s", mark, strings.Count(shown, mark), shown)
				}
				if mark = fmt.Sprintf("ASKMARK%d [", n); strings.Count(timeline, mark) != 1 {
					t.Errorf("%q stands %d times in\n%s", mark, strings.Count(timeline, mark), timeline)
				}
			}
			wants(t, shown, []string{"\n## rewritten at #1: ", "NEWMARK"})
			wants(t, timeline, []string{"before the rewrite at #1: Weigh cargo 0. ASKMARK0", "!before the rewrite at #1: Weigh cargo 11"})
			if done(t, home, "compact", rewrittenID, "--stdout", "-q") != shown {
				t.Error("the companion depends on how the session was read")
			}
			saved := regexp.MustCompile(`about .* -> [0-9.K]+`)
			_, _, made := ccdIn(home, "", "compact", rewrittenID)
			if was, now := saved.FindString(made), saved.FindString(done(t, home, "compact", rewrittenID, "--dry-run")); was == "" || was != now {
				t.Errorf("a dry run says %q, not %q", now, was)
			}
			m := regexp.MustCompile(`#(-\d+) .*ASKMARK3 \[ccd (\w+)\]`).FindStringSubmatch(timeline)
			if m == nil {
				t.Fatalf("no record below 0 in\n%s", timeline)
			}
			for _, name := range []string{rewrittenID + "#" + m[1], m[2]} {
				wants(t, done(t, home, "restore", name), []string{"Weigh cargo 3. ASKMARK3"})
				if got := done(t, home, "restore", "--raw", name); got != one.before[len(one.before)-24+6] {
					t.Errorf("restore --raw %s: %s", name, got)
				}
			}
			wants(t, done(t, home, "diff", rewrittenID, "--all"), []string{"ASKMARK0 [", "ASKMARK9 ["})
			wants(t, done(t, home, "export", rewrittenID), []string{"before the rewrite at #1: Weigh cargo 0. ASKMARK0", "NEWMARK", "The agent rewrote its transcript here", `id="r-5"`})
			if out := done(t, home, "resume", rewrittenID, "--dry-run"); !strings.Contains(out, "would write") {
				t.Errorf("resume: %s", out)
			}
			event := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/home/me/shop","hook_event_name":"SessionStart","source":"compact"}`, rewrittenID, path)
			if agent != "pi" {
				_, out, _ := ccdIn(home, event, "hook", "--agent", agent, "SessionStart")
				wants(t, out, []string{"ASKMARK9", "NEWMARK"})
			}
			must(t, os.Remove(path)) // the archive alone tells the same
			if got := done(t, home, "timeline", rewrittenID); got != timeline {
				t.Errorf("without its transcript:\n%s", got)
			}
			done(t, home, "archive", "verify")
		})
	}
}
