package filter

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
)

// TestPatterns has a pattern keep what would be compressed or split, but no copy.
func TestPatterns(t *testing.T) {
	text := orchard("gate") + "\n```go\nfunc gate() bool { return open }\n```\n"
	o := filterOptions(func(o *Options) { o.KeepPatterns = []*regexp.Regexp{regexp.MustCompile(`b[xy] the g.te`)} })
	f := apply(listed(message("a", text), message("b", text), message("a", orchard("mill")+orchard("pond"))), o)
	for i, want := range []string{"duplicate", "pattern b[xy] the g.te", "prose"} {
		if f[i].Reason != want {
			t.Errorf("message %d: %v, %q, want %q", i, f[i].Action, f[i].Reason, want)
		}
	}
}

// left returns the chars of a filtered list.
func left(list []Message, fates []Fate, dropped []Run) (n int) {
	gone := map[int]bool{}
	for _, run := range dropped {
		n += dropChars
		for _, name := range run.Names {
			n += lexicon.Chars(name) + len(" | entities: ")
		}
		for i := run.From; i < run.To; i++ {
			gone[i] = true
		}
	}
	for i, m := range list {
		for _, p := range m.Texts {
			if f := fates[0]; !gone[i] && f.Into < 0 {
				n += lexicon.Chars(cmp.Or(f.Text, p.Text))
			}
			fates = fates[1:]
		}
		if !gone[i] {
			n += m.Rest
		}
	}
	return n
}

// TestBudgetOfAList has the steps by which a list is brought within a budget: the oldest texts are shortened, then the longest are cut, and
// then messages are dropped, those of persons last. A call goes with its result, and system messages stay.
func TestBudgetOfAList(t *testing.T) {
	trace := "Traceback (most recent call last)\n" + strings.Repeat(orchard("trace"), 9)
	paste := "The paste begins. " + strings.Repeat(orchard("paste"), 20) + "Why does stripe==9.12.0 fail?"
	list := listed(
		message("system", orchard("rule")), message("user", paste), message("assistant", strings.Repeat(orchard("gate"), 8)), message("assistant", strings.Repeat(orchard("mill"), 8)),
		message("assistant", ""), message("tool", trace), message("user", "And now? Is foo==1.2.3 fine?"), message("assistant", strings.Repeat(orchard("pond"), 8)),
		message("user", "Go on."), message("tool", trace+"x"), message("assistant", orchard("roof")),
	)
	list[4].Opens, list[4].Rest, list[4].Calls, list[5].Answers = []string{"c"}, 300, true, []string{"c"}
	o := filterOptions(nil)
	o.KeepRoles, o.Recent = []string{"system", "user"}, 3
	full := left(list, apply(list, Options{Recent: len(list)}), nil)
	for _, c := range []struct {
		budget  int
		actions string
	}{
		{full, "preserved preserved preserved preserved preserved preserved preserved preserved preserved preserved preserved"},
		{full - 1000, "preserved preserved compressed preserved preserved preserved preserved preserved preserved preserved preserved"},
		{full - 2000, "preserved preserved compressed compressed preserved preserved preserved preserved preserved preserved preserved"},
		{full - 4500, "preserved preserved compressed compressed preserved compressed preserved compressed preserved preserved preserved"},
		{8000, "preserved preserved compressed compressed preserved compressed preserved compressed preserved preserved preserved"},
		{5000, "preserved cut compressed compressed preserved compressed preserved compressed preserved preserved preserved"},
		{1800, "preserved cut dropped dropped dropped dropped preserved compressed preserved compressed preserved"},
		{900, "preserved dropped dropped dropped dropped dropped preserved dropped preserved dropped preserved"},
	} {
		o.Budget = c.budget
		fates, dropped := Apply(list, o)
		var actions []string
		for i, f := range fates {
			if slices.ContainsFunc(dropped, func(r Run) bool { return r.From <= i && i < r.To }) {
				f.Action = Dropped
			}
			actions = append(actions, f.Action.String())
		}
		if got := strings.Join(actions, " "); got != c.actions {
			t.Errorf("%d chars:\n%s, want\n%s", c.budget, got, c.actions)
		}
		if n := left(list, fates, dropped); n > c.budget {
			t.Errorf("%d chars of %d: %s", n, c.budget, actions)
		}
		if f := fates[1]; f.Action == Cut && !strings.HasSuffix(f.Text, "Why does stripe==9.12.0 fail?]") {
			t.Errorf("a paste loses its end: %s", f.Text)
		}
		if c.budget == 900 && !slices.Contains(dropped[0].Names, "stripe==9.12.0") {
			t.Errorf("the versions are gone: %q", dropped)
		}
	}
	o.Budget, o.Least = 1, 3
	if _, dropped := Apply(list, o); dropped[len(dropped)-1].To != 8 {
		t.Errorf("at least 3 stay: %v", dropped)
	}
}

// TestWhatPersonsSay: their messages stay, with what they answer and with short results; of a longer answer the end stays. The
// list's other roles, and results in their role, do not count.
func TestWhatPersonsSay(t *testing.T) {
	long := strings.Repeat(orchard("gate"), 12)
	list := listed(message("user", long), message("assistant", long+" A or B?"), message("user", "B."), message("assistant", strings.Repeat(long, 2)+" C or D?"), message("user", "D."),
		message("tool", long[:900]), message("user", long+" result"), message("assistant", long+" done"), message("user", "ok"))
	list[6].Texts[0].Kind = Result
	list[8].Texts[0].Kind = Result
	o := filterOptions(nil)
	for _, c := range []struct{ roles, reasons string }{
		{"system user", "role,answered,role,prose,role,short result,prose,prose,short"},
		{"system", "prose,prose,short,prose,short,prose,prose,prose,short"},
	} {
		o.KeepRoles = strings.Fields(c.roles)
		var reasons []string
		fates := apply(list, o)
		for _, f := range fates {
			reasons = append(reasons, f.Reason)
		}
		if got := strings.Join(reasons, ","); got != c.reasons {
			t.Errorf("%s: %s, want %s", c.roles, got, c.reasons)
		}
		if tail := strings.HasSuffix(fates[3].Text, "under the trees. C or D?"); tail != (c.roles != "system") {
			t.Errorf("%s: %s", c.roles, fates[3].Text)
		}
	}
}

// TestLittleIsNotWorthIt: a summary that saves less than 40 chars or a tenth is not made; markers of other engines stay.
func TestLittleIsNotWorthIt(t *testing.T) {
	for text, want := range map[string]string{
		orchard("gate"): "reverted", orchard("gate") + orchard("mill"): "prose", "[summary: " + orchard("gate") + orchard("mill") + "]": "marker",
		"[summary#m3: " + orchard("gate") + orchard("mill") + "]": "marker", "[truncated, 900 chars: " + orchard("gate") + orchard("mill") + "]": "marker",
	} {
		if f := apply(listed(message("a", text)), filterOptions(nil))[0]; f.Reason != want {
			t.Errorf("%.30q: %v, %q, want %q", text, f.Action, f.Reason, want)
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
		f := apply(listed(message("a", text)), o)[0]
		n := lexicon.Chars(f.Text)
		if f.Action != Compressed || n >= last || n > limits.SummaryChars(lexicon.Chars(text), o.SummaryChars, o.LongCap)*percent/30+lexicon.Chars("[ccd 0123456789ab summary: ] | entities: ") {
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
		first := apply(again, o)
		superseded := 0
		for i, f := range first {
			if f.Action == Contradicted {
				superseded++
			}
			if f.Text != "" {
				again[i].Texts = []Piece{{Text: f.Text, ID: "0123456789ab"}}
			}
		}
		if superseded != 1 || first[2].Reason != "correction" {
			t.Errorf("named %t: %d superseded, the correction is %v, %q", named, superseded, first[2].Action, first[2].Reason)
		}
		for i, f := range apply(again, o) {
			if f.Text != "" || i == 2 && f.Reason != "correction" {
				t.Errorf("named %t, again: message %d is %v, %q", named, i, f.Action, f.Reason)
			}
		}
	}
}
