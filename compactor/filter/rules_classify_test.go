package filter

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// orchard is prose that no rule keeps, told apart by a word.
func orchard(word string) string {
	return "We walked by the " + word + " in the evening and sat down for a while. Nobody was there, and so it was quiet. " +
		"Later it rained a little, and we went home by the other way, which is longer but dry under the trees."
}

// ruled are the options under which a case of the rules is decided.
func ruled(change func(*Options)) Options {
	o := shipped()
	if change != nil {
		change(&o)
	}
	return o
}

func message(role, s string) entry { return entry{role: role, Piece: Piece{Text: s}} }

// decided are the decisions of the rules on texts that were not yet looked at.
func decided(all []entry, o Options) []Decision {
	list := make([]*entry, len(all))
	for i := range all {
		list[i] = &all[i]
		all[i].shape, all[i].chars = shapeOf(all[i].Text), lexicon.Chars(all[i].Text)
	}
	return decide(list, o)
}

// listed is a list of messages as the filter sees them, each named by its place.
func listed(texts ...entry) (list []Message) {
	for i, t := range texts {
		list = append(list, Message{Role: t.role, ID: fmt.Sprintf("m%d", i), Texts: []Piece{{Text: t.Text, ID: mark.Sum([]byte(t.Text)).ID()}}})
	}
	return list
}

// apply is Apply without what was dropped.
func apply(list []Message, o Options) []Fate {
	fates, _ := Apply(list, o)
	return fates
}

// filterOptions are those of the filter as shipped, but for the window.
func filterOptions(change func(*Options)) Options {
	return ruled(func(o *Options) {
		o.KeepRoles, o.Percent = []string{"system"}, 30
		if change != nil {
			change(o)
		}
	})
}

// TestWhatNoRuleTouches has the messages of a list that stay whatever they say.
func TestWhatNoRuleTouches(t *testing.T) {
	calls := listed(message("assistant", orchard("gate")))
	calls[0].Calls = true
	system, recent, tools := filterOptions(nil), filterOptions(nil), filterOptions(nil)
	recent.Recent = 1
	tools.KeepRoles = []string{"tool"}
	focus := filterOptions(nil)
	focus.Focus = []string{"evening"}
	for _, c := range []struct {
		name   string
		list   []Message
		o      Options
		action Action
		reason string
	}{
		{"1 role system", listed(message("system", orchard("gate"))), system, Preserved, "role"},
		{"1 another role", listed(message("developer", orchard("gate")+orchard("mill"))), system, Compressed, "prose"},
		{"1 another list of roles", listed(message("system", orchard("gate")+orchard("mill"))), tools, Compressed, "prose"},
		{"1 before 2", listed(message("system", orchard("gate"))), recent, Preserved, "role"},
		{"2 recent", listed(message("user", orchard("gate"))), recent, Preserved, "recent"},
		{"2 no longer recent", listed(message("user", orchard("gate")+orchard("mill")), message("user", "ok")), recent, Compressed, "prose"},
		{"3 tool calls", calls, system, Preserved, "tool call"},
		{"focus", listed(message("assistant", orchard("gate"))), focus, Preserved, "focus"},
		{"user is an ordinary role", listed(message("user", orchard("gate")+orchard("mill"))), system, Compressed, "prose"},
	} {
		if f := apply(c.list, c.o)[0]; f.Action != c.action || f.Reason != c.reason {
			t.Errorf("%s: %v, %q, want %v, %q", c.name, f.Action, f.Reason, c.action, c.reason)
		}
	}
}

// TestThirteenRules has one case for each rule, and beside it one that the rule just does not hold for.
func TestThirteenRules(t *testing.T) {
	fence := "\n```go\nfunc gate() bool { return open }\n```\n"
	long := func(n int) string { return strings.Repeat("x", n-1) + "." }
	marker := message("assistant", "[ccd 0123456789ab cut, 900 chars: "+orchard("gate")+"]")
	weighty := message("assistant", orchard("gate"))
	weighty.importance = 0.65
	keeps := func(o *Options) { o.KeepImportance = 0.65 }
	corrects := func(o *Options) { o.Contradictions = true }
	dull := message("assistant", orchard("gate"))
	dull.importance = 0.64
	for _, c := range []struct {
		name   string
		change func(*Options)
		all    []entry
		action Action
		reason string
	}{
		{"4 short", nil, []entry{message("assistant", long(119))}, Preserved, "short"},
		{"4 no longer short", nil, []entry{message("assistant", orchard("gate")[:120])}, Compressed, "prose"},
		{"5 our marker in a plain list", nil, []entry{marker}, Preserved, "marker"},
		{"6 important", keeps, []entry{weighty}, Preserved, "importance 0.65"},
		{"6 less important", keeps, []entry{dull}, Compressed, "prose"},
		{"6 off", nil, []entry{weighty}, Compressed, "prose"},
		{"7 duplicate", nil, []entry{message("assistant", orchard("gate")), message("user", orchard("gate"))}, Deduped, "duplicate"},
		{"7 off", func(o *Options) { o.Dedup = false }, []entry{message("assistant", orchard("gate")), message("user", orchard("gate"))}, Compressed, "prose"},
		{"8 superseded", corrects, []entry{message("assistant", orchard("gate")), message("user", "No, not the gate: "+orchard("gate"))}, Contradicted, "No"},
		{"8 off", nil, []entry{message("assistant", orchard("gate")), message("user", "No, not the gate: "+orchard("gate"))}, Compressed, "prose"},
		{"9 code and prose", nil, []entry{message("assistant", orchard("gate")+fence)}, Split, "code"},
		{"10 code, less prose", nil, []entry{message("assistant", "Do it so, with care."+fence+"```go\n"+long(200)+"\n```")}, Preserved, "code"},
		{"11 hard reason", nil, []entry{message("assistant", orchard("gate")+"\nTraceback (most recent call last)\n")}, Preserved, "hard: traceback"},
		{"12 JSON", nil, []entry{message("assistant", `{"gate": "`+orchard("gate")+`"}`)}, Preserved, "hard: json"},
		{"13 the rest", nil, []entry{message("assistant", orchard("gate"))}, Compressed, "prose"},
	} {
		if d := decided(c.all, ruled(c.change))[0]; d.Action != c.action || d.Reason != c.reason {
			t.Errorf("%s: %v, %q, want %v, %q", c.name, d.Action, d.Reason, c.action, c.reason)
		}
	}
}

// TestFirstRuleWins has texts that two rules hold for, in the order of the rules.
func TestFirstRuleWins(t *testing.T) {
	o := ruled(func(o *Options) { o.KeepImportance, o.Contradictions, o.NearDedup = 0.65, true, true })
	trace := "\nTraceback (most recent call last)\n"
	fence := "\n```go\nfunc gate() bool { return open }\n```\n"
	copied := message("assistant", orchard("gate")+trace)
	weighty := copied
	weighty.importance = 0.9
	kept := weighty
	kept.kept = "recent"
	secret := message("assistant", orchard("gate")+" It has [redacted token 1] set."+fence)
	for _, c := range []struct {
		name   string
		all    []entry
		action Action
		reason string
	}{
		{"2 before 6", []entry{kept, copied}, Preserved, "recent"},
		{"6 before 7", []entry{weighty, copied}, Preserved, "importance 0.90"},
		{"7 before 8", []entry{message("assistant", orchard("gate")), message("assistant", orchard("gate")), message("user", "No, not the gate: "+orchard("gate"))}, Deduped, "duplicate"},
		{"7 before 11", []entry{copied, copied}, Deduped, "duplicate"},
		{"8 before 9", []entry{message("assistant", orchard("gate")+fence), message("user", "Instead, "+orchard("gate"))}, Contradicted, "Instead"},
		{"9 before 11", []entry{message("assistant", orchard("gate")+trace+fence)}, Split, "code"},
		{"a secret before 9", []entry{secret}, Preserved, "hard: secret"},
	} {
		if d := decided(c.all, o)[0]; d.Action != c.action || d.Reason != c.reason {
			t.Errorf("%s: %v, %q, want %v, %q", c.name, d.Action, d.Reason, c.action, c.reason)
		}
	}
}

// TestRunsAreBroken has what parts the messages that are merged: whatever is not compressed itself, another role, and
// what says more than a text.
func TestRunsAreBroken(t *testing.T) {
	fence := "\n```go\nfunc gate() bool { return open }\n```\n"
	a, b := message("assistant", strings.Repeat(orchard("gate"), 2)), message("assistant", strings.Repeat(orchard("mill"), 2))
	for name, c := range map[string]struct {
		between entry
		into    []int // of the messages
	}{
		"nothing":    {message("assistant", orchard("pond")), []int{-1, 0, 0}},
		"role":       {message("user", orchard("pond")), []int{-1, -1, -1}},
		"kept":       {message("assistant", "Short."), []int{-1, -1, -1}},
		"split":      {message("assistant", orchard("pond")+fence), []int{-1, -1, -1}},
		"dup":        {message("assistant", b.Text), []int{-1, -1, -1}},
		"superseded": {message("assistant", orchard("barn")), []int{-1, -1, -1, -1}},
		"lone":       {message("assistant", orchard("pond")), []int{-1, -1, -1}},
	} {
		list := listed(a, c.between, b)
		o := filterOptions(func(o *Options) { o.Contradictions = name == "superseded" })
		switch name {
		case "superseded":
			list = append(list, listed(message("user", "No, not the barn: "+orchard("barn")))[0])
		case "lone":
			list[1].Lone = true
		}
		for i, f := range apply(list, o) {
			if f.Into != c.into[i] {
				t.Errorf("%s: message %d is in %d, want %d", name, i, f.Into, c.into[i])
			}
		}
	}
}
