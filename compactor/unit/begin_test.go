package unit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/compactor/plan"
)

// busy is a session whose Recent shows reads, edits, outputs and messages.
func busy() *journal {
	j := newJournal()
	for i := range 120 {
		j.say(fmt.Sprintf("Target %d comes next, which the tariff of line %d needs. ", i, i) + strings.Repeat(fmt.Sprintf("It has %d parts. ", i), i%20))
		j.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("unit %d\n", i), 5+i*7%90))
		j.read(fmt.Sprintf("/home/me/ledger/f%d.go", i%5), strings.Repeat("cents = 1\n", 1+i%40))
		j.do("Grep", map[string]any{"pattern": "cents"}, strings.Repeat(fmt.Sprintf("f%d.go:%d: cents = 1 of this and that\n", i, i), 6+i%17), false)
		j.fails(fmt.Sprintf("make broken%d", i), strings.Repeat("line\n", i%9)+"error: no")
	}
	return j
}

// A set whose Recent begins later has the units that All makes for that beginning.
func TestRecentBeginsLater(t *testing.T) {
	o := limits.Defaults()
	w, room := busy().writer(o), plan.Room{Most: 10 * o.Budget()}
	_, end := w.f.Records()
	if len(w.starts) < 20 {
		t.Fatalf("Recent has %d levels", len(w.starts))
	}
	for _, rec := range []int{end, w.starts[0], w.starts[5], w.starts[len(w.starts)/2], w.starts[len(w.starts)-1]} {
		w := busy().writer(o)
		set := w.set()
		plan.Choose(set.Units, room, lexicon.Chars)
		later, ok := set.BeginRecent(rec)
		if !ok {
			t.Fatal("the units are not settled")
		}
		anew := All(w.Source, Reader{Room: o.Budget(), Size: lexicon.Chars, Begin: rec}, nil)
		if got, want := chosenOf(later, room), chosenOf(anew, room); !slices.Equal(got, want) {
			t.Fatalf("from record %d on: %d forms are chosen, want %d; the first that differs:\n%s", rec, len(got), len(want), firstOf(got, want))
		}
		if got, want := unitsOf(later), unitsOf(anew); !slices.Equal(got, want) {
			t.Fatalf("from record %d on: %d units, want %d; the first that differs:\n%s", rec, len(got), len(want), firstOf(got, want))
		}
	}
}

func firstOf(got, want []string) string {
	for n := range min(len(got), len(want)) {
		if got[n] != want[n] {
			return got[n] + "\nwant\n" + want[n]
		}
	}
	return ""
}

// chosenOf prints a plan.
func chosenOf(s *Set, room plan.Room) (all []string) {
	for _, c := range plan.Choose(s.Units, room, lexicon.Chars).Chosen {
		all = append(all, fmt.Sprintf("%d %d %d %d %+v", c.Section, c.Turn, c.Order, c.Level, c.Text))
	}
	return all
}

// unitsOf prints units as a plan sees them.
func unitsOf(s *Set) (all []string) {
	for _, u := range s.Units {
		said := fmt.Sprintln(s.Until, u.Section, u.Turn, u.Order, u.Kind, u.Seen, u.Must, u.Pool != nil, u.Levels(), u.Worth, u.Excerpt)
		for level := range u.Worth {
			said += fmt.Sprintf("%+v\n", u.Form(level))
		}
		all = append(all, said)
	}
	return all
}

// Plans of one text make each form once, also if Recent begins later: only the content of files and lines that change their
// length are made again, and those of what Recent no longer shows are new.
func TestFormsAreMadeOnce(t *testing.T) {
	o := limits.Defaults()
	w := busy().writer(o)
	made, again := map[string]int{}, 0
	count := func(units []*plan.Unit) {
		for _, u := range units {
			form := u.Form
			u.Form = func(level int) plan.Form {
				at := fmt.Sprint(u.Section, u.Turn, u.Order, u.Kind, level)
				if made[at]++; made[at] > 1 && u.Section != Files {
					again++
				}
				return form(level)
			}
		}
	}
	set := w.set()
	count(set.Units)
	for range 3 {
		plan.Choose(set.Units, plan.Room{Most: o.Budget()}, lexicon.Chars)
	}
	first := len(made)
	next, _ := set.BeginRecent(w.starts[len(w.starts)/2])
	plan.Choose(next.Units, plan.Room{Most: o.Budget()}, lexicon.Chars)
	if first < 100 || again > first/20 {
		t.Errorf("%d forms, %d of them made again", first, again)
	}
}
