package compactor

import (
	"strings"
	"testing"

	"ccd/internal/transcript"
)

// orchard is prose that no rule keeps, told apart by a word.
func orchard(word string) string {
	return "We walked by the " + word + " in the evening and sat down for a while. Nobody was there, and so it was quiet. " +
		"Later it rained a little, and we went home by the other way, which is longer but dry under the trees."
}

// ruled are the options under which a case of the rules is decided.
func ruled(change func(*Options)) *Options {
	o := Defaults()
	if change != nil {
		change(&o)
	}
	return &o
}

func message(role, text string) talk {
	return talk{role: role, row: -1, kind: transcript.Text, text: text}
}

// TestThirteenRules has one case for each rule, and beside it one that the rule just does not hold for.
func TestThirteenRules(t *testing.T) {
	fence := "\n```go\nfunc gate() bool { return open }\n```\n"
	long := func(n int) string { return strings.Repeat("x", n-1) + "." }
	system, recent, calls, human := message("system", orchard("gate")), message("assistant", orchard("gate")), message("assistant", orchard("gate")), message("user", orchard("gate"))
	recent.recent, calls.toolCall, human.kind = true, true, transcript.Human
	marker := message("assistant", "[ccd 0123456789ab cut, 900 chars: "+orchard("gate")+"]")
	listed := marker
	listed.plain = true
	weighty := message("assistant", orchard("gate"))
	weighty.importance = 0.65
	keeps := func(o *Options) { o.KeepImportance = 0.65 }
	corrects := func(o *Options) { o.Contradictions = true }
	dull := message("assistant", orchard("gate"))
	dull.importance = 0.64
	for _, c := range []struct {
		name   string
		change func(*Options)
		all    []talk
		action action
		reason string
	}{
		{"1 role system", nil, []talk{system}, preserved, "role"},
		{"1 another role", nil, []talk{message("developer", orchard("gate"))}, compressed, "prose"},
		{"2 recent zone", nil, []talk{recent}, preserved, "recent"},
		{"3 tool calls", nil, []talk{calls}, preserved, "tool call"},
		{"human", nil, []talk{human}, preserved, "human"},
		{"4 short", nil, []talk{message("assistant", long(119))}, preserved, "short"},
		{"4 no longer short", nil, []talk{message("assistant", orchard("gate")[:120])}, compressed, "prose"},
		{"5 our marker in a plain list", nil, []talk{listed}, preserved, "marker"},
		{"5 in a transcript it is content", nil, []talk{marker}, compressed, "prose"},
		{"6 important", keeps, []talk{weighty}, preserved, "importance 0.65"},
		{"6 less important", keeps, []talk{dull}, compressed, "prose"},
		{"6 off", nil, []talk{weighty}, compressed, "prose"},
		{"7 duplicate", nil, []talk{message("assistant", orchard("gate")), message("user", orchard("gate"))}, deduped, "duplicate"},
		{"7 off", func(o *Options) { o.Dedup = false }, []talk{message("assistant", orchard("gate")), message("user", orchard("gate"))}, compressed, "prose"},
		{"8 superseded", corrects, []talk{message("assistant", orchard("gate")), message("user", "No, not the gate: "+orchard("gate"))}, contradicted, "negation"},
		{"8 off", nil, []talk{message("assistant", orchard("gate")), message("user", "No, not the gate: "+orchard("gate"))}, compressed, "prose"},
		{"9 code and prose", nil, []talk{message("assistant", orchard("gate")+fence)}, split, "code"},
		{"10 code, less prose", nil, []talk{message("assistant", "Do it so, with care."+fence+"```go\n"+long(200)+"\n```")}, preserved, "code"},
		{"11 hard reason", nil, []talk{message("assistant", orchard("gate")+"\nTraceback (most recent call last)\n")}, preserved, "hard: traceback"},
		{"12 JSON", nil, []talk{message("assistant", `{"gate": "`+orchard("gate")+`"}`)}, preserved, "hard: json"},
		{"13 the rest", nil, []talk{message("assistant", orchard("gate"))}, compressed, "prose"},
	} {
		if d := decide(c.all, ruled(c.change))[0]; d.action != c.action || d.reason != c.reason {
			t.Errorf("%s: %v, %q, want %v, %q", c.name, d.action, d.reason, c.action, c.reason)
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
	recent := weighty
	recent.recent = true
	system := recent
	system.role = "system"
	secret := message("assistant", orchard("gate")+" It has API_TOKEN=s3cr3ts3cr3t set."+fence)
	for _, c := range []struct {
		name   string
		all    []talk
		action action
		reason string
	}{
		{"1 before 2", []talk{system, copied}, preserved, "role"},
		{"2 before 6", []talk{recent, copied}, preserved, "recent"},
		{"6 before 7", []talk{weighty, copied}, preserved, "importance 0.90"},
		{"7 before 8", []talk{message("assistant", orchard("gate")), message("assistant", orchard("gate")), message("user", "No, not the gate: "+orchard("gate"))}, deduped, "duplicate"},
		{"7 before 11", []talk{copied, copied}, deduped, "duplicate"},
		{"8 before 9", []talk{message("assistant", orchard("gate")+fence), message("user", "Instead, "+orchard("gate"))}, contradicted, "instead"},
		{"9 before 11", []talk{message("assistant", orchard("gate")+trace+fence)}, split, "code"},
		{"a secret before 9", []talk{secret}, preserved, "hard: secret"},
	} {
		if d := decide(c.all, o)[0]; d.action != c.action || d.reason != c.reason {
			t.Errorf("%s: %v, %q, want %v, %q", c.name, d.action, d.reason, c.action, c.reason)
		}
	}
}

// TestSoftReasonsNeverKeep has each soft reason in prose that is compressed all the same.
func TestSoftReasonsNeverKeep(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		why  reasons
	}{
		"url":        {"It is told at https://example.org/gate/7 as well. ", hasWeb},
		"mail":       {"Write to keeper@example.org for the key of it. ", hasMail},
		"phone":      {"Call +49 30 1234567 or 030-1234-5678 for the key. ", hasPhone},
		"version":    {"The lock is of version v2.14.1 by now. ", hasVersion},
		"hash":       {"It came with 3f786850e387550fdab836ed7e6dc881de23001b today. ", hasDigest},
		"path":       {"Look in /usr/local/share/gate/plan.txt for it. ", hasPath},
		"ip":         {"The camera answers at 192.168.7.20 all night. ", hasNet},
		"legal":      {"The keeper shall hold the key hereunder. ", hasLegal},
		"quoted key": {`The plan says "gate": "open" for the night. `, hasQuotedKey},
		"quote":      {`She said "leave it open" to the keeper. `, hasQuote},
		"units":      {"It takes 12 seconds, and 40 % of the days it sticks. ", hasUnits},
	} {
		text := c.text + orchard("gate")
		s := shapeOfText(text)
		if s.soft()&c.why == 0 || s.hard() != 0 {
			t.Errorf("%s: soft for %q, hard for %q", name, s.soft(), s.hard())
		}
		if d := decide([]talk{message("assistant", text)}, ruled(nil))[0]; d.action != compressed {
			t.Errorf("%s: %v, %q", name, d.action, d.reason)
		}
	}
}

func TestTiers(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want tier
	}{
		"T0 hard":             {"SELECT name FROM gates WHERE open = 1", tier0},
		"T0 soft":             {"It stands at https://example.org/gate as well.", tier0},
		"T2 below 20 words":   {strings.TrimSpace(strings.Repeat("word ", 19)) + ".", tier2},
		"T3 from 20 words on": {strings.TrimSpace(strings.Repeat("word ", 20)) + ".", tier3},
	} {
		if got := shapeOfText(c.text).tier(); got != c.want {
			t.Errorf("%s: tier %d, want %d", name, got, c.want)
		}
	}
}

// TestLittleThingsKeepNoMessage has what made another engine keep whole messages, each once in a long reply.
func TestLittleThingsKeepNoMessage(t *testing.T) {
	for name, text := range map[string]string{
		"one arrow":         "The path goes from the mill -> the gate. ",
		"one price":         "It costs $5 by now. ",
		"boolean":           "The switch is a boolean at night. ",
		"returning":         "We were returning to it later. ",
		"git SHA":           "It came with 9fceb02d0ae598e95dc970b74767f19372d61af8 today. ",
		"two Key: value":    "Status: open\nOwner: the keeper\n\n",
		"a single exit":     "It was said that the exit is there. ",
		"one dollar name":   "Set $HOME before. ",
		"one quoted string": `The sign says "closed" in red. `,
	} {
		all := text + orchard("gate")
		if d := decide([]talk{message("assistant", all)}, ruled(nil))[0]; d.action != compressed {
			t.Errorf("%s: %v, %q", name, d.action, d.reason)
		}
	}
}

// TestRunsAreBroken has what parts the messages that are merged: whatever is not compressed itself, and another role.
func TestRunsAreBroken(t *testing.T) {
	fence := "\n```go\nfunc gate() bool { return open }\n```\n"
	a, b := message("assistant", orchard("gate")), message("assistant", orchard("mill"))
	for name, c := range map[string]struct {
		between talk
		runs    int
	}{
		"nothing":    {message("assistant", orchard("pond")), 1},
		"role":       {message("user", orchard("pond")), 3},
		"kept":       {message("assistant", "Short."), 2},
		"split":      {message("assistant", orchard("pond")+fence), 2},
		"dup":        {message("assistant", orchard("mill")+" "), 1},
		"superseded": {message("assistant", orchard("barn")), 2},
	} {
		all := []talk{a, c.between, b}
		o := ruled(func(o *Options) { o.Contradictions = name == "superseded" })
		switch name {
		case "dup":
			all = []talk{a, b, message("assistant", orchard("pond")), b}
			c.runs = 2
		case "superseded":
			all = append(all, message("user", "No, not the barn: "+orchard("barn")))
		}
		ds := decide(all, o)
		runs := runsOf(all, ds)
		if name == "superseded" {
			runs = runs[:min(len(runs), 2)]
		}
		if len(runs) != c.runs {
			t.Errorf("%s: runs %v of %v", name, runs, ds)
		}
	}
}
