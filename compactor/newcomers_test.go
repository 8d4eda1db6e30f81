package compactor

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/compactor/lexicon"
)

// newcomer is a record that a session goes on with, after those that lead to it.
type newcomer struct {
	name  string
	first func(s *script)
	then  func(s *script)
	apart []string // sections whose lines may all go
}

// many is so many lines of about 40 chars.
func many(n int, what string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s, and this is line %d of it\n", what, i)
	}
	return b.String()
}

// newcomers are the records that change most: huge ones, long lists, a long absence, the agent's own boundary.
func newcomers() []newcomer {
	call := func(tool string, input map[string]any) func(s *script) {
		return func(s *script) { s.call("new-1", tool, input) }
	}
	result := func(text string, failed bool) func(s *script) {
		return func(s *script) { s.result("new-1", text, failed) }
	}
	bash := call("Bash", map[string]any{"command": "cat everything"})
	file := call("Write", map[string]any{"file_path": "/home/me/ledger/new.go", "content": many(300, "// a new file")})
	var todos []any
	for i := range 200 {
		todos = append(todos, map[string]any{"content": fmt.Sprintf("do the thing of number %d", i), "status": "pending"})
	}
	away := func(s *script) { s.at = s.at.Add(10 * time.Hour) }
	boundary := func(s *script) {
		s.line("system", nil, map[string]any{"subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "auto"}})
	}
	return []newcomer{
		{name: "a person after ten hours", first: away, then: func(s *script) { s.human("Go on, please.") }},
		{name: "the agent after ten hours", first: away, then: func(s *script) { s.say("I go on.") }},
		{name: "a message of 60 lines", then: func(s *script) { s.human(many(60, "do this")) }},
		{name: "a paste of 100 KB", then: func(s *script) { s.human(many(2500, "this is the log")) }},
		{name: "an answer of 200 lines", then: func(s *script) { s.say(many(200, "this is what I did")) }},
		{name: "an output of 1 MB", first: bash, then: result(many(25000, "a line of a long log"), false)},
		{name: "an output of short lines", first: bash, then: result(strings.Repeat("7\n", 5000), false)},
		{name: "an output of one line", first: bash, then: result(strings.Repeat("var a=7;", 50000), false)},
		{name: "500 errors", first: bash, then: result("Exit code 2\n"+many(500, "error: it is wrong"), true)},
		{name: "a plan of 200 items", then: call("TodoWrite", map[string]any{"todos": todos})},
		{name: "a new file", then: file},
		{name: "a new file is written", first: file, then: result("File created.", false)},
		{
			name: "a long report", first: call("Task", map[string]any{"description": "look", "prompt": many(100, "find"), "subagent_type": "x"}),
			then: result(many(300, "I found this"), false),
		},
		{name: "an image", then: func(s *script) {
			s.line("user", map[string]any{"role": "user", "content": []any{map[string]any{
				"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": strings.Repeat("iVBORw0KGgo", 9000)},
			}}}, nil)
		}},
		{name: "another directory", then: func(s *script) {
			s.line("user", map[string]any{"role": "user", "content": "Now here."}, map[string]any{"cwd": "/home/me/elsewhere"})
		}},
		{name: "the agent's boundary", then: boundary, apart: []string{"Recent"}},
		{name: "the agent's summary", first: boundary, then: func(s *script) {
			s.line("user", map[string]any{"role": "user", "content": many(150, "this was done")}, map[string]any{"isCompactSummary": true})
		}},
		{name: "the first words after a boundary", first: func(s *script) { s.boundary() }, then: func(s *script) { s.say("So I go on.") }},
	}
}

// A step of this sort, the largest that there are, may change a quarter of the lines: of few lines, so many.
const (
	mostLost   = 0.25
	floorLost  = 24
	narrowLost = 42 // where there is little room
)

// keptTooFew complains where too few lines of a companion stand in the next one. What Now says may change besides, as many
// lines as it takes the room of, and the lines of the sections that are named.
func keptTooFew(before, after *Compaction, narrow bool, apart ...string) string {
	have := map[string]int{}
	for _, s := range after.Sections {
		for l := range strings.Lines(s.Body) {
			have[l]++
		}
	}
	all, gone := 0, 0
	for _, s := range before.Sections {
		if s.Name == "Now" || slices.Contains(apart, s.Name) {
			continue
		}
		for l := range strings.Lines(s.Body) {
			all++
			if have[l]--; have[l] < 0 {
				gone++
			}
		}
	}
	floor := floorLost
	if narrow {
		floor = narrowLost
	}
	most := max(int(mostLost*float64(all)), floor) + lexicon.Bulk(after.section("Now"))/lexicon.LineBulk
	if gone > most {
		return fmt.Sprintf("%d of %d lines are gone, %d may be", gone, all, most)
	}
	return ""
}

// TestAnyRecordKeepsMostLines adds one record of each sort that changes most to sessions. The agent's own boundary resets
// the context, and with it what is recent: there the lines of Recent alone may go.
func TestAnyRecordKeepsMostLines(t *testing.T) {
	samples := append(invented(t, 2, 300000), sample{"day", "claude-code", day(60).buf.Bytes()})
	for _, s := range samples {
		for _, n := range newcomers() {
			if s.agent != "claude-code" {
				continue
			}
			t.Run(s.name+", "+n.name, func(t *testing.T) {
				n.check(t, s, 7, 16000)
				n.check(t, s, 7, 72000)
			})
		}
	}
}

// check adds the newcomer to the first tenths of a session.
func (n newcomer) check(t *testing.T, of sample, tenths, tokens int) {
	t.Helper()
	whole := of.fold(t, Defaults())
	_, records := whole.Records()
	last := records*tenths/10 - 1
	s := newScript()
	s.n, s.at = 1<<20, whole.Time(last)
	s.buf.Write(of.data[:whole.Line(last).End()])
	s.buf.WriteByte('\n')
	if n.first != nil {
		n.first(s)
	}
	before := folding(t, bytes.Clone(s.buf.Bytes()), tokensOf(tokens)).compact(t)
	n.then(s)
	after := told(t, s, tokensOf(tokens))
	if bad := keptTooFew(before, after, tokens < 40000, n.apart...); bad != "" {
		t.Errorf("%s, %d tokens: %s: %s", of.name, tokens, n.name, bad)
	}
}

// TestUnstableCompanionsAreSeen is the control: lines that tell how long ago something was are more than a step may
// change.
func TestUnstableCompanionsAreSeen(t *testing.T) {
	s := day(60)
	before := told(t, s, Defaults())
	s.bash("cat everything", many(550, "a line of a long log"))
	after := told(t, s, Defaults())
	if bad := keptTooFew(before, after, false); bad != "" {
		t.Error(bad)
	}
	for n, c := range []*Compaction{before, after} {
		for i := range c.Sections {
			body := &c.Sections[i].Body
			*body = strings.ReplaceAll(*body, "\n", fmt.Sprintf(" (%d steps ago)\n", n))
		}
	}
	if keptTooFew(before, after, false) == "" {
		t.Error("lines that all change pass")
	}
}
