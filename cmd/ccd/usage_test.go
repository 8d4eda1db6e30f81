package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// claudeSession is a session of Claude Code with 20 replies of 2,000 characters. Reply n reports reports[n] as
// input_tokens, or fill if there is none.
func claudeSession(model, fill string, reports map[int]string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`{"type":"user","uuid":"u0","sessionId":"s","cwd":"/src/mill","timestamp":"2026-01-15T09:00:00Z","message":{"role":"user","content":"Mill the rye."}}`)
	for n := range 20 {
		report, ok := reports[n]
		if !ok {
			report = fill
		}
		for block := range 2 { // Claude Code repeats the usage in each block of a reply
			line(`{"type":"assistant","uuid":"a%d-%d","sessionId":"s","timestamp":"2026-01-15T09:%02d:00Z","requestId":"r%d","message":{"id":"m%d","role":"assistant","model":%q,"content":[{"type":"text","text":%q}],"usage":{"input_tokens":%s,"output_tokens":1}}}`,
				n, block, n+1, n, n, model, strings.Repeat(fmt.Sprintf("sack %d ", n), 125), report)
		}
	}
	return b.String()
}

func TestAbsurdTokenCountIsIgnored(t *testing.T) {
	known := claudeSession("claude-sonnet-4-5", "150000", nil)
	quiet := "20000"
	cases := map[string]struct {
		transcript string
		window     int64
		assumed    bool
		pressure   float64
		trigger    string
		outliers   int
		figure     int64
	}{
		"control":                  {known, 200000, false, 0.75, "pressure", 0, 0},
		"3,000,000 once":           {claudeSession("claude-sonnet-4-5", "150000", map[int]string{3: "3000000"}), 200000, false, 0.75, "pressure", 1, 3000001},
		"3,000,000 at the end":     {claudeSession("claude-sonnet-4-5", "150000", map[int]string{19: "3000000"}), 200000, false, 0.75, "pressure", 1, 3000001},
		"3,000,000 from the start": {claudeSession("someone-s", "150000", map[int]string{0: "3000000"}), 200000, true, 0.75, "pressure", 1, 3000001},
		"900,000 once":             {claudeSession("claude-sonnet-4-5", "150000", map[int]string{3: "900000"}), 200000, false, 0.75, "pressure", 1, 900001},
		"900,000 once, else quiet": {claudeSession("claude-sonnet-4-5", quiet, map[int]string{15: "900000"}), 200000, false, 0.1, "", 1, 900001},
		"an overflow":              {claudeSession("claude-sonnet-4-5", "150000", map[int]string{19: "9223372036854775807"}), 200000, false, 0.75, "pressure", 1, 1<<53 + 1},
		"a larger overflow":        {claudeSession("claude-sonnet-4-5", "150000", map[int]string{19: "1e400"}), 200000, false, 0.75, "pressure", 1, 1<<53 + 1},
		"a million, plain name":    {claudeSession("claude-sonnet-4-5", "400000", nil), 1000000, false, 0.4, "", 0, 0},
		"a million, filling up":    {claudeSession("claude-sonnet-4-5", "750000", nil), 1000000, false, 0.75, "pressure", 0, 0},
		"a million by its name":    {claudeSession("someone-s[1m]", quiet, map[int]string{19: "750000"}), 1000000, false, 0.75, "pressure", 0, 0},
	}
	transcripts := map[string]string{}
	for name, c := range cases {
		transcripts[name] = c.transcript
	}
	for name, u := range usagesOf(t, transcripts) {
		s, c := u.row, cases[name]
		if s.Window != c.window || s.Assumed != c.assumed || fmt.Sprintf("%.2f", s.Pressure) != fmt.Sprintf("%.2f", c.pressure) ||
			s.Trigger != c.trigger || s.Outliers.Reports != c.outliers || s.Outliers.Tokens != c.figure {
			t.Errorf("%s: window %d (assumed %v), pressure %.3f, trigger %q, outliers %+v; want %+v", name, s.Window, s.Assumed, s.Pressure, s.Trigger, s.Outliers, c)
		}
		told := fmt.Sprintf("\noutliers: {reports: %d, tokens: %d}\n", c.outliers, c.figure)
		if c.trigger != "" && strings.Contains(u.front, told) != (c.outliers > 0) {
			t.Errorf("%s: front matter tells of outliers wrongly:\n%s", name, u.front)
		}
	}
}

func TestInvalidTokenCount(t *testing.T) {
	valid := map[string]int64{"0": 1, "1.3e5": 130001, `130000,"cache_read_input_tokens":null`: 130001}
	transcripts := map[string]string{}
	for _, figure := range append(slices.Collect(maps.Keys(valid)), "-5", `"150000"`, "null", "[]", "{}", "true", "120000.75", "-9223372036854775808", "-1e400", `0,"cache_read_input_tokens":-50003`) {
		transcripts[figure] = claudeSession("claude-sonnet-4-5", "120000", map[int]string{19: figure})
	}
	for figure, u := range usagesOf(t, transcripts) {
		s := u.row
		if want, ok := valid[figure]; ok && (s.Reported != want || s.Outliers.Reports != 0) {
			t.Errorf("%s: %d tokens, outliers %+v; want %d", figure, s.Reported, s.Outliers, want)
		} else if !ok && (s.Reported != 120001 || s.Window != 200000 || s.Pressure < 0.6 || s.Outliers.Reports != 1 || s.Outliers.Tokens != 0) {
			t.Errorf("%s: %d tokens of %d, pressure %.3f, outliers %+v; want the figure before it", figure, s.Reported, s.Window, s.Pressure, s.Outliers)
		}
	}
}

// codexRollout is a rollout of Codex. Each report {tokens, window} follows a reply of 12,000 characters; with window 0 it
// has none.
func codexRollout(reports ...[2]int64) string {
	var b strings.Builder
	line := func(kind, format string, args ...any) {
		fmt.Fprintf(&b, `{"timestamp":"2026-01-15T09:00:00Z","type":%q,"payload":{%s}}`+"\n", kind, fmt.Sprintf(format, args...))
	}
	line("session_meta", `"id":%q,"cwd":"/src/mill"`, rolloutID)
	line("turn_context", `"cwd":"/src/mill","model":"gpt-5"`)
	for n, r := range reports {
		line("response_item", `"type":"message","role":"user","content":[{"type":"input_text","text":"sack %d"}]`, n)
		line("response_item", `"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]`, strings.Repeat(fmt.Sprintf("sack %d ", n), 1700))
		window := ""
		if r[1] != 0 {
			window = fmt.Sprintf(`,"model_context_window":%d`, r[1])
		}
		line("event_msg", `"type":"token_count","info":{"last_token_usage":{"total_tokens":%d}%s}`, r[0], window)
	}
	return b.String()
}

const rolloutID = "33333333-2222-4333-8444-555555555555"

func TestAbsurdWindowIsIgnored(t *testing.T) {
	fill := func(n int, tokens, window int64) (all [][2]int64) {
		for range n {
			all = append(all, [2]int64{tokens, window})
		}
		return all
	}
	quiet, full := fill(8, 24000, 272000), fill(8, 225000, 272000)
	cases := map[string]struct {
		reports  [][2]int64
		window   int64
		level    string
		trigger  string
		outliers int
		figure   int64
	}{
		"control, quiet":            {quiet, 272000, "gentle", "", 0, 0},
		"control, full":             {full, 272000, "aggressive", "pressure", 0, 0},
		"1 among others":            {slices.Concat(quiet, fill(1, 24000, 1), quiet[:3]), 272000, "gentle", "", 1, 1},
		"1 at the end":              {slices.Concat(quiet, fill(1, 24000, 1)), 272000, "gentle", "", 1, 1},
		"1 at the beginning":        {slices.Concat(fill(1, 24000, 1), quiet), 272000, "gentle", "", 1, 1},
		"10,000 among others":       {slices.Concat(quiet, fill(1, 9000, 10000), quiet[:3]), 272000, "gentle", "", 1, 10000},
		"10,000 at the end":         {slices.Concat(quiet, fill(1, 9000, 10000)), 272000, "gentle", "", 1, 10000},
		"10,000 at the beginning":   {slices.Concat(fill(1, 9000, 10000), quiet), 272000, "gentle", "", 1, 10000},
		"20,000,000, then none":     {slices.Concat(quiet, fill(1, 24000, 20000000), fill(3, 225000, 0)), 272000, "aggressive", "pressure", 1, 20000000},
		"20,000,000 from the start": {slices.Concat(fill(1, 24000, 20000000), full), 272000, "aggressive", "pressure", 1, 20000000},
		"more than any":             {slices.Concat(quiet, fill(5, 24000, 1<<50)), 272000, "gentle", "", 5, 1 << 50},
		"1,000 in all":              {fill(8, 24000, 1000), 272000, "gentle", "", 8, 1000},
		"another one for good":      {slices.Concat(quiet, fill(3, 160000, 400000)), 400000, "gentle", "", 0, 0},
		"a large one in all":        {fill(8, 24000, 2000000), 2000000, "gentle", "", 0, 0},
	}
	for _, name := range testkit.Sample(t, slices.Sorted(maps.Keys(cases)), 5) {
		c := cases[name]
		t.Run(name, func(t *testing.T) {
			s, hook := archivedRollout(t, codexRollout(c.reports...))
			if s.Window != c.window || s.Level != c.level || s.Trigger != c.trigger || s.Outliers.Reports != c.outliers || s.Outliers.Tokens != c.figure {
				t.Errorf("window %d, level %q, trigger %q, outliers %+v, pressure %.3f; want %+v", s.Window, s.Level, s.Trigger, s.Outliers, s.Pressure, c)
			}
			if warns := strings.Contains(hook, "context pressure"); warns != (c.trigger == "pressure") || strings.Contains(hook, "maximum") {
				t.Errorf("the hook says %q", hook)
			}
		})
	}
}

// archivedRollout archives a rollout, compacts it, and returns its row in ls and the answer of the prompt hook.
func archivedRollout(t *testing.T, rollout string) (s status.Session, hook string) {
	t.Helper()
	home, ask := rolloutHome(t, rollout)
	var all []status.Session
	code, out, said := ccdIn(home, "", "ls", "--json")
	if err := json.Unmarshal([]byte(out), &all); code != words.ExitDone || err != nil || len(all) != 1 {
		t.Fatalf("ls: exit %d, %d sessions, %v, %s", code, len(all), err, said)
	}
	if all[0].Trigger == "manual" { // no trigger had fired before
		all[0].Trigger = ""
	}
	return all[0], ask("UserPromptSubmit", `"prompt":"x"`)
}

// rolloutHome makes a home with one archived rollout of Codex and its companion, and returns a function that calls
// hooks.
func rolloutHome(t *testing.T, rollout string) (home string, hook func(event, more string) string) {
	t.Helper()
	home = t.TempDir()
	path := filepath.Join(home, ".codex", "sessions", "2026", "01", "15", "rollout-2026-01-15T09-00-00-"+rolloutID+".jsonl")
	put(t, path, rollout)
	for _, args := range [][]string{{"run", "--once", "-q"}, {"compact", "-q", rolloutID}} {
		done(t, home, args...)
	}
	return home, func(event, more string) string {
		t.Helper()
		in := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/src/mill","hook_event_name":%q,%s}`, rolloutID, path, event, more)
		code, out, said := ccdIn(home, in, "hook", event, "--agent", "codex")
		if code != words.ExitDone {
			t.Fatalf("hook %s: exit %d, %s", event, code, said)
		}
		return out
	}
}

// usageRow is a session's row in ls and the start of its companion.
type usageRow struct {
	row   status.Session
	front string
}

// usagesOf archives transcripts in one home and returns what each uses, by its name.
func usagesOf(t *testing.T, transcripts map[string]string) map[string]usageRow {
	t.Helper()
	home := t.TempDir()
	names := map[string]string{} // by session
	for _, name := range slices.Sorted(maps.Keys(transcripts)) {
		path := transcriptPath(home, len(names))
		put(t, path, transcripts[name])
		names[id(path)] = name
	}
	commandIn(t, home, nil, "run", "--once", "-q")
	all := map[string]usageRow{}
	var rows []status.Session
	must(t, json.Unmarshal(commandIn(t, home, nil, "ls", "--all", "--json"), &rows))
	for _, row := range rows {
		front, _ := os.ReadFile(filepath.Join(filepath.Dir(transcriptPath(home, 0)), row.Session+".ccd.md"))
		all[names[row.Session]] = usageRow{row, string(front[:min(len(front), 2000)])}
	}
	if len(all) != len(transcripts) {
		t.Fatalf("%d of %d sessions are listed", len(all), len(transcripts))
	}
	return all
}
