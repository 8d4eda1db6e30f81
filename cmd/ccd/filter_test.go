package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/form"
)

// listPassword is the secret in a list.
const listPassword = "kV9$wq27LmZx4Rt"

// TestSupportChatStaysUsable: whatever a budget takes of a support chat, each pinned version is still named; as far as there is
// room for them, people's messages stay as they were written.
func TestSupportChatStaysUsable(t *testing.T) {
	chat := read(t, filepath.Join("testdata", "chat.json"))
	pinned := regexp.MustCompile(`\w+[=>]=\d+\.\d+\.\d+`)
	var said []struct{ Role, Content string }
	must(t, json.Unmarshal(chat, &said))
	for _, c := range []struct {
		flags  string
		people bool
	}{{"--keep-recent=4", true}, {"--max-tokens=12000", true}, {"--max-tokens=6000", true}, {"--max-tokens=3000", false}, {"--keep-role=system", false}} {
		out := string(ran(t, chat, "compact", "--no-archive", "--format", "messages", "-q", c.flags, "-"))
		for _, version := range pinned.FindAllString(string(chat), -1) {
			if !strings.Contains(out, version) {
				t.Errorf("%s: %s is gone", c.flags, version)
			}
		}
		for _, m := range said {
			text, err := json.Marshal(m.Content)
			must(t, err)
			if c.people && m.Role == "user" && !strings.Contains(out, string(text)) {
				t.Errorf("%s: a person's message is gone: %s", c.flags, text)
			}
		}
	}
}

// filteredBy filters a list and returns its messages as they were printed, and the report.
func filteredBy(t *testing.T, list any, flags ...string) (messages []string, report form.FilterReport) {
	t.Helper()
	input, err := json.Marshal(list)
	must(t, err)
	out := ran(t, input, append([]string{"compact", "--no-archive", "--json", "--format", "messages", "-q"}, append(flags, "-")...)...)
	var all []json.RawMessage
	if err := json.Unmarshal(out, &report); err != nil || json.Unmarshal(report.Messages, &all) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, m := range all {
		messages = append(messages, string(m))
	}
	return messages, report
}

// TestOldOutputsOfAList: without a budget, large outputs are shortened except the newest, and a very large one also among these; its
// beginning stays. A secret keeps words whole, what only looks like one does not.
func TestOldOutputsOfAList(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.toml")
	put(t, config, "[compaction]\nlarge_output_tokens = 12000\n")
	data := func(n int) string { return `{"rows": [` + strings.Repeat(`{"id": 1, "name": "row"},`, n) + "{}]}" }
	var list []any
	for _, n := range []int{100, 10, 500, 101} {
		list = append(list, map[string]any{"role": "tool", "content": data(n)})
	}
	said := strings.Repeat("We walked by the mill in the evening and sat down there for a while. ", 9)
	list = append(list, map[string]any{"role": "assistant", "content": said + "[redacted by the author]"},
		map[string]any{"role": "assistant", "content": said + "password = " + listPassword})
	messages, report := filteredBy(t, list, "--config", config, "--keep-recent", "0")
	actions := ""
	for _, d := range report.Decisions {
		actions += d.Action + " "
	}
	if want := "compressed preserved compressed preserved compressed preserved "; actions != want {
		t.Errorf("%s, want %s", actions, want)
	}
	var large struct{ Content string }
	if json.Unmarshal([]byte(messages[2]), &large) != nil || !strings.HasSuffix(large.Content, " | it begins:]\n"+data(500)[:2000]) {
		t.Errorf("the large one became %s", messages[2])
	}
	if !strings.Contains(report.Decisions[5].Reason, "secret") || strings.Contains(messages[5], listPassword) {
		t.Errorf("a secret: %s, %s", report.Decisions[5].Reason, messages[5])
	}
}

// TestRatioOfACompanion: a companion has at most the share of the session's characters, and uses it, but no more than it has without.
func TestRatioOfACompanion(t *testing.T) {
	dir := t.TempDir()
	path, config := filepath.Join(dir, "talk.jsonl"), filepath.Join(dir, "config.toml")
	put(t, path, string(muchTalk()))
	for _, c := range []struct {
		ratio  string
		share  float64
		config string
	}{{".2", .2, ""}, {".45", .45, ""}, {".9", .4, "[companion]\nmax_tokens = 17000\n"}} {
		put(t, config, c.config)
		var made struct {
			Original  float64 `json:"original_tokens"`
			Companion float64 `json:"companion_tokens"`
		}
		out := ran(t, nil, "compact", "--config", config, "--no-archive", "--json", "-q", "--ratio", c.ratio, path)
		if err := json.Unmarshal(out, &made); err != nil || made.Companion > c.share*made.Original || made.Companion < .8*c.share*made.Original {
			t.Errorf("%s: %.0f tokens of %.0f, %v", c.ratio, made.Companion, made.Original, err)
		}
	}
}

// TestSystemMessageStands: the companion of a list has what its system message says.
func TestSystemMessageStands(t *testing.T) {
	list := `[{"role": "system", "content": "Prices are in integer cents."}, {"role": "user", "content": "Mend money.py"}, {"role": "assistant", "content": "Done."}]`
	if out := ran(t, []byte(list), "compact", "--no-archive", "-q", "-"); !bytes.Contains(out, []byte("\n#1 system: \"Prices are in integer cents.\"\n")) {
		t.Errorf("%s", out)
	}
}

// TestReportWithSecrets: a secret before a quote leaves the report JSON.
func TestReportWithSecrets(t *testing.T) {
	key := "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"
	messages, _ := filteredBy(t, []any{map[string]any{"role": "assistant", "content": "```js\n\"error\": \"failed: API_KEY=" + key + "\"\n```\n"}})
	if strings.Contains(messages[0], key) || !strings.Contains(messages[0], "[redacted ") {
		t.Errorf("%s", messages[0])
	}
}

// TestFilterAsksTheSummarizer: the configured command writes summaries of texts without secrets, but not with --no-archive.
func TestFilterAsksTheSummarizer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is a shell's")
	}
	home := t.TempDir()
	config := filepath.Join(home, "config.toml")
	asked := filepath.Join(home, "asked")
	put(t, config, fmt.Sprintf("[summarizer]\ncommand = [\"sh\", \"-c\", \"cat >> %s; echo The model says so.\"]\n", asked))
	const walk = "We walked by the mill in the evening and sat down for a while. "
	list, err := json.Marshal([]any{
		map[string]any{"id": "a", "role": "assistant", "content": strings.Repeat(walk, 9)},
		map[string]any{"id": "b", "role": "assistant", "content": strings.Repeat(walk, 9) + "We set DB_PASSWORD=" + listPassword + " there. " + strings.Repeat(walk, 9)},
	})
	must(t, err)
	for flag, want := range map[string]bool{"--keep-recent=0": true, "--no-archive": false} {
		out, code, talk := piped(home, list, "compact", "--config", config, "--format", "messages", "-q", "--keep-recent", "0", flag, "-")
		if code != 0 || bytes.Contains(out, []byte("summary: The model says so.")) != want || !bytes.Contains(out, []byte("summary: ")) {
			t.Errorf("%s: exit %d, %s%s", flag, code, out, talk)
		}
	}
	if text, err := os.ReadFile(asked); err != nil || bytes.Contains(text, []byte(listPassword)) || !bytes.Contains(text, []byte(walk)) {
		t.Errorf("the command got %s, %v", text, err)
	}
}
