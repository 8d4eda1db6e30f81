//go:build rig && linux

package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAgentsAreFollowed is case (g): ccd follows what the agent writes while it works, and archives all of it.
func TestAgentsAreFollowed(t *testing.T) {
	for _, a := range []agent{geminiAgent, piAgent, qwenAgent} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			a, p := a.found(t), newPlace(t)
			if a.name != "pi" { // these two look for it in the answer, and Qwen Code counts the tokens of its request
				p.model.summary = says("<scratchpad>read</scratchpad>\n<state_snapshot>SUMMARY OF THE MODEL</state_snapshot>").reporting(a.full - 5000)
			}
			followed(p, a)
		})
	}
}

// live is a turn whose answer waits until the daemon has archived words of the session.
func (p *place) live(a agent, words string, then turn) turn {
	return func(r *request) reply {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for range 400 {
			for _, path := range p.sessions(a.transcripts) {
				if strings.Contains(p.run(p.ccdPath(), "restore", "--session", path).out, words) {
					return then(r)
				}
			}
			<-tick.C
		}
		p.t.Errorf("%s waits for the model, and the daemon has not archived %q", a.title, words)
		return then(r)
	}
}

// The prompts, commands and answers of case (g).
const (
	askCent, askFiles, askOn       = "Say in the README what a cent is. Never round cents.", "Now count the files.", "Go on with the invoices."
	runCount, runFails, runFiles   = "wc -l pkg/*.go", "echo 'FAIL: TestBooked7: sum is 259 cents' >&2; exit 3", "ls pkg | wc -l | sed 's/$/ files there are/'"
	saidCent, saidFiles, saidToEnd = "A cent is a whole number now.", "Four files it is.", "The invoices are done."
)

// followed plays three prompts, each in its own process, while `ccd run` runs, and checks what ccd archived.
func followed(p *place, a agent) {
	t := p.t
	p.write(filepath.Join(p.home, ".config", "ccd", "config.toml"), "[watch]\nsettle = \"100ms\"\nmax_wait = \"1s\"\n")
	stop := p.daemon()
	path, id := p.begun(a)
	begun := p.read(path)
	how := a.resumed(id)
	all := p.asks(a, a.ask(how, askFiles), p.live(a, askFiles, uses("", a.shell(runFiles)).reporting(a.full)),
		uses("", a.shell(huge)), says(saidFiles).reporting(a.full))
	if !all[0].holds(askCent) || !all[0].holds(saidCent) {
		t.Error("the session is not gone on with")
	}
	all = append(all, p.asks(a, a.ask(how, askOn), says(saidToEnd))...)
	if n := len(of(all, "compaction")); n == 0 || !last(all).holds("SUMMARY OF THE MODEL") {
		t.Errorf("of %d requests %d are for a compaction, and the last does not hold its summary", len(all), n)
	}
	if whole := p.read(path); !strings.HasPrefix(whole, begun) || len(whole) == len(begun) {
		t.Error("going on does not append to the transcript")
	}
	stop()
	p.isKept(a, path)
	spilled := ""
	if a.spills != "" {
		spilled = p.comesBack(p.sessions(a.spills))
	}
	place, _ := filepath.Rel(p.home, path)
	p.proved("case g: %s: %d requests of 3 processes followed while they ran, gone on with twice, compacted by the agent; its %d bytes come back%s; it wrote ~/%s",
		a.title, len(all), len(p.read(path)), spilled, filepath.ToSlash(place))
}

// begun plays the first prompt and returns its transcript and the agent's own ID of the session.
func (p *place) begun(a agent) (path, id string) {
	p.t.Helper()
	readme := filepath.Join(p.project, "README.md")
	p.asks(a, a.ask(nil, askCent),
		func(*request) reply {
			return reply{thinking: "The README comes first.", text: "I read it.", calls: []call{a.views.call(readme)}}
		},
		p.live(a, "cents are integers", uses("", a.shell(runCount), a.shell(runFails))),
		p.live(a, "4008 total", uses("", a.edit(readme, "integers", "whole numbers"))), says(saidCent))
	if !strings.Contains(p.read(readme), "cents are whole numbers") {
		p.t.Error("the agent has not edited the file")
	}
	found := p.sessions(a.transcripts)
	if len(found) != 1 {
		p.t.Fatalf("%s left %d transcripts, want one: %q", a.title, len(found), found)
	}
	head, _, _ := strings.Cut(p.read(found[0]), "\n")
	var ids struct{ ID, SessionID string }
	if err := json.Unmarshal([]byte(head), &ids); err != nil {
		p.t.Fatalf("%v: %s", err, head)
	}
	return found[0], cmp.Or(ids.SessionID, ids.ID)
}

// isKept checks what ccd has of a session.
func (p *place) isKept(a agent, path string) {
	t := p.t
	t.Helper()
	var ls []struct{ Agent, Session, Project, Source string }
	p.decode(&ls, "ls", "--json")
	i := slices.IndexFunc(ls, func(s struct{ Agent, Session, Project, Source string }) bool { return s.Source == path })
	if i < 0 || ls[i].Agent != a.name || ls[i].Project != p.project {
		t.Fatalf("want %s as a session of %s in %s: %+v", path, a.name, p.project, ls)
	}
	session := ls[i].Session
	if written := p.ccd("compact", session); p.read(written) != p.ccd("show", session)+"\n" {
		t.Errorf("%s is not what is shown", written)
	}
	shown := p.ccd("show", session)
	for _, words := range []string{
		askCent, askFiles, askOn, runCount, runFails, runFiles, "README.md", "+whole numbers", saidCent, saidFiles, saidToEnd, "sum is 259 cents", "SUMMARY OF THE MODEL",
	} {
		if !strings.Contains(shown, words) {
			t.Errorf("the companion does not hold %q", words)
		}
	}
	if whole := p.read(path); p.must(p.ccdPath(), "restore", "--session", session) != whole {
		t.Errorf("the session does not restore to its %d bytes", len(whole))
	}
	var turns []struct {
		Asked               string
		Compactions, Failed int
	}
	p.decode(&turns, "timeline", "--json", session)
	var asked []string
	compactions := 0
	for _, one := range turns {
		asked, compactions = append(asked, one.Asked), compactions+one.Compactions
	}
	if !slices.Equal(asked, []string{askCent, askFiles, askOn}) || compactions == 0 || turns[0].Failed != 1 {
		t.Errorf("the timeline is %+v, want the three prompts, a failure in the first, a compaction", turns)
	}
}

// decode reads JSON output of ccd.
func (p *place) decode(v any, args ...string) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.ccd(args...)), v); err != nil {
		p.t.Fatalf("%q: %v", args, err)
	}
}

// comesBack restores the outputs that were too long for the transcript and describes their size.
func (p *place) comesBack(spills []string) string {
	p.t.Helper()
	sum := 0
	for _, path := range spills {
		want := p.read(path)
		if got := p.must(p.ccdPath(), "restore", "--session", path); got != want {
			p.t.Errorf("%s restores to %d bytes that are not its %d", path, len(got), len(want))
		}
		sum += len(want)
	}
	if sum < 290_000 {
		p.t.Errorf("%d bytes of long outputs, want all that the command printed", sum)
	}
	return fmt.Sprintf(" and %d of a long output", sum)
}
