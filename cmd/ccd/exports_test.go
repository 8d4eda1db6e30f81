package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestExports: what `opencode export` prints is read where a person put it, and each export is the session's newest state.
func TestExports(t *testing.T) {
	w := newWorld(t)
	text := read(t, "../../internal/agent/registry/testdata/story/opencode.json")
	path := filepath.Join(w.home, ".local/share/opencode/export/ses_1.json")
	whole := strings.ReplaceAll(string(text), "/home/ada/shop", w.dir)
	last := strings.LastIndex(whole, ",\n    {\n      \"info\"")
	for _, export := range []string{whole[:last] + "\n  ],\n  \"todos\": []\n}\n", whole} {
		put(t, path, export)
		w.once()
	}
	w.shows("timeline", w.ccd("timeline", "ses_1.json"), "Mend the rounding", "`pytest -q` -> 1", "money.py", "CHANGES.md")
	w.shows("show", w.ccd("show", "ses_1.json"), "It is written down.", "verified: true")
	w.shows("restore", w.ccd("restore", "--file", "CHANGES.md", "--session", "ses_1.json"), "Amounts are whole cents")
	w.shows("compact", w.ccd("compact", "--stdout", path), "agent: opencode", "It is written down.")
	w.shows("ls", w.ccd("ls"), w.dir)

	put(t, strings.Replace(path, "ses_1", "ses_1 (1)", 1), whole)
	w.once()
	w.shows("ls", w.ccd("ls", "--all"), "\tcopy\n")
	w.shows("latest", w.ccd("show", "latest"), "session: ses_1.json")
}
