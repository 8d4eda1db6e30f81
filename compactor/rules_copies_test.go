package compactor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ccd/internal/transcript"
)

// TestExactCopies has the limit of 200 chars, the roles, and which copy stays.
func TestExactCopies(t *testing.T) {
	text := func(n int) string { return orchard("gate")[:n-1] + "." }
	if runes(orchard("gate")) < 201 {
		t.Fatal("the text is too short for this test")
	}
	for _, c := range []struct {
		name string
		all  []talk
		want []action
	}{
		{"199 chars", []talk{message("assistant", text(199)), message("assistant", text(199))}, []action{compressed, compressed}},
		{"200 chars", []talk{message("assistant", text(200)), message("assistant", text(200))}, []action{deduped, compressed}},
		{"any role", []talk{message("user", text(200)), message("assistant", text(200))}, []action{deduped, compressed}},
		{"the newest stays", []talk{message("assistant", text(200)), message("user", text(200)), message("assistant", text(200))}, []action{deduped, deduped, compressed}},
		{"another byte", []talk{message("assistant", text(200)), message("assistant", text(199)+"!")}, []action{compressed, compressed}},
	} {
		ds := decide(c.all, ruled(nil))
		for i, want := range c.want {
			if ds[i].action != want || want == deduped && ds[i].of != len(c.all)-1 {
				t.Errorf("%s: message %d is %v of %d, want %v", c.name, i, ds[i].action, ds[i].of, want)
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
		want  action
	}{
		{"Jaccard 0.90", like(2), nearDuped},
		{"Jaccard 0.86", like(3), nearDuped},
		{"Jaccard 0.82", like(4), compressed},
		{"3 of 5 first lines", head(2), nearDuped},
		{"2 of 5 first lines", head(3), compressed},
		{"case, blanks and blank lines", "\n\n" + strings.ReplaceAll(strings.ToUpper(base), " ", "   "), nearDuped},
		{"half as long", lined(lines/2, lines, ""), compressed},
	} {
		all := []talk{message("assistant", base), message("assistant", c.newer)}
		d := decide(all, ruled(func(o *Options) { o.NearDedup = true }))[0]
		if d.action != c.want {
			t.Errorf("%s: %v, like %.2f, want %v", c.name, d.action, d.like, c.want)
		}
		if d := decide(all, ruled(nil))[0]; d.action != compressed {
			t.Errorf("%s: %v where it is switched off", c.name, d.action)
		}
	}
	// The ratio of lengths alone: the same distinct lines, one text says them twice.
	a, b := nearSignatureOf(base), nearSignatureOf(base+base)
	if a.mayBeNear(&b) || !a.mayBeNear(&a) {
		t.Error("a text of half the length may be near")
	}
}

// TestSignalsOfCorrection has each kind of correction supersede what it is about.
func TestSignalsOfCorrection(t *testing.T) {
	for want, opening := range map[signal]string{
		explicitCorrection: "Correction: the gate opens at nine.",
		negation:           "No, that gate opens at nine.",
		instead:            "Take the gate of the mill instead.",
		retraction:         "Scratch that about the gate.",
		dont:               "Please don't open the gate at all.",
		notBut:             "It is not the gate but the barn that opens.",
		waitSignal:         "Wait, the gate opens at nine.",
		sorrySignal:        "Sorry, the gate opens at nine.",
		selfCorrection:     "I meant the gate of the mill.",
		rephrase:           "Let me rephrase: the gate opens at nine.",
	} {
		all := []talk{message("assistant", orchard("gate")), message("assistant", opening+" "+orchard("gate")), message("assistant", orchard("kettle"))}
		ds := decide(all, ruled(func(o *Options) { o.Contradictions = true }))
		if ds[0].action != contradicted || ds[0].of != 1 || ds[0].signal != want {
			t.Errorf("%s: the older one is %v by %d, %q", want, ds[0].action, ds[0].of, ds[0].signal)
		}
		if ds[1].action != preserved || ds[1].reason != "correction" {
			t.Errorf("%s: the correction is %v, %q", want, ds[1].action, ds[1].reason)
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
		want   action
	}{
		{"0.20", "assistant", 20, contradicted},
		{"0.10", "assistant", 10, compressed},
		{"0.12 across roles", "user", 12, contradicted},
		{"0.08 across roles", "user", 8, compressed},
	} {
		all := []talk{
			message("assistant", topical(c.shared, 100-c.shared, "older")),
			message(c.role, "Actually, "+topical(c.shared, 100-c.shared, "newer")),
		}
		if d := decide(all, ruled(func(o *Options) { o.Contradictions = true }))[0]; d.action != c.want {
			t.Errorf("%s: %v, want %v", c.name, d.action, c.want)
		}
	}
	// One correction supersedes one text, the one with most in common; without a signal there is none.
	near, far := topical(60, 40, "near"), topical(40, 60, "far")
	all := []talk{message("assistant", near), message("assistant", far), message("user", "Actually, "+topical(60, 40, "newer"))}
	ds := decide(all, ruled(func(o *Options) { o.Contradictions = true }))
	if ds[0].action != contradicted || ds[1].action != compressed {
		t.Errorf("%v and %v: one correction supersedes one text", ds[0].action, ds[1].action)
	}
	all[2] = message("user", topical(60, 40, "newer"))
	if d := decide(all, ruled(func(o *Options) { o.Contradictions = true }))[0]; d.action != compressed {
		t.Errorf("%v without a signal", d.action)
	}
}

// TestImportance has what each part adds, and what they add up to at most.
func TestImportance(t *testing.T) {
	for name, c := range map[string]struct {
		refs, most, at, of int
		text               string
		want               float64
	}{
		"nothing":                {0, 4, 0, 10, "It is quiet.", 0},
		"references":             {4, 4, 0, 10, "It is quiet.", 0.5},
		"half of the references": {2, 4, 0, 10, "It is quiet.", 0.25},
		"decision":               {0, 4, 0, 10, "We decided on the gate.", 0.15},
		"correction":             {0, 4, 0, 10, "Sorry, it is quiet.", 0.25},
		"constraint":             {0, 4, 0, 10, "It must be quiet.", 0.10},
		"words at most":          {0, 4, 0, 10, "Sorry, we decided that it must be quiet.", 0.4},
		"recency":                {0, 4, 9, 10, "It is quiet.", 0.1},
		"all":                    {4, 4, 9, 10, "Sorry, we decided that it must be quiet.", 1},
	} {
		if got := importance(c.refs, c.most, c.at, c.of, shapeOfText(c.text)); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %.3f, want %.3f", name, got, c.want)
		}
	}
	if mostOfScale := 1 + 4*keptImportance; mostOfScale != 4.0 {
		t.Errorf("what is never compressed begins at %.1f of 5", mostOfScale)
	}
	// Names that later texts take up make the one that brought them up important.
	all := []talk{message("assistant", "The parser is parseFeed."), message("assistant", "It is quiet."), message("assistant", "Then parseFeed ran."), message("assistant", "And parseFeed ended.")}
	r := &rules{o: ruled(nil), all: all}
	r.measure()
	scores := importanceOf(r.all)
	if scores[0] <= scores[1] || scores[0] <= scores[2] {
		t.Errorf("importance %.2f of what others refer to", scores)
	}
}

// A correction in a session: a person's word supersedes what the agent said before, near copies are found up to the
// newest message, and what they stand for is told with its record.
func TestComparedMessagesOfASession(t *testing.T) {
	notes := lined(24, 24, "")
	s := newScript()
	s.human("Look after the gate.")
	s.say("The gate opens at seven in the evening, as the keeper wrote into the ledger of the orchard, and so the ledger keeps seven for the evening gate. " + strings.Repeat("It is told there at length. ", 20))
	s.human("No, the gate opens at nine in the evening: the keeper of the orchard wrote a wrong hour into the ledger.")
	s.say(notes)
	for i := range 60 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat("building a unit of it\n", 60))
	}
	s.say(lined(24, 23, " of rain"))
	s.say("Done.")
	for name, c := range map[string]struct {
		change func(*Options)
		want   []string
	}{
		"both": {func(o *Options) { o.NearDedup, o.Contradictions = true, true }, []string{"superseded by #3 (", fmt.Sprintf("near-dup of #%d, %d chars, ~9", s.n-1, runes(notes))}},
		"none": {func(*Options) {}, nil},
	} {
		o := Defaults()
		c.change(&o)
		f := fold(t, s.buf.Bytes(), o)
		out := f.compact(t)
		f.check(t, out)
		text := out.section("Earlier")
		wants(t, text, c.want...)
		if len(c.want) == 0 {
			wantsNot(t, text, "superseded by", "near-dup")
		}
		for _, kind := range []string{"near-dup", "superseded"} {
			saves := slices.ContainsFunc(out.Header.Saved, func(s Saving) bool { return s.Kind == kind })
			if saves != (len(c.want) > 0) {
				t.Errorf("%s: saved %+v", name, out.Header.Saved)
			}
		}
	}
}

// In a plain message list a text that begins with a marker of ours is one, and stays; in a transcript it is content.
func TestMarkersOfPlainLists(t *testing.T) {
	list := newList()
	list.add("user", "Go on with the gate.")
	list.add("assistant", "[ccd 0123456789ab summary: "+strings.Repeat("it was told at length before. ", 20)+"]")
	for i := range 12 {
		list.add("assistant", strings.Repeat(orchard(spelt("gate", i)), 8))
	}
	f := foldAs(t, "messages", transcript.Main, list.json(), tokensOf(13333))
	c := f.compact(t)
	f.check(t, c)
	d := newDraft(f.Compactor, f.text())
	d.recent = d.last
	d.decideTalk(d.candidates(d.last), 0)
	if dec := d.decided[1]; dec.action != preserved || dec.reason != "marker" {
		t.Errorf("the marker is %v, %q", dec.action, dec.reason)
	}
	f.session.Agent = "claude-code"
	d.decideTalk(d.candidates(d.last), 0)
	if dec := d.decided[1]; dec.action == preserved {
		t.Errorf("in a transcript it is %v, %q", dec.action, dec.reason)
	}
}

// list is a plain message list.
type list struct{ all []map[string]any }

func newList() *list { return &list{} }

func (l *list) add(role, content string) {
	l.all = append(l.all, map[string]any{"id": fmt.Sprintf("m-%d", len(l.all)), "role": role, "content": content})
}

// json is the list as JSON lines.
func (l *list) json() []byte {
	var b bytes.Buffer
	for _, m := range l.all {
		data, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		b.Write(append(data, '\n'))
	}
	return b.Bytes()
}
