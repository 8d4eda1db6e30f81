package scorecard

import (
	"slices"
	"testing"

	"ccd/internal/mark"
)

// held returns a context with these records of a log.
func (l *log) held(records ...int) *Context {
	var c Context
	for r := range l.records() {
		for i := range r.Items {
			if slices.Contains(records, r.N) {
				c.Hold(&r.Items[i])
			}
		}
	}
	return &c
}

func (l *log) fact(t *testing.T, class Class) Fact {
	t.Helper()
	for one := range l.facts().All() {
		if one.Class == class {
			return one
		}
	}
	t.Fatalf("no fact of %s", class)
	return Fact{}
}

// A context shows the facts of the items that it has whole, and those that its texts show. The rule is that of grades,
// except for short messages.
func TestContextShows(t *testing.T) {
	for name, c := range map[string]struct {
		class Class
		make  func(*log) []int // the records in the context
		want  bool
	}{
		"itself":                   {Asked, func(l *log) []int { l.human("Grind the rye."); return []int{1} }, true},
		"nothing":                  {Asked, func(l *log) []int { l.human("Grind the rye."); return nil }, false},
		"quoted in a summary":      {Asked, func(l *log) []int { l.human("Grind the rye."); l.say("> Grind\n> the rye."); return []int{2} }, true},
		"escapes stand as written": {Asked, func(l *log) []int { l.human(`Grind \x41 rye.`); l.say(`Grind A rye.`); return []int{2} }, false},
		"a word in another":        {Asked, func(l *log) []int { l.human("go"); l.say("The goat is going."); return []int{2} }, false},
		"the same word":            {Asked, func(l *log) []int { l.human("go"); l.say("Then: go."); return []int{2} }, true},
		"call and result":          {Commands, func(l *log) []int { l.fails("make rye", "no water"); return []int{1, 2} }, true},
		"another call":             {Commands, func(l *log) []int { l.fails("make rye", "no"); l.fails("make oats", "no"); return []int{3, 4} }, false},
		"said in other words":      {Commands, func(l *log) []int { l.fails("make rye", "no"); l.say("make rye ended with exit 1"); return []int{3} }, true},
		"with another status": {Commands, func(l *log) []int {
			l.fails("make rye", "no")
			l.bash("make rye", "ok")
			l.say("make rye -> 1")
			return []int{5}
		}, false},
		"an equal call": {Commands, func(l *log) []int {
			l.bash("make rye", "ok")
			l.bash("make oats", "ok")
			l.bash("make rye", "ok")
			return []int{5}
		}, true},
		"a file's name in a call's path": {Edited, func(l *log) []int {
			l.file("Edit", "src/wheel.go")
			l.say("I changed /home/me/mill/src/wheel.go.")
			return []int{3}
		}, true},
	} {
		l := newLog()
		records := c.make(l)
		if got := l.held(records...).Shows(l.fact(t, c.class)); got != c.want {
			t.Errorf("%s: shown %v, want %v", name, got, c.want)
		}
	}
}

// Each fact names its newest original, and a command also its last output.
func TestPlaces(t *testing.T) {
	l := newLog().human("Mill all flour with grindRye.").say("All flour is milled with grindRye.").bash("make", "one").say("So.").fails("make", "error: no water")
	ids := map[int]mark.ID{}
	for r := range l.records() {
		for i := range r.Items {
			ids[r.N] = mark.Sum(r.Items[i].Raw).ID()
		}
	}
	for class, want := range map[Class][2]int{
		Asked: {1, 0}, Identifiers: {2, 0}, Commands: {6, 7}, Errors: {7, 0}, OpenErrors: {7, 0}, Outcomes: {6, 7},
	} {
		one := l.fact(t, class)
		if one.Record != want[0] || one.ID != ids[want[0]] || one.Output != ids[want[1]] {
			t.Errorf("%s: #%d %s, output %q, want #%d %s, %q", class, one.Record, one.ID, one.Output, want[0], ids[want[0]], ids[want[1]])
		}
	}
}

// All yields exactly the facts that a grade counts.
func TestAllIsWhatIsGraded(t *testing.T) {
	l := newLog().human("Mill all flour with grindRye at https://mill.example, some 300kg.").file("Edit", "a.go").fails("make", "error: dry").say("I decided to keep rather than sell the worn stone, v1.2.3.")
	f, n := l.facts(), map[Class]int{}
	for one := range f.All() {
		n[one.Class]++
	}
	for class, c := range f.Grade("", nil).Classes {
		if n[class] != c.Facts || c.Facts == 0 {
			t.Errorf("%s: %d facts, %d graded", class, n[class], c.Facts)
		}
		delete(n, class)
	}
	if len(n) > 0 {
		t.Errorf("not graded: %v", n)
	}
}
