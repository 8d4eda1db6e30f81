package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/internal/mark"
)

// finding is what one check of doctor says. State is "ok", "note" (worth knowing) or "wrong".
type finding struct {
	Check   string `json:"check"`
	State   string `json:"state"`
	Detail  string `json:"detail"`
	Mend    string `json:"mend"`
	Fixable bool   `json:"fixable"` // --fix would mend it
	Fixed   bool   `json:"fixed"`   // --fix has done it just now; Detail says what
	Lag     *int64 `json:"lag_bytes,omitempty"`

	repair *repair
}

func ok(check, detail string, args ...any) finding {
	return finding{Check: check, State: "ok", Detail: fmt.Sprintf(detail, args...)}
}

func note(check, mend, detail string, args ...any) finding {
	return finding{Check: check, State: "note", Detail: fmt.Sprintf(detail, args...), Mend: mend}
}

func wrong(check, mend, detail string, args ...any) finding {
	return finding{Check: check, State: "wrong", Detail: fmt.Sprintf(detail, args...), Mend: mend}
}

func (a *app) doctorCommand() *cobra.Command {
	p := page{
		use: "doctor", group: care, short: "check the surroundings, and say how to mend what is wrong",
		forms: []string{"ccd doctor [--fix]"},
		long: `Checked are: configuration; watched roots, their file systems and watch limits; ccd's own files, their
modes and owners; the archive (the form of its pages and a sample of its hashes; ` + "`ccd verify`" + ` reads all),
its lock, its space and growth; service, sandbox, linger and daemon; the summarizer's command; what the
agents' settings name; transcripts that an agent will remove before they are archived; the clock.
It takes about a second, changes nothing, and exits 1 if something is wrong. A note is worth knowing.

--fix does what is safe, says what it did, and looks again: it takes from others the right to read ccd's
own files and companions, removes temporary files that a crash left behind over an hour ago and the
companions that a changed companion.dir left behind, and where the service is installed writes its files
anew and starts it. It touches no transcript, no archive, no
backup, no agent's settings and no linger.`,
		examples: []example{
			{"ccd doctor", "each check, and how to mend it"},
			{"ccd doctor --fix", "mend what can be mended safely"},
			{"ccd doctor --json | jq '.[] | select(.state == \"wrong\")'", "only what is wrong"},
		},
		json: `one array, an object a check: check, state ("ok", "note", "wrong"), detail, mend, fixable (--fix would
mend it), fixed (it has, just now: detail says what), lag_bytes (in the check "behind": bytes of
transcripts that are not archived yet)`,
	}
	fix := false
	c := p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), fix) })
	c.Flags().BoolVar(&fix, "fix", false, "do what mends and is safe, then check again")
	return c
}

func (a *app) doctor(ctx context.Context, fix bool) error {
	all := a.examine(ctx)
	if fix && ctx.Err() == nil {
		if done := a.fix(ctx, all); len(done) > 0 {
			all = append(done, a.examine(ctx)...)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var err error
	if a.json {
		err = a.printJSON(all)
	} else if err = writeTable(a.out, findingRows(all, a.colours())); err == nil {
		a.say("%s", findingCounts(all))
	}
	if err == nil && worst(all) == "wrong" {
		return errSaid
	}
	return err
}

// findingRows are the findings as lines; each has what mends it below it.
func findingRows(all []finding, coloured bool) [][]string {
	paint := func(state string) string { return state }
	if coloured {
		paint = func(state string) string { // all as long as each other, so that columns stay columns
			return map[string]string{"ok": "\x1b[32m", "note": "\x1b[33m", "wrong": "\x1b[31m", "": "\x1b[39m"}[state] + state + "\x1b[0m"
		}
	}
	rows := [][]string{}
	for _, f := range all {
		rows = append(rows, []string{paint(f.State), f.Check, mark.Visible(f.Detail)})
		if f.Mend != "" {
			mend := "mend: " + f.Mend
			if f.Fixable {
				mend += " (or ccd doctor --fix)"
			}
			rows = append(rows, []string{paint(""), "", mark.Visible(mend)})
		}
	}
	return rows
}

// colours reports whether what is printed may be coloured.
func (a *app) colours() bool { return terminal(a.out) && a.getenv("NO_COLOR") == "" }

func findingCounts(all []finding) string {
	n := map[string]int{}
	for _, f := range all {
		n[f.State]++
	}
	return fmt.Sprintf("%s, %d wrong, %s", count(n["ok"]+n["note"]+n["wrong"], "check"), n["wrong"], count(n["note"], "note"))
}

// worst is the state of findings together.
func worst(all []finding) string {
	state := "ok"
	for _, f := range all {
		if f.State == "wrong" || f.State == "note" && state == "ok" {
			state = f.State
		}
	}
	return state
}

// examination is one check: what it looks at is in the surroundings, and it returns within the limit or is given up.
type examination struct {
	name  string
	look  func(context.Context, *surroundings) []finding
	plain bool // it needs no configuration
}

// examinations are all checks, in the order of their subjects.
func examinations() []examination {
	return []examination{
		{"config", checkConfig, false},
		{"roots", checkRoots, false},
		{"watches", checkWatchLimits, false},
		{"state", checkStateDir, true},
		{"files", checkFiles, true},
		{"companions", checkCompanions, true},
		{"earlier", checkEarlier, false},
		{"leftovers", checkLeftovers, true},
		{"archive", checkArchive, false},
		{"lock", checkLock, false},
		{"space", checkSpace, false},
		{"backups", checkBackups, true},
		{"service", checkService, true},
		{"drift", checkDrift, false},
		{"sandbox", checkSandbox, false},
		{"linger", checkLinger, true},
		{"daemon", checkDaemon, true},
		{"errors", checkErrors, true},
		{"summarizer", checkSummarizer, false},
		{"program", checkProgram, true},
		{"agents", checkAgents, true},
		{"behind", checkBehind, false},
		{"records", checkRecords, false},
		{"purge", checkPurge, false},
		{"clock", checkClock, true},
	}
}

// examine runs the checks. Without a configuration some of them have nothing to look at, and nothing is offered that would
// write what follows from it.
func (a *app) examine(ctx context.Context) []finding {
	checks := examinations()
	var all []finding
	l, err := a.locate(true)
	if err != nil {
		all = []finding{wrong("config", "`ccd config --default` prints a valid one", "%v", err)}
		if l, err = a.unconfigured().locate(true); err != nil {
			return all // there is no home directory either
		}
		checks = slices.DeleteFunc(checks, func(c examination) bool { return !c.plain })
	}
	show, wipe := a.progressAfter(time.Second, "checking:")
	defer wipe()
	s := a.lookAround(ctx, l, show)
	s.bare = len(all) > 0
	for i, c := range checks {
		show(int64(50+50*i/len(checks)), 100)
		found, err := bounded(ctx, checkLimit, func(ctx context.Context) ([]finding, error) { return c.look(ctx, s), nil })
		if err != nil {
			found = []finding{wrong(c.name, "ccd doctor again, once what it looks at answers", "this check was given up: %v", err)}
		}
		all = append(all, found...)
	}
	for i := range all {
		all[i].Fixable = all[i].repair != nil
	}
	return all
}

// unconfigured is the app with the defaults for its configuration.
func (a *app) unconfigured() *app {
	u := *a
	u.configFile = os.DevNull
	u.env = slices.DeleteFunc(slices.Clone(a.env), func(v string) bool { return strings.HasPrefix(v, "CCD_") })
	return &u
}

// progressAfter is progress that keeps quiet at first: most commands are done by then.
func (a *app) progressAfter(wait time.Duration, what string) (show func(done, total int64), wipe func()) {
	start := time.Now()
	now, wipe := a.progress(what)
	return func(done, total int64) {
		if time.Since(start) > wait {
			now(done, total)
		}
	}, wipe
}

func checkConfig(_ context.Context, s *surroundings) []finding {
	const check = "config"
	path := s.l.configPath
	if path == "" {
		return []finding{ok(check, "defaults; no file is needed")}
	}
	if info, err := os.Stat(path); err == nil && modes && info.Mode().Perm()&0o022 != 0 {
		return []finding{note(check, "chmod go-w "+shellWord(path), "%s can be written by others (mode %04o)", path, info.Mode().Perm())}
	}
	return []finding{ok(check, "%s", path)}
}

// modes tells that files have permissions as Unix knows them.
const modes = os.PathSeparator == '/'

// shown is how many findings of one kind are listed; the others are counted.
const shown = 5

// few cuts findings of one check to some, and counts the others.
func few(check, where string, all []finding) []finding {
	more := len(all) - shown
	if more <= 0 {
		return all
	}
	rest := finding{Check: check, State: worst(all[shown:]), Detail: strings.TrimSpace(count(more, "more problem") + " " + where)}
	return append(all[:shown:shown], rest)
}
