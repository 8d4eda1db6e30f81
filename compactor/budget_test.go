package compactor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/compactor/unit"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// columns is a session of outputs and messages in very short lines.
func columns() *script {
	s := newScript()
	s.human("Print the column, and tell me how long it takes.")
	for i := range 20 {
		s.bash(fmt.Sprintf("cut -f%d rows", i), strings.Repeat(fmt.Sprintf("%d\n", i), 900+i))
	}
	for i := range 60 {
		s.say(strings.Repeat(fmt.Sprintf("- %d\n", i), 40))
	}
	return s
}

// Whatever the session, the budget and the level: no text is over its room, in chars or in lines.
func TestEveryBudgetIsHeld(t *testing.T) {
	for name, s := range map[string]*script{"columns": columns(), "everything": everything(), "remarks": remarks(80), "limited": limited()} {
		for _, tokens := range testkit.Sample(t, []int{2000, 4000, 10001, 26000, 72000, 300000}, 2) {
			for _, level := range []Level{ByPressure, Maximum} {
				o := tokensOf(tokens)
				o.Level = level
				f := folding(t, s.buf.Bytes(), o)
				c := f.compact(t)
				f.check(t, c)
				if n := strings.Count(c.all(), "\n"); strings.Contains(c.Header.Reason, "budget") || tokens >= 4000 && n < 10 {
					t.Errorf("%d lines, %s", n, c.Header.Reason)
				}
				if t.Failed() {
					t.Fatalf("%s, %d tokens, level %v", name, tokens, level)
				}
			}
		}
	}
}

// What saves counts what it saves, and so does the size guard.
func TestSavingsAndFallbacksAreCounted(t *testing.T) {
	kinds := map[string]int{}
	for _, s := range []*script{everything(), limited(), columns()} {
		for _, tokens := range []int{72000, 30000, 13333} {
			c := folding(t, s.buf.Bytes(), tokensOf(tokens)).compact(t)
			for _, one := range c.Header.Saved {
				if kinds[one.Kind]++; one.Items <= 0 || one.Tokens <= 0 {
					t.Errorf("%+v", one)
				}
			}
			for _, f := range c.Header.Fallbacks {
				if kinds[f.Kind]++; f.Items <= 0 {
					t.Errorf("%+v", f)
				}
			}
		}
	}
	for _, kind := range []string{"file", "output", "result", "talk", "cut", "dup", "range"} {
		if kinds[kind] == 0 {
			t.Errorf("nothing is counted as %s: %v", kind, kinds)
		}
	}
	s := newScript()
	s.human("What is 2+2?")
	s.say("4.")
	tiny := folding(t, s.buf.Bytes(), Defaults()).compact(t)
	if !slices.Contains(tiny.Header.Fallbacks, Fallback{FallbackSize, 1}) {
		t.Errorf("the size guard is not counted: %+v", tiny.Header)
	}
}

// The numbers of the front matter: before, after, and what was saved of what the agent saw.
func TestTokensAreCounted(t *testing.T) {
	s := day(40)
	s.line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "none", "content": "short"}}},
		map[string]any{"toolUseResult": map[string]any{"stdout": strings.Repeat("a copy for the screen ", 10000)}})
	s.used = 61234
	s.say("Done.")
	f := folding(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	var chars int64
	from, to := f.Rows()
	for i := from; i < to; i++ {
		chars += int64(f.Row(i).Chars)
	}
	n := c.Header.Tokens
	body := 0
	for _, sec := range c.Sections {
		body += lexicon.Chars(sec.Body) + len(sec.Name) + len("\n## \n")
	}
	if n.Original != limits.Tokens(chars) || chars > int64(len(f.data)-200000) || n.Companion != int64(limits.Tokens(body+f.o.LeadChars)) || n.Reported != 61234 {
		t.Errorf("tokens %+v; the items have %d chars, the sections %d", n, chars, body)
	}
	if want := 100 * (1 - float64(n.Companion)/float64(n.Original)); n.SavedPercent < want-0.1 || n.SavedPercent > want+0.1 {
		t.Errorf("%.1f %% saved, want %.1f", n.SavedPercent, want)
	}
}

// planned is a draft whose text is planned, before it is verified.
func (f *folded) planned(t *testing.T) *draft {
	t.Helper()
	d := f.draft(unit.Reader{Room: f.o.Budget(), Size: lexicon.Chars}, f.text(), nil)
	if _, err := d.made(); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestVerifySeesFaults is the negative control of the verification: each fault that a text may have is told.
func TestVerifySeesFaults(t *testing.T) {
	f := folding(t, orchards(40).buf.Bytes(), Defaults())
	if c := f.planned(t).finish(); !c.Header.Verified || c.Header.KeyInformation.Visible < 20 {
		t.Fatalf("not verified: %s, %+v", c.Header.Reason, c.Header.KeyInformation)
	}
	in := func(d *draft, name string, change func(body string) string) {
		for i := range d.sections {
			if name == "" || d.sections[i].Name == name {
				d.sections[i].Body = change(d.sections[i].Body)
			}
		}
	}
	for name, c := range map[string]struct {
		fault  func(d *draft)
		reason string
	}{
		"no ranges":   {func(d *draft) { in(d, "Rest", func(string) string { return "" }) }, "under no ID"},
		"no pointers": {func(d *draft) { d.source.Known = map[mark.ID]transcript.Pointer{} }, "an ID has no pointer"},
		"no names":    {func(d *draft) { clear(d.source.Named) }, "under no ID"},
		"a long line": {func(d *draft) { in(d, "Files", func(s string) string { return s + strings.Repeat("x", 2001) + "\n" }) }, "a line is too long"},
		"too large":   {func(d *draft) { in(d, "Files", func(s string) string { return s + strings.Repeat("x\n", 27000) }) }, "over the budget"},
		"no asks": {func(d *draft) {
			in(d, "Conversation", func(s string) string { return strings.ReplaceAll(s, "> Prune row 3", "> Prune it") })
		}, "messages of the human are not visible"},
		"no edits": {func(d *draft) { in(d, "", func(s string) string { return strings.ReplaceAll(s, "row3.py", "row.py") }) }, "edited path is not visible"},
		"no problem": {func(d *draft) {
			in(d, "Now", func(s string) string { return strings.ReplaceAll(s, "Open:", "Closed:") })
		}, "open problem is not visible"},
		"few commands": {func(d *draft) { in(d, "Commands", func(string) string { return "" }) }, "key facts are not visible"},
	} {
		d := f.planned(t)
		c.fault(d)
		if made := d.finish(); made.Header.Verified || !strings.Contains(made.Header.Reason, c.reason) {
			t.Errorf("%s: %q, want %q", name, made.Header.Reason, c.reason)
		}
	}
}

// What does not fit is counted by kind, and said.
func TestMissingFactsAreCounted(t *testing.T) {
	s := orchards(60)
	for tokens, all := range map[int]bool{72000: true, 4000: false} {
		f := folding(t, s.buf.Bytes(), tokensOf(tokens))
		c := f.compact(t)
		f.check(t, c)
		h := c.Header
		sum := 0
		for _, m := range h.Missing {
			sum += m.Facts
		}
		if sum != h.KeyInformation.Recoverable || h.Verified != all || (h.Reason == "") != all {
			t.Errorf("%d tokens: missing %+v of %+v; verified %v, %q", tokens, h.Missing, h.KeyInformation, h.Verified, h.Reason)
		}
		missing := slices.ContainsFunc(h.Missing, func(m Missing) bool { return m.Kind == "asked" && m.Facts > 10 })
		if missing == all {
			t.Errorf("%d tokens: %+v", tokens, h.Missing)
		}
	}
}

func TestCompactionFailsOnOtherBytes(t *testing.T) {
	f := folding(t, day(10).buf.Bytes(), Defaults()) // a first compaction: the next one reads little
	bad := errors.New("disk on fire")
	if _, err := f.Compaction(func(transcript.Span) ([]byte, error) { return nil, bad }); !errors.Is(err, bad) {
		t.Errorf("err = %v, want the fetch's", err)
	}
	at := strings.Index(string(f.data), "Don't touch")
	f.data[at] ^= 1
	if _, err := f.Compaction(f.text()); err == nil || !strings.Contains(err.Error(), "changed since they were folded") {
		t.Errorf("err = %v for changed bytes", err)
	}
	f.data[at] ^= 1
	short := f.text()
	if _, err := f.Compaction(func(s transcript.Span) ([]byte, error) { b, _ := short(s); return b[:len(b)-1], nil }); err == nil {
		t.Error("a short read goes unnoticed")
	}
}

// Records that tell neither an ID nor a time may be the same bytes again and again. Their ranges then share an ID,
// which stands for each of them.
func TestEqualRangesShareTheirID(t *testing.T) {
	one := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"%s"}]}}` + "\n"
	pattern := ""
	for i := range 64 {
		pattern += fmt.Sprintf(one, fmt.Sprintf("Step %d of the loop is done. %s", i, strings.Repeat("It took its time. ", 40)))
	}
	data := []byte(strings.Repeat(pattern, 5))
	for _, tokens := range []int{72000, 13333, 2000} {
		f := folding(t, data, tokensOf(tokens))
		c := f.compact(t)
		f.check(t, c)
		if n := len(c.Pointers); n == 0 || strings.Contains(c.Header.Reason, "under no ID") {
			t.Errorf("%d tokens, %d pointers: %s", tokens, n, c.Header.Reason)
		}
	}
}
