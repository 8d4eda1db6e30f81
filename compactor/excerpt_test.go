package compactor

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddresses(t *testing.T) {
	if got := address(`https://example.org/a?b=c#d"},{"title":"E`); got != "https://example.org/a?b=c#d" {
		t.Errorf("address = %q", got)
	}
}

func TestHitsOfASearch(t *testing.T) {
	for _, c := range []struct {
		name, text string
		hits       int
		said       string
	}{
		{"nothing", "", 0, ""},
		{"hits with what surrounds them", "a/b.go-11-x\na/b.go:12:float\na/b.go-13-y\n--\nc.go:7:float - 1-2-3\n", 2, ""},
		{"another root in front of it", "b.go:12:float\n/home/me/a/b.go-13-y\n", 1, ""},
		{"of a single file", "3-x\n4:float\n5-y\n", 1, ""},
		{"names with dates", "docs/2026-01-07-plan.md\ndocs/2026-02-01-next.md\n", 2, ""},
		{"what surrounds a hit in a file with a date", "docs/2026-01-07-plan.md:3:x\ndocs/2026-01-07-plan.md-4-y\n", 1, ""},
		{"the tool counts", "Found 29 files\na.go\nb.go\n", 2, "Found 29 files"},
		{"a name like a count", "/a/3 files\nb\n", 2, ""},
	} {
		hits, said := hitsOf(c.text)
		if len(hits) != c.hits || said != c.said {
			t.Errorf("%s: %q, %q", c.name, hits, said)
		}
	}
}

func TestSignals(t *testing.T) {
	for _, c := range []struct {
		text                  string
		correction, constrain bool
	}{
		{"no, keep it integer", true, true},
		{"Nope. That is wrong.", true, false},
		{"I know nothing about it", false, false},
		{"Don't touch the schema", true, true},
		{"don’t use floats", true, true},
		{"use Decimal instead of float", true, false},
		{"It must be exact", false, true},
		{"mustard is fine", false, false},
		{"please add a test", false, false},
	} {
		if got := isCorrection(c.text); got != c.correction {
			t.Errorf("isCorrection(%q) = %v", c.text, got)
		}
		if got := isConstraint(c.text); got != c.constrain {
			t.Errorf("isConstraint(%q) = %v", c.text, got)
		}
	}
}

func TestPlainCommand(t *testing.T) {
	for cmd, want := range map[string]string{
		"make all":                          "make all",
		" cd /x && make all 2>&1 | tail -5": "make all",
		"make all | head -n 3 | tail -1":    "make all",
		"make a || tail -f x":               "make a || tail -f x",
		"cd /x":                             "cd /x",
		"grep x f | sort":                   "grep x f | sort",
		"a | tailor":                        "a | tailor",
	} {
		if got := plainCommand(cmd); got != want {
			t.Errorf("plainCommand(%q) = %q, want %q", cmd, got, want)
		}
	}
}

func TestRangesAreCutAtFixedCounts(t *testing.T) {
	for _, c := range []struct {
		to   int
		want []stretch
	}{
		{0, nil},
		{5, []stretch{{0, 5}}},
		{64, []stretch{{0, 64}}},
		{65, []stretch{{0, 64}, {64, 65}}},
		{512 + 70, []stretch{{0, 512}, {512, 576}, {576, 582}}},
		{4096 + 512, []stretch{{0, 4096}, {4096, 4608}}},
	} {
		if d := cmp.Diff(c.want, cut(c.to, block), cmp.AllowUnexported(stretch{})); d != "" {
			t.Errorf("cut(%d): %s", c.to, d)
		}
	}
	if n := len(cut(1<<20, block)); n > 60 {
		t.Errorf("a million records in %d ranges", n)
	}
	for _, to := range []int{1, 63, 64, 700, 5000, 300000} {
		old, now := cut(to, block), cut(to+1, block)
		at := 0
		for _, s := range now {
			if s.from != at {
				t.Fatalf("cut(%d) has a gap at %d", to+1, at)
			}
			at = s.to
		}
		// What no longer is a range of its own became part of a larger one: the ends of ranges stay.
		for _, s := range old[:len(old)-1] {
			if !slices.ContainsFunc(now, func(n stretch) bool { return n == s || n.from <= s.from && n.to >= s.to }) {
				t.Errorf("cut(%d): the range %v is torn", to+1, s)
			}
		}
	}
}

func TestTableEvictsTheLeastRecentlyTouched(t *testing.T) {
	tab := newTable[int, string](3)
	for _, k := range []int{1, 2, 3, 1, 4} {
		*tab.touch(k) += "x"
	}
	if tab.get(2) != nil || tab.len() != 3 || tab.evicted != 1 {
		t.Errorf("2 is still there, or %d entries, %d evicted", tab.len(), tab.evicted)
	}
	tab.remove(3)
	var got []string
	for _, v := range tab.newestFirst() {
		got = append(got, *v)
	}
	if d := cmp.Diff([]string{"x", "xx"}, got); d != "" {
		t.Error(d)
	}
	var n names
	for i := range maxNames + 5 {
		n.number("tool " + string(rune('a'+i%26)) + strings.Repeat("x", i/26))
	}
	if len(n.list) != maxNames || n.name(0) != "tool" || n.name(1) != "tool a" {
		t.Errorf("%d names, %q, %q", len(n.list), n.name(0), n.name(1))
	}
}
