package compactor

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// zone is the verbatim zone of a session as its text alone makes it, without a budget.
func zone(t *testing.T, s *script, change func(*Options)) (f *folded, d *draft, start int) {
	t.Helper()
	f = fold(t, s.buf.Bytes(), *ruled(change))
	d = newDraft(f.Compactor, f.text())
	return f, d, d.recentStart(math.MaxInt32)
}

// from is the chars and the messages of the records from one on.
func (f *folded) from(rec int) (chars int64, messages int) {
	for i := range f.rows.n {
		if row := f.rows.at(i); int(row.rec) >= rec {
			chars += int64(row.chars)
			if row.has(opens) {
				messages++
			}
		}
	}
	return chars, messages
}

func TestNewestShareStaysVerbatim(t *testing.T) {
	s := newScript()
	s.human("Tell me about the orchard.")
	for i := range 200 {
		s.at = s.at.Add(10 * time.Minute)
		s.say(fmt.Sprintf("Tree %d. ", i) + strings.Repeat("It stands by the wall. ", 20))
	}
	for _, share := range []float64{0.30, 0.10, 0.60} {
		f, _, start := zone(t, s, func(o *Options) { o.RecentShare = share })
		all, _ := f.from(0)
		chars, _ := f.from(start)
		if got := float64(chars) / float64(all); got < share || got > share+0.1 {
			t.Errorf("share %.2f: %.2f of the text stays", share, got)
		}
	}
}

func TestLastMessagesStayVerbatim(t *testing.T) {
	s := newScript()
	s.human("Tell me about the orchard.")
	for range 60 {
		s.at = s.at.Add(10 * time.Minute)
		s.say(strings.Repeat("It stands by the wall. ", 20))
	}
	for _, n := range []int{5, 9} {
		f, _, start := zone(t, s, func(o *Options) { o.RecentShare, o.RecentMessages = 0, n })
		if _, got := f.from(start); got < n || got > 2*n {
			t.Errorf("%d messages stay, want %d", got, n)
		}
	}
	// What the agent no longer holds is in the zone only to make up that number.
	s.boundary()
	s.say("One.")
	f, _, start := zone(t, s, func(o *Options) { o.RecentShare = 1 })
	if _, got := f.from(start); start >= f.held.start || got > 10 {
		t.Errorf("%d messages stay behind a boundary, from record %d on; it stands at %d", got, start, f.held.start)
	}
}

func TestYoungResultsStayVerbatim(t *testing.T) {
	s := newScript()
	s.human("Build all.")
	for i := range 100 {
		s.bash(fmt.Sprintf("make target%d", i), "built")
	}
	within := func(limit time.Duration) int {
		f, _, start := zone(t, s, func(o *Options) { o.RecentShare, o.RecentMessages, o.RecentResults = 0, 1, limit })
		return f.records.n - start
	}
	// Records are 7 seconds apart.
	if n := within(5 * time.Minute); n < 42 || n > 60 {
		t.Errorf("%d records of the last 5 minutes stay", n)
	}
	if n := within(0); n > 5 {
		t.Errorf("without that limit %d records stay", n)
	}
	s.line("user", map[string]any{"role": "user", "content": "And then?"}, map[string]any{"timestamp": nil})
	if n := within(5 * time.Minute); n > 5 {
		t.Errorf("behind a record without a time %d records stay", n)
	}
}

// A call and its result are shown together, wherever the zones part.
func TestPairsAreNeverParted(t *testing.T) {
	s := newScript()
	s.human("Build all.")
	for i := range 40 {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		s.call(a, "Bash", map[string]any{"command": "make " + a})
		s.call(b, "Bash", map[string]any{"command": "make " + b})
		s.result(b, "the end of "+b, false)
		s.result(a, "the end of "+a, false)
	}
	for budget := 3000; budget < 9000; budget += 500 {
		f := fold(t, s.buf.Bytes(), tokensOf(budget))
		c := f.compact(t)
		f.check(t, c)
		for _, part := range []string{c.section("Earlier"), c.section("Recent")} {
			for i := range 40 {
				for _, x := range []string{"a", "b"} {
					call := strings.Contains(part, fmt.Sprintf("Bash `make %s%d`", x, i))
					result := strings.Contains(part, fmt.Sprintf("the end of %s%d\n", x, i))
					if call != result {
						t.Fatalf("%d tokens: call %s%d stands: %t, its result: %t, in\n%s", budget, x, i, call, result, part)
					}
				}
			}
		}
	}
}

// TestOrderWhenRulesMeet has for each two rules that meet a case in which the first must win.
func TestOrderWhenRulesMeet(t *testing.T) {
	s := newScript()
	s.human("First of all: " + strings.Repeat("count the cents. ", 10))
	s.fails("make ledger", "ledger.c:7: error: unknown account", 2)
	for i := range 120 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("building unit %d\n", i), 60))
	}
	s.human("At last: " + strings.Repeat("keep them whole. ", 10))
	s.bash("cat tail", strings.Repeat(strings.Repeat("a young line ", 8)+"\n", 28))
	sections := func(tokens int) *Compaction {
		f := fold(t, s.buf.Bytes(), tokensOf(tokens))
		c := f.compact(t)
		f.check(t, c)
		return c
	}
	// Human messages before open errors, open errors before the budget's other parts, the budget before Recent.
	small := sections(2000)
	wants(t, small.section("State"), "First of all: count", "At last: keep", "unknown account")
	if n := lexicon.Chars(small.section("Recent")); n > 400 {
		t.Errorf("Recent has %d chars where State has no room", n)
	}
	// Recent before strategies by age and size: the newest output stands as it is, though it is a long one.
	wide := sections(72000)
	if n := strings.Count(wide.section("Recent"), "> a young line "); n != 28 {
		t.Errorf("%d of 28 lines of the newest output stand", n)
	}
	// Strategies by age before microcompact: an old read is replaced, though it is one of the newest three results.
	s = newScript()
	s.human("Read it.")
	s.read("/home/me/ledger/old.py", strings.Repeat("old = 1\n", 60))
	s.at = s.at.Add(2 * time.Hour)
	for i := range 80 {
		s.say(fmt.Sprintf("Remark %d. ", i) + strings.Repeat("There is a word to say about it. ", 10))
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	row := int32(2)
	if row < d.keep || d.age(d.row(row)) < f.o.FileAge.Milliseconds() {
		t.Fatalf("row %d is no old result among the newest: %+v", row, d.row(row))
	}
	if d.stands(row, detail{whole: true}) {
		t.Error("an old file's content stands because it is one of the newest results")
	}
}

// remarks is a session of so many remarks in long lines, each unlike the others.
func remarks(n int) *script {
	s := newScript()
	s.human("Tell me about the orchard.")
	for i := range n {
		s.at = s.at.Add(10 * time.Minute)
		var b strings.Builder
		fmt.Fprintf(&b, "Tree %d is of sort %d, and the keeper of row %d decided in year %d that it stays.", i, i%37, i/9, 1900+i%99)
		for j := range 25 {
			fmt.Fprintf(&b, " It has %d apples on branch %d.", i*7+j, j)
		}
		s.say(b.String())
	}
	return s
}

// A session says how hard it is compacted: by the highest pressure, or by hand.
func TestLevelsSetTheShare(t *testing.T) {
	s := remarks(300)
	last := 1 << 30
	for _, c := range []struct {
		level Level
		most  float64
	}{{Gentle, 0.30}, {Standard, 0.20}, {Aggressive, 0.10}, {Maximum, 0.05}} {
		f := fold(t, s.buf.Bytes(), *ruled(func(o *Options) { o.Level, o.MaxTokens, o.Off = c.level, 1<<20, []string{"merge"} }))
		d := newDraft(f.Compactor, f.text())
		p := d.fitted()
		left, of := lexicon.Chars(p.earlier.text), d.zoneChars(p.recent.start)
		if float64(left) > c.most*float64(of)+100 {
			t.Errorf("%v: Earlier has %d chars for %d, over %.0f %%", c.level, left, of, 100*c.most)
		}
		if left >= last {
			t.Errorf("%v: Earlier has %d chars, %d at the level before", c.level, left, last)
		}
		last = left
	}
}

// The levels begin at 0.60, 0.75 and 0.90, and take 70, 80, 90 and 95 % off.
func TestLevelBoundaries(t *testing.T) {
	for pressure, want := range map[float64]Level{0: Gentle, 0.599: Gentle, 0.60: Standard, 0.749: Standard, 0.75: Aggressive, 0.899: Aggressive, 0.90: Maximum, 2: Maximum} {
		c := New(Defaults(), transcript.Session{})
		c.gauge.highest = pressure
		if got := c.level(); got != want {
			t.Errorf("at a pressure of %.3f the level is %v, want %v", pressure, got, want)
		}
	}
	for level, want := range map[Level]float64{Gentle: 0.70, Standard: 0.80, Aggressive: 0.90, Maximum: 0.95} {
		if got := level.off(); got != want {
			t.Errorf("%v takes %.2f off, want %.2f", level, got, want)
		}
	}
}

// The smallest of three targets holds: the level's share, 60 % of the text, the budget.
func TestSmallestOfThreeTargets(t *testing.T) {
	for _, c := range []struct {
		name   string
		rounds int
		tokens int
		target string
	}{{"the text", 5, 72000, "text"}, {"the budget", 200, 13333, "budget"}, {"the level", 100, 1 << 20, "level"}} {
		s := day(c.rounds)
		if c.target == "level" {
			s = remarks(300)
		}
		f := fold(t, s.buf.Bytes(), *ruled(func(o *Options) {
			if o.MaxTokens = c.tokens; c.target == "level" {
				o.Level, o.Off = Maximum, []string{"merge"}
			}
		}))
		d := newDraft(f.Compactor, f.text())
		p := d.fitted()
		n := p.runes()
		sixty, level := int(f.held.total*6/10), int((1-d.level.off())*float64(d.zoneChars(p.recent.start)))
		if n > f.o.budget() || n > sixty || lexicon.Chars(p.earlier.text) > level+100 {
			t.Errorf("%s: %d chars; the budget is %d, 60 %% are %d, the level leaves %d to Earlier", c.name, n, f.o.budget(), sixty, level)
		}
		near := map[string]bool{"text": n > sixty/2, "budget": n > f.o.budget()*8/10, "level": lexicon.Chars(p.earlier.text) > level/3}
		if !near[c.target] {
			t.Errorf("%s is not what holds: %d chars; the budget is %d, 60 %% are %d, Earlier has %d of %d", c.name, n, f.o.budget(), sixty, lexicon.Chars(p.earlier.text), level)
		}
	}
}

// Where there is nothing but talk that no rule shortens, the companion is written all the same and says so.
func TestTalkOnlyIsWrittenUnverified(t *testing.T) {
	s := newScript()
	for i := range 12 {
		s.human(fmt.Sprintf("What of tree %d? %s", i, strings.Repeat("I would like to know all of it. ", 6)))
		s.say("It grows.")
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	if c.Header.Verified || !strings.Contains(c.Header.Reason, "over 60 %") || len(c.Sections) == 0 {
		t.Errorf("verified %t, %q, %d sections", c.Header.Verified, c.Header.Reason, len(c.Sections))
	}
}

// Age and importance enter the score in powers of two: one more record moves few items.
func TestScoreInBuckets(t *testing.T) {
	s := newScript()
	s.say("Once.")
	f := fold(t, s.buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	begin := d.now
	for _, c := range []struct {
		age  time.Duration
		want int64
	}{{0, 1}, {14 * time.Minute, 1}, {15 * time.Minute, 2}, {29 * time.Minute, 2}, {30 * time.Minute, 4}, {time.Hour, 8}, {90 * time.Minute, 8}, {100000 * time.Hour, 4096}} {
		d.now = begin + c.age.Milliseconds()
		if got := d.ageOf(d.row(0)); got != c.want {
			t.Errorf("an age of %v counts %d, want %d", c.age, got, c.want)
		}
	}
	if d.now = begin - 1; d.age(d.row(0)) != 0 {
		t.Errorf("an age of %d ms is below 0", d.age(d.row(0)))
	}
	for importance, want := range map[float64]int64{0: 1, 0.2: 1, 0.25: 2, 0.5: 2, 0.75: 4, 1: 4} {
		if got := scale(importance); got != want {
			t.Errorf("importance %.2f counts %d, want %d", importance, got, want)
		}
	}
	// Records without a time are older than every limit.
	s.line("assistant", map[string]any{"role": "assistant", "id": "m", "content": []any{map[string]any{"type": "text", "text": "When?"}}}, map[string]any{"timestamp": nil})
	f = fold(t, s.buf.Bytes(), Defaults())
	d = newDraft(f.Compactor, f.text())
	if d.age(d.row(1)) < (1000 * time.Hour).Milliseconds() {
		t.Errorf("a record without a time is %d ms old", d.age(d.row(1)))
	}
}
