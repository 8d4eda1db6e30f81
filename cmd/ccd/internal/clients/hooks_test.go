//go:build rig && linux

package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"ccd/internal/testkit"
)

// told returns what ccd's hooks added to a request, oldest first, as each client passes it on: Claude Code records it
// in the transcript and adds it to a message, Codex makes it a message.
func (p *place) told(a agent, id string, r *request) (all []string) {
	p.t.Helper()
	if a.name == "codex" {
		for _, q := range r.parts {
			if q.who == "developer" && strings.HasPrefix(q.text, "ccd: ") {
				all = append(all, q.text)
			}
		}
		return all
	}
	for line := range strings.Lines(p.read(p.transcript(a, id))) {
		var record struct {
			Attachment struct {
				Type    string
				Content []string
			}
		}
		if !strings.Contains(line, "hook_additional_context") || json.Unmarshal([]byte(line), &record) != nil {
			continue
		}
		for _, text := range record.Attachment.Content {
			if strings.HasPrefix(text, "ccd: ") && r.holds("hook additional context: "+text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// newest returns the newest context of a session start. It checks the clients' limits: 10,000 characters in all, and in
// the first 2 KB the companion's path and how to restore.
func (p *place) newest(when string, a agent, id string, r *request) string {
	p.t.Helper()
	all := slices.DeleteFunc(p.told(a, id, r), func(s string) bool { return strings.Contains(s, "context pressure") })
	if len(all) == 0 {
		p.t.Fatalf("%s: no hook's context in the request", when)
	}
	text := all[len(all)-1]
	if n := len(utf16.Encode([]rune(text))); n > 10_000 {
		p.t.Errorf("%s: the context has %d characters, more than 10,000", when, n)
	}
	if head := text[:min(len(text), 2048)]; !strings.Contains(head, "ccd agent restore") || !strings.Contains(head, ".ccd.md") {
		p.t.Errorf("%s: the first 2 KB do not say where the companion is and how to restore: %.300q", when, head)
	}
	return text
}

// warnings counts the warnings about a nearly full context and checks the limit of each.
func (p *place) warnings(a agent, id string, r *request) (n int) {
	p.t.Helper()
	for _, text := range p.told(a, id, r) {
		if !strings.Contains(text, "context pressure") {
			continue
		}
		n++
		if len(text) > 300 || !strings.Contains(text, ".ccd.md") && !strings.Contains(text, "ccd agent show ") {
			p.t.Errorf("a warning of %d characters: %q", len(text), text)
		}
	}
	return n
}

var companionPath = regexp.MustCompile(`/[^\s"'` + "`" + `]+\.ccd\.md`)

// fetches is an agent that follows what it was told: it reads the companion, picks an ID there and gets the original
// by the shell. It knows nothing but what stands in the requests.
func (p *place) fetches(a agent) (turns []turn, id *string) {
	id = new(string)
	return []turn{
		func(r *request) reply {
			for _, q := range slices.Backward(r.parts) {
				if path := companionPath.FindString(q.text); path != "" && (q.who == "system" || q.who == "developer") {
					return reply{calls: []call{a.shell("grep -o '\\[ccd [^]]*\\]' '" + path + "' | tail -60")}}
				}
			}
			return reply{text: "I was told of no companion."}
		},
		func(r *request) reply {
			results := r.results()
			if len(results) == 0 {
				return reply{text: "There is no companion."}
			}
			for _, m := range markerID.FindAllStringSubmatch(results[len(results)-1], -1) {
				if text := p.run(p.ccdPath(), "restore", m[1]); strings.Contains(text.out, "Booked") && len(text.out) < 9000 {
					*id = m[1]
					break
				}
			}
			return reply{calls: []call{a.shell("ccd agent restore " + *id)}}
		},
	}, id
}

// TestClaudeCodeIsTold is case (b).
func TestClaudeCodeIsTold(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent.found(t), newPlace(t)
	p.write(filepath.Join(p.home, ".config", "ccd", "config.toml"), "[live]\ncompaction = false\n") // case n is the other way
	p.ccd("agents", "install", "claude")
	allow(p)
	isTold(p, a, []turn{uses("", call{name: "ToolSearch", input: map[string]any{"query": "select:mcp__ccd__restore"}})})

	// Its own compaction, asked for and by itself.
	_, id := p.begin(a, "Look at the ledger, from part 4.", a.working(16, 4)...)
	all := p.goOn(a, id, "/compact keep the sums")
	asksForIDs(p, a, all)
	if all = p.goOn(a, id, "Go on."); len(p.told(a, id, last(all))) != 2 {
		t.Errorf("after /compact the hooks told %d times, want at the compaction and at the resumption", len(p.told(a, id, last(all))))
	}
	p.newest("manual compaction", a, id, last(all))
	turns := a.working(40, 5)
	turns[2] = turns[2].reporting(97_000)
	all = p.asks(a, a.ask([]string{"--autocompact", "100000", "--resume", id}, "Go on."), turns...)
	if len(of(all, "compaction")) != 1 {
		t.Errorf("the agent compacted by itself %d times, want once", len(of(all, "compaction")))
	}
	asksForIDs(p, a, all)
	text := p.newest("auto compaction", a, id, last(all))
	p.watched(a, id)
	p.proved("case b: %s: after /compact and after its own compaction the context (%d chars) is in the request, and the summarizer is asked to keep the IDs",
		a.title, len(text))
}

// watched checks what a person sees of a session while its client is at work and after it compacted: ccd ls and
// ccd diff know the same compactions, and ccd adds something to the second.
func (p *place) watched(a agent, id string) {
	p.t.Helper()
	p.ccd("run", "--once")
	var rows []struct {
		Session     string
		Compactions int
	}
	p.decode(&rows, "ls", "--json")
	compactions := 0
	for _, r := range rows {
		if r.Session == id {
			compactions = r.Compactions
		}
	}
	if compactions != 2 {
		p.t.Errorf("ccd ls knows %d compactions of %s, want 2", compactions, a.title)
	}
	var report struct {
		Boundaries, Chars, Dropped int
		Added                      int `json:"handed_over"`
	}
	p.decode(&report, "diff", id, "--boundary", "2", "--json")
	if report.Boundaries != compactions || report.Chars == 0 || report.Dropped == 0 || report.Added == 0 {
		p.t.Errorf("ccd diff: %+v, want %d compactions, a summary, and facts that ccd adds", report, compactions)
	}
}

// TestCodexIsTold is case (d)'s share of the same.
func TestCodexIsTold(t *testing.T) {
	t.Parallel()
	a, p := codexAgent.found(t), newPlace(t)
	p.ccd("agents", "install", "codex")
	isTold(p, a, nil)

	_, id := p.begin(a, "Look at the ledger, from part 4.", a.working(16, 4)...)
	turns := a.working(40, 5)
	turns[2] = turns[2].reporting(70_000)
	all := p.asks(a, a.ask(append([]string{"-c", "model_auto_compact_token_limit=60000"}, a.resumed(id)...), "Go on."), turns...)
	if len(of(all, "compaction")) == 0 {
		t.Error("the agent did not compact")
	}
	text := p.newest("auto compaction", a, id, last(all))
	p.proved("case d: %s: after its own compaction the context (%d chars) is in the request", a.title, len(text))
}

// TestClaudeCodeBesideTheDaemon is case (b) as it is in daily use: nobody types a command, the daemon follows the session
// while the agent writes it, and the next session is told of what stands ready.
func TestClaudeCodeBesideTheDaemon(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent.found(t), newPlace(t)
	p.ccd("agents", "install", "claude")
	stop := p.daemon()
	_, id := p.grown(a, 12, a.full*7/10)
	companion := strings.TrimSuffix(p.transcript(a, id), ".jsonl") + ".ccd.md"
	until(t, "the daemon writes the companion", func() bool {
		text, err := os.ReadFile(companion)
		return err == nil && strings.Contains(string(text), finished)
	})
	r := p.goOn(a, id, "Go on.", a.working(30, 3)...)[0]
	text := p.newest("resume", a, id, r)
	if !strings.Contains(text, companion) || p.warnings(a, id, r) != 1 {
		t.Errorf("the agent is told %.300q and of the pressure %d times; want the companion, and once", text, p.warnings(a, id, r))
	}
	_, next := p.begin(a, "What was done here?")
	if next == id {
		t.Error("no new session began")
	}
	stop()
	p.proved("case b: %s: with the daemon beside it, and no other command, the session was told of its companion (%d chars) and of its pressure", a.title, len(text))
}

// isTold looks at what the hooks tell at the start and at the resumption of a session, and follows it to an original.
func isTold(p *place, a agent, before []turn) {
	t := p.t
	grown, id := p.grown(a, 20, a.full*7/10)
	if n := len(p.told(a, id, grown)); n != 0 {
		t.Errorf("in a project without an earlier session the hooks told %d times", n)
	}
	p.ccd("run", "--once")
	all, other := p.begin(a, "What was done here?")
	offer := strings.TrimSpace(strings.Join(p.told(a, other, all[0]), "\n\n"))
	if !strings.Contains(offer, id) || strings.Contains(offer, "\n") || len(offer) > 1000 {
		t.Errorf("at startup the hook says %.400q, want one line that offers session %s", offer, id)
	}

	fetch, picked := p.fetches(a)
	turns := append(fetch, before...)
	turns = append(turns, func(*request) reply { return reply{calls: []call{a.tool("restore", map[string]any{"id": *picked})}} })
	all = p.goOn(a, id, "Go on.", turns...)
	text := p.newest("resume", a, id, all[0])
	warned := p.warnings(a, id, all[0])
	if !strings.Contains(text, "\n## Handover\n") { // the agent still has the request in its context
		t.Errorf("at resume the hook does not tell where the work stands: %.600q", text)
	}
	if *picked == "" {
		t.Fatal("the agent finds no ID of an output in the companion that it was told of")
	}
	want := p.must(p.ccdPath(), "restore", *picked)
	if !slices.ContainsFunc(grown.results(), func(s string) bool { return s == want }) {
		t.Errorf("%s restores to %d bytes that the agent never saw", *picked, len(want))
	}
	p.fetched(a.shell("").name, last(all), want)
	p.fetched(a.tool("restore", nil).name, last(all), want)
	if again := p.warnings(a, id, last(p.goOn(a, id, "And now?"))); warned != 1 || again != 1 {
		t.Errorf("a context at 70 %% is told of %d times, and %d times after another prompt; want once", warned, again)
	}
	p.proved("case b/d: %s: told in one line of %d chars at startup, in %d chars at resume, of the pressure once; the agent read the companion, and `ccd agent restore %s` in its shell and by MCP brought the %d bytes",
		a.title, len(offer), len(text), *picked, len(want))
}

// fetched fails the test where no output of a call of this name is the text, exactly.
func (p *place) fetched(name string, r *request, want string) {
	p.t.Helper()
	called := map[string]string{}
	for _, q := range r.parts {
		if q.kind == "call" {
			called[q.id] = q.name
		}
		if q.kind == "result" && strings.HasSuffix(called[q.id], name) && strings.Contains(q.text, want) && want != "" {
			return
		}
	}
	p.t.Errorf("no output of %s in the request holds the original of %d bytes", name, len(want))
}

// asksForIDs fails the test where the agent's summarizer was not asked to keep ccd's IDs.
func asksForIDs(p *place, a agent, all []*request) {
	p.t.Helper()
	for _, r := range of(all, "compaction") {
		if text := r.parts[len(r.parts)-1].text; !strings.Contains(text, "[ccd ") {
			p.t.Errorf("%s: its summarizer is not asked to keep the IDs: ...%.600q", a.title, text[max(0, len(text)-600):])
		}
	}
}

// allow adds the rules of docs/AGENTS.md to Claude Code's settings.
func allow(p *place) {
	path := filepath.Join(p.home, ".claude", "settings.json")
	read, err := os.ReadFile(path)
	testkit.Must(p.t, err)
	settings := map[string]any{}
	testkit.Must(p.t, json.Unmarshal(read, &settings))
	var rules []string
	for _, ccd := range []string{"ccd", p.ccdPath()} {
		for _, verb := range []string{"restore", "search", "show"} {
			rules = append(rules, "Bash("+ccd+" agent "+verb+":*)")
		}
	}
	settings["permissions"] = map[string]any{"allow": rules}
	text, err := json.Marshal(settings)
	testkit.Must(p.t, err)
	p.write(path, string(text))
}

// TestClaudeCodeMayRestore holds the rules of docs/AGENTS.md: the agent runs `ccd agent` without asking
// anybody, and nothing else of ccd, nor `ccd agent` with an environment of its own.
func TestClaudeCodeMayRestore(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent.found(t), newPlace(t)
	_, id := p.begin(a, "Look at the ledger.", a.working(0, 2)...)
	p.ccd("run", "--once")
	p.ccd("compact", id)
	const word = "Booked0_1"
	asks := func() (outputs []string) {
		commands := []string{
			"ccd agent restore '" + id + "#1' --raw", p.ccdPath() + " agent search " + word, "ccd agent show " + id,
			"ccd archive forget --yes " + id, "ccd restore '" + id + "#1' --raw", "ccd agents install --allow", "CCD_CONFIG=" + p.home + "/x ccd agent search " + word,
		}
		var calls []call
		for _, c := range commands {
			calls = append(calls, a.shell(c))
		}
		return last(p.asks(a, []string{"-p", "Go on."}, uses("", calls...))).results()
	}
	without := asks()
	p.ccd("agents", "install", "claude")
	allow(p)
	with := asks()
	if len(without) != 7 || len(with) != 7 {
		t.Fatalf("%d and %d outputs, want seven", len(without), len(with))
	}
	refused := func(output string) bool {
		return strings.Contains(output, "requires approval") || strings.Contains(output, "requested permissions")
	}
	for i, may := range []bool{true, true, true, false, false, false, false} {
		if !refused(without[i]) || refused(with[i]) == may {
			t.Errorf("command %d: without the rules %.80q, with them %.80q; want it allowed by them: %v", i+1, without[i], with[i], may)
		}
	}
	p.proved("case b: %s, where it has to ask: with the rules it may run ccd agent restore, search and show, but neither ccd restore, agents install and forget nor ccd agent with a variable set; without them none", a.title)
}
