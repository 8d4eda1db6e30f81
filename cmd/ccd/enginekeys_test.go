package main

import (
	"bufio"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exampleKeys returns the keys of config.toml.example, as section.key, with their defaults.
func exampleKeys(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("../../config.toml.example")
	if err != nil {
		t.Fatal(err)
	}
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
var namedKey = regexp.MustCompile("`((?:trigger|models|compaction|companion|summarizer|archive|watch)(?:\\.[a-z_]+)+)(?: = ([^`]+))?`")

// keyFaults returns the keys in a text that config.toml.example does not have or has with another default.
func keyFaults(doc string, keys map[string]string) (found []string) {
	for _, m := range namedKey.FindAllStringSubmatch(doc, -1) {
		if value, ok := keys[m[1]]; !ok {
			found = append(found, "no key "+m[1])
		} else if m[2] != "" && m[2] != value {
			found = append(found, m[1]+" is "+value+", not "+m[2])
		}
	}
	return found
}

// TestEngineDocNamesKeys compares the keys and defaults in docs/ENGINE.md with config.toml.example. The page must name
// every key of the engine.
func TestEngineDocNamesKeys(t *testing.T) {
	doc, err := os.ReadFile("../../docs/ENGINE.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := exampleKeys(t)
	for _, f := range keyFaults(string(doc), keys) {
		t.Error("docs/ENGINE.md: " + f)
	}
	for key := range keys {
		ours := strings.HasPrefix(key, "compaction.") || strings.HasPrefix(key, "trigger.")
		if ours && !slices.Contains(withoutEffect, key) && !strings.Contains(string(doc), "`"+key+" = ") {
			t.Errorf("docs/ENGINE.md does not tell the default of %s", key)
		}
	}
	if strings.Contains(string(doc), "()`") {
		t.Error("docs/ENGINE.md names functions: it is for users")
	}
}

// TestEngineDocCanFail is the negative control.
func TestEngineDocCanFail(t *testing.T) {
	found := keyFaults("`compaction.dedup = false`, `compaction.dedup = true`, `compaction.dedups`", exampleKeys(t))
	if want := []string{"compaction.dedup is true, not false", "no key compaction.dedups"}; !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}

// withoutEffect are keys that change nothing in the companions and lists of these tests.
var withoutEffect = []string{
	"compaction.microcompact_keep", "compaction.microcompact_tokens",
}

// otherValues are values that must change a companion or list.
var otherValues = map[string]string{
	"recent_share": "0.01", "recent_messages": "30", "recent_results": `"0s"`,
	"microcompact_keep": "0", "microcompact_tokens": "10", "dedup": "false", "near_dedup": "true", "contradictions": "true",
	"keep_importance": "0.10", "keep_recent": "0", "keep_roles": `["assistant"]`, "keep_patterns": `["mill"]`, "near_threshold": "0.5",
	"contradiction_threshold": "0.9", "large_output_tokens": "100", "large_output_chars": "100", "summary_chars": "100", "long_cap": `"log"`,
	"restore_file_tokens": "600", "restore_total_tokens": "600",
}

// keyNeeds are options that a key needs to have an effect.
var keyNeeds = map[string]string{
	"near_threshold": "near_dedup = true", "contradiction_threshold": "contradictions = true", "large_output_tokens": "large_output_chars = 100",
	"recent_results": "recent_share = 0\nrecent_messages = 0",
}

// talkDay is a session of messages: copies, corrections, code, decisions, and one large output.
func talkDay() *tale {
	s := newTale().asks("Look at the cents.").says(filler(1, 900)+"One line more.\n").runs("cents a", filler(1, 900)).runs("cat b", filler(1, 900)).
		says(filler(1, 900)+"Another line.\n").runs("cents all", filler(2, 1900)).
		says("The export_job of ledger_main writes its cents to table_a with round_half. "+walk(1, 300)).runs("make all", filler(3, 90000)).
		says("We decided: you must never store a float, that was wrong. "+walk(2, 700)).reads("/home/you/ledger/a.py", 20).reads("/home/you/ledger/b.py", 60).
		says(walk(3, 500) + "\n" + fence + "\n" + walk(4, 500))
	return s.says("No, that was wrong: the export_job of ledger_main writes its cents to table_b with round_half, not to table_a.").works(20)
}

// mixedList has a message for each rule that a key may change.
func mixedList() plainList {
	return plainList{}.add("assistant", filler(1, 900)+"One line more.\n").add("user", filler(1, 900)+"Another line.\n"+filler(8, 250)).
		add("assistant", "The export_job of ledger_main writes its cents to table_a with round_half. "+filler(2, 300)).
		add("user", "No, that was wrong: the export_job of ledger_main writes its cents to table_b, and of the rest of it nothing is known yet.").
		add("assistant", filler(5, 900)+"One line more.\n").add("user", filler(5, 900)+"Another line.\n").add("user", walk(7, 400)+"\n"+fence+walk(8, 400)).
		add("assistant", walk(1, 60000)).add("user", walk(2, 400)).add("assistant", walk(2, 400)).add("tool", walk(3, 400)).add("user", walk(4, 400)).add("user", walk(6, 400))
}

// optionsLine matches the line of the front matter that every option changes.
var optionsLine = regexp.MustCompile(`(?m)^options: .*\n`)

// variety prints two sessions and a list with a configuration.
type variety struct {
	tales []*tale
	list  plainList
	plain []string // the texts with the defaults
}

func (v *variety) texts(t *testing.T, config string) (all []string) {
	t.Helper()
	for _, s := range v.tales {
		for _, room := range []string{"20000", "72000", "200000"} {
			all = append(all, s.companion(config, "--max-tokens", room)(t))
		}
		all = append(all, s.companion(config, "--focus", "cents")(t))
	}
	for n := range all {
		all[n] = optionsLine.ReplaceAllString(all[n], "")
	}
	return append(all, v.list.filteredAs(t, config))
}

// counts checks that a setting has an effect beyond that of needs, unless it is in withoutEffect.
func (v *variety) counts(t *testing.T, name, needs, setting string) {
	t.Helper()
	plain := v.plain
	if needs != "" {
		plain = v.texts(t, compaction(needs))
	}
	same := slices.Equal(plain, v.texts(t, compaction(needs, setting)))
	switch known := slices.Contains(withoutEffect, name); {
	case same && !known:
		t.Errorf("%s changes nothing", setting)
	case !same && known:
		t.Errorf("%s has an effect: take it out of withoutEffect", setting)
	}
}

// TestEngineEveryKeyCounts: every key of [compaction] changes a companion or a list.
func TestEngineEveryKeyCounts(t *testing.T) {
	t.Parallel()
	v := &variety{[]*tale{ledgerDay(), talkDay()}, mixedList(), nil}
	v.plain = v.texts(t, "")
	for key := range exampleKeys(t) {
		name, ok := strings.CutPrefix(key, "compaction.")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value, ok := otherValues[name]
			if !ok {
				t.Fatal("a new key: give it another value here, and a row in docs/ENGINE.md")
			}
			v.counts(t, key, keyNeeds[name], name+" = "+value)
		})
	}
}
