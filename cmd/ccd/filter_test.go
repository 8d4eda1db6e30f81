package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/form"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
)

// listPassword is the secret in a list.
const listPassword = "kV9$wq27LmZx4Rt"

// filterCase is a list, the report of filtering it, and the home with the archive.
type filterCase struct {
	home   string
	input  []byte
	report form.FilterReport
}

// compacted filters a list twice, once for the report and once for the list.
func compacted(t *testing.T, input []byte, flags ...string) filterCase {
	t.Helper()
	c := filterCase{home: t.TempDir(), input: input}
	args := append([]string{"compact", "--format", "messages", "-q"}, flags...)
	out, code, talk := piped(c.home, input, append(args, "--json", "-")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, talk)
	}
	if err := json.Unmarshal(out, &c.report); err != nil {
		t.Fatal(err)
	}
	return c
}

// faults lists the messages, ids and originals that were lost.
func (c *filterCase) faults(t *testing.T) (found []string) {
	t.Helper()
	var before, after []json.RawMessage
	if json.Unmarshal(c.input, &before) != nil || json.Unmarshal(c.report.Messages, &after) != nil || len(c.report.Decisions) != len(before) {
		return []string{"not the list that was given"}
	}
	originals := map[string][]string{}
	for i, d := range c.report.Decisions {
		id := func(m json.RawMessage) string { return cmp.Or(member(m, "id"), member(m, "uuid")) }
		was, is := id(before[i]), ""
		if d.In < len(after) {
			is = id(after[d.In])
		}
		if string(d.ID) != was && !(was == "" && string(d.ID) == "null") || string(d.InID) != is && !(is == "" && string(d.InID) == "null") {
			found = append(found, "id "+was+" is told as "+string(d.ID)+" in "+string(d.InID)+", which is "+is)
		}
		var text string
		if json.Unmarshal([]byte(member(before[i], "content")), &text) == nil && d.Marker != "" {
			originals[string(d.Marker)] = append(originals[string(d.Marker)], text)
		}
	}
	for id, texts := range originals {
		out, code, talk := piped(c.home, nil, "restore", id)
		if want := strings.Join(texts, "\n"); code != 0 || string(out) != want && string(out) != texts[0] { // equal texts share an ID
			found = append(found, "restore "+id+": "+talk+string(out))
		}
	}
	return found
}

// member returns a member of a message as written, or "".
func member(raw json.RawMessage, name string) string {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(raw, &m) // fails for what is not a message
	return string(m[name])
}

// TestFilterRestores: the report mentions every message, and every marker's ID restores exactly what it replaces.
func TestFilterRestores(t *testing.T) {
	for seed := range uint64(testkit.Cases(t, 2, 6)) {
		c := compacted(t, gen.List(seed, 30), "--keep-recent", "2")
		for _, f := range c.faults(t) {
			t.Errorf("seed %d: %.1000s", seed, f)
		}
		out, code, talk := piped(c.home, c.input, "compact", "--format", "messages", "-q", "--keep-recent", "2", "-")
		var list, told bytes.Buffer
		if code != 0 || json.Compact(&list, out) != nil || json.Compact(&told, c.report.Messages) != nil || list.String() != told.String() {
			t.Errorf("seed %d: the report tells of another list: %s", seed, talk)
		}
		again, code, talk := piped(c.home, out, "compact", "--format", "messages", "-q", "--keep-recent", "2", "-")
		if code != 0 || !bytes.Equal(again, out) {
			t.Errorf("seed %d: a second time it is another list: %s", seed, talk)
		}
	}
}

// TestFilterRestoresCanFail: the check notices an ID that was not archived, a changed text and a lost id.
func TestFilterRestoresCanFail(t *testing.T) {
	list := gen.List(1, 30)
	unarchived := compacted(t, list, "--no-archive")
	if len(unarchived.faults(t)) == 0 {
		t.Error("IDs that cannot be restored are not seen")
	}
	other := compacted(t, list)
	other.input = bytes.ReplaceAll(list, []byte("evening"), []byte("morning"))
	if len(other.faults(t)) == 0 {
		t.Error("another text is not seen")
	}
	lost := compacted(t, list)
	lost.report.Decisions[3].ID = []byte(`"m99"`)
	if len(lost.faults(t)) == 0 {
		t.Error("another id is not seen")
	}
}

// TestSupportChatStaysUsable: whatever a budget takes of a support chat, each pinned version is still named; as far as there is
// room for them, people's messages stay as they were written.
func TestSupportChatStaysUsable(t *testing.T) {
	chat, err := os.ReadFile(filepath.Join("testdata", "chat.json"))
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`\w+[=>]=\d+\.\d+\.\d+`)
	var said []struct{ Role, Content string }
	if err := json.Unmarshal(chat, &said); err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatal(err)
			}
			if c.people && m.Role == "user" && !strings.Contains(out, string(text)) {
				t.Errorf("%s: a person's message is gone: %s", c.flags, text)
			}
		}
	}
}

// TestBudgetsAreMet: a list is within --max-tokens, or ccd fails and says so; nothing is dropped where summaries are enough.
func TestBudgetsAreMet(t *testing.T) {
	for seed := range uint64(testkit.Cases(t, 2, 8)) {
		list := gen.List(seed, 60)
		for _, most := range []int{200, 900, 4000, 12000} {
			out, code, talk := piped(t.TempDir(), list, "compact", "--no-archive", "--json", "--format", "messages", "-q", "--max-tokens", strconv.Itoa(most), "-")
			var r form.FilterReport
			if code == 0 && json.Unmarshal(out, &r) != nil || code == 0 && r.Tokens > most || code != 0 && (code != 1 || !strings.Contains(talk, "cannot be met")) {
				t.Errorf("seed %d, %d tokens: exit %d, %d tokens, %s", seed, most, code, r.Tokens, talk)
			}
		}
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
	if err := os.WriteFile(config, fmt.Appendf(nil, "[summarizer]\ncommand = [\"sh\", \"-c\", \"cat >> %s; echo The model says so.\"]\n", asked), 0o600); err != nil {
		t.Fatal(err)
	}
	const walk = "We walked by the mill in the evening and sat down for a while. "
	list, err := json.Marshal([]any{
		map[string]any{"id": "a", "role": "assistant", "content": strings.Repeat(walk, 9)},
		map[string]any{"id": "b", "role": "assistant", "content": strings.Repeat(walk, 9) + "We set DB_PASSWORD=" + listPassword + " there. " + strings.Repeat(walk, 9)},
	})
	if err != nil {
		t.Fatal(err)
	}
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
