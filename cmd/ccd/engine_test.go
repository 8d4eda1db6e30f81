package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// engineRow is one statement of docs/ENGINE.md with two texts that the binary prints, with and without the feature.
// Statements that other tests check have no row: whose words a human message is (TestWhoseWords), impossible token
// counts (TestAbsurdTokenCountIsIgnored), options set by hand (TestScript/manual), sub-agents (TestScript/family),
// formats (TestScript/format), summaries by a command (TestScript/summarizer, TestFilterAsksTheSummarizer), what is not
// verified (TestScript/engine), figures (TestScript/stats), restoring from a filtered list and filtering twice
// (TestFilterRestores), and differences from the public engines (TestGoldens).
type engineRow struct {
	name          string
	with, without printed
	shows         string // matches only the text with it
	hides         string // matches only the text without it; "" if nothing disappears
}

// faults says how the texts differ from what the row says.
func (r *engineRow) faults(with, without string) (found []string) {
	for _, c := range []struct{ pattern, in, out, where string }{{r.shows, with, without, "with it"}, {r.hides, without, with, "without it"}} {
		re := regexp.MustCompile("(?m)" + c.pattern)
		switch {
		case c.pattern == "":
		case !re.MatchString(c.in):
			found = append(found, fmt.Sprintf("%s the text does not match %q:\n%.8000s", c.where, c.pattern, c.in))
		case re.MatchString(c.out):
			found = append(found, fmt.Sprintf("not only %s the text matches %q: %.300q", c.where, c.pattern, re.FindString(c.out)))
		}
	}
	return found
}

func checkRows(t *testing.T, rows []engineRow) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range r.faults(r.with(t), r.without(t)) {
				t.Error(f)
			}
		})
	}
}

// TestEngineRowsCanFail is the negative control.
func TestEngineRowsCanFail(t *testing.T) {
	r := engineRow{shows: "is here", hides: "was there"}
	for _, c := range []struct {
		with, without string
		faults        int
	}{{"it is here", "it was there", 0}, {"it is here", "it is here", 2}, {"", "", 2}, {"it is here, was there", "it was there", 1}} {
		if got := r.faults(c.with, c.without); len(got) != c.faults {
			t.Errorf("%q and %q: %q", c.with, c.without, got)
		}
	}
}

// section returns a section of a configuration.
func section(name string, lines ...string) string {
	return "[" + name + "]\n" + strings.Join(lines, "\n") + "\n"
}

func compaction(lines ...string) string { return section("compaction", lines...) }

// ledgerDay is a session of about 110,000 chars with a bit of everything.
func ledgerDay() *tale {
	s := newTale()
	s.asks("The nightly export writes 48,212 cents where the invoice says 48,213. Find out why. Never touch the schema.")
	s.thinks("how the cents came to be so few")
	s.reads("/home/you/ledger/big.py", 100)
	s.uses("Grep", map[string]any{"pattern": "cents", "output_mode": "content"}, "money.py:12:def cents(text)\n"+strings.Repeat("other.py:7:cents = cents + 1\n", 60), false)
	s.uses("WebFetch", map[string]any{"url": "https://example.org/decimal", "prompt": "what"}, "Decimals are exact. "+filler(3, 3000), false)
	s.says("We decided to parse decimals as text, because float(\"482.13\") * 100 is 48212.99. " + filler(9, 900))
	s.fails("pytest -q", filler(1, 1500)+"tests/test_money.py:41: AssertionError\nE   AssertionError: Money(48212) != Money(48213)\n1 failed, 37 passed in 2.1s\n")
	s.reads("/home/you/ledger/money.py", 60)
	s.edits("/home/you/ledger/money.py", "money = 33\t", "money = 48213\t")
	s.runs("pytest -q", filler(2, 1500)+"38 passed in 2.0s\n")
	s.uses("Task", map[string]any{"description": "find floats", "prompt": "find every float", "subagent_type": "x"}, "Found 7 places, all below ledger/. "+filler(4, 1500), false)
	s.uses("TodoWrite", map[string]any{"todos": []any{
		map[string]any{"content": "fix cents", "status": "completed", "activeForm": "x"},
		map[string]any{"content": "add a test", "status": "in_progress", "activeForm": "x"},
	}}, "Todos have been modified", false)
	s.says("It is fixed now: cents() parses the text.")
	s.sees("Look at this picture of the invoice, please.")
	s.says("The picture says 48213.")
	s.wait(2 * time.Hour)
	s.asks("also add a regression test for invoice 48213")
	s.fails("make lint", filler(5, 1500)+"ledger/export.py:88: error: unused name\n")
	return s.works(40)
}

// small is a budget in which not all of a session fits.
const small = "[companion]\nmax_tokens = 20000\n"

func TestEngineUnits(t *testing.T) {
	t.Parallel()
	chars := func(text string) printed { return newTale().asks(strings.Repeat(text, 3000)).companion("") }
	full := func(context int, config string) printed {
		s := newTale()
		s.context = context
		return s.asks("Go on.").says("So I do.").companion(config)
	}
	unlisted := newTale().asks("Go on.").says("So I do.")
	for n := range unlisted.lines {
		unlisted.lines[n] = []byte(strings.ReplaceAll(string(unlisted.lines[n]), "claude-demo", "some-model"))
	}
	checkRows(t, []engineRow{
		{"tokens are chars * 4 / 3", chars("é"), chars("ab"), `original: 4000,`, `original: 8000,`},
		{"pressure is what is reported over the window", full(118750, ""), full(14000, ""), `^pressure: 0\.60$`, `^pressure: 0\.08$`},
		{"or of what is is estimated where nothing is reported", chars("é"), chars("ab"), `^pressure: 0.02$`, `^pressure: 0.04$`},
		{"the window is the configuration's", full(14000, "[models.windows]\n\"claude-demo\" = 100000\n"), full(14000, ""), `^context_window: 100000$`, `^context_window: 200000$`},
		{"a window that nothing tells is assumed", unlisted.companion(""), full(14000, ""), `assumed`, ``},
		{"people see real tokens", full(118750, ""), full(14000, ""), `reported: 120128`, ``},
	})
}

func TestEngineWhen(t *testing.T) {
	t.Parallel()
	day, compacted := ledgerDay(), ledgerDay().compacts("This session is being continued from a previous conversation.")
	full := ledgerDay()
	full.context = 130000
	full.says("Nearly full.")
	checkRows(t, []engineRow{
		{"threshold", day.followed(section("trigger", "threshold = 50000")), day.followed(""), `^ccd: 1$`, `^no companion$`},
		{"pressure", full.followed(""), day.followed(""), `^ccd: 1$`, `^no companion$`},
		{"pressure as configured", day.followed(section("trigger", "pressure = 0.3")), day.followed(""), `^ccd: 1$`, `^no companion$`},
		{"min savings", full.followed(""), full.followed(section("trigger", "min_savings = 300000")), `^ccd: 1$`, `^no companion$`},
		{"boundary", compacted.followed(""), day.followed(""), `^ccd: 1$`, `^no companion$`},
		{"boundary whatever the size", newTale().asks("Go on.").compacts("It went on.").followed(""), newTale().asks("Go on.").followed(""), `^ccd: 1$`, `^no companion$`},
	})
}

func TestEngineZones(t *testing.T) {
	t.Parallel()
	day := ledgerDay()
	none := []string{"recent_messages = 0", `recent_results = "0s"`}
	recent := func(lines ...string) printed { return day.companion(compaction(lines...)) }
	checkRows(t, []engineRow{
		{"the newest part of the context", recent(append(none, "recent_share = 0.10")...), recent(append(none, "recent_share = 0")...), `^## Recent$`, ``},
		{"the last messages", recent("recent_share = 0", "recent_messages = 6", none[1]), recent(append(none, "recent_share = 0")...), `^## Recent$`, ``},
		{"the results of the last minutes", recent("recent_share = 0", none[0], `recent_results = "1m"`), recent(append(none, "recent_share = 0")...), `^## Recent$`, ``},
	})
}
