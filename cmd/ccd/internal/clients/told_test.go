//go:build rig && linux

package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// toldOnce checks that each request has the client's own summary and, once, the record with what was asked.
func toldOnce(t *testing.T, all ...*request) {
	t.Helper()
	for _, r := range all {
		if n := strings.Count(string(r.raw), "ccd: record of"); n != 1 || !r.holds("SUMMARY OF THE MODEL") || !r.holds(askCent) {
			t.Errorf("the record is %d times in the request, or lacks what was asked", n)
		}
	}
}

// TestGeminiIsTold is case (d) for Gemini CLI, whose settings may have comments: after its compression the record is in the first
// request once, from the start of a resumed session or else from the next prompt.
func TestGeminiIsTold(t *testing.T) {
	t.Parallel()
	a, p := geminiAgent.found(t), newPlace(t)
	p.model.summary = says("<scratchpad>read</scratchpad>\n<state_snapshot>SUMMARY OF THE MODEL</state_snapshot>").reporting(a.full - 5000)
	settings := filepath.Join(p.home, ".gemini", "settings.json")
	p.write(settings, "// mine\n"+p.read(settings))
	p.ccd("agents", "install", "gemini")
	p.begin(a, askCent, a.working(0, 6)...)
	path := p.sessions(a.transcripts)[0]
	var head struct{ SessionID string }
	testkit.Must(t, json.NewDecoder(strings.NewReader(p.read(path))).Decode(&head))
	p.goOn(a, head.SessionID, askFiles, uses("", a.shell(runFiles)).reporting(a.full), uses("", a.shell(huge)), says(saidFiles).reporting(a.full))
	for range 2 {
		toldOnce(t, p.goOn(a, head.SessionID, askOn, says(saidToEnd))[0])
	}
	tells := func() bool {
		event := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"prompt":"Go on."}`, head.SessionID, path, p.project)
		out := p.must("/bin/sh", "-c", "printf %s '"+event+"' | "+p.ccdPath()+" hook UserPromptSubmit --agent gemini-cli")
		return strings.Contains(out, "ccd: record of") && strings.Contains(out, askOn)
	}
	testkit.Must(t, os.Remove(filepath.Join(p.home, ".local", "state", "ccd", "hook.said")))
	if !tells() || tells() {
		t.Error("the first prompt after a compression does not get the record, or the second one does")
	}
	p.proved("case d: %s: after its compression the record is in the request, once", a.title)
}

// TestCopilotIsTold is case (d) for Copilot CLI, which compacts while it works: the record is in a request after its compaction, with a
// result of a tool, and in a resumed session.
func TestCopilotIsTold(t *testing.T) {
	t.Parallel()
	a, p := copilotAgent.found(t), newPlace(t)
	p.model.summary = says("SUMMARY OF THE MODEL")
	p.ccd("agents", "install", "copilot")
	written := func(*request) reply { // it writes down late that it compacted, and the hooks read that
		testkit.Eventually(t, "its compaction is in its file", func() bool {
			files, _ := filepath.Glob(filepath.Join(p.home, ".copilot", "session-state", "*", "events.jsonl"))
			text, err := os.ReadFile(strings.Join(files, ""))
			return err == nil && bytes.Contains(text, []byte("session.compaction_complete"))
		})
		return a.working(18, 1)[0](nil)
	}
	all, id := p.begin(a, askCent, append(a.working(0, 18), written, a.working(19, 1)[0])...)
	if len(of(all, "compaction")) == 0 {
		t.Fatalf("the client did not compact: %d requests", len(all))
	}
	main := of(all, "main")
	for _, r := range []*request{last(main), last(of(p.goOn(a, id, askOn), "main"))} {
		if n := strings.Count(string(r.raw), "ccd: record of"); n == 0 || !r.holds("SUMMARY OF THE MODEL") || !r.holds(askCent) {
			t.Errorf("the record is %d times in the request, or lacks what was asked", n)
		}
	}
	p.proved("case d: %s: after its compaction the record is in the request", a.title)
}

// TestQwenCodeIsTold is case (d) for Qwen Code: after its own compaction the record is in the next request, once.
func TestQwenCodeIsTold(t *testing.T) {
	t.Parallel()
	a, p := qwenAgent.found(t), newPlace(t)
	p.model.summary = says("<analysis>read</analysis>\n<state_snapshot>SUMMARY OF THE MODEL</state_snapshot>").reporting(a.full - 5000)
	p.ccd("agents", "install", "qwen")
	_, id := p.begin(a, askCent, a.working(0, 6)...)
	p.goOn(a, id, askFiles, says(saidFiles).reporting(a.full))
	all := p.goOn(a, id, askOn, a.working(30, 2)...)
	toldOnce(t, append(p.goOn(a, id, askOn), last(all))...)
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

// TestOpenCodeAsksForItsSummary is case (n) for OpenCode, whose model is asked for next to nothing: the summary is ccd's, made of an export
// that the plugin writes. Without ccd, or if it hangs, the model's own summary is taken.
func TestOpenCodeAsksForItsSummary(t *testing.T) {
	t.Parallel()
	a, p := opencodeAgent.found(t), newPlace(t)
	p.model.summary = says("SUMMARY OF THE MODEL")
	p.ccd("agents", "install", "opencode")
	p.asks(a, a.ask(nil, askCent), append(a.working(0, 12), says(saidCent))...)
	id := regexp.MustCompile("ses_[A-Za-z0-9]+").FindString(p.must(a.path, "session", "list", "--format", "json"))
	compacts := func() (asked, next *request) {
		t.Helper()
		all := p.goOn(a, id, askOn, says(saidToEnd).reporting(a.full))
		if len(of(all, "compaction")) != 1 {
			t.Fatalf("the model was asked for %d summaries", len(of(all, "compaction")))
		}
		return of(all, "compaction")[0], last(all)
	}
	for n := range 2 {
		asked, next := compacts()
		if !asked.holds("ccd has the summary") || len(asked.raw) > 2000 {
			t.Errorf("compaction %d: the model was sent %d bytes", n+1, len(asked.raw))
		}
		for _, words := range []string{askCent, saidToEnd, "on follow it as they were"} {
			if !next.holds(words) {
				t.Errorf("compaction %d: the next request lacks %q", n+1, words)
			}
		}
		ids := markerID.FindAllStringSubmatch(string(next.raw), -1)
		for _, m := range ids {
			p.must(p.ccdPath(), "agent", "restore", m[1])
		}
		if texts := strings.Count(string(next.raw), "live: {covers"); n == 0 && len(ids) == 0 || texts != 1 {
			t.Errorf("compaction %d: ccd's text is there %d times, with %d IDs", n+1, texts, len(ids))
		}
	}
	testkit.Must(t, os.Rename(p.ccdPath(), p.ccdPath()+".away"))
	for _, does := range []string{"", "exec tail -f /dev/null"} {
		if does != "" {
			p.write(p.ccdPath(), "#!/bin/sh\n"+does+"\n")
			testkit.Must(t, os.Chmod(p.ccdPath(), 0o700))
		}
		if asked, next := compacts(); asked.holds("ccd has the summary") || !next.holds("SUMMARY OF THE MODEL") {
			t.Errorf("with a ccd that fails (%q) the model's own summary is not taken", does)
		}
	}
	p.proved("case n: %s: ccd wrote the summary, twice; without ccd, or if it hangs, the model's own is taken", a.title)
}
