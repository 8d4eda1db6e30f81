package compactor

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
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
		{name: "an output of 5 MB", first: bash, then: result(many(120000, "a line of a long log"), false)},
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

// TestAnyRecordKeepsMostLines adds one record of each sort that changes most to sessions at several points. The agent's
// own boundary resets the context, and with it what is recent: there the lines of Recent alone may go.
func TestAnyRecordKeepsMostLines(t *testing.T) {
	samples := []sample{{"day", "claude-code", day(60).buf.Bytes()}}
	for _, s := range append(realSessions(t), invented(t, 1, 300000)...) {
		if s.agent == "claude-code" {
			samples = append(samples, s)
		}
	}
	points := []int{7}
	if *every {
		points = []int{3, 4, 5, 6, 7, 8, 9, 10}
	}
	if raceEnabled || testing.Short() {
		samples = samples[:1]
	}
	for _, s := range samples {
		for _, tokens := range []int{72000, 16000} {
			for _, point := range points {
				for _, n := range newcomers() {
					n.check(t, s, point, tokens)
				}
			}
		}
	}
}

// check adds the newcomer to the first tenths of a session.
func (n newcomer) check(t *testing.T, of sample, tenths, tokens int) {
	t.Helper()
	whole := of.fold(t, Defaults())
	last := whole.records.n*tenths/10 - 1
	s := newScript()
	s.n, s.at = 1<<20, whole.records.at(last).time()
	s.buf.Write(of.data[:whole.line(last).End()])
	s.buf.WriteByte('\n')
	if n.first != nil {
		n.first(s)
	}
	before := fold(t, bytes.Clone(s.buf.Bytes()), tokensOf(tokens)).compact(t)
	n.then(s)
	f := fold(t, s.buf.Bytes(), tokensOf(tokens))
	after := f.compact(t)
	f.check(t, after)
	for _, name := range n.apart {
		before, after = before.without(name), after.without(name)
	}
	growth{before, after}.check(t, fmt.Sprintf("%s, %d tenths, %d tokens: %s", of.name, tenths, tokens, n.name), tokens < 40000)
}

// without is the compaction without a section.
func (c *Compaction) without(name string) *Compaction {
	rest := &Compaction{Header: c.Header}
	for _, s := range c.Sections {
		if s.Name != name {
			rest.Sections = append(rest.Sections, s)
		}
	}
	return rest
}

// TestUnstableCompanionsAreSeen is the control: lines that tell how long ago something was, and a large unit that stands
// whole, are more than a step may change.
func TestUnstableCompanionsAreSeen(t *testing.T) {
	s := day(60)
	before := fold(t, bytes.Clone(s.buf.Bytes()), Defaults())
	s.bash("cat everything", many(550, "a line of a long log"))
	after := fold(t, s.buf.Bytes(), Defaults())
	aged := func(f *folded) *Compaction {
		c := f.compact(t)
		for i := range c.Sections {
			body := &c.Sections[i].Body
			*body = strings.ReplaceAll(*body, "\n", fmt.Sprintf(" (of %d records)\n", f.records.n))
		}
		return c
	}
	uncapped := func(f *folded) *Compaction {
		d := newDraft(f.Compactor, f.text())
		return &Compaction{Sections: []Section{{"Recent", d.recentUnits(0, 50000, 1<<30).text}}}
	}
	for name, c := range map[string]func(f *folded) *Compaction{"aged": aged, "uncapped": uncapped} {
		g := growth{c(before), c(after)}
		if gone, all := g.lost(); gone <= g.allowed(all, false) {
			t.Errorf("%s: %d of %d lines are gone, and that passes", name, gone, all)
		}
	}
}
