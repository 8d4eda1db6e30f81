package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"ccd/internal/words"
)

// shownKeys are values of keys, each with what shows it.
var shownKeys = map[string]struct {
	value string
	shown func(t *testing.T, config string) string // what ccd prints with a configuration
}{
	"compaction.file_age": {`"1m"`, agedText},
	"compaction.talk_age": {`"1m"`, agedText},
	"compaction.classes": {"[100, 100, 100]", func(t *testing.T, config string) string {
		return agedEvents(t, config, 40, "--max-tokens", "30000")
	}},
	"compaction.dedup":           {"false", filteredList},
	"compaction.near_dedup":      {"true", filteredList},
	"compaction.contradictions":  {"true", filteredList},
	"compaction.keep_importance": {"0.1", filteredList},
	"compaction.long_cap": {`"log"`, func(t *testing.T, config string) string {
		return filtered(t, config, []map[string]any{{"role": "user", "content": "Go on."}, {"role": "assistant", "content": prose(1, 200)}, {"role": "user", "content": "Thanks."}}, "--keep-recent", "0")
	}},
	"compaction.microcompact_tokens": {"6000", liveMessages},
	"compaction.large_output_tokens": {"400000", demotedOutput},
	"companion.max_tokens":           {"8000", func(t *testing.T, config string) string { return agedEvents(t, config, 5) }},
	"live.verbatim":                  {`"30%"`, liveMessages},
	"live.text":                      {`"ladder"`, liveMessages},
	"live.target":                    {`"20%"`, liveMessages},
	"live.restore_files":             {"3", liveMessages},
	"trigger.min_savings":            {"9000000", firstPass},
	"summarizer.command":             {`["false"]`, firstPass},
}

// engineRow matches a row of the table of rules in docs/ENGINE.md: what is tried, and the command that shows it.
var engineRow = regexp.MustCompile("\\| `([a-z_.]+) = [^`]+` \\| `ccd [^`]+` \\|\n")

// TestEveryKeyShows: with each key of [compaction], and of the rules in docs/ENGINE.md, ccd gives another result than without it.
func TestEveryKeyShows(t *testing.T) {
	keys := exampleKeys(t)
	for _, row := range engineRow.FindAllStringSubmatch(string(read(t, "../../docs/ENGINE.md")), -1) {
		keys[row[1]] = "compaction."
	}
	for key := range keys {
		if !strings.HasPrefix(key, "compaction.") && keys[key] != "compaction." {
			continue
		}
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			c, ok := shownKeys[key]
			if !ok {
				t.Fatal("no test shows what the key changes")
			}
			section, name, _ := strings.Cut(key, ".")
			without := "[" + section + "]\n"
			if a, b := c.shown(t, without), c.shown(t, without+name+" = "+c.value+"\n"); a == b || a == "" {
				t.Errorf("%s = %s changes nothing:\n%.3000s", key, c.value, a)
			}
		})
	}
}

// firstPass says what a pass over a session has made, and what its summarizer did.
func firstPass(t *testing.T, config string) string {
	t.Helper()
	p := configured(t, newHookPlace(t, muchTalk()), config)
	made := p.ccd(words.ExitDone, "", "run", "--once")
	totals := p.ccd(words.ExitDone, "", "status", "--totals")
	return made + regexp.MustCompile(`(?m)^summarizer.*`).FindString(totals) // the rest has times
}

// configured returns a home with a configuration.
func configured(t *testing.T, p hookPlace, config string) hookPlace {
	t.Helper()
	configure(t, p.home, config)
	return p
}

// prose returns sentences with names and numbers.
func prose(n, sentences int) string {
	var b strings.Builder
	for i := range sentences {
		fmt.Fprintf(&b, "Fender %d of berth %d hangs on `ring_%d` and holds a load of %d kg in the swell. ", i, n, i, 100*n+i)
	}
	return b.String()
}

// agedText compacts a session of some hours in little room.
func agedText(t *testing.T, config string) string {
	return agedEvents(t, config, 5, "--max-tokens", "8000")
}

func agedEvents(t *testing.T, config string, sentences int, room ...string) string {
	t.Helper()
	w := workday{at: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	w.human("Read the berths and say what is in them.")
	for n := 1; n < 30; n++ {
		w.at = w.at.Add(8 * time.Minute)
		w.say(prose(100+n, sentences))
		w.read(fmt.Sprintf("b%d.txt", n), strings.ReplaceAll(prose(n, 12), ". ", ".\n"))
	}
	p := configured(t, newHookPlace(t, w.buf.Bytes()), config)
	companion := p.ccd(words.ExitDone, w.buf.String(), append([]string{"compact", "--no-archive", "--stdout", "-"}, room...)...)
	_, text, _ := strings.Cut(companion, "\n## ") // the front has a hash of the options
	return text
}

// filtered compacts a list.
func filtered(t *testing.T, config string, list []map[string]any, args ...string) string {
	t.Helper()
	in, err := json.Marshal(list)
	must(t, err)
	p := configured(t, newHookPlace(t, nil), config)
	return p.ccd(words.ExitDone, string(in), append([]string{"compact", "--format", "messages", "-"}, args...)...)
}

// filteredList compacts a list that has something for each rule.
func filteredList(t *testing.T, config string) string {
	t.Helper()
	table := func(last string) string {
		var b strings.Builder
		for n := range 20 {
			fmt.Fprintf(&b, "Berth %d of the harbour is open to all boats.\n", n)
		}
		return b.String() + last
	}
	var list []map[string]any
	say := func(role, text string) { list = append(list, map[string]any{"role": role, "content": text}) }
	say("user", "Which berths need new fenders before the spring tide, and which of them are the worst?")
	say("assistant", prose(1, 100))
	say("assistant", prose(2, 12))
	say("assistant", prose(2, 12))
	say("user", "The pilot boat moors at berth seven of the north quay, so `ring_7` there is the one to check.")
	say("assistant", table("Berth eight is new."))
	say("assistant", table("Berth nine is new."))
	say("assistant", "That is the table of all berths, twice, since you asked for it.")
	say("assistant", "The pilot boat moors at berth seven of the north quay. We decided that `ring_7` must be checked, and the pilot boat stays at the north quay of berth seven until the tide turns.")
	say("assistant", "Shall I look at anything else while I am at it?")
	say("assistant", "Actually, the pilot boat moors at berth nine of the north quay. So `ring_9` must be checked, and the dredger stays at berth seven of the south quay until the tide turns.")
	for n := range 9 {
		say("assistant", prose(20+n, 6))
	}
	return filtered(t, config, list)
}

// liveMessages answers the compaction of a session with large results.
func liveMessages(t *testing.T, config string) string {
	t.Helper()
	w := newTides(30)
	w.read("b.txt", strings.ReplaceAll(prose(1, 12), ". ", ".\n"))
	for n := range 14 {
		w.bash(fmt.Sprintf("cat great%d.log", n), fmt.Sprintf("log %d\n%s", n, strings.Repeat("a line of the great log\n", 60)))
		w.say(fmt.Sprintf("Log %d is read.", n))
	}
	p := configured(t, newHookPlace(t, w.buf.Bytes()), config)
	l, ok := p.compacts(map[string]any{"messages": rowsOf(t, w.buf.Bytes())})
	if !ok {
		t.Fatal("no answer")
	}
	var b strings.Builder
	for _, m := range l.Messages {
		fmt.Fprintf(&b, "%+v\n", m)
	}
	return b.String()
}

// demotedOutput gives what the model sees of a long output.
func demotedOutput(t *testing.T, config string) string {
	t.Helper()
	p := configured(t, newHookPlace(t, []byte("{}\n")), config)
	in, err := json.Marshal(map[string]any{
		"session_id": hooked, "transcript_path": p.path, "cwd": "/home/me/harbour", "tool_name": "Bash",
		"tool_input": map[string]any{"command": "make"}, "content": strings.Repeat("a line of the build\n", 4000),
	})
	must(t, err)
	return p.ccd(words.ExitDone, string(in), "hook", "ToolResult", "--agent", "claude-code", "--within", "1m")
}
