//go:build rig && linux

package clients

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// huge is a command that prints 300 KB with one error line.
const huge = `awk 'BEGIN { for (i = 1; i <= 6000; i++) if (i == 4321) print "ERROR: invoice 4321 does not balance"; else printf "line %06d of the ledger, all is well in it now\n", i }'`

// TestClaudeCodeDemotesLive is case (e): of an output of 300 KB the model gets the beginning, the error lines and an
// ID, and the ID restores all of it, even after the client's own copy is purged. A file that the agent reads stays
// whole.
func TestClaudeCodeDemotesLive(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent.found(t), newPlace(t)
	whole := p.must("/bin/sh", "-c", huge)

	// The control: without the mod the model gets the client's preview and no ID.
	all, _ := p.begin(a, "Check the ledger.", uses("", a.shell(huge)))
	if r := last(all); len(r.results()) != 1 || markerID.MatchString(r.results()[0]) || strings.Contains(r.results()[0], "ERROR: invoice 4321") {
		t.Error("the control fails: without the mod the model sees an ID or the error")
	}

	p.ccd("agents", "install", "claude")
	var id string
	large := strings.Repeat("a line of the long list\n", 1600)
	p.write(filepath.Join(p.project, "list.txt"), large)
	all, session := p.begin(a, "Check the ledger.", uses("", a.shell(huge), call{name: "Read", input: map[string]any{"file_path": filepath.Join(p.project, "list.txt")}}), func(r *request) reply {
		for i, result := range r.results() {
			m := markerID.FindStringSubmatch(result)
			if (m != nil) != (i == 0) {
				t.Errorf("result %d of %d bytes has an ID: %v", i, len(result), m != nil)
			}
			if m != nil {
				id = m[1]
			}
		}
		return reply{calls: []call{a.shell("ccd agent restore " + id + " | sed -n '4300,4330p'"), a.shell("ccd agent restore " + id)}}
	})
	got := all[1].results()[0]
	if id == "" || !strings.HasPrefix(got, whole[:1900]) || !strings.Contains(got, "ERROR: invoice 4321") {
		t.Fatalf("the model gets %d chars without beginning, error or ID: %.300q ... %q", len(got), got, got[max(0, len(got)-300):])
	}
	if len(got) > 12_000 {
		t.Errorf("the model gets %d chars", len(got))
	}
	if err := os.RemoveAll(strings.TrimSuffix(p.transcript(a, session), ".jsonl")); err != nil { // what the client spilled
		t.Fatal(err)
	}
	if back := p.must(p.ccdPath(), "restore", id); strings.TrimSuffix(back, "\n") != strings.TrimSuffix(whole, "\n") {
		t.Errorf("%s restores to %d bytes, want the %d of the output", id, len(back), len(whole))
	}
	results := last(all).results()
	if !strings.Contains(results[2], "line 004329 of the ledger") {
		t.Errorf("the agent cannot read a part of it: %.300q", results[2])
	}
	if strings.Contains(results[3], "[ccd "+id) {
		t.Error("what the agent asked back is demoted again")
	}
	p.proved("case e: an output of %d bytes reached the model as %d, with its error line and %s, which restores to all of it", len(whole), len(got), id)
}

// TestUninstallLeavesNothing is case (f), for both agents.
func TestUninstallLeavesNothing(t *testing.T) {
	for _, a := range []agent{claudeAgent, codexAgent} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			uninstalls(newPlace(t), a.found(t), a.name)
		})
	}
}

func uninstalls(p *place, a agent, name string) {
	t := p.t
	if name == "claude-code" {
		testkit.Must(t, os.MkdirAll(filepath.Join(p.home, ".claude"), 0o700))
		p.write(filepath.Join(p.home, ".claude", "settings.json"), "{\n\t\"env\": {\"LEDGER\": \"1\"},\n\t\"hooks\": {\"Stop\": []}\n}\n")
	}
	first, _ := p.begin(a, "Look at the ledger.")
	before := p.contents()
	p.ccd("agents", "install", name)
	if len(p.changed(before)) == 0 {
		t.Error("install changes nothing")
	}
	p.ccd("agents", "uninstall", name)
	if changed := p.changed(before); len(changed) != 0 {
		t.Errorf("install and uninstall leave other files than there were: %q", changed)
	}

	// After a session the agent has written its own files; ccd's must be removed anyway.
	p.ccd("agents", "install", name)
	during, _ := p.begin(a, "Look at the ledger.")
	p.ccd("agents", "uninstall", name)
	ours := 0
	for path := range p.changed(before) {
		if text := p.theirs(path); strings.Contains(text, p.ccdPath()) {
			t.Errorf("%s still names ccd", path)
		}
		ours++
	}
	after, _ := p.begin(a, "Look at the ledger.")
	p.same("after uninstall", first[:1], after[:1])
	if p.normal(first[0]) == p.normal(during[0]) {
		t.Error("the control fails: an installed ccd changes nothing in the request")
	}
	p.proved("case f: %s: after install and uninstall the home has the same %d files; with a session in between %d files changed, none names ccd, and the next request is as before",
		a.title, len(before), ours)
}

// contents returns the hash and mode of every file in the home.
func (p *place) contents() map[string]string {
	p.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		all[path] = fmt.Sprintf("%x %s", sha256.Sum256(text), info.Mode())
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return all
}

// changed returns the files that were added, removed or changed.
func (p *place) changed(before map[string]string) map[string]string {
	p.t.Helper()
	now := p.contents()
	all := map[string]string{}
	for path, hash := range now {
		if before[path] != hash {
			all[path] = fmt.Sprintf("%s is now %s", before[path], hash)
		}
	}
	for path, hash := range before {
		if now[path] == "" {
			all[path] = hash + " is gone"
		}
	}
	return all
}

// theirs returns the text of an agent's settings file, "" for transcripts and databases.
func (p *place) theirs(path string) string {
	if strings.HasSuffix(path, ".jsonl") || strings.Contains(path, ".sqlite") {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}
