package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/internal/words"
)

// cases holds inputs of situations that users of agents reported; they are not part of the repository.
const cases = "../../../shared/cases"

// TestReportedSituations asks each command for what is right. A text that begins with "!" must not be printed.
func TestReportedSituations(t *testing.T) {
	for _, c := range []struct {
		name, command string
		want          []string
	}{
		{"queued-words", "timeline eeee0003", []string{"#3", "sent while the agent worked: Stop before the bills table"}},
		{"queued-words", "timeline eeee0008", []string{"#3", "sent while the agent worked: Stop before the bills table"}},
		{"queued-words", "show eeee0003", []string{`, while you worked: "Stop before the bills table, never migrate bills. QUEUEMARK"`}},
		{"queued-words", "search QUEUEMARK", []string{"-0000-4000-8000-000000000001#3", "and 1 equal"}},
		{"slash-commands", "ls", []string{"Help me refactor the cart. TITLEMARK", "!opus"}},
		{"slash-commands", "timeline latest", []string{"TITLEMARK", "!/model"}},
		{"slash-commands", "show latest", []string{"TITLEMARK", "!/model"}},
		{"which-session", "ls", []string{"REALWORK", "REALMARK", "!ab080002", "!ab080003", "!00000000000b", "!00000000000c"}},
		{"which-session", "ls --all", []string{"ab080002", "ab080003", "00000000000b", "00000000000c"}},
		{"which-session", "timeline latest", []string{"REALWORK"}},
		{"which-session", "resume latest --dry-run", []string{"Fix the cart. REALWORK"}},
		{"resume-unfinished-loop", "resume latest --dry-run", []string{"would write", "Write the report generator"}},
		{"torn-append", "timeline 01a10000-0000-7000-8000-0000000000c5", []string{"First request CXONE", "Second request CXTWO, never reformat"}},
		{"torn-append", "timeline 01a10000-0000-7000-8000-0000000000c6", []string{"First request CPONE", "Second request CPTWO, never reformat"}},
		{"torn-append", "show dddd0003", []string{"Second request WELDTWO", "verified: false", `reason: "record #3 could not be read in whole"`}},
		{"torn-append", "doctor", []string{"1 record could not be read in whole, first dddd0003-0000-4000-8000-000000000001#3"}},
		{"duplicate-rows", "timeline bbbb0004", []string{"Rename column qty to amount. [ccd 6tey32dg3ff8] · Bash · `a.sql` · 1 command with exit 0\n", "Now also in b.sql"}},
		{"duplicate-rows", "timeline bbbb0005", []string{"#1 2026", "#7 2026", "#19 2026", "!#9 2026", "!#15 2026"}},
		{"duplicate-rows", "show bbbb0004", []string{"Edited: b.sql (#11), a.sql (#5)\n", "#5 ran", "!#3 ran"}},
		{"taken-back", "timeline bbbb0002", []string{"taken back: Use floats", "taken back: Use Decimal", "taken back: Add a discount", "· Start again"}},
		{"taken-back", "ls", []string{"Start again: add a voucher field", "!Add a discount"}},
		{"taken-back", "timeline 01a10200", []string{"· Add a field. KEEPONE", "taken back: Make it a float", "· Make it an integer"}},
		{"taken-back", "show 01a10200", []string{`(taken back): "Make it a float`}},
		{"taken-back", "search --json floats", []string{`"taken_back": true`}},
		{"taken-back", "search KEEPONE", []string{"KEEPONE", "!taken back"}},
		{"taken-back", "export bbbb0002", []string{", taken back"}},
		{"codex-history-base", "ls", []string{"01a10000-0000-7000-8000-00000000000a\tBuild the invoice", "[fork] In this fork write", "!0000000000aa"}},
		{"codex-history-base", "timeline 01a10000-0000-7000-8000-00000000000a", []string{"#4 2026", "taken back: Now drop", "#25 2026", "!taken back: Keep the legacy"}},
		{"codex-history-base", "timeline 01a10000-0000-7000-8000-00000000000f", []string{"#4 2026", "Never touch the schema", "#15 2026", "FORKWORK", "!LEGACYDROP"}},
		{"codex-history-base", "search LEGACYDROP", []string{"01a10000-0000-7000-8000-00000000000a#14", "human · taken back"}},
		{"codex-history-base", "show 01a10000-0000-7000-8000-00000000000a", []string{"agent restore 01a10000-0000-7000-8000-00000000000a#N`", "Never touch the schema"}},
		{"codex-history-base", "restore 01a10000-0000-7000-8000-00000000000f#4", []string{"Never touch the schema"}},
	} {
		t.Run(c.name+" "+c.command, func(t *testing.T) {
			home, from := t.TempDir(), filepath.Join(cases, c.name)
			if os.CopyFS(home, os.DirFS(from)) != nil {
				t.Skipf("no case at %s: this test needs it", from)
			}
			once(t, home)
			code, out, said := ccdIn(home, "", strings.Fields(c.command)...)
			if code != words.ExitDone {
				t.Fatalf("exit %d: %s", code, said)
			}
			wants(t, out+said, c.want...)
		})
	}
}

// TestLinkedDirectories: a link to a directory of transcripts is followed where the link is the root, and reported where it is below
// it; a link to one that is archived anyway is nothing to report.
func TestLinkedDirectories(t *testing.T) {
	lay := func() (home, elsewhere string) {
		home, elsewhere = t.TempDir(), filepath.Join(t.TempDir(), "kept")
		put(t, filepath.Join(elsewhere, filepath.Base(transcriptPath(home, 1))), aLine)
		must(t, os.MkdirAll(filepath.Join(home, ".claude", "projects"), 0o700))
		return home, elsewhere
	}
	home, elsewhere := lay()
	must(t, os.Symlink(elsewhere, filepath.Join(home, ".claude", "projects", "-work")))
	_, _, reported := ccdIn(home, "", "run", "--once")
	wants(t, reported, "-work", "not followed")
	_, out, _ := ccdIn(home, "", "doctor")
	wants(t, out, "not followed", "1 path not archived", "!all transcripts are archived")
	home, _ = lay()
	put(t, transcriptPath(home, 2), aLine)
	must(t, os.Symlink(filepath.Dir(transcriptPath(home, 2)), filepath.Join(home, ".claude", "projects", "-also")))
	code, _, said := ccdIn(home, "", "run", "--once")
	if code != words.ExitDone {
		t.Errorf("exit %d: %s", code, said)
	}
	wants(t, said, "1 session", "!not followed")
	home, _ = lay()
	must(t, os.RemoveAll(filepath.Join(home, ".claude")))
	must(t, os.MkdirAll(filepath.Join(home, "dot", "projects"), 0o700))
	must(t, os.Symlink(filepath.Join(home, "dot"), filepath.Join(home, ".claude")))
	put(t, transcriptPath(home, 3), aLine)
	if code, _, said = ccdIn(home, "", "run", "--once"); code != words.ExitDone {
		t.Errorf("exit %d: %s", code, said)
	}
	wants(t, said, "1 session")
}

// TestResumeOfAGoneWorktree: the command leads to the main directory of the repository, and says so.
func TestResumeOfAGoneWorktree(t *testing.T) {
	for _, gone := range []string{"shop/.claude/worktrees/tax/src", "shop.worktrees/tax", "shop-worktrees/a/tax", "elsewhere/tax"} {
		home, base := t.TempDir(), t.TempDir()
		must(t, os.MkdirAll(filepath.Join(base, "shop", ".git"), 0o700))
		line := strings.Replace(aLine, `"sessionId"`, `"cwd":"`+filepath.Join(base, gone)+`","sessionId"`, 1)
		answer := `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Weighed."}]},"uuid":"u2","parentUuid":"u1","timestamp":"2026-03-01T09:00:05.000Z","sessionId":"s"}` + "\n"
		put(t, transcriptPath(home, 1), line+answer)
		once(t, home)
		_, out, said := ccdIn(home, "", "resume", "latest")
		to := filepath.Join(base, "shop")
		if !strings.HasPrefix(gone, "shop") { // renamed, perhaps to the present directory
			here, err := os.Getwd()
			must(t, err)
			to = here
		}
		wants(t, out+said, "cd "+to+" && claude --resume /", "it continues in "+to)
	}
}

// TestTwoHomesShareAnArchive: sessions with one ID stay two sessions, each with one generation, also if one began as a copy of the other.
func TestTwoHomesShareAnArchive(t *testing.T) {
	one, two, shared := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "archive.db")
	grow := func(home string, n int, more string) {
		path := transcriptPath(home, n)
		before, _ := os.ReadFile(path)
		put(t, path, string(before)+strings.Replace(aLine, "u1", more, 1))
	}
	run := func() {
		for range 3 {
			for _, home := range []string{one, two} {
				once(t, home)
			}
		}
	}
	for _, home := range []string{one, two} {
		put(t, filepath.Join(home, ".config", "ccd", "config.toml"), fmt.Sprintf("[archive]\npath = %q\n", shared))
		grow(home, 1, "of "+home)
		grow(home, 2, "of both"+strings.Repeat(" and more", 1000))
	}
	run()
	for _, home := range []string{one, two} {
		grow(home, 2, "later of "+home)
	}
	run()
	a, err := archive.Open(shared, archive.Options{ReadOnly: true})
	must(t, err)
	all, err := a.Sessions(t.Context())
	must(t, err)
	if len(all) != 4 || slices.ContainsFunc(all, func(s archive.Session) bool { return len(s.Generations) != 1 }) {
		t.Errorf("%d sessions: %+v", len(all), all)
	}
	for _, home := range []string{one, two} {
		for n := 1; n <= 2; n++ {
			path := transcriptPath(home, n)
			want := read(t, path)
			if code, out, said := ccdIn(home, "", "restore", "--session", path); out != string(want) {
				t.Errorf("%s: exit %d, %s%s", path, code, out, said)
			}
		}
	}
}

// TestLatestOfALinkedDirectory: a directory is known by each of its paths.
func TestLatestOfALinkedDirectory(t *testing.T) {
	home, base := t.TempDir(), t.TempDir()
	shop, link := filepath.Join(base, "shop"), filepath.Join(base, "link")
	must(t, os.MkdirAll(filepath.Join(shop, "src"), 0o700))
	must(t, os.Symlink(shop, link))
	for i, dir := range []string{filepath.Join(shop, "src"), filepath.Join(link, "src")} {
		put(t, transcriptPath(home, i+1), strings.Replace(aLine, `"sessionId"`, `"cwd":"`+dir+`","sessionId"`, 1))
		once(t, home)
		for _, asked := range []string{shop, link} {
			done(t, home, "show", "latest:"+asked)
		}
		must(t, os.RemoveAll(home))
	}
}

// wants checks that a text has each of the wanted ones, and not those that begin with "!".
func wants(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		w, not := strings.CutPrefix(w, "!")
		if strings.Contains(text, w) == not {
			t.Errorf("%q is there: %t, in\n%s", w, not, text)
		}
	}
}

// TestLongCommandsEndAtOnce: what was interrupted before it began does nothing, exits with 130 and leaves no file.
func TestLongCommandsEndAtOnce(t *testing.T) {
	home := t.TempDir()
	put(t, transcriptPath(home, 1), ledger(t))
	once(t, home)
	files := func() (all string) {
		must(t, filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
			all += path + "\n"
			return err
		}))
		return all
	}
	before := files()
	for _, command := range []string{
		"export " + id(transcriptPath(home, 1)) + " -o " + filepath.Join(home, "x.html"), "archive verify", "archive gc", "archive backup " + filepath.Join(home, "b.db"),
		"archive secrets", "search harbour --all", "timeline latest", "resume latest", "compact latest", "archive forget latest", "run --once",
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		stop(cli.ErrInterrupted)
		var out strings.Builder
		if code := run(ctx, strings.Fields(command), std(strings.NewReader(""), &out, &out), []string{"HOME=" + home}); code != words.ExitInterrupted {
			t.Errorf("%s: exit %d: %s", command, code, out.String())
		}
		if after := files(); after != before {
			t.Errorf("%s left\n%s\nbefore\n%s", command, after, before)
		}
	}
}
