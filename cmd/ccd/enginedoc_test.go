package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ccd/internal/words"
)

// exampleKeys returns the keys of config.toml.example, as section.key, with their defaults.
func exampleKeys(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("../../config.toml.example")
	must(t, err)
	defer f.Close()
	keys, in := map[string]string{}, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if name, ok := strings.CutPrefix(line, "["); ok {
			in = strings.TrimSuffix(name, "]")
			keys[in] = ""
		} else if key, value, ok := strings.Cut(line, " = "); ok && !strings.HasPrefix(line, "#") {
			keys[in+"."+key] = value
		}
	}
	return keys
}

// namedKey matches a key in a text, with its default if given: `compaction.dedup = true`.
var namedKey = regexp.MustCompile("`((?:trigger|models|compaction|companion|summarizer|archive|watch|live)(?:\\.[a-z_]+)+)(?: = ([^`]+))?`")

// TestEngineDocNamesKeys: every key in docs/ENGINE.md is in config.toml.example, with the same default.
func TestEngineDocNamesKeys(t *testing.T) {
	doc := read(t, "../../docs/ENGINE.md")
	keys := exampleKeys(t)
	named := namedKey.FindAllStringSubmatch(engineRow.ReplaceAllString(string(doc), ""), -1)
	for _, m := range named {
		if value, ok := keys[m[1]]; !ok {
			t.Errorf("docs/ENGINE.md names %s, which config.toml.example does not have", m[1])
		} else if m[2] != "" && m[2] != value {
			t.Errorf("docs/ENGINE.md: %s is %s, not %s", m[1], value, m[2])
		}
	}
	if len(named) < 20 {
		t.Errorf("%d keys were seen", len(named))
	}
}

// engineRow matches a row of the table of rules in docs/ENGINE.md: what is tried, and the command that shows it.
var engineRow = regexp.MustCompile("\\| `([a-z_]+)\\.([a-z_]+ = [^`]+)` \\| `ccd ([^`]+)` \\|\n")

// TestEngineRules: each rule of the table changes what its command prints about a real session.
func TestEngineRules(t *testing.T) {
	transcript, err := os.ReadFile(filepath.Join(corpus, "claude", "entire-d5-99f72ee73a-0.jsonl"))
	if err != nil {
		t.Skip("no real transcripts: ", err)
	}
	rows := rowsOf(t, transcript)
	var list []map[string]any
	for _, r := range rows {
		if r.Text != "" {
			list = append(list, map[string]any{"role": r.Role, "content": r.Text})
		}
	}
	compact := func(flag string) func(t *testing.T, config string) string {
		return func(t *testing.T, config string) string {
			p := configured(t, newHookPlace(t, nil), config)
			text := p.ccd(words.ExitDone, string(transcript), "compact", "--no-archive", flag, "-")
			return text[max(0, strings.Index(text, "\n---\n")):] // the front has a hash
		}
	}
	commands := map[string]func(t *testing.T, config string) string{
		"compact --stdout":          compact("--stdout"),
		"compact --explain":         compact("--explain"),
		"compact --format messages": func(t *testing.T, config string) string { return filtered(t, config, list) },
		"hook ToolResult":           demotedOutput,
		"hook SessionCompact": func(t *testing.T, config string) string {
			p := configured(t, newHookPlace(t, transcript), config)
			l, ok := p.compacts(map[string]any{"messages": rows}, "--within", "1m")
			if !ok {
				t.Fatal("no answer")
			}
			return fmt.Sprint(l.Messages)
		},
		"status --totals": func(t *testing.T, config string) string {
			p := configured(t, newHookPlace(t, transcript), config)
			p.ccd(words.ExitDone, "", "run", "--once")
			text := p.ccd(words.ExitDone, "", "status", "--totals")
			return text[:1] + regexp.MustCompile(`(?m)^summarizer.*`).FindString(text) // the rest has times
		},
		"run --once": func(t *testing.T, config string) string {
			return configured(t, newHookPlace(t, transcript), config).ccd(words.ExitDone, "", "run", "--once")
		},
	}
	doc := read(t, "../../docs/ENGINE.md")
	found := engineRow.FindAllStringSubmatch(string(doc), -1)
	if n := strings.Count(string(doc), "` | `ccd "); n != len(found) || n < 10 {
		t.Fatalf("%d of %d rows are read", len(found), n)
	}
	for _, row := range found {
		t.Run(row[2], func(t *testing.T) {
			t.Parallel()
			command := commands[row[3]]
			if command == nil {
				t.Fatalf("no command %q", row[3])
			}
			if a, b := command(t, ""), command(t, "["+row[1]+"]\n"+row[2]+"\n"); a == b || a == "" {
				t.Errorf("%s changes nothing that `ccd %s` prints:\n%.1000s", row[2], row[3], a)
			}
		})
	}
}
