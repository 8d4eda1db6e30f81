package compactor

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/compactor/unit"
)

// plenty is a budget that no session here fills.
const plenty = 1 << 22

// TestOrderWhenRulesMeet has for rules that meet a case in which the first must win.
func TestOrderWhenRulesMeet(t *testing.T) {
	s := newScript()
	s.human("First of all: " + strings.Repeat("count the cents. ", 10))
	s.fails("make ledger", "ledger.c:7: error: unknown account", 2)
	for i := range 120 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("building unit %d\n", i), 60))
	}
	s.human("At last: " + strings.Repeat("keep them whole. ", 10))
	s.bash("cat tail", strings.Repeat(strings.Repeat("a young line ", 8)+"\n", 20))
	for tokens, newest := range map[int]int{4000: 0, 72000: 20} {
		f := folding(t, s.buf.Bytes(), tokensOf(tokens))
		c := f.compact(t)
		f.check(t, c)
		// Human messages and open problems before the budget's other parts, the budget before Recent; where there is room,
		// Recent before strategies by age and size: the newest output stands as it is, though it is a long one.
		wants(t, c.all(), "> First of all: count", "> At last: keep", "unknown account")
		if n := strings.Count(c.section("Recent"), "> a young line "); n != newest {
			t.Errorf("%d tokens: %d lines of the newest output stand, want %d", tokens, n, newest)
		}
	}
}

// A level given by hand cuts the compression zone; one by pressure leaves what is said of messages as it is.
func TestLevelsSetTheShare(t *testing.T) {
	s := remarks(300)
	told := func(level Level) (chars, of int) {
		o := tokensOf(plenty)
		o.Level = level
		f := folding(t, s.buf.Bytes(), o)
		c := f.compact(t)
		f.check(t, c)
		from, to := f.Rows()
		for i := from; i < to; i++ {
			if row := f.Row(i); row.Record() < c.Verbatim {
				of += int(row.Chars)
			}
		}
		return lexicon.Chars(c.section("Conversation")), of
	}
	last := plenty
	for _, c := range []struct {
		level Level
		most  float64
	}{{Gentle, 0.30}, {Standard, 0.20}, {Aggressive, 0.10}, {Maximum, 0.05}} {
		left, of := told(c.level)
		if float64(left) > c.most*float64(of)+400 || float64(left) < c.most*float64(of)/2 {
			t.Errorf("%v: %d chars for %d, want about %.0f %%", c.level, left, of, 100*c.most)
		}
		if left >= last {
			t.Errorf("%v: %d chars, %d at the level before", c.level, left, last)
		}
		last = left
	}
}

// The highest pressure so far sets a level, which shortens excerpts and results.
func TestLevelsByPressure(t *testing.T) {
	work := func(used int64) *Compaction {
		s := newScript()
		s.used = used
		s.human("Go on.")
		for i := range 12 {
			s.do("WebFetch", map[string]any{"url": fmt.Sprintf("https://example.org/%d", i), "prompt": "what"}, strings.Repeat(fmt.Sprintf("Finding %d is a long story of its own. ", i), 60))
		}
		s.later()
		o := tokensOf(plenty)
		o.Off = []string{"score"}
		return folding(t, s.buf.Bytes(), o).compact(t)
	}
	gentle, again, maximum := work(20000), work(30000), work(195000)
	if gentle.Header.Level != Gentle || maximum.Header.Level != Maximum {
		t.Fatalf("levels are %v and %v", gentle.Header.Level, maximum.Header.Level)
	}
	if a, b := gentle.section("Conversation"), again.section("Conversation"); a != b {
		t.Error("the control: another pressure of the same level is told otherwise")
	}
	if a, b := lexicon.Chars(gentle.section("Conversation")), lexicon.Chars(maximum.section("Conversation")); b >= a {
		t.Errorf("the hardest level tells as much in %d chars as the gentlest in %d", b, a)
	}
	if a, b := strings.Count(gentle.all(), "\n- #"), strings.Count(maximum.all(), "\n- #"); a != b {
		t.Errorf("the hardest level tells of %d calls, the gentlest of %d", b, a)
	}
}

// whole is the length of the session where every item stands whole.
func (f *folded) whole() int {
	return lexicon.Chars(unit.Whole(unit.NewSource(f.Fold, f.o, &unit.Memory{}, f.text())))
}

func TestTinySessionsStandWhole(t *testing.T) {
	s := newScript()
	s.human("What is 2+2?")
	s.say("4.")
	f := folding(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	if len(c.Sections) != 1 || c.Sections[0].Name != "Recent" || !c.Header.Verified {
		t.Fatalf("sections = %+v, want Recent alone: %s", c.Sections, c.Header.Reason)
	}
	wants(t, c.all(), "> What is 2+2?", "> 4.")
	if n := lexicon.Chars(c.all()); n > int(f.HeldTotal())+f.o.LeadChars {
		t.Errorf("%d chars for items of %d", n, f.HeldTotal())
	}
}

func TestSizeGuardHoldsOverGrowth(t *testing.T) {
	s := newScript()
	s.human("Please count the cents of the invoices, all of them, one by one.")
	for i := range 30 {
		s.bash(fmt.Sprintf("cat %d", i), fmt.Sprintf("%d cents", i))
		s.say(fmt.Sprintf("Invoice %d has %d cents.", i, i))
		f := folding(t, s.buf.Bytes(), Defaults())
		c := f.compact(t)
		f.check(t, c)
		if n, whole := lexicon.Chars(c.all()), f.whole(); n > whole+f.o.LeadChars {
			t.Errorf("round %d: %d chars, the items stand in %d", i, n, whole)
		}
	}
}

func TestEmptySessions(t *testing.T) {
	for _, text := range []string{"", "\n\n", "{}\n", "{\"type\":\"summary\",\"summary\":\"x\"}\n"} {
		f := folding(t, []byte(text), Defaults())
		c := f.compact(t)
		f.check(t, c)
		if len(c.Sections) != 0 || !c.Header.Verified {
			t.Errorf("%q: %+v", text, c)
		}
	}
}
