package scorecard

import (
	"testing"
)

// green returns a card on which everything is visible.
func green() *Card {
	full := func(chars int) Grade {
		g := Grade{Chars: chars, Tokens: chars * 4 / 3, Classes: map[Class]Count{
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

// of returns a count of facts; those that are not visible are recoverable.
func of(facts, visible int) Count {
	return Count{Facts: facts, Visible: visible, Recoverable: facts - visible, Weight: float64(facts), Shown: float64(visible)}
}

func change(g *Grade, class Class, n Count) {
	classes := map[Class]Count{}
	for c, k := range g.Classes {
		classes[c] = k
	}
	classes[class] = n
	*g = Grade{Chars: g.Chars, Tokens: g.Tokens, Classes: classes, Traces: g.Traces}
	g.means()
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
	if empty := Sum(nil); empty.Sessions != 0 || empty.Saved != 100 || empty.Lost != 0 {
		t.Errorf("of no session: %+v", empty)
	}
	a.Companion.All.Lost, a.Saved = 3, 60
	if total := Sum([]*Card{a}); total.Lost != 3 || total.Saved != 60 {
		t.Errorf("%+v", total)
	}
}
