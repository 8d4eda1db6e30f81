//go:build rig && linux

package clients

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// copied is what `ccd resume --json` prints.
type copied struct {
	Session, Source, Path, Command string
}

// clientID returns the agent's own ID of the copy, which ends the command.
func (c copied) clientID() string { return c.Command[strings.LastIndexByte(c.Command, ' ')+1:] }

// resume copies a session.
func (p *place) resume(args ...string) (c copied) {
	p.t.Helper()
	out := p.ccd(append([]string{"resume", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		p.t.Fatalf("resume --json: %v\n%s", err, out)
	}
	return c
}

const finished = "All of it is read: the sum is 8317 cents."

// grown makes a session of n turns whose last reply reports that many tokens, and returns its last request and ID.
func (p *place) grown(a agent, n, tokens int) (*request, string) {
	p.t.Helper()
	turns := a.working(0, n)
	if a.pictures.name != "" {
		turns = append([]turn{uses("I look at the picture.", a.pictures.call(p.picture()))}, turns...)
	}
	all, id := p.begin(a, "Look at the whole ledger. Never round cents.", append(turns, says(finished).reporting(tokens))...)
	return last(all), id
}

// picture writes an image into the project and returns its path.
func (p *place) picture() string {
	p.t.Helper()
	var b bytes.Buffer
	testkit.Must(p.t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30))))
	path := filepath.Join(p.project, "ledger.png")
	p.write(path, b.String())
	return path
}

// TestClaudeCodeResumesACopy is case (a).
func TestClaudeCodeResumesACopy(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent.found(t), newPlace(t)
	_, made := resumesACopy(p, a)

	// The agent edits a file that it read in the part that the copy leaves out.
	readme := filepath.Join(p.project, "README.md")
	p.goOn(a, made.Session, "Say what a cent is.",
		uses("", call{name: "Read", input: map[string]any{"file_path": readme}}),
		uses("", call{name: "Edit", input: map[string]any{"file_path": readme, "old_string": "integers", "new_string": "whole numbers"}}))
	if !strings.Contains(p.read(readme), "whole numbers") {
		t.Error("the agent cannot edit in the resumed copy")
	}
	compactsAgain(p, a, made.Session, func(id string) []*request {
		return append(p.goOn(a, id, "/compact keep the sums"), p.goOn(a, id, "Go on.")...)
	})

	// The control: with the original token count, the agent compacts at once.
	p.ccd("run", "--once")
	stale := p.resume(made.Session)
	text := p.read(stale.Path)
	p.write(stale.Path, regexp.MustCompile(`"input_tokens":0`).ReplaceAllString(text, `"input_tokens":985000`))
	if p.read(stale.Path) == text {
		t.Error("the copy has no usage that could be stale")
	} else if len(of(p.goOn(a, stale.Session, "Go on."), "compaction")) == 0 {
		t.Error("the control fails: with a stale usage the agent does not compact either")
	}
}

// TestCodexResumesACopy is case (d).
func TestCodexResumesACopy(t *testing.T) {
	t.Parallel()
	a, p := codexAgent.found(t), newPlace(t)
	_, made := resumesACopy(p, a)
	compactsAgain(p, a, made.Session, func(id string) []*request {
		return append(p.asks(a, a.ask(append([]string{"-c", "model_auto_compact_token_limit=60000"}, a.resumed(id)...), "Go on."),
			a.working(90, 1)[0].reporting(70_000)), p.goOn(a, id, "Go on.")...)
	})
	// On a terminal it opens, too: without its provider it would be refused there.
	s := newScreen(p, a.path, "resume", made.Session)
	s.until("Codex opens the copy", func(text string) bool {
		if strings.Contains(text, "trust") {
			s.keys("Enter")
		}
		return strings.Contains(text, "Step 81: ")
	})
}

// TestAgentsTakeEachOthersWork continues a session of one agent in a copy for the same or another agent.
func TestAgentsTakeEachOthersWork(t *testing.T) {
	for _, way := range []struct {
		from agent
		to   []agent
	}{
		{claudeAgent, []agent{codexAgent, geminiAgent}},
		{codexAgent, []agent{claudeAgent, piAgent}},
		{geminiAgent, []agent{geminiAgent, qwenAgent}},
		{piAgent, []agent{piAgent}},
		{qwenAgent, []agent{qwenAgent}},
	} {
		t.Run(way.from.name, func(t *testing.T) {
			t.Parallel()
			from, p := way.from.found(t), newPlace(t)
			tokens := from.full
			if from.name == "pi" { // it would compact as soon as it sees more
				tokens = tokens * 7 / 10
			}
			before, id := p.grown(from, 20, tokens)
			p.ccd("run", "--once")
			for _, to := range way.to {
				takesOver(p, from, to.found(t), id, before)
			}
		})
	}
}

// takesOver continues a copy of a session, whose last request was before, and then a copy of the copy.
func takesOver(p *place, from, to agent, id string, before *request) {
	t := p.t
	made := p.resume("--as", to.name, id)
	all := p.goOn(to, made.clientID(), "Go on.", to.working(60, 3)...)
	if len(all) != 4 || len(of(all, "compaction")) != 0 {
		t.Errorf("%s to %s: %d requests, %d of them compactions; want four and none", from.name, to.name, len(all), len(of(all, "compaction")))
	}
	for _, words := range []string{"Never round cents.", finished, before.results()[len(before.results())-1]} {
		if !all[0].holds(words) {
			t.Errorf("%s to %s: the request does not hold %.80q", from.name, to.name, words)
		}
	}
	saw := all[0]
	if from.name == to.name { // another agent's results differ
		if saw = before; all[0].talk*2 > before.talk {
			t.Errorf("%s: the request has %d bytes of conversation, the original's %d: more than half", to.name, all[0].talk, before.talk)
		}
		who := before.parts[slices.IndexFunc(before.parts, func(q part) bool { return q.kind == "call" })].who
		p.verbatim(append(conversation(before), part{who: who, kind: "text", text: finished}), conversation(all[0]))
		p.ccd("run", "--once")
		again := p.resume(made.Session) // a copy is a session like any other
		if again.Source != made.Session || !p.goOn(to, again.clientID(), "And now?")[0].holds("Never round cents.") {
			t.Errorf("%s: a copy of the copy is of %s, or has forgotten what was asked", to.name, again.Source)
		}
	}
	stubs := p.comeBack(saw, all[0])
	p.proved("case a/d: begun in %s, gone on with in %s: %d bytes of conversation became %d, 3 tool turns on top, %d stubs come back", from.title, to.title, before.talk, all[0].talk, stubs)
}

// resumesACopy grows a session beyond the threshold, resumes a copy of it and checks what the agent sends.
func resumesACopy(p *place, a agent) (id string, made copied) {
	t := p.t
	before, id := p.grown(a, 40, a.full)
	p.ccd("run", "--once")
	if companion := p.ccd("show", "--path", id); !filepath.IsAbs(companion) {
		t.Errorf("no companion: %q", companion)
	}
	made = p.resume(id)
	if !strings.Contains(made.Command, made.Session) || !strings.Contains(made.Command, p.project) {
		t.Errorf("the command is %q, want the project and the session", made.Command)
	}
	all := p.goOn(a, made.Session, "Go on.", append(a.working(60, 5), says("done"))...)
	if n := len(of(all, "compaction")); n != 0 {
		t.Errorf("the agent compacts the copy: %d requests", n)
	}
	if len(all) != 6 {
		t.Errorf("%d requests, want 6: five tool turns and the end", len(all))
	}
	after := all[0]
	if after.talk*2 > before.talk {
		t.Errorf("the request has %d bytes of conversation, the original's %d: more than half", after.talk, before.talk)
	}
	whole := p.verbatim(append(conversation(before), part{who: "assistant", kind: "text", text: finished}), conversation(after))
	stubs := p.comeBack(before, after)

	// The control: the agent compacts the original at once.
	back := p.saved()
	if len(of(p.goOn(a, id, "Go on."), "compaction")) == 0 {
		t.Error("the control fails: the original is not compacted either")
	}
	back()
	p.proved("case a: %s: a request of %d bytes of conversation became one of %d (%d %%); no compaction, the last %d parts verbatim, %d stubs come back, 5 tool turns on top",
		a.title, before.talk, after.talk, after.talk*100/before.talk, whole, stubs)
	return id, made
}

// conversation returns the messages and tool results of a request, without the client's reminders. Results next to each
// other are sorted, because a transcript has them in the order in which the tools ended.
func conversation(r *request) (all []part) {
	first := 0 // of the results next to each other
	for _, p := range r.parts {
		if p.who == "system" || p.who == "developer" || p.kind == "thinking" || p.kind == "text" && strings.HasPrefix(p.text, "<") {
			continue
		}
		p.id = ""
		all = append(all, p)
		if p.kind != "result" {
			first = len(all)
		}
		slices.SortFunc(all[first:], func(a, b part) int { return strings.Compare(a.text, b.text) })
	}
	return all
}

// verbatim fails the test if the newest parts of a conversation differ in the resumed one. It returns how many are
// equal.
func (p *place) verbatim(old, now []part) int {
	p.t.Helper()
	end := len(now) - 1
	for end >= 0 && now[end] != old[len(old)-1] {
		end--
	}
	n := 0
	for n < len(old) && n <= end && old[len(old)-1-n] == now[end-n] {
		n++
	}
	if n < 9 { // three turns: text, call, result
		p.t.Errorf("only %d of the newest parts are verbatim, want 9 at least", n)
	}
	return n
}

var markerID = regexp.MustCompile(`\[ccd ([0-9a-hjkmnp-tv-z]{12})\b`)

// comeBack restores the stubs that replace results, compares them with what the agent saw, and returns their number.
func (p *place) comeBack(before, after *request) (n int) {
	p.t.Helper()
	saw := map[string]string{}
	for _, q := range before.parts {
		if q.kind == "result" {
			saw[q.id] = q.text
		}
	}
	for _, q := range after.parts {
		id := markerID.FindStringSubmatch(q.text)
		if q.kind != "result" || id == nil || q.text == saw[q.id] {
			continue
		}
		image := strings.Contains(q.text, "image left out")
		if !image && !strings.Contains(q.text, "elided; read again before editing") {
			p.t.Errorf("a stub says %.200q", q.text)
		}
		if got := p.must(p.ccdPath(), "restore", id[1]); got != saw[q.id] && !strings.Contains(got, `image"`) {
			p.t.Errorf("%s restores to %d bytes that are not the %d the agent saw", id[1], len(got), len(saw[q.id]))
		}
		n++
	}
	for _, q := range after.parts {
		for _, id := range markerID.FindAllStringSubmatch(q.text, 8) {
			p.ccd("restore", "--info", id[1])
		}
	}
	return n
}

// compactsAgain compacts a copy that has grown, with ccd and then with the agent.
func compactsAgain(p *place, a agent, id string, byAgent func(id string) []*request) {
	t := p.t
	p.goOn(a, id, "And once more.", a.working(70, 12)...)
	p.ccd("run", "--once")
	again := p.resume(id)
	all := p.goOn(a, again.Session, "Go on.", a.working(90, 1)...)
	if len(of(all, "compaction")) != 0 || !all[0].holds("Never round cents.") {
		t.Error("a second copy, of the grown one, is compacted or has forgotten what was asked")
	}
	p.comeBack(all[0], all[0])
	all = byAgent(again.Session)
	if n := len(of(all, "compaction")); n != 1 {
		t.Errorf("the agent's own compaction of the copy: %d requests, want 1", n)
	}
	if !last(all).holds("SUMMARY OF THE MODEL") {
		t.Error("after the agent's own compaction its summary is not in the request")
	}
}
