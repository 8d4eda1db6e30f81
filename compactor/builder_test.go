package compactor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// script writes an invented session in the shape of Claude Code's transcripts.
type script struct {
	buf   bytes.Buffer
	at    time.Time
	n     int
	model string
	used  int64 // tokens that the next reply reports
}

func newScript() *script {
	return &script{at: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC), model: "some-model"}
}

func (s *script) line(kind string, message any, extra map[string]any) {
	s.n++
	s.at = s.at.Add(7 * time.Second)
	m := map[string]any{
		"type": kind, "uuid": fmt.Sprintf("u-%d", s.n), "timestamp": s.at.Format("2006-01-02T15:04:05.000Z"),
		"sessionId": "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b", "cwd": "/home/me/ledger", "gitBranch": "main", "version": "2.1.0",
	}
	if message != nil {
		m["message"] = message
	}
	for k, v := range extra {
		m[k] = v
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	s.buf.Write(append(data, '\n'))
}

func (s *script) human(text string) {
	s.line("user", map[string]any{"role": "user", "content": text}, nil)
}

func (s *script) reply(block map[string]any) {
	m := map[string]any{"role": "assistant", "id": fmt.Sprintf("msg-%d", s.n), "model": s.model, "content": []any{block}}
	if s.used > 0 {
		m["usage"] = map[string]any{"input_tokens": s.used, "output_tokens": 0}
	}
	s.line("assistant", m, nil)
}

func (s *script) say(text string)   { s.reply(map[string]any{"type": "text", "text": text}) }
func (s *script) think(text string) { s.reply(map[string]any{"type": "thinking", "thinking": text}) }

func (s *script) call(id, tool string, input map[string]any) {
	s.reply(map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
}

func (s *script) result(id, text string, failed bool) {
	block := map[string]any{"type": "tool_result", "tool_use_id": id, "content": text}
	if failed {
		block["is_error"] = true
	}
	s.line("user", map[string]any{"role": "user", "content": []any{block}}, nil)
}

// do is a call with its result.
func (s *script) do(tool string, input map[string]any, result string) {
	id := fmt.Sprintf("toolu_%d", s.n)
	s.call(id, tool, input)
	s.result(id, result, false)
}

func (s *script) bash(cmd, out string) { s.do("Bash", map[string]any{"command": cmd}, out) }

func (s *script) fails(cmd, out string, status int) {
	id := fmt.Sprintf("toolu_%d", s.n)
	s.call(id, "Bash", map[string]any{"command": cmd})
	s.result(id, fmt.Sprintf("Exit code %d\n%s", status, out), true)
}

func (s *script) read(path, content string) {
	s.do("Read", map[string]any{"file_path": path}, numbered(content))
}

func (s *script) edit(path, old, new string) {
	s.do("Edit", map[string]any{"file_path": path, "old_string": old, "new_string": new},
		"The file "+path+" has been updated.")
}

func (s *script) write(path, content string) {
	s.do("Write", map[string]any{"file_path": path, "content": content}, "File created successfully at: "+path)
}

func (s *script) boundary(preserved ...string) {
	s.line("system", nil, map[string]any{
		"subtype": "compact_boundary", "content": "Conversation compacted",
		"compactMetadata": map[string]any{"trigger": "auto", "preTokens": 1000, "preservedMessages": map[string]any{"uuids": preserved}},
	})
	s.line("user", map[string]any{"role": "user", "content": "This session is being continued. Summary: money was counted."},
		map[string]any{"isCompactSummary": true})
}

func numbered(content string) string {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(content) {
		n++
		fmt.Fprintf(&b, "%6d\t%s", n, l)
	}
	return b.String()
}

// day is a session of n rounds of work: reading, editing, testing, failing, mending, talking.
func day(n int) *script {
	s := newScript()
	s.human("The nightly export writes 48,212 cents where the invoice says 48,213. Find out why and fix it. Don't touch the schema.")
	for i := range n {
		s.round(i)
	}
	return s
}

func (s *script) round(i int) {
	path := fmt.Sprintf("/home/me/ledger/money%d.py", i%7)
	content := strings.Repeat(fmt.Sprintf("def cents_%d(text):\n    return round(float(text) * %d)\n", i, i), 40)
	s.think(strings.Repeat("Where does the cent go? ", 10))
	s.say(fmt.Sprintf("I'll read money%d.py, because the rounding of line %d must happen somewhere in there. %s", i%7, i, strings.Repeat("It may also be the export. ", i%9)))
	s.read(path, content)
	s.edit(path, fmt.Sprintf("def cents_%d(text):\n    return round(float(text) * %d)\n", i, i), "def exact():\n    pass\n")
	if i%3 == 0 {
		s.fails(fmt.Sprintf("pytest -q tests/test_%d.py", i), strings.Repeat("collected\n", 200)+"E   AssertionError: Money(48212) != Money(48213)\n1 failed, 37 passed in 2.1s", 1)
	}
	s.bash(fmt.Sprintf("pytest -q tests/test_%d.py", i-i%2), strings.Repeat(".....\n", 100+i%50)+fmt.Sprintf("%d passed in 1.2s", i+3))
	s.do("Grep", map[string]any{"pattern": fmt.Sprintf("float_%d", i)}, strings.Repeat(fmt.Sprintf("ledger/money.py:%d: float\n", i), 30))
	if i%11 == 5 {
		s.human(fmt.Sprintf("no, keep it integer cents everywhere, also in round %d. %s", i, strings.Repeat("Think of the auditors. ", i%13)))
	}
}

// folded is a session folded at once, with its bytes.
type folded struct {
	*Compactor
	data    []byte
	fetched int64
	times   int
}

func fold(t testing.TB, data []byte, o Options) *folded {
	t.Helper()
	return foldAs(t, "claude-code", transcript.Main, data, o)
}

func foldAs(t testing.TB, agent string, class transcript.Class, data []byte, o Options) *folded {
	t.Helper()
	f := &folded{Compactor: New(o, transcript.Session{Key: transcript.Key{Agent: agent, ID: "s"}, Class: class}), data: data}
	for r := range transcript.NewDecoder(agent, class).Records(transcript.Segment{Data: data, Rest: true}) {
		f.Add(r)
	}
	return f
}

// text gives spans as the archive would, in a buffer that the next call overwrites.
func (f *folded) text() func(transcript.Span) ([]byte, error) {
	var last []byte
	return func(s transcript.Span) ([]byte, error) {
		for i := range last {
			last[i] = 0xee
		}
		if s.Off < 0 || s.End() > int64(len(f.data)) {
			return nil, fmt.Errorf("span %v is outside of %d bytes", s, len(f.data))
		}
		f.fetched += s.Len
		f.times++
		last = bytes.Clone(f.data[s.Off:s.End()])
		return last, nil
	}
}

func (f *folded) compact(t testing.TB) *Compaction {
	t.Helper()
	c, err := f.Compaction(f.text())
	if err != nil {
		t.Fatalf("Compaction: %v", err)
	}
	return c
}

func (c *Compaction) all() string {
	var b strings.Builder
	for _, s := range c.Sections {
		b.WriteString("## " + s.Name + "\n\n" + s.Body + "\n")
	}
	return b.String()
}

func (c *Compaction) section(name string) string {
	for _, s := range c.Sections {
		if s.Name == name {
			return s.Body
		}
	}
	return ""
}

// check holds a compaction against the laws that hold for every session.
func (f *folded) check(t testing.TB, c *Compaction) {
	t.Helper()
	body := c.all()
	if n := longest(body); n > mark.MaxLine {
		t.Errorf("a line of %d chars", n)
	}
	if n, most := lexicon.Chars(body), f.o.MaxTokens*3/4-f.o.LeadChars; n > most {
		t.Errorf("%d chars, the budget is %d", n, most)
	}
	if n := strings.Count(body, "\n"); n > maxLines {
		t.Errorf("%d lines, a reading tool shows %d", n, maxLines)
	}
	known := map[mark.ID]int{}
	for _, p := range c.Pointers {
		known[p.Hash.ID()]++
		f.resolve(t, p)
	}
	for _, id := range mark.IDs(body) {
		if known[id] != 1 {
			t.Errorf("ID %s has %d pointers", id, known[id])
		}
		delete(known, id)
	}
	if len(known) > 0 {
		t.Errorf("%d pointers are for no ID of the text", len(known))
	}
	if c.Header.KeyInformation.Lost > 0 {
		t.Errorf("key information is lost: %+v, %s", c.Header.KeyInformation, c.Header.Reason)
	}
	f.covered(t, c)
}

// resolve recomputes a pointer's hash from the bytes of the file.
func (f *folded) resolve(t testing.TB, p transcript.Pointer) {
	t.Helper()
	if got := f.hash(p); got != p.Hash {
		t.Errorf("%s #%d: the bytes hash to %s, the pointer says %s", p.Note, p.Record, got.ID(), p.Hash.ID())
	}
}

// hash is what the bytes that a pointer names hash to; of a range whose lines are not as many as it says, nothing.
func (f *folded) hash(p transcript.Pointer) mark.Hash {
	at := func(s transcript.Span) []byte { return f.data[s.Off:s.End()] }
	var ids []mark.ID
	switch p.Shape {
	case transcript.Single:
		return mark.Sum(at(p.Parts[0].Span))
	case transcript.List:
		for _, part := range p.Parts {
			ids = append(ids, mark.Sum(at(part.Span)).ID())
		}
	case transcript.Lines:
		for _, l := range bytes.Split(at(p.Parts[0].Span), []byte("\n")) {
			ids = append(ids, mark.Sum(l).ID())
		}
		if len(ids) != p.Last-p.Record+1 {
			return mark.Hash{}
		}
	}
	return mark.Combine(ids)
}

// covered holds the coverage law: an item stands whole in the text or, its like where its bytes stand more than once,
// inside of a pointer's spans.
func (f *folded) covered(t testing.TB, c *Compaction) {
	t.Helper()
	body := c.all()
	inside := func(row *itemRow) bool {
		for _, p := range c.Pointers {
			for _, part := range p.Parts {
				if part.Span.Off <= f.span(row).Off && part.Span.End() >= f.span(row).End() {
					return true
				}
			}
		}
		return false
	}
	pointed := map[uint64]bool{}
	for i := range f.rows.n {
		if row := f.rows.at(i); !pointed[row.key] {
			pointed[row.key] = inside(row)
		}
	}
	for i := range f.rows.n {
		row := f.rows.at(i)
		if !pointed[row.key] && !strings.Contains(body, mark.Quote("", original(row.kind, f.data[f.span(row).Off:f.span(row).End()]))) && row.chars > 0 &&
			row.kind != transcript.Call {
			t.Errorf("item %d (%v, record %d) is neither shown nor under an ID", i, row.kind, row.record())
			return
		}
	}
}
