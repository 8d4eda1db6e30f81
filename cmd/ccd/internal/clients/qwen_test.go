//go:build rig

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestQwenCodeIsTold is case (d) for Qwen Code: after its own compaction the record is in the next request, once.
func TestQwenCodeIsTold(t *testing.T) {
	t.Parallel()
	a, p := qwenAgent.found(t), newPlace(t)
	p.model.summary = says("<analysis>read</analysis>\n<state_snapshot>SUMMARY OF THE MODEL</state_snapshot>").reporting(a.full - 5000)
	p.ccd("agents", "install", "qwen")
	_, id := p.begin(a, askCent, a.working(0, 6)...)
	p.goOn(a, id, askFiles, says(saidFiles).reporting(a.full))
	all := p.goOn(a, id, askOn, a.working(30, 2)...)
	for _, r := range append(p.goOn(a, id, askOn), last(all)) {
		if n := strings.Count(string(r.raw), "ccd: record of"); n != 1 || !r.holds("SUMMARY OF THE MODEL") || !r.holds(askCent) {
			t.Errorf("the record is %d times in the request, or lacks what was asked", n)
		}
	}
	p.proved("case d: %s: after its compaction the record is in the request, once", a.title)
}

// TestQwenCodeAsksForItsSummary is case (n) for Qwen Code, which asks a model on loopback for the summary: ccd's, for the seconds of a
// compaction. Without ccd, and however it fails, the client's own model writes it.
func TestQwenCodeAsksForItsSummary(t *testing.T) {
	t.Parallel()
	a, p := qwenAgent.found(t), newPlace(t)
	p.model.summary = says("<analysis>read</analysis>\n<state_snapshot>SUMMARY OF THE MODEL</state_snapshot>").reporting(a.full - 5000)
	p.write(filepath.Join(p.home, ".config", "ccd", "config.toml"), "[live]\nclients = [\"qwen\"]\n")
	settings := filepath.Join(p.home, ".qwen", "settings.json")
	p.write(settings, "// mine\n"+p.read(settings))
	p.ccd("agents", "install", "qwen")
	_, id := p.begin(a, askCent, a.working(0, 12)...)
	before := p.read(settings)
	compacts := func() []*request {
		all := p.goOn(a, id, askFiles, says(saidFiles).reporting(a.full*9/10))
		return append(all, p.goOn(a, id, askOn)...)
	}
	var r *request
	for range 2 {
		if r = p.compacted("Qwen Code", compacts()); !r.holds(askCent) || r.said("Step 0:") || r.holds("ccd: record of") {
			t.Error("the text lacks what the human asked, the old history is there, or the hooks told as well")
		}
	}
	if now := p.read(settings); now != before {
		t.Errorf("the settings are not as before: %s", now)
	}
	if outcomes := p.ccd("agents", "status", "--json"); strings.Count(outcomes, `"by": "ccd"`) != 1 {
		t.Errorf("the outcome is not in agents status: %s", outcomes)
	}

	real := p.ccdPath() + ".away"
	testkit.Must(t, os.Rename(p.ccdPath(), real))
	fails := func(script string, want bool) {
		t.Helper()
		if script != "" {
			p.write(p.ccdPath(), "#!/bin/sh\n"+script+"\n")
			testkit.Must(t, os.Chmod(p.ccdPath(), 0o700))
		}
		all := compacts()
		if own := len(of(all, "compaction")) == 1 && last(all).holds("SUMMARY OF THE MODEL"); own != want || !last(all).holds(askOn) {
			t.Errorf("with a ccd that fails (%q) the client's own model writes the summary: %v", script, own)
		}
	}
	fails("", true) // no ccd
	fails(`case "$*" in *SessionCompact*) exec tail -f /dev/null;; esac`, true)

	p.goOn(a, id, askFiles, a.working(12, 24)...) // enough that a summary saves something
	// One that is killed when the client knows of it: that compaction fails, the session goes on, and the next one is answered.
	fails(`out=$(`+real+` "$@"); pkill -9 -f "^`+real+` hook Serve"; echo "$out"`, false)
	if !strings.Contains(p.read(settings), "127.0.0.1:") {
		t.Error("the case is not what it should be")
	}
	testkit.Must(t, os.Rename(real, p.ccdPath()))
	if p.compacted("after it", compacts()); p.read(settings) != before {
		t.Error("what a killed ccd left in the settings is not gone after the next compaction")
	}
	p.proved("case n: %s: ccd wrote the summary, twice, %d bytes of conversation, and its settings are as before; without ccd, or if it is killed or hangs, its own model does", a.title, r.talk)
}
