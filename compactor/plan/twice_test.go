package plan_test

import (
	"strings"
	"testing"

	"ccd/compactor/plan"
)

// Sections of the tests: text in repeats may stand elsewhere too, and newest keeps its text.
const (
	talk = iota
	repeats
	newest
)

func may(u *plan.Unit) bool   { return u.Section == repeats }
func stays(u *plan.Unit) bool { return u.Section == newest }

// said is a unit of one level or more in a section.
func said(section int, worth float64, texts ...string) *plan.Unit {
	u := &plan.Unit{Section: section, Kind: texts[len(texts)-1], Form: func(level int) plan.Form { return plan.Form{Text: texts[level]} }}
	for range texts {
		u.Worth = append(u.Worth, worth)
	}
	return u
}

func TestDropRepeats(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("The wheel turns and the flour falls. ", 8)) + "\n"
	quoted := "> " + strings.ReplaceAll(strings.TrimSpace(long), ". ", ".\n>   ") + "\n"
	short := "The wheel turns.\n"
	must := func(u *plan.Unit) *plan.Unit { u.Must = true; return u }
	for _, c := range []struct {
		name       string
		one, other *plan.Unit
		found      bool
		left       [2]int // levels that each has left
	}{
		{"one says it", said(talk, 9, short, long), said(talk, 1, short), false, [2]int{2, 1}},
		{"a short text", said(talk, 9, short), said(talk, 1, short), false, [2]int{1, 1}},
		{"two say it", said(talk, 9, short, long), said(talk, 1, short, long), true, [2]int{2, 1}},
		{"worth decides", said(talk, 1, short, long), said(talk, 9, short, long), true, [2]int{1, 2}},
		{"quoted in other lines", said(talk, 9, long), said(talk, 1, short, "So:\n"+quoted), true, [2]int{1, 1}},
		{"in the middle of another", said(talk, 9, "It is so. "+long), said(talk, 1, short, "And so: "+long+"Done.\n"), true, [2]int{1, 1}},
		{"a section that may repeat", said(repeats, 9, short, long), said(talk, 1, short, long), false, [2]int{2, 2}},
		{"a section that stays", said(newest, 1, short, long), said(talk, 9, short, long), true, [2]int{2, 1}},
		{"two that stay", said(newest, 1, long), said(newest, 9, long), false, [2]int{1, 1}},
		{"what must stand", said(talk, 9, long), must(said(talk, 1, long)), false, [2]int{1, 1}},
		{"more than must stand", said(talk, 9, long), must(said(talk, 1, short, long)), true, [2]int{1, 1}},
		{"a single level", said(talk, 9, long), said(talk, 1, long), true, [2]int{1, 0}},
	} {
		units := []*plan.Unit{c.one, c.other}
		if got := plan.DropRepeats(choose(9000, units...), may, stays); got != c.found {
			t.Errorf("%s: found %v, want %v", c.name, got, c.found)
		}
		if got := [2]int{c.one.Levels(), c.other.Levels()}; got != c.left {
			t.Errorf("%s: %v levels are left, want %v", c.name, got, c.left)
		}
		if again := plan.DropRepeats(choose(9000, units...), may, stays); again {
			t.Errorf("%s: the next plan says it twice too", c.name)
		}
	}
}

// Of an excerpt all levels go: its shorter ones say the beginning of the same.
func TestDropRepeatsTakesExcerptsWhole(t *testing.T) {
	long := strings.Repeat("The wheel turns and the flour falls. ", 8) + "\n"
	u := said(talk, 1, "a line\n", "a part\n", long)
	u.Excerpt = 1
	if !plan.DropRepeats(choose(9000, said(talk, 9, long), u), may, stays) || u.Levels() != 1 {
		t.Errorf("%d levels are left, want 1", u.Levels())
	}
}
