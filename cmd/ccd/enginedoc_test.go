package main

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"
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
