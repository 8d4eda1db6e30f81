package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// storySession is the ID of the session of newStory.
const storySession = "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f"

// story is an invented session in Claude Code's format: some requests, each with commands, long outputs, reads and
// edits.
type story struct {
	lines   [][]byte
	outputs []string // of the commands
	clock   time.Time
	context int
	n       int
	parent  string
}

var wishes = []string{
	"The nightly export writes 48,212 cents where the invoice says 48,213. Find out why and fix it. Don't touch the schema.",
	"no, keep it integer cents everywhere, no floats, also not in tests",
	"also add a regression test for invoice 48213",
	"run the whole suite, then tell me what is left",
}

// newStory returns a session that fills three quarters of its context window.
func newStory() *story {
	s := &story{clock: time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC), context: 14000}
	for i, wish := range wishes {
		if i == 1 { // a paste too long for the companion, which names its original
			wish += "\n\n" + strings.Repeat("invoice 48213: 482.13 booked as 48212, expected 48213\n", 200)
		}
		s.user(wish)
		for step := range 23 {
			s.command(i, step)
		}
		if i < len(wishes)-1 {
			s.command(i, 23)
			s.edit(i)
		} else { // what is looked up after the last change stands in the companion
			s.edit(i)
			s.lookUp()
		}
		s.say(fmt.Sprintf("Step %d is done: `cents()` now parses decimals as text and scales by 100 in integers, because float(\"482.13\") * 100 is 48212.999999999996. I rejected Decimal everywhere: it is slower on the nightly batch.", i+1))
	}
	return s
}

func (s *story) command(wish, step int) {
	call := fmt.Sprintf("toolu_demo_%d_%d", wish, step)
	cmd := fmt.Sprintf("pytest -q tests/part_%d_%d", wish, step)
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "tests/part_%d_%d/test_money.py::test_invoice_%05d PASSED [%3d%%]\n", wish, step, 48000+wish*1499+step*61+i, i*100/60)
	}
	if step%5 == 3 {
		fmt.Fprintf(&b, "E   AssertionError: Money(48212) != Money(48213)\ntests/part_%d_%d/test_money.py:41: AssertionError\n", wish, step)
	}
	if step%5 != 4 { // without it a companion ends with a marker
		fmt.Fprintf(&b, "60 passed in %d.%02ds\n", step+1, wish*7)
	}
	out := b.String()
	s.outputs = append(s.outputs, out)
	s.call(call, "Bash", map[string]any{"command": cmd, "description": "run one part of the tests"})
	s.result(call, out)
}

func (s *story) lookUp() {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "ledger/part_%d.py:%d:    total = cents(row[%d])  # booked in whole cents\n", i, 10+i, i)
	}
	s.outputs = append(s.outputs, b.String())
	s.call("toolu_demo_look", "Bash", map[string]any{"command": "grep -rn 'cents(' ledger", "description": "find the callers"})
	s.result("toolu_demo_look", b.String())
}

func (s *story) edit(wish int) {
	call := fmt.Sprintf("toolu_demo_edit_%d", wish)
	s.call(call, "Edit", map[string]any{
		"file_path": "/home/you/ledger/money.py", "old_string": fmt.Sprintf("return round(value * %d)", 100+wish),
		"new_string": "whole, _, frac = text.partition(\".\")",
	})
	s.result(call, "The file /home/you/ledger/money.py has been updated.")
}

func (s *story) user(text string) { s.add("user", map[string]any{"role": "user", "content": text}) }

func (s *story) say(text string) {
	s.assistant(map[string]any{"type": "text", "text": text})
}

func (s *story) call(id, tool string, input map[string]any) {
	s.assistant(map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
}

func (s *story) result(id, text string) {
	s.add("user", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": id, "content": text},
	}})
}

func (s *story) assistant(block map[string]any) {
	s.context += 1250
	s.add("assistant", map[string]any{
		"id": fmt.Sprintf("msg_demo_%d", s.n), "type": "message", "role": "assistant", "model": "claude-opus-4-5",
		"content": []any{block},
		"usage":   map[string]any{"input_tokens": 8, "cache_read_input_tokens": s.context, "output_tokens": 120},
	})
}

func (s *story) add(kind string, message map[string]any) {
	s.n++
	s.clock = s.clock.Add(20 * time.Second)
	uuid := fmt.Sprintf("%08d-0000-4000-8000-000000000000", s.n)
	line, err := json.Marshal(map[string]any{
		"parentUuid": s.parent, "isSidechain": false, "userType": "external", "cwd": "/home/you/ledger",
		"sessionId": storySession, "version": "2.1.0", "gitBranch": "fix/cents", "type": kind, "message": message,
		"requestId": fmt.Sprintf("req_demo_%d", s.n), "uuid": uuid, "timestamp": s.clock.Format("2006-01-02T15:04:05.000Z"),
	})
	if err != nil {
		panic("story: its own words do not encode: " + err.Error())
	}
	s.parent = uuid
	s.lines = append(s.lines, append(line, '\n'))
}

// quoted returns text as JSON, as in the story's lines.
func quoted(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil {
		panic("story: its own words do not encode: " + err.Error())
	}
	return b
}
