package filter

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
)

// TestExactCopies has the limit of 200 chars, the roles, and which copy stays.
func TestExactCopies(t *testing.T) {
	text := func(n int) string { return orchard("gate")[:n-1] + "." }
	if lexicon.Chars(orchard("gate")) < 201 {
		t.Fatal("the text is too short for this test")
	}
	for _, c := range []struct {
		name string
		all  []entry
		want []Action
	}{
		{"199 chars", []entry{message("assistant", text(199)), message("assistant", text(199))}, []Action{Compressed, Compressed}},
		{"200 chars", []entry{message("assistant", text(200)), message("assistant", text(200))}, []Action{Deduped, Compressed}},
		{"any role", []entry{message("user", text(200)), message("assistant", text(200))}, []Action{Deduped, Compressed}},
		{"the newest stays", []entry{message("assistant", text(200)), message("user", text(200)), message("assistant", text(200))}, []Action{Deduped, Deduped, Compressed}},
		{"another byte", []entry{message("assistant", text(200)), message("assistant", text(199)+"!")}, []Action{Compressed, Compressed}},
	} {
		ds := decided(c.all, ruled(nil))
		for i, want := range c.want {
			if ds[i].Action != want || want == Deduped && ds[i].Of != len(c.all)-1 {
				t.Errorf("%s: message %d is %v of %d, want %v", c.name, i, ds[i].Action, ds[i].Of, want)
			}
		}
	}
}

// lined is a text of so many lines; those from the given one on end otherwise.
func lined(lines, from int, end string) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "The keeper notes in line %d that the gate was shut for the night", i)
		if i >= from {
			b.WriteString(end)
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// TestNearCopies has each threshold of near copies, met and just missed.
func TestNearCopies(t *testing.T) {
	const lines = 40
	base := lined(lines, lines, "")
	// Of n lines k differ: the Jaccard index is (n-k)/(n+k).
	like := func(k int) string { return lined(lines, lines-k, " of rain") }
	head := func(n int) string {
		all := strings.SplitAfter(base, "\n")
		for i := range n {
			all[i] = fmt.Sprintf("Another head, number %d of those that stand there.\n", i)
		}
		return strings.Join(all, "")
	}
	for _, c := range []struct {
		name  string
		newer string
		want  Action
	}{
		{"Jaccard 0.90", like(2), NearDuped},
		{"Jaccard 0.86", like(3), NearDuped},
		{"Jaccard 0.82", like(4), Compressed},
		{"3 of 5 first lines", head(2), NearDuped},
		{"2 of 5 first lines", head(3), Compressed},
		{"case, blanks and blank lines", "\n\n" + strings.ReplaceAll(strings.ToUpper(base), " ", "   "), NearDuped},
		{"half as long", lined(lines/2, lines, ""), Compressed},
	} {
		all := []entry{message("assistant", base), message("assistant", c.newer)}
		d := decided(all, ruled(func(o *Options) { o.NearDedup = true }))[0]
		if d.Action != c.want {
			t.Errorf("%s: %v, like %.2f, want %v", c.name, d.Action, d.Like, c.want)
		}
		if d := decided(all, ruled(nil))[0]; d.Action != Compressed {
			t.Errorf("%s: %v where it is switched off", c.name, d.Action)
		}
	}
	// What is like a copy refers to what that one refers to, though the two are less alike.
	chain := []entry{message("assistant", like(4)), message("assistant", like(2)), message("assistant", base)}
	for i, d := range decided(chain, ruled(func(o *Options) { o.NearDedup = true }))[:2] {
		if want := []float64{0.81, 0.9}[i]; d.Action != NearDuped || d.Of != 2 || d.Like < want || d.Like > want+0.01 {
			t.Errorf("text %d of a chain: %v of %d, like %.3f", i, d.Action, d.Of, d.Like)
		}
	}
	// The ratio of lengths alone: the same distinct lines, one text says them twice.
	all := []entry{message("assistant", base), message("assistant", base+base)}
	if d := decided(all, ruled(func(o *Options) { o.NearDedup = true }))[0]; d.Action != Compressed {
		t.Errorf("a text of half the length is %v", d.Action)
	}
}

// TestSignalsOfCorrection has each kind of correction supersede what it is about.
func TestSignalsOfCorrection(t *testing.T) {
	for want, opening := range map[string]string{
		"Correction":       "Correction: the gate opens at nine.",
		"No":               "No, that gate opens at nine.",
		"instead":          "Take the gate of the mill instead.",
		"Scratch that":     "Scratch that about the gate.",
		"don't":            "Please don't open the gate at all.",
		"not the gate but": "It is not the gate but the barn that opens.",
		"Wait":             "Wait, the gate opens at nine.",
		"Sorry":            "Sorry, the gate opens at nine.",
		"I meant":          "I meant the gate of the mill.",
		"Let me rephrase":  "Let me rephrase: the gate opens at nine.",
	} {
		all := []entry{message("assistant", orchard("gate")), message("assistant", opening+" "+orchard("gate")), message("assistant", orchard("kettle"))}
		ds := decided(all, ruled(func(o *Options) { o.Contradictions = true }))
		if ds[0].Action != Contradicted || ds[0].Of != 1 || ds[0].Reason != want {
			t.Errorf("%s: the older one is %v by %d, %q", want, ds[0].Action, ds[0].Of, ds[0].Reason)
		}
		if ds[1].Action != Preserved || ds[1].Reason != "correction" {
			t.Errorf("%s: the correction is %v, %q", want, ds[1].Action, ds[1].Reason)
		}
	}
}

// topical is a text of its own words and of some that others have too.
func topical(shared, own int, word string) string {
	var b strings.Builder
	for i := range shared {
		fmt.Fprintf(&b, "%s ", spelt("shared", i))
	}
	for i := range own {
		fmt.Fprintf(&b, "%s ", spelt(word, i))
	}
	return strings.TrimSpace(b.String()) + "."
}

// spelt is a word of letters for a number.
func spelt(word string, i int) string { return word + string(rune('a'+i/26)) + string(rune('a'+i%26)) }

// TestOverlapOfTopics has the overlap that a correction needs, within a role and across roles.
func TestOverlapOfTopics(t *testing.T) {
	for _, c := range []struct {
		name   string
		role   string
		shared int // of 100 words, both have as many: the Dice coefficient
		want   Action
	}{
		{"0.20", "assistant", 20, Contradicted},
		{"0.10", "assistant", 10, Compressed},
		{"0.24 across roles", "user", 24, Contradicted},
		{"0.20 across roles", "user", 20, Compressed},
	} {
		all := []entry{
			message("assistant", topical(c.shared, 100-c.shared, "older")),
			message(c.role, "Actually, "+topical(c.shared, 100-c.shared, "newer")),
		}
		if d := decided(all, ruled(func(o *Options) { o.Contradictions = true }))[0]; d.Action != c.want {
			t.Errorf("%s: %v, want %v", c.name, d.Action, c.want)
		}
	}
	// One correction supersedes one text, the one with most in common; without a signal there is none.
	near, far := topical(60, 40, "near"), topical(40, 60, "far")
	all := []entry{message("assistant", near), message("assistant", far), message("user", "Actually, "+topical(60, 40, "newer"))}
	ds := decided(all, ruled(func(o *Options) { o.Contradictions = true }))
	if ds[0].Action != Contradicted || ds[1].Action != Compressed {
		t.Errorf("%v and %v: one correction supersedes one text", ds[0].Action, ds[1].Action)
	}
	all[2] = message("user", topical(60, 40, "newer"))
	if d := decided(all, ruled(func(o *Options) { o.Contradictions = true }))[0]; d.Action != Compressed {
		t.Errorf("%v without a signal", d.Action)
	}
}

// The filter tells how important each message of a list is: by its words, and by what later ones take up of it.
func TestImportanceOfAList(t *testing.T) {
	list := listed(
		message("a", "The parser is parseFeed."), message("a", "It is quiet."), message("a", "We decided on the gate."),
		message("a", "Sorry, it is quiet."), message("a", "It must be quiet."), message("a", "Then parseFeed ran."), message("a", "And parseFeed ended."),
	)
	f := apply(list, filterOptions(nil))
	least := []float64{0.5, 0, 0.15, 0.25, 0.10, 0.25, 0.1}
	for i := range f {
		want := least[i] + 0.1*float64(i)/6
		if i == 6 {
			want = 0.1
		}
		if math.Abs(f[i].Importance-want) > 1e-9 {
			t.Errorf("message %d: %.3f, want %.3f", i, f[i].Importance, want)
		}
	}
}
