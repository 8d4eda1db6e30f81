package compactor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/internal/agent/registry"
	"ccd/internal/gen"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// folded is a session folded at once, with its bytes.
type folded struct {
	*Compactor
	data    []byte
	fetched int64
	times   int
}

func folding(t testing.TB, data []byte, o Options) *folded {
	t.Helper()
	return foldingAs(t, "claude-code", transcript.Main, data, o)
}

func foldingAs(t testing.TB, agent string, class transcript.Class, data []byte, o Options) *folded {
	t.Helper()
	f := &folded{Compactor: New(o, transcript.Session{Key: transcript.Key{Agent: agent, ID: "s"}, Class: class}), data: data}
	for r := range (registry.Table{}).NewDecoder(agent, class).Records(transcript.Segment{Data: data, Rest: true}) {
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

// all is the text behind the front matter and the lead.
func (c *Compaction) all() string {
	var b strings.Builder
	for _, s := range c.Sections {
		b.WriteString("## " + s.Name + "\n\n" + s.Body + "\n")
	}
	return b.String()
}

// section is the body of a section, "" where there is none.
func (c *Compaction) section(name string) string {
	for _, s := range c.Sections {
		if s.Name == name {
			return s.Body
		}
	}
	return ""
}

// part is a piece of a section: of a heading, what stands below it up to the next one; else the first line that begins
// so, with the quoted lines and the items of a list that follow it. It is "" where there is none.
func (c *Compaction) part(start string) string {
	text := "\n" + c.all()
	if _, below, ok := strings.Cut(text, "\n### "+start); ok {
		_, below, _ = strings.Cut(below, "\n")
		below, _, _ = strings.Cut(below, "\n### ")
		below, _, _ = strings.Cut(below, "\n## ")
		return below + "\n"
	}
	_, rest, ok := strings.Cut(text, "\n"+start)
	if !ok {
		return ""
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(start + rest) {
		if n++; n > 1 && !isQuote(line) && !strings.HasPrefix(line, "- ") {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// isQuote reports whether a line stands behind a quote's prefix.
func isQuote(line string) bool {
	t := strings.TrimLeft(line, " ")
	return strings.HasPrefix(t, "> ") || strings.HasPrefix(t, ">+ ")
}

// check holds a compaction against the laws that hold for every session.
func (f *folded) check(t testing.TB, c *Compaction) {
	t.Helper()
	body := c.all()
	if n := longest(body); n > mark.MaxLine {
		t.Errorf("a line of %d chars", n)
	}
	if n, most := lexicon.Chars(body), f.o.Budget(); n > most {
		t.Errorf("%d chars, the budget is %d", n, most)
	}
	if n := strings.Count(body, "\n"); n > maxLines+2*len(c.Sections) {
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
	inside := func(at transcript.Span) bool {
		for _, p := range c.Pointers {
			for _, part := range p.Parts {
				if part.Span.Off <= at.Off && part.Span.End() >= at.End() {
					return true
				}
			}
		}
		return false
	}
	pointed := map[uint64]bool{}
	from, to := f.Rows()
	each := func(yield func(*fold.Row, transcript.Span) bool) {
		for i := from; i < to; i++ {
			if row := f.Row(i); !row.Gone() && !yield(row, f.Span(row)) {
				return
			}
		}
	}
	each(func(row *fold.Row, at transcript.Span) bool {
		pointed[row.Key] = pointed[row.Key] || inside(at)
		return true
	})
	each(func(row *fold.Row, at transcript.Span) bool {
		text := string(transcript.Original(row.Kind, f.data[at.Off:at.End()]))
		if row.Kind == transcript.Human { // what a client added is counted
			text, _ = f.Client().Said(row.Frame(), text)
		}
		whole := mark.Quote("", text)
		if pointed[row.Key] || row.Chars == 0 || row.Kind == transcript.Call || strings.Contains(body, whole) {
			return true
		}
		t.Errorf("an item (%v, record %d) is neither shown nor under an ID", row.Kind, row.Record())
		return false
	})
}

// tokensOf are the defaults with another budget.
func tokensOf(n int) Options {
	o := Defaults()
	o.MaxTokens = n
	return o
}

func wants(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("missing %q in\n%s", w, text)
		}
	}
}

func wantsNot(t *testing.T, text string, not ...string) {
	t.Helper()
	for _, w := range not {
		if strings.Contains(text, w) {
			t.Errorf("there is %q in\n%s", w, text)
		}
	}
}

// sample is a session that the laws are held against.
type sample struct {
	name  string
	agent string
	data  []byte
}

func (s sample) fold(t testing.TB, o Options) *folded {
	return foldingAs(t, s.agent, transcript.Main, s.data, o)
}

// invented gives generated sessions of both agents, of about so many bytes.
func invented(t testing.TB, seeds, size int) []sample {
	t.Helper()
	var all []sample
	for seed := range seeds {
		for _, agent := range []string{gen.Claude, gen.Codex} {
			var b bytes.Buffer
			if err := gen.Write(&b, agent, uint64(seed+10), int64(size)); err != nil {
				t.Fatal(err)
			}
			all = append(all, sample{fmt.Sprintf("%s %d", agent, seed), agent, b.Bytes()})
		}
	}
	return all
}

// realSessions gives the real sessions of Claude Code and Codex that are long enough to be compacted.
func realSessions(t testing.TB) []sample {
	t.Helper()
	var all []sample
	for agent, dir := range map[string]string{"claude-code": "claude", "codex": "codex"} {
		files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "corpus", dir, "*.jsonl"))
		for _, name := range testkit.Sample(t, files, 1) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s := sample{filepath.Base(name), agent, data}
			if s.fold(t, Defaults()).HeldTotal() > 40000 {
				all = append(all, s)
			}
		}
	}
	if len(all) == 0 {
		t.Log("no real transcripts beside the project: invented ones alone")
	}
	return all
}
