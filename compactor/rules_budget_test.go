package compactor

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// TestShares has the parts of the text's budget: State at most 60 % from 40,000 chars up, nearly all at 10,000.
func TestShares(t *testing.T) {
	for _, c := range []struct{ chars, state, recent, files int }{
		{54000, 32400, 40, 25}, {40000, 24000, 40, 25}, {25000, 19625, 20, 17}, {10000, 9700, 0, 10}, {4000, 3880, 0, 10},
	} {
		s := divided(c.chars)
		if near := func(a, b int) bool { return a-b < 5 && b-a < 5 }; !near(s.state, c.state) || s.recent != c.recent || s.files != c.files {
			t.Errorf("%d chars are divided into %+v, want State %d, Recent %d %%, Files %d %%", c.chars, s, c.state, c.recent, c.files)
		}
	}
}

// As the budget shrinks Recent gives way first, then Earlier, then Files, State last.
func TestWhatGivesWayFirst(t *testing.T) {
	data := day(60).buf.Bytes()
	sizes := func(tokens int) (state, earlier, files, recent int) {
		f := fold(t, data, tokensOf(tokens))
		c := f.compact(t)
		f.check(t, c)
		return lexicon.Chars(c.section("State")), lexicon.Chars(c.section("Earlier")), lexicon.Chars(c.section("Files")), lexicon.Chars(c.section("Recent"))
	}
	share := func(part, whole int) float64 { return float64(part) / float64(whole) }
	state, earlier, files, recent := sizes(72000)
	s, e, fi, r := sizes(26000)
	if share(r, recent) >= share(e, earlier) || share(r, recent) >= share(s, state) {
		t.Errorf("in little room: State %d of %d, Earlier %d of %d, Files %d of %d, Recent %d of %d", s, state, e, earlier, fi, files, r, recent)
	}
	s, e, fi, r = sizes(10000)
	if share(e, earlier) >= share(s, state) || share(fi, files) >= share(s, state) || share(r, recent) > 0.1 {
		t.Errorf("in least room: State %d of %d, Earlier %d of %d, Files %d of %d, Recent %d of %d", s, state, e, earlier, fi, files, r, recent)
	}
}

// What the rules would keep whole is cut to its beginning where there is no room, and counted.
func TestForcedFit(t *testing.T) {
	text := "Traceback (most recent call last)\n" + strings.Repeat("and then it went on and on, as such things do. ", 120)
	s := newScript()
	s.human("What is it?")
	s.say(text)
	s.say("That is all.")
	s.later()
	line, c := earlierLine(t, s, 2, tokensOf(40000))
	_, cutText, ok := strings.Cut(line, fmt.Sprintf(" cut, %d chars: ", lexicon.Chars(text)))
	if !ok || lexicon.Chars(cutText) > maxCut+10 || !strings.HasPrefix(cutText, "Traceback (most recent call last) and then") {
		t.Errorf("the line is %s", line)
	}
	found := false
	for _, f := range c.Header.Fallbacks {
		found = found || f.Kind == FallbackFit && f.Items > 0
	}
	if !found {
		t.Errorf("it is not counted: %+v", c.Header.Fallbacks)
	}
}

// What replaces an item in Earlier is shorter than the item, markers included.
func TestWhatReplacesIsShorter(t *testing.T) {
	for name, s := range map[string]*script{"day": day(60), "everything": everything(), "remarks": remarks(80)} {
		for _, tokens := range []int{72000, 30000, 13333} {
			f := fold(t, s.buf.Bytes(), tokensOf(tokens))
			d := newDraft(f.Compactor, f.text())
			kinds := map[string]int{}
			for _, c := range d.fitted().earlier.lines {
				if c.form.kind == "" || c.form.kind == "kept" || c.form.kind == "image" {
					continue
				}
				if kinds[c.form.kind]++; c.form.saved <= 0 {
					t.Errorf("%s, %d tokens: %s saves %d chars of %d: %s", name, tokens, c.form.kind, c.form.saved, c.chars, c.line)
				}
			}
			if len(kinds) == 0 && tokens == 72000 {
				t.Errorf("%s, %d tokens: nothing is replaced", name, tokens)
			}
		}
	}
}

// A reference stands only where the newer copy itself stands in the companion.
func TestCopiesNeedAnOriginal(t *testing.T) {
	out := strings.Repeat("the same output of it\n", 100)
	s := newScript()
	s.human("Print it.")
	s.bash("cat one", out)
	s.bash("cat two", out)
	s.later()
	f := fold(t, s.buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	const older, newer = 2, 4
	if _, ok := d.copyOf(older); ok {
		t.Error("a reference to what does not stand")
	}
	d.show(newer)
	if at, ok := d.copyOf(older); !ok || at != d.row(newer).record() {
		t.Errorf("a reference to #%d: %t", at, ok)
	}
	if _, ok := d.copyOf(newer); ok {
		t.Error("the newest copy refers to itself")
	}
	f.o.Dedup = false
	if _, ok := d.copyOf(older); ok {
		t.Error("a reference where copies are not looked for")
	}
}

// Reads of one file count as copies of each other, whatever they gave.
func TestRepeatedReadsAreRedundant(t *testing.T) {
	s := newScript()
	s.human("Read it.")
	for i := range 4 {
		s.read("/home/me/ledger/money.py", strings.Repeat(fmt.Sprintf("cents = %d\n", i), 60))
	}
	s.read("/home/me/ledger/other.py", strings.Repeat("other = 1\n", 60))
	s.later()
	f := fold(t, s.buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	var got []int
	for _, c := range d.candidates(d.last) {
		if d.row(c.unit.first).op == transcript.Read {
			got = append(got, c.copies)
		}
	}
	if fmt.Sprint(got) != "[0 0 1 2 3]" {
		t.Errorf("newest first, the reads are followed by %v others of their files", got)
	}
}

// The numbers of the front matter: before, after, and what was saved of what the agent saw.
func TestTokensAreCounted(t *testing.T) {
	s := day(40)
	s.line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "none", "content": "short"}}},
		map[string]any{"toolUseResult": map[string]any{"stdout": strings.Repeat("a copy for the screen ", 10000)}})
	s.used = 61234
	s.say("Done.")
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	var chars int64
	for i := range f.rows.n {
		chars += int64(f.rows.at(i).chars)
	}
	n := c.Header.Tokens
	body := 0
	for _, sec := range c.Sections {
		body += lexicon.Chars(sec.Body) + len(sec.Name) + len("\n##  \n\n")
	}
	if n.Original != tokens(chars) || chars > int64(len(f.data)-200000) || n.Companion != int64(tokens(body+f.o.LeadChars)) || n.Reported != 61234 {
		t.Errorf("tokens %+v; the items have %d chars, the sections %d", n, chars, body)
	}
	if want := 100 * (1 - float64(n.Companion)/float64(n.Original)); n.SavedPercent < want-0.1 || n.SavedPercent > want+0.1 {
		t.Errorf("%.1f %% saved, want %.1f", n.SavedPercent, want)
	}
}

// Work matters by what it did.
func TestWorkMattersByWhatItDid(t *testing.T) {
	s := newScript()
	s.human("Work.")
	s.fails("make broken", "error: no", 2)
	s.do("Task", map[string]any{"description": "look", "prompt": "look"}, "seen")
	s.bash("make noisy", "main.c:3: Error: but it went on")
	s.edit("/home/me/ledger/a.go", "a", "b")
	s.bash("make", "fine")
	s.do("Grep", map[string]any{"pattern": "x"}, "a.go:1: x")
	f := fold(t, s.buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	for row, want := range map[int32]float64{2: 0.5, 4: 0.4, 6: 0.3, 8: 0.2, 10: 0.15, 12: 0} {
		if got := d.workImportance(d.row(row)); got != want {
			t.Errorf("the result of #%d has importance %.2f, want %.2f", row+1, got, want)
		}
	}
}

// A form that lacks what must never be elided gives way to the original, and is counted.
func TestFormsThatFailStandWhole(t *testing.T) {
	s := newScript()
	s.human("Make it.")
	s.fails("make all", "cc -c main.c\nmain.c:3: error: unknown type name 'foo'", 2)
	f := fold(t, s.buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	c := &candidate{unit: unit{first: 1, result: 2}}
	good := form{line: "- #2 Bash `make all` -> 2: `main.c:3: error: unknown type name 'foo'`", kind: "output"}
	if got := d.checked(c, good, full); got != good || len(d.fell.all()) != 0 {
		t.Errorf("a form that holds all became %+v, %v", got, d.fell.all())
	}
	for name, line := range map[string]string{
		"no status": "- #2 Bash `make all`: `main.c:3: error: unknown type name 'foo'`",
		"no error":  "- #2 Bash `make all` -> 2: cc -c main.c [ccd 0123456789ab output, 2 lines, 60 B]",
	} {
		d.fell = fallbacks{}
		got := d.checked(c, form{line: line, kind: "output"}, full)
		if !strings.Contains(got.line, " -> 2") || !strings.Contains(got.quote, "> main.c:3: error: unknown type name 'foo'\n") {
			t.Errorf("%s: %+v", name, got)
		}
		if fell := d.fell.all(); len(fell) != 1 || fell[0] != (Fallback{FallbackVerify, 1}) {
			t.Errorf("%s: counted as %v", name, fell)
		}
	}
}

// A word in focus adds 0.6 to the importance of what holds it, up to 1.
func TestFocusAddsImportance(t *testing.T) {
	s := newScript()
	s.human("Work.")
	s.bash("cat tariff", "the tariff of the ferry")
	s.fails("make tariff", "error: no tariff", 2)
	importance := func(focus ...string) (plain, failed float64) {
		f := fold(t, s.buf.Bytes(), *ruled(func(o *Options) { o.Focus = focus }))
		d := newDraft(f.Compactor, f.text())
		return d.importance(2), d.importance(4)
	}
	plain, failed := importance()
	focused, most := importance("ferry", "tariff")
	if got := focused - plain; got < 0.599 || got > 0.601 || failed >= 1 || most != 1 {
		t.Errorf("focus adds %.3f; with a failure %.2f becomes %.2f", got, failed, most)
	}
}
