package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/plan"
)

// line is a text of so many bytes that begins with a name.
func line(name string, n int) string {
	return name + strings.Repeat("x", max(0, n-len(name)-1)) + "\n"
}

// unit has a level for each worth, each of so many bytes more than the one before.
func unit(name string, step int, worth ...float64) *plan.Unit {
	return &plan.Unit{Kind: name, Worth: worth, Form: func(level int) plan.Form {
		return plan.Form{Text: line(fmt.Sprintf("%s/%d ", name, level), step*(level+1))}
	}}
}

// choose fills a room without a frame, and with room for excerpts.
func choose(room int, units ...*plan.Unit) plan.Plan {
	return plan.Choose(units, plan.Room{Most: room, Excerpts: room}, func(s string) int { return len(s) })
}

// chosen is what a plan holds, as name/level.
func chosen(p plan.Plan) string {
	var all []string
	for _, c := range p.Chosen {
		all = append(all, fmt.Sprintf("%s/%d", c.Kind, c.Level))
	}
	return strings.Join(all, " ")
}

func TestChoose(t *testing.T) {
	must := func(u *plan.Unit) *plan.Unit { u.Must = true; return u }
	at := func(u *plan.Unit, section, turn, order int) *plan.Unit {
		u.Section, u.Turn, u.Order = section, turn, order
		return u
	}
	says := func(texts ...string) *plan.Unit {
		return &plan.Unit{Kind: "says", Worth: make([]float64, len(texts)), Form: func(level int) plan.Form { return plan.Form{Text: texts[level]} }}
	}
	for _, c := range []struct {
		name  string
		room  int
		units []*plan.Unit
		want  string
	}{
		{"nothing to say", 1000, nil, ""},
		{"no room", 0, []*plan.Unit{unit("a", 100, 1)}, ""},
		{"all fits", 1000, []*plan.Unit{unit("a", 100, 1, 1), unit("b", 100, 9)}, "a/1 b/0"},
		{"what is worth most", 350, []*plan.Unit{unit("a", 200, 1), unit("b", 200, 9)}, "b/0"},
		{"the first of equals", 350, []*plan.Unit{unit("a", 200, 1), unit("b", 200, 1)}, "a/0"},
		{"what still fits", 350, []*plan.Unit{unit("a", 300, 9), unit("b", 200, 8), unit("c", 40, 1)}, "a/0 c/0"},
		{"a second level is worth its own", 350, []*plan.Unit{unit("a", 100, 9, 8, 2), unit("b", 100, 7, 3)}, "a/1 b/0"},
		{"a must before a second level", 350, []*plan.Unit{unit("a", 100, 9, 8, 8), must(unit("b", 100, 1))}, "a/1 b/0"},
		{"without it the second level", 350, []*plan.Unit{unit("a", 100, 9, 8, 8), unit("b", 100, 1)}, "a/2"},
		{"the order of the text", 1000, []*plan.Unit{
			at(unit("a", 10, 1), 2, 0, 0), at(unit("b", 10, 9), 1, 2, 0), at(unit("c", 10, 5), 1, 1, 7), at(unit("d", 10, 5), 1, 1, 3), at(unit("e", 10, 5), 1, 1, 7),
		}, "d/0 c/0 e/0 b/0 a/0"},
		{"a level that gains nothing", 1000, []*plan.Unit{says("", "then this\n")}, "says/1"},
		{"none gains anything", 1000, []*plan.Unit{says("", "")}, ""},
		{"the last gains nothing", 1000, []*plan.Unit{says("this\n", "")}, "says/0"},
	} {
		p := choose(c.room, c.units...)
		if got := chosen(p); got != c.want {
			t.Errorf("%s: chose %q, want %q", c.name, got, c.want)
		}
		if len(p.Chosen)+len(p.Left) != len(c.units) {
			t.Errorf("%s: %d units are chosen and %d left of %d", c.name, len(p.Chosen), len(p.Left), len(c.units))
		}
	}
}

// random makes units that no session has, the same for the same seed.
func random(seed uint64) []*plan.Unit {
	r := rand.New(rand.NewPCG(seed, 1))
	pools := []*plan.Pool{nil, nil, {Most: func(room int) int { return room / 3 }}, {Most: func(int) int { return 900 }}}
	var all []*plan.Unit
	for i := range 10 + r.IntN(150) {
		u := &plan.Unit{Section: r.IntN(4), Turn: r.IntN(5), Order: r.IntN(9), Kind: fmt.Sprint(i), Must: r.IntN(4) == 0, Pool: pools[r.IntN(len(pools))]}
		n, sizes := 0, make([]int, 1+r.IntN(4))
		for k := range sizes {
			n += 10 + r.IntN(400)
			sizes[k] = n
			u.Worth = append(u.Worth, float64(r.IntN(20)))
		}
		if r.IntN(4) == 0 {
			u.Excerpt = r.IntN(len(sizes))
		}
		gone := r.IntN(12)
		u.Form = func(level int) plan.Form {
			if level == gone {
				return plan.Form{}
			}
			return plan.Form{Text: line(u.Kind+" ", sizes[level])}
		}
		all = append(all, u)
	}
	return all
}

// less names a unit of which a plan says more than another plan of the same units.
func less(small, large plan.Plan) string {
	for _, c := range small.Chosen {
		if i := slices.IndexFunc(large.Chosen, func(o *plan.Choice) bool { return o.Unit == c.Unit }); i < 0 || large.Chosen[i].Level < c.Level {
			return c.Kind
		}
	}
	return ""
}

// TestChooseHoldsItsLaws has what is chosen fit, and stand in twice the room too: of rooms over 1000, which are halved.
func TestChooseHoldsItsLaws(t *testing.T) {
	other := 0
	for seed := range uint64(60) {
		units := random(seed)
		var before, first plan.Plan
		for room := 1100; room < 50000; room *= 2 {
			size := func(s string) int { return len(s) }
			p := plan.Choose(units, plan.Room{Most: room, Frame: 100, Excerpts: 5000}, size)
			n, pooled := 0, map[*plan.Pool]int{}
			for _, c := range p.Chosen {
				n += size(c.Text)
				if c.Pool != nil && c.Excerpt == 0 {
					pooled[c.Pool] += size(c.Text)
				}
			}
			if n != p.Used || n > max(0, room-100) {
				t.Fatalf("seed %d, room %d: %d are used, the plan says %d", seed, room, n, p.Used)
			}
			for pool, n := range pooled {
				if n > pool.Most(room-100) {
					t.Errorf("seed %d, room %d: a pool of %d holds %d", seed, room, pool.Most(room-100), n)
				}
			}
			if name := less(before, p); name != "" {
				t.Errorf("seed %d: %s is said in %d and not, or less of it, in %d", seed, name, room/2, room)
			}
			if room == 1100 {
				first = p
			} else if less(p, first) != "" {
				other++
			}
			before = p
		}
	}
	if other == 0 {
		t.Error("the control: a small room says all that a large one does")
	}
}
