package scorecard

import (
	"strings"
	"testing"
)

// green is a card that reaches all that is due.
func green() *Card {
	full := func(chars int) Grade {
		g := Grade{Chars: chars, Tokens: chars * 4 / 3, Must: true, Classes: map[Class]Count{
			Asked: of(4, 4), Edited: of(2, 2), OpenErrors: of(1, 1), URLs: of(10, 10),
		}}
		g.means()
		return g
	}
	return &Card{
		Original: 200000, Saved: 80, ToolHeavy: true, Companion: full(20000),
		Stretches: []Stretch{{Size: 12000, Texts: map[string]Grade{CCD: full(12000), Half: full(6000), Injection: full(9000)}}},
	}
}

// of is a count of facts of which so many are visible, and the others recoverable.
func of(facts, visible int) Count {
	return Count{Facts: facts, Visible: visible, Recoverable: facts - visible, Weight: float64(facts), Shown: float64(visible)}
}

func change(g *Grade, class Class, n Count) {
	classes := map[Class]Count{}
	for c, k := range g.Classes {
		classes[c] = k
	}
	classes[class] = n
	*g = Grade{Chars: g.Chars, Tokens: g.Tokens, Must: g.Must, Classes: classes, Traces: g.Traces}
	g.means()
}

func TestRed(t *testing.T) {
	if red := green().Red(green().Due()); len(red) > 0 {
		t.Fatalf("a card that reaches everything is red: %q", red)
	}
	text := func(c *Card, name string) Grade { return c.Stretches[0].Texts[name] }
	for name, c := range map[string]struct {
		spoil func(*Card)
		want  string
	}{
		"the companion shows too little": {func(c *Card) { change(&c.Companion, URLs, of(10, 9)) }, "companion: 0.975"},
		"a message is missing": {func(c *Card) {
			change(&c.Companion, URLs, of(10, 10))
			change(&c.Companion, Asked, of(100, 99))
		}, "99 of 100 asked"},
		"an edited path is missing": {func(c *Card) { change(&c.Companion, Edited, of(100, 99)) }, "99 of 100 edited"},
		"an open error is missing":  {func(c *Card) { change(&c.Companion, OpenErrors, of(100, 99)) }, "99 of 100 open_errors"},
		"a fact is lost": {func(c *Card) {
			change(&c.Companion, URLs, Count{Facts: 1000, Visible: 999, Lost: 1, Weight: 1000, Shown: 999})
		}, "lost: 1"},
		"little is saved":       {func(c *Card) { c.Saved = 30 }, "saved"},
		"it is longer than all": {func(c *Card) { c.Original = 1000; c.Companion.Tokens = 2000 }, "longer than its session by 1000 tokens"},
		"the sized text shows less": {func(c *Card) {
			g := text(c, "ccd")
			change(&g, URLs, of(10, 7))
			c.Stretches[0].Texts["ccd"] = g
		}, "ccd: 0.925"},
		"half of it shows less": {func(c *Card) {
			g := text(c, "half")
			change(&g, URLs, of(10, 1))
			c.Stretches[0].Texts["half"] = g
		}, "half: 0.775"},
		"a fact is lost in one text": {func(c *Card) {
			g := text(c, "half")
			change(&g, URLs, Count{Facts: 1000, Visible: 999, Lost: 1, Weight: 1000, Shown: 999})
			c.Stretches[0].Texts["half"] = g
		}, "lost: 1"},
	} {
		card := green()
		c.spoil(card)
		if red := strings.Join(card.Red(green().Reached()), "; "); !strings.Contains(red, c.want) {
			t.Errorf("%s: %q, want %q in it", name, red, c.want)
		}
	}
}

func TestRedLeavesOutWhatCannotBe(t *testing.T) {
	c := green()
	change(&c.Companion, Asked, of(100, 99))
	c.Companion.Must = false
	if red := c.Red(c.Due()); len(red) > 0 {
		t.Errorf("messages that would fill the text are asked for: %q", red)
	}
	c = green()
	c.ToolHeavy, c.Saved = false, -1
	if red := c.Red(c.Due()); len(red) > 0 {
		t.Errorf("savings are asked of a session of talk: %q", red)
	}
}

func TestReached(t *testing.T) {
	card := func(hits int) *Card {
		c := green()
		c.Companion.Traces = map[Class]Count{Hits: of(10, hits)}
		return c
	}
	c := card(5)
	if red := c.Red(c.Reached()); len(red) > 0 {
		t.Errorf("a card does not reach what it reaches: %q", red)
	}
	worse := card(4)
	worse.Saved = 79
	if red := strings.Join(worse.Red(c.Reached()), "; "); red != "hits: 0.400, want 0.500; saved: 79.000, want 80.000" {
		t.Errorf("%q, want traces and savings", red)
	}
	if red := worse.Red(worse.Due()); len(red) > 0 {
		t.Errorf("traces are due of every session: %q", red)
	}
}

func TestSum(t *testing.T) {
	a, b := green(), green()
	b.Saved = 70
	change(&b.Companion, URLs, of(10, 8))
	total := Sum([]*Card{a, b})
	if got := total.Texts[Companion]; total.Sessions != 2 || total.Saved != 75 || got.Mean != 0.975 || got.Worst != 0.95 || total.Lost != 0 {
		t.Errorf("%+v", total)
	}
	if got := total.Classes[URLs]; got[Companion] != 0.9 || got[CCD] != 1 {
		t.Errorf("urls: %v", got)
	}
	if red := total.Red(); len(red) > 0 {
		t.Errorf("red: %q", red)
	}
	for name, floor := range floors {
		worse := Sum([]*Card{a})
		worse.Texts[name] = Spread{Mean: floor - 0.001}
		if red := strings.Join(worse.Red(), "; "); !strings.HasPrefix(red, name+": ") {
			t.Errorf("%s below its floor: %q", name, red)
		}
	}
	if red := Sum([]*Card{a}).Red(); len(red) > 0 {
		t.Errorf("red: %q", red)
	}
	if red := Sum(nil).Red(); len(red) > 0 {
		t.Errorf("no session is red: %q", red)
	}
	a.Companion.All.Lost, a.Saved = 3, 60
	if red := strings.Join(Sum([]*Card{a}).Red(), "; "); !strings.Contains(red, "lost: 3") || !strings.Contains(red, "median") {
		t.Errorf("red: %q", red)
	}
}
