package prose

import (
	"regexp"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
)

// TestPatterns has a pattern keep what would be compressed or split, but no copy.
func TestPatterns(t *testing.T) {
	text := orchard("gate") + "\n```go\nfunc gate() bool { return open }\n```\n"
	o := filterOptions(func(o *Options) { o.KeepPatterns = []*regexp.Regexp{regexp.MustCompile(`b[xy] the g.te`)} })
	f := Filter(listed(message("a", text), message("b", text), message("a", orchard("mill"))), o)
	for i, want := range []string{"duplicate", "pattern b[xy] the g.te", "T3"} {
		if f[i].Reason != want {
			t.Errorf("message %d: %v, %q, want %q", i, f[i].Action, f[i].Reason, want)
		}
	}
}

// TestShortLeadsStayAlone: a message too short for the summary of those that follow is left to itself; the next one that
// is long enough carries it.
func TestShortLeadsStayAlone(t *testing.T) {
	f := Filter(listed(message("a", orchard("gate")[:180]), message("a", strings.Repeat(orchard("mill"), 3)), message("a", orchard("pond"))), filterOptions(nil))
	if f[0].Into >= 0 || f[1].Into >= 0 || f[2].Into != 1 || f[1].Text == "" {
		t.Errorf("%+v", f)
	}
	if n := lexicon.Chars(f[1].Text); n >= 3*lexicon.Chars(orchard("mill")) || !strings.Contains(f[1].Text, "(2 messages merged)") {
		t.Errorf("%d chars: %s", n, f[1].Text)
	}
}

// TestBudgetOfAList has a list that fits, one that fits with a smaller window, and one of which the longest text is cut.
func TestBudgetOfAList(t *testing.T) {
	var texts []entry
	for _, what := range []string{"gate", "mill", "pond", "barn", "roof", "door"} {
		texts = append(texts, message(what, strings.Repeat(orchard(what), 4)))
	}
	trace := "Traceback (most recent call last)\n" + strings.Repeat(orchard("trace"), 9)
	texts[1].Text = trace
	chars := 0
	for _, m := range texts {
		chars += lexicon.Chars(m.Text)
	}
	for _, c := range []struct {
		name   string
		budget int
		kept   int // of the newest
		trace  Action
	}{
		{"it fits", chars, 6, Preserved},
		{"all but the oldest", chars - 200, 5, Preserved},
		{"all but four", chars - 1500, 2, Preserved},
		{"the longest is cut", chars / 3, 0, Cut},
	} {
		o := filterOptions(nil)
		o.Recent, o.Budget = 4, c.budget
		f, left := Filter(listed(texts...), o), 0
		for i, x := range f {
			n := lexicon.Chars(texts[i].Text)
			if x.Text != "" {
				n = lexicon.Chars(x.Text)
			}
			if left += n; (x.Text == "") != (i >= 6-c.kept || i == 1 && c.trace == Preserved) {
				t.Errorf("%s: message %d is %v, %q", c.name, i, x.Action, x.Reason)
			}
		}
		if left > c.budget || f[1].Action != c.trace {
			t.Errorf("%s: %d chars of %d, the trace is %v", c.name, left, c.budget, f[1].Action)
		}
		if c.trace == Cut && !strings.Contains(f[1].Text, "cut, ") {
			t.Errorf("%s: %s", c.name, f[1].Text)
		}
	}
	o := filterOptions(nil)
	o.Budget, o.Least = 1, 3
	for i, x := range Filter(listed(texts...), o) {
		if (x.Text == "") != (i >= 3) {
			t.Errorf("at least 3: message %d is %v, %q", i, x.Action, x.Reason)
		}
	}
}

// TestLevelsOfAList has the part of a text that its summary may have.
func TestLevelsOfAList(t *testing.T) {
	text := strings.Repeat(orchard("gate")+"\n\n", 1) + strings.Repeat(orchard("mill")+"\n\n", 1) + strings.Repeat(orchard("pond")+" ", 4)
	last := lexicon.Chars(text)
	for _, percent := range []int{30, 20, 10, 5} {
		o := filterOptions(nil)
		o.Percent = percent
		f := Filter(listed(message("a", text)), o)[0]
		n := lexicon.Chars(f.Text)
		if f.Action != Compressed || n >= last || n > Budget(lexicon.Chars(text), o.SummaryChars, o.LongCap)*percent/30+lexicon.Chars("[ccd 0123456789ab summary: ] | entities: ") {
			t.Errorf("%d %%: %d chars, %v", percent, n, f.Action)
		}
		last = n
	}
}

// A correction that has superseded a text stays, and supersedes no other, also when the list is filtered again.
func TestCorrectionsStayDone(t *testing.T) {
	list := listed(message("a", orchard("gate")), message("a", orchard("gate")+" It was so."), message("b", "No, not the gate: "+orchard("gate")), message("a", orchard("mill")))
	for _, named := range []bool{true, false} {
		o := filterOptions(func(o *Options) { o.Contradictions, o.Dedup = true, false })
		again := make([]Message, len(list))
		for i := range list {
			again[i] = list[i]
			if !named {
				again[i].ID = ""
			}
		}
		first := Filter(again, o)
		superseded := 0
		for i, f := range first {
			if f.Action == Contradicted {
				superseded++
			}
			if f.Text != "" {
				again[i].Texts = []Piece{{f.Text, "0123456789ab"}}
			}
		}
		if superseded != 1 || first[2].Reason != "correction" {
			t.Errorf("named %t: %d superseded, the correction is %v, %q", named, superseded, first[2].Action, first[2].Reason)
		}
		for i, f := range Filter(again, o) {
			if f.Text != "" || i == 2 && f.Reason != "correction" {
				t.Errorf("named %t, again: message %d is %v, %q", named, i, f.Action, f.Reason)
			}
		}
	}
}
