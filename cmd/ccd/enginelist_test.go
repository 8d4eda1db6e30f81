package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// plainList is a list of messages for the filter.
type plainList []map[string]any

func (l plainList) add(role, text string) plainList {
	return append(l[:len(l):len(l)], map[string]any{"role": role, "content": text, "id": fmt.Sprintf("m%d", len(l))})
}

// filtered is filteredAs without keeping the newest messages.
func (l plainList) filtered(config string, flags ...string) printed {
	return func(t *testing.T) string {
		return l.filteredAs(t, config, append([]string{"--keep-recent", "0"}, flags...)...)
	}
}

// filteredAs returns what `ccd compact --format messages` prints for the list: a line per decision, then the messages. Unless the
// configuration says otherwise, messages of persons have no privilege, so that every rule can be seen on them.
func (l plainList) filteredAs(t *testing.T, config string, flags ...string) string {
	t.Helper()
	if !strings.Contains(config, "keep_roles") {
		config = compaction(`keep_roles = ["system"]`) + strings.TrimPrefix(config, "[compaction]\n")
	}
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	c := compacted(t, data, append([]string{"--config", written(t, config), "--no-archive"}, flags...)...)
	var b strings.Builder
	for n, d := range c.report.Decisions {
		fmt.Fprintf(&b, "m%d %s (%s) in %d\n", n, d.Action, d.Reason, d.In)
	}
	var list []struct{ Content string }
	if err := json.Unmarshal(c.report.Messages, &list); err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		b.WriteString(m.Content + "\n")
	}
	return b.String()
}

// walk returns prose of that many chars which no rule keeps, different for each seed.
func walk(seed, chars int) string {
	var b strings.Builder
	for i := 0; b.Len() < chars; i++ {
		fmt.Fprintf(&b, "We walked to mill %d of valley %d and saw nothing new there at all that day. ", i, seed)
	}
	return b.String()
}

const fence = "```go\nfunc cents(text string) int { return parse(text) }\n```\n"

// TestEngineRules checks the thirteen rules through the filter. The first one that matches decides.
func TestEngineRules(t *testing.T) {
	t.Parallel()
	said := func(text string) plainList { return plainList{}.add("assistant", text) }
	plain := said(walk(1, 400))
	calls := said(walk(1, 400))
	calls[0]["tool_calls"] = []any{map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "f", "arguments": "{}"}}}
	important := said("We decided on integer cents: you must never store a float, that was wrong. "+walk(1, 400)).add("user", walk(2, 400))
	corrected := said("The export_job of ledger_main writes its cents to table_a with round_half. "+walk(1, 200)).
		add("user", "No, that is wrong: the export_job of ledger_main must write its cents to table_b with round_half, not table_a.")
	const kept, gone = `^m0 preserved \(`, `^m0 compressed \(`
	checkRows(t, []engineRow{
		{"1 roles", plain.filtered("", "--keep-role", "assistant"), plain.filtered(""), kept + `role\)`, gone},
		{"2 recent", plain.filtered("", "--keep-recent", "1"), plain.filtered(""), kept + `recent\)`, gone},
		{"3 tool calls", calls.filtered(""), plain.filtered(""), kept + `tool call\)`, gone},
		{"4 short", said(walk(1, 40)).filtered(""), plain.filtered(""), kept + `short\)`, gone},
		{"5 our marker", said("[ccd 0123456789ab summary: it is] " + walk(1, 400)).filtered(""), plain.filtered(""), kept + `marker\)`, gone},
		{"6 importance", important.filtered(compaction("keep_importance = 0.4")), important.filtered(""), kept + `importance 0\.\d+\)`, gone},
		{"7 copies", plain.add("user", walk(1, 400)).filtered(""), plain.add("user", walk(1, 400)).filtered(compaction("dedup = false")), `^m0 deduped`, gone},
		{"8 superseded", corrected.filtered(compaction("contradictions = true")), corrected.filtered(""), `^m0 contradicted`, gone},
		{"9 code with prose", said(fence + walk(1, 400)).filtered(""), plain.filtered(""), `^m0 split`, gone},
		{"10 code with little prose", said(fence + strings.Repeat(fence, 3) + "That is all.").filtered(""), said(fence + walk(1, 400)).filtered(""), kept + `code\)`, `^m0 split`},
		{"11 hard", said("SELECT id, cents FROM invoices WHERE id = 48213; " + walk(1, 200)).filtered(""), plain.filtered(""), kept + `hard: sql`, gone},
		{"11 a secret beside a fence", said("password = hunter2hunter2\n" + fence + walk(1, 400)).filtered(""), said(fence + walk(1, 400)).filtered(""), kept + `hard: secret`, `^m0 split`},
		{"11 soft reasons do not keep", plain.filtered(""), said(walk(1, 90)).filtered(""), gone, kept},
		{"12 JSON", said(`{"a": [` + strings.Repeat(`{"b": 1, "c": "d"}, `, 20) + `{}]}`).filtered(""), plain.filtered(""), kept + `(hard: )?json`, gone},
		{"13 the rest", plain.filtered(""), said(fence).filtered(""), `^\[ccd \w+ summary: `, "^```go$"},
		{"patterns of your own", plain.filtered("", "--keep-pattern", "mill 2"), plain.filtered(""), kept + `pattern`, gone},
		{"words of focus", plain.filtered("", "--focus", "valley"), plain.filtered(""), kept + `focus\)`, gone},
	})
}

// TestEngineReasons checks which messages stay whole and which never do. The limits are those of compactor/filter.
func TestEngineReasons(t *testing.T) {
	t.Parallel()
	rest := walk(1, 200)
	var rows []engineRow
	list := func(text string) printed { return plainList{}.add("assistant", text+rest).filtered("") }
	for reason, text := range map[string]string{
		"indented code": "I ran:\n\n    make all\n    make test\n\n", "code": "func cents() {\n  a := 1\n  return a\n}\n", "yaml": "name: mill\nport: 80\nhosts:\n  - a\n",
		"latex": `It is \frac{a}{b} here. `, "base64": "It is aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91IHRvZGF5PyBHb29kLiBZZXM= here. ", "traceback": "Traceback (most recent call last)\n",
		"http error": "It said HTTP 503 twice. ", "failure": "It ended with permission denied. ", "table": "| a | b |\n|---|---|\n| 1 | 2 |\n",
		"reasoning": "It sticks, therefore it stops. Thus it is wet. As a result we slip. ", "verse": "The mill wheel sleeps beneath the moon\nThe ropes are grey with morning dew\nThe miller waits for water still\n",
		"symbols": strings.Repeat("{a<b>=|c^d~e&f;} ", 20), "ragged lines": strings.Repeat("gate\n"+strings.Repeat("east of the mill and the pond ", 8)+"\n", 6),
	} {
		rows = append(rows, engineRow{"hard: " + reason, list(text), list(""), `^m0 preserved \(hard: .*` + reason, `^m0 compressed`})
	}
	for reason, text := range map[string]string{
		"url": "See https://example.org/mill. ", "version": "It is version 2.4.1. ", "hash": "It came with 3f786850e387550fdab836ed7e6dc881de23001b. ", "path": "It is in export/nightly.py. ",
		"ip": "It runs on 10.0.0.7. ", "mail": "Ask miller@example.org. ", "phone": "Call +49 30 1234567 or 030-1234-5678 for the key. ", "units": "It took 41 ms. ",
	} {
		rows = append(rows, engineRow{"soft: " + reason, list(text), list(""), `^m0 compressed \(T0 soft: .*` + reason, ``})
	}
	for what, text := range map[string]string{"an arrow": "Take a -> b. ", "a price": "It costs $5 now. ", "a word of SQL": "It is a boolean, returning to true. ", "two keys": "Status: done\nBranch: main\n"} {
		rows = append(rows, engineRow{"no reason: " + what, list(text), list("SELECT a FROM b WHERE c = 1; "), `^m0 compressed`, `^m0 preserved`})
	}
	checkRows(t, rows)
}

// TestEngineSummaries checks which parts of a summary the configuration sets, and what a summary is made of.
func TestEngineSummaries(t *testing.T) {
	t.Parallel()
	long := plainList{}.add("assistant", walk(1, 60000))
	two := plainList{}.add("assistant", walk(1, 600)).add("assistant", walk(2, 600))
	apart := plainList{}.add("assistant", walk(1, 600)).add("user", walk(2, 600))
	named := plainList{}.add("assistant", walk(1, 900)+"Okay, let me look at LedgerMain in export/nightly.py again. "+walk(2, 900))
	status := plainList{}.add("assistant", strings.Repeat("- ok cents_test.go\n- FAIL money_test.go: 3 of 4 rows\n- built bin/ledger\n", 12))
	checkRows(t, []engineRow{
		{"length", long.filtered(""), long.filtered(compaction("summary_chars = 300")), `^.{500,}$`, ``},
		{"length of long texts", long.filtered(compaction(`long_cap = "log"`)), long.filtered(""), `^.{900,}$`, ``},
		{"neighbours of one role are merged", two.filtered(""), apart.filtered(""), `\(2 messages merged\)`, `^m1 compressed \(.*\) in 1$`},
		{"entities", named.filtered(""), long.filtered(""), `\| entities: .*LedgerMain`, ``},
		{"sentences with names come first", plainList{}.add("assistant", walk(1, 900)+"The cents of LedgerMain stand in export/nightly.py. ").filtered(""), named.filtered(""), `summary: .*The cents of LedgerMain`, ``},
		{"structured output", status.filtered(""), long.filtered(""), `money_test\.go`, ``},
		{"fences stay in place", plainList{}.add("assistant", walk(1, 400)+"\n"+fence+walk(2, 400)).filtered(""), two.filtered(""), `^func cents`, ``},
		{"the budget", two.filtered("", "--max-tokens", "100000"), two.filtered(""), `^m0 preserved \(within the budget\)`, `^m0 compressed`},
		{"the forced fit", plainList{}.add("assistant", strings.Repeat(fence, 40)).filtered("", "--max-tokens", "1000"), plainList{}.add("assistant", strings.Repeat(fence, 40)).filtered(""), `^\[ccd \w+ cut, \d+ chars: `, `^func cents`},
		{"how hard", plainList{}.add("assistant", walk(1, 1500)).filtered("", "--level", "gentle"), plainList{}.add("assistant", walk(1, 1500)).filtered("", "--level", "maximum"), `^.{400,}$`, ``},
	})
}

// TestEngineCopies checks near copies and contradictions in lists and in companions, on and off.
func TestEngineCopies(t *testing.T) {
	t.Parallel()
	lines := func(odd string) string {
		return strings.Repeat("The mill of the first valley was closed.\n", 2) + filler(1, 900) + odd
	}
	near := plainList{}.add("assistant", lines("One line more.\n")).add("user", lines("And another one.\n"))
	overlap := plainList{}.add("assistant", "The export_job of ledger_main writes its cents to table_a with round_half. "+walk(1, 200)).
		add("user", "No, that is wrong: the export_job of a quiet evening reads a novel beside the fire, and its heroine sails north. ")
	checkRows(t, []engineRow{
		{"near copies", near.filtered(compaction("near_dedup = true")), near.filtered(""), `^\[ccd \w+ near-dup of m1, \d+ chars, ~\d+%\]`, ``},
		{"how near", near.filtered(compaction("near_dedup = true")), near.filtered(compaction("near_dedup = true", "near_threshold = 0.99")), `near-dup of m1`, ``},
		{"the newest copy stays", plainList{}.add("user", walk(1, 300)).add("tool", walk(1, 300)).filtered(""), plainList{}.add("user", filler(1, 150)).add("tool", filler(1, 150)).filtered(""), `^\[ccd \w+ dup of m1, \d+ chars\]`, ``},
		{"topic", overlap.filtered(compaction("contradictions = true", "contradiction_threshold = 0.01")), overlap.filtered(compaction("contradictions = true", "contradiction_threshold = 0.9")), `superseded by m1 \(`, ``},
	})
}
