package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reporting is a session of Claude Code of 20 replies, 2,000 characters each. Reply n reports reports[n] as its
// input_tokens, and fill where there is none.
func reporting(model, fill string, reports map[int]string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`{"type":"user","uuid":"u0","sessionId":"s","cwd":"/src/mill","timestamp":"2026-01-15T09:00:00Z","message":{"role":"user","content":"Mill the rye."}}`)
	for n := range 20 {
		report, ok := reports[n]
		if !ok {
			report = fill
		}
		for range 2 { // as Claude Code does: each block of a reply repeats its usage
			line(`{"type":"assistant","uuid":"a%d","sessionId":"s","timestamp":"2026-01-15T09:%02d:00Z","requestId":"r%d","message":{"id":"m%d","role":"assistant","model":%q,"content":[{"type":"text","text":%q}],"usage":{"input_tokens":%s,"output_tokens":1}}}`,
				n, n+1, n, n, model, strings.Repeat(fmt.Sprintf("sack %d ", n), 125), report)
		}
	}
	return b.String()
}

func TestOneAbsurdFigureChangesNothing(t *testing.T) {
	known := reporting("claude-sonnet-4-5", "150000", nil)
	quiet := "20000"
	for name, c := range map[string]struct {
		transcript string
		window     int64
		assumed    bool
		pressure   float64
		trigger    string
		outliers   int
		figure     int64
	}{
		"control":                  {known, 200000, false, 0.75, "pressure", 0, 0},
		"3,000,000 once":           {reporting("claude-sonnet-4-5", "150000", map[int]string{3: "3000000"}), 200000, false, 0.75, "pressure", 1, 3000001},
		"3,000,000 at the end":     {reporting("claude-sonnet-4-5", "150000", map[int]string{19: "3000000"}), 200000, false, 0.75, "pressure", 1, 3000001},
		"3,000,000 from the start": {reporting("someone-s", "150000", map[int]string{0: "3000000"}), 200000, true, 0.75, "pressure", 1, 3000001},
		"900,000 once":             {reporting("claude-sonnet-4-5", "150000", map[int]string{3: "900000"}), 200000, false, 0.75, "pressure", 1, 900001},
		"900,000 once, else quiet": {reporting("claude-sonnet-4-5", quiet, map[int]string{15: "900000"}), 200000, false, 0.1, "", 1, 900001},
		"an overflow":              {reporting("claude-sonnet-4-5", "150000", map[int]string{19: "9223372036854775807"}), 200000, false, 0.75, "pressure", 1, 1<<53 + 1},
		"a larger overflow":        {reporting("claude-sonnet-4-5", "150000", map[int]string{19: "1e400"}), 200000, false, 0.75, "pressure", 1, 1<<53 + 1},
		"a million, plain name":    {reporting("claude-sonnet-4-5", "400000", nil), 1000000, false, 0.4, "", 0, 0},
		"a million, filling up":    {reporting("claude-sonnet-4-5", "750000", nil), 1000000, false, 0.75, "pressure", 0, 0},
		"a million by its name":    {reporting("someone-s[1m]", quiet, map[int]string{19: "750000"}), 1000000, false, 0.75, "pressure", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, front := usageOf(t, c.transcript)
			if s.Window != c.window || s.Assumed != c.assumed || fmt.Sprintf("%.2f", s.Pressure) != fmt.Sprintf("%.2f", c.pressure) ||
				s.Trigger != c.trigger || s.Outliers.Reports != c.outliers || s.Outliers.Tokens != c.figure {
				t.Errorf("window %d (assumed %v), pressure %.3f, trigger %q, outliers %+v; want %+v", s.Window, s.Assumed, s.Pressure, s.Trigger, s.Outliers, c)
			}
			told := fmt.Sprintf("\noutliers: {reports: %d, tokens: %d}\n", c.outliers, c.figure)
			if c.trigger != "" && strings.Contains(front, told) != (c.outliers > 0) {
				t.Errorf("front matter tells of outliers wrongly:\n%s", front)
			}
		})
	}
}

func TestUsageThatIsNoCount(t *testing.T) {
	for _, figure := range []string{"-5", `"150000"`, "null", "[]", "{}", "true", "0", "-9223372036854775808", "-1e400"} {
		s, _ := usageOf(t, reporting("claude-sonnet-4-5", "120000", map[int]string{19: figure}))
		if s.Reported != 1 || s.Window != 200000 || s.Outliers.Reports != 0 {
			t.Errorf("%s: %d tokens of %d, outliers %+v; want the 1 token that is told", figure, s.Reported, s.Window, s.Outliers)
		}
	}
	if s, _ := usageOf(t, reporting("claude-sonnet-4-5", "120000.75", nil)); s.Reported != 120001 {
		t.Errorf("a fraction: %d tokens", s.Reported)
	}
}

// usageOf archives a transcript and returns what ls tells of it, and the beginning of its companion.
func usageOf(t *testing.T, transcript string) (sessionOutput, string) {
	t.Helper()
	const session = "11111111-2222-4333-8444-555555555555"
	home := t.TempDir()
	path := filepath.Join(home, ".claude", "projects", "-src-mill", session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(transcript), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []sessionOutput
	for _, args := range [][]string{{"run", "--once", "-q"}, {"ls", "--json"}} {
		var out, talk bytes.Buffer
		if code := run(context.Background(), args, std{strings.NewReader(""), &out, &talk}, []string{"HOME=" + home, "USERPROFILE=" + home}); code != exitDone {
			t.Fatalf("%v: exit %d, %s", args, code, talk.String())
		}
		if args[0] == "ls" {
			if err := json.Unmarshal(out.Bytes(), &all); err != nil || len(all) != 1 {
				t.Fatalf("%d sessions, %v", len(all), err)
			}
		}
	}
	front, _ := os.ReadFile(strings.TrimSuffix(path, ".jsonl") + ".ccd.md")
	return all[0], string(front[:min(len(front), 2000)])
}
