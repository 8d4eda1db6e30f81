package main

import (
	"strings"
	"testing"
)

func off(names ...string) string { return compaction(`off = ["` + strings.Join(names, `", "`) + `"]`) }

// looked is a session that looked something up, with that many tokens in context.
func looked(context int) *tale {
	s := newTale()
	s.context = context
	s.asks("Look it up.").works(12)
	s.uses("Grep", map[string]any{"pattern": "cents", "output_mode": "content"}, "money.py:12:def cents(text)\n"+strings.Repeat("other.py:7:cents = cents + 1\n", 60), false)
	s.uses("WebFetch", map[string]any{"url": "https://example.org/decimal", "prompt": "what"}, "Decimals are exact. "+filler(3, 3000), false)
	return s.works(3)
}

// TestEngineStrategies checks each strategy for a kind of content: if it is on, it leaves a line with a marker.
func TestEngineStrategies(t *testing.T) {
	t.Parallel()
	day := ledgerDay()
	on := day.companion("")
	checkRows(t, []engineRow{
		{"file content", on, day.companion(off("file")), `^- #\d+ Read \[ccd \w+ file big\.py, 100 lines, read 2026-01-15T09:\d\dZ\]$`, ``},
		{"conversation", on, day.companion(off("talk")), `^- #\d+ \[ccd \w+ summary`, `^- #9$`},
		{"command output", on, day.companion(off("output")), "^- #\\d+ Bash `make part\\d+` -> 0: .*\\[ccd \\w+ output, \\d+ lines, 2\\.\\d KB\\]", ``},
		{"results of searches", looked(14000).companion(small + off("score")), looked(14000).companion(small + off("score", "result")), "Grep `cents`: 61 hits: `money\\.py:12:def cents\\(text\\)`.* \\[ccd \\w+ result, ", ``},
		{"results of the web", looked(14000).companion(small + off("score")), looked(14000).companion(small + off("score", "result")), "WebFetch `https://example.org/decimal`: Decimals are exact.*\\[ccd \\w+ result, ", ``},
		{"pictures", on, day.companion(off("image")), `\[ccd \w+ image png 640x360, `, ``},
		{"thinking", day.companion(""), newTale().asks("Go.").says("how the cents came to be so few").works(9).companion(""), ``, `how the cents came`},
		{"one large output", newTale().asks("Go.").runs("make all", filler(1, 90000)).companion(""), newTale().asks("Go.").runs("make all", filler(1, 90000)).companion(compaction("large_output_chars = 100")), `^> part 30 of`, ``},
	})
}

// TestEngineParts checks the parts of a companion that can be switched off.
func TestEngineParts(t *testing.T) {
	t.Parallel()
	day := ledgerDay()
	on := day.companion("")
	checkRows(t, []engineRow{
		{"asked", on, day.companion(off("asked")), `^> also add a regression test`, ``},
		{"rules", on, day.companion(off("corrections")), `^- "Never touch the schema\." \(#1\)$`, ``},
		{"plan", on, day.companion(off("plan")), `^- \[>\] add a test$`, ``},
		{"files", on, day.companion(off("files")), "^- edited `money\\.py` \\(#\\d+\\)$", ``},
		{"commands", on, day.companion(off("commands")), "^- #\\d+ `make lint` -> 1", ``},
		{"open problems", on, day.companion(off("errors")), "^Open.*make lint", ``},
		{"answers", on, day.companion(off("answers")), `^#\d+ answer`, ``},
		{"agents", on, day.companion(off("agents")), `sub-agent "find floats"`, ``},
	})
}

// TestEngineNeverElided checks what no strategy may leave out.
func TestEngineNeverElided(t *testing.T) {
	t.Parallel()
	fails := func(out string) printed {
		return newTale().asks("Test.").fails("pytest -q", filler(1, 3000)+out+filler(2, 3000)).works(20).companion(small)
	}
	plain := newTale().asks("Test.").runs("pytest -q", filler(1, 3000)+filler(2, 3000)).works(20).companion(small)
	checkRows(t, []engineRow{
		{"an error line", fails("money.c:41: error: unused name\n"), plain, `money\.c:41: error: unused name`, ``},
		{"an assertion", fails("E   AssertionError: Money(48212) != Money(48213)\n"), plain, `Money\(48212\) != Money\(48213\)`, ``},
		{"an exit code", fails(""), plain, "^- #2 Bash `pytest -q` -> 1", ``},
		{"the top of a stack", fails("panic: no cents\n\ngoroutine 1 [running]:\nmain.cents(0x1)\n\t/home/you/ledger/money.go:41 +0x1d\nmain.main()\n\t/home/you/ledger/main.go:9\n"), plain, `money\.go:41`, ``},
		{"a report", ledgerDay().companion(small), plain, `Found 7 places, all below ledger/`, ``},
		{"the plan as left", ledgerDay().companion(small), plain, `^- \[>\] add a test$`, ``},
	})
}

// TestEngineHowHard checks levels, the score, and what stays under a level set by hand.
func TestEngineHowHard(t *testing.T) {
	t.Parallel()
	day := ledgerDay()
	full := func(context int) printed {
		s := ledgerDay()
		s.context = context
		return s.says("So far.").companion("")
	}
	checkRows(t, []engineRow{
		{"standard", full(122000), full(100000), `^level: standard$`, `^level: gentle$`},
		{"aggressive", full(152000), full(122000), `^level: aggressive$`, `^level: standard$`},
		{"maximum", full(182000), full(152000), `^level: maximum$`, `^level: aggressive$`},
		{"a level by hand takes more", day.companion("", "--level", "gentle"), day.companion("", "--level", "maximum"), "^- #\\d+ Bash `make part(27|29|31)`", `^level: maximum$`},
		{"excerpts are shorter", looked(60000).companion(small + off("score")), looked(162000).companion(small + off("score")), `^- #\d+ WebFetch .{200,}$`, `^- #\d+ WebFetch .{100,199}$`},
		{"room that is left shows results whole", day.companion(""), day.companion(off("score")), "^- #\\d+ Bash `make part\\d+` -> 0$", ``},
		{"the budget", day.companion(""), day.companion(small), `^tokens: \{original: \d+, companion: [67]\d{4},`, `^tokens: \{original: \d+, companion: 1\d{4},`},
	})
}

// TestEngineCopiesOfASession checks copies within a companion.
func TestEngineCopiesOfASession(t *testing.T) {
	t.Parallel()
	twice := newTale().asks("Look.").runs("cat a", filler(1, 900)).runs("cat b", filler(1, 900)).works(20)
	checkRows(t, []engineRow{
		{"copies", twice.companion(""), twice.companion(compaction("dedup = false")), `\[ccd \w+ dup of #\d+, \d+ chars\]`, ``},
	})
}

// TestEngineFilesComeBack checks which file contents are shown again.
func TestEngineFilesComeBack(t *testing.T) {
	t.Parallel()
	day := ledgerDay()
	const roomy = "[companion]\nmax_tokens = 200000\n"
	checkRows(t, []engineRow{
		{"files", day.companion(""), day.companion("[companion]\nrestore_files = 0\n"), "^### `big\\.py` as of", ``},
		{"changed ones first", day.companion("[companion]\nrestore_files = 1\n"), day.companion(""), ``, "^### `big\\.py`"},
		{"of each", day.companion(roomy), day.companion(roomy + compaction("restore_file_tokens = 700")), `^> big = 30\b`, ``},
		{"of all", day.companion(roomy), day.companion(roomy + compaction("restore_total_tokens = 900")), `^> big = 30\b`, ``},
		{"with the edits since", day.companion(""), day.companion("[companion]\nrestore_files = 0\n"), `^> money = 48213\b`, ``},
	})
}

// TestEngineGuards checks size limits.
func TestEngineGuards(t *testing.T) {
	t.Parallel()
	tiny := newTale().asks("Go on.").runs("true", "It went on.").companion("")
	checkRows(t, []engineRow{
		{"a small session stands whole", tiny, ledgerDay().companion(""), `^sections: \{Recent: \d+\}$`, `^## Conversation$`},
		{"what fits its budget is verified", ledgerDay().companion(""), ledgerDay().companion("", "--max-tokens", "2000"), `^verified: true$`, `^verified: false$`},
		{"what is not visible is counted", ledgerDay().companion("", "--max-tokens", "2000"), ledgerDay().companion(""), `^reason: `, ``},
		{"long asks keep both ends", newTale().asks("First. " + walk(1, 9000) + " Last.").works(30).companion(small), newTale().asks("First. " + walk(1, 1500) + " Last.").works(30).companion(small), `^\[ccd \w+ cut, 9\d{3} chars\]$`, ``},
		{"tokens are always told", ledgerDay().companion(""), tiny, `^tokens: \{original: \d+, companion: \d+, saved_percent: [1-9]`, ``},
	})
}
