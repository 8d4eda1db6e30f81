//go:build rig

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWeekAgreesWithCcusage: ccd week and ccusage, a program that only counts tokens, have the same sums of the real transcripts of
// three agents. Of Gemini CLI they differ on purpose: ccd counts what the model thinks as output, as it is billed.
func TestWeekAgreesWithCcusage(t *testing.T) {
	programs, err := filepath.Glob(filepath.Join(os.Getenv("CCD_CLIENTS"), "node_modules", "@ccusage", "ccusage-linux-*", "bin", "ccusage"))
	if err != nil || len(programs) == 0 {
		t.Skip("ccusage is not below $CCD_CLIENTS: make clients")
	}
	home := t.TempDir()
	for _, path := range layOut(t, home, 1000) {
		if strings.Contains(path, "rate_limit") { // nothing but counts is in it, and an error: no session for ccd
			must(t, os.Remove(path))
		}
	}
	once(t, home)
	out, code, talk := piped(home, nil, "week", "--since", "2020-01-01", "--json")
	var week struct {
		Agents []struct {
			Name    string `json:"name"`
			In      int64  `json:"input_tokens"`
			Cached  int64  `json:"cache_read_tokens"`
			Written int64  `json:"cache_write_tokens"`
			Out     int64  `json:"output_tokens"`
		} `json:"by_agent"`
	}
	if err := json.Unmarshal(out, &week); err != nil || code != 0 {
		t.Fatal(err, talk)
	}
	type counts struct{ In, Cached, Written, Out int64 }
	ours := map[string]counts{}
	for _, a := range week.Agents {
		ours[a.Name] = counts{a.In, a.Cached, a.Written, a.Out}
	}
	for name, command := range map[string]string{"claude-code": "claude", "codex": "codex", "pi": "pi"} {
		cmd := exec.CommandContext(t.Context(), programs[0], command, "daily", "--offline", "--json")
		cmd.Env = []string{"HOME=" + home, "TZ=UTC"}
		text, err := cmd.Output()
		var theirs struct {
			Totals struct {
				In      int64 `json:"inputTokens"`
				Cached  int64 `json:"cacheReadTokens"`
				Written int64 `json:"cacheCreationTokens"`
				Out     int64 `json:"outputTokens"`
			} `json:"totals"`
		}
		if err != nil || json.Unmarshal(text, &theirs) != nil {
			t.Fatalf("ccusage %s: %v %s", command, err, text)
		}
		if want := counts(theirs.Totals); ours[name] != want || want.In == 0 {
			t.Errorf("%s: %+v, ccusage has %+v", name, ours[name], want)
		}
	}
}
