//go:build rig && linux

package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// TestClaudeCodeCompactsALongSession is case (n) with a session of 5,000 rows that has a picture, a sub-agent and batches of
// calls: compacted when it is resumed, and in mid-turn behind a batch, three times, it gets no larger; a ccd that hangs is not
// waited for.
func TestClaudeCodeCompactsALongSession(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent.found(t), newPlace(t)
	p.ccd("agents", "install", "claude")
	batch := func(i int) turn {
		var calls []call
		for k := range 6 {
			calls = append(calls, a.shell(fmt.Sprintf("sed -n '%d,%dp' pkg/ledger%d.go", 60*k+1, 60*k+40+10*(i%5), i%4)))
		}
		return uses(fmt.Sprintf("Batch %d.", i), calls...)
	}
	turns := append(a.working(0, 4), batch(0), uses("I look at the picture.", a.pictures.call(p.picture())),
		uses("A helper counts.", call{name: "Agent", input: map[string]any{"description": "Count", "prompt": "Count the files.", "subagent_type": "general-purpose"}}),
		batch(1), batch(2))
	_, id := p.begin(a, "Look at the ledger. Never round cents.", turns...)
	path := p.transcript(a, id)
	rows := p.multiplied(path, 5000)
	large := len(p.read(path))
	var sizes []int
	for n := range 3 {
		turns := []turn{batch(3 * n), batch(3*n + 1).reporting(97_000), batch(3*n + 2)}
		all := p.asks(a, a.ask([]string{"--autocompact", "100000", "--resume", id}, "Go on."), turns...)
		r := p.compacted(fmt.Sprintf("compaction %d", n+1), of(all, "main"))
		if !r.holds("Continue from there without asking.") {
			t.Error("the work under way is missing")
		}
		sizes = append(sizes, r.talk)
	}
	for _, n := range sizes {
		if n > sizes[0]*11/10 || n > large/20 {
			t.Errorf("sizes %d, of a transcript of %d", sizes, large)
		}
	}
	if n := strings.Count(p.read(path), `"subtype":"compact_boundary"`); n != 4 {
		t.Errorf("%d compactions, want 4", n)
	}

	// A ccd that hangs.
	testkit.Must(t, os.Remove(p.ccdPath()))
	p.write(p.ccdPath(), "#!/bin/sh\ncase \"$*\" in *SessionCompact*) exec tail -f /dev/null;; esac\n")
	testkit.Must(t, os.Chmod(p.ccdPath(), 0o700))
	if n := len(of(p.goOn(a, id, "/compact"), "compaction")); n != 1 {
		t.Errorf("with a ccd that hangs the client asked %d times for a summary, want once", n)
	}
	p.proved("case n: %s: %d rows were compacted four times, three of them in mid-turn, to %d bytes of conversation; a ccd that hangs is not waited for", a.title, rows, sizes)
}

// ids are what must differ in copies of records.
var ids = regexp.MustCompile(`"(uuid|parentUuid|messageId|id|tool_use_id|sourceToolAssistantUUID)":"([^"]+)"`)

// multiplied repeats the messages of a transcript until it has so many rows, as a session that went on would have them, and
// returns their number.
func (p *place) multiplied(path string, rows int) int {
	p.t.Helper()
	text := p.read(path)
	var lines []string
	last := ""
	for line := range strings.Lines(text) {
		var r struct{ Type, UUID string }
		testkit.Must(p.t, json.Unmarshal([]byte(line), &r))
		if r.Type == "user" || r.Type == "assistant" {
			lines = append(lines, line)
		}
		if r.UUID != "" {
			last = r.UUID
		}
	}
	var b strings.Builder
	b.WriteString(text)
	n := len(lines)
	for round := 1; n < rows; round++ {
		for _, line := range lines {
			line = ids.ReplaceAllStringFunc(line, func(pair string) string {
				m := ids.FindStringSubmatch(pair)
				id := m[2]
				switch {
				case uuid.MatchString(id):
					id = fmt.Sprintf("%08x%s", round, id[8:])
				default:
					id += fmt.Sprintf("_%d", round)
				}
				return fmt.Sprintf("%q:%q", m[1], id)
			})
			var r struct {
				UUID   string
				Parent string `json:"parentUuid"`
			}
			testkit.Must(p.t, json.Unmarshal([]byte(line), &r))
			parent := []byte("null") // of the first
			if r.Parent != "" {
				parent = fmt.Appendf(nil, "%q", r.Parent)
			}
			line = strings.Replace(line, `"parentUuid":`+string(parent), fmt.Sprintf(`"parentUuid":%q`, last), 1) // what lay between has no copy
			last = r.UUID
			b.WriteString(line)
			n++
		}
	}
	p.write(path, b.String())
	return n
}

// TestPiAsksForItsSummary is case (n) for Pi, whose compaction asks for a summary alone.
func TestPiAsksForItsSummary(t *testing.T) {
	t.Parallel()
	a, p := piAgent.found(t), newPlace(t)
	p.ccd("agents", "install", "pi")
	_, id := p.begin(a, askCent, a.working(0, 12)...)
	compacts := func(from int) []*request {
		turns := append(a.working(from, 2), says(saidFiles).reporting(a.full))
		all := p.goOn(a, id, askFiles, turns...)
		return append(all, p.goOn(a, id, askOn)...)
	}
	r := p.compacted("Pi", compacts(12))
	var ls []struct{ Title, Asked, Project string }
	if p.decode(&ls, "ls", "--json"); len(ls) != 1 || ls[0].Asked != askCent || ls[0].Project != p.project {
		t.Errorf("without a daemon the list says %+v", ls)
	}
	if !r.holds(askCent) || r.said("Step 0:") {
		t.Error("the text lacks what the human asked, or the old history is there")
	}
	testkit.Must(t, os.Rename(p.ccdPath(), p.ccdPath()+".away"))
	if len(of(compacts(14), "compaction")) == 0 {
		t.Error("without ccd Pi's own compaction does not run")
	}
	for n, hangs := range []string{"trap '' TERM; while :; do read -r x || tail -f /dev/null; done", "tail -f /dev/null & exit 0", "kill -STOP $$"} {
		p.write(p.ccdPath(), "#!/bin/sh\n"+hangs+"\n")
		testkit.Must(t, os.Chmod(p.ccdPath(), 0o700))
		begun := time.Now()
		if len(of(compacts(16+2*n), "compaction")) == 0 || time.Since(begun) > 30*time.Second {
			t.Errorf("with a ccd that hangs (%s) Pi's own compaction does not run in time: %v", hangs, time.Since(begun))
		}
	}
	p.proved("case n: %s: ccd wrote the summary, %d bytes of conversation; without ccd, or if it hangs, Pi's own compaction runs", a.title, r.talk)
}
