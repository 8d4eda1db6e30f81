package compactor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
	"ccd/internal/transcript"
)

// A correction in a session: a person's word supersedes what the agent said before, near copies are found up to the
// newest message, and what they stand for is told with its record.
func TestComparedMessagesOfASession(t *testing.T) {
	notes := lined(24, 24, "")
	s := newScript()
	s.human("Look after the gate.")
	s.say("The gate opens at seven in the evening, as the keeper wrote into the ledger of the orchard, and so the ledger keeps seven for the evening gate. " + strings.Repeat("It is told there at length. ", 20))
	s.say("That is all of it.")
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
		"both": {func(o *Options) { o.NearDedup, o.Contradictions = true, true }, []string{"superseded by #4 (", fmt.Sprintf("near-dup of #%d, %d chars, ~9", s.n-1, lexicon.Chars(notes))}},
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
	if dec := d.decided[1]; dec.Action != prose.Preserved || dec.Reason != "marker" {
		t.Errorf("the marker is %v, %q", dec.Action, dec.Reason)
	}
	f.session.Agent = "claude-code"
	d.decideTalk(d.candidates(d.last), 0)
	if dec := d.decided[1]; dec.Action == prose.Preserved {
		t.Errorf("in a transcript it is %v, %q", dec.Action, dec.Reason)
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

// orchard is prose that no rule keeps, told apart by a word.
func orchard(word string) string {
	return "We walked by the " + word + " in the evening and sat down for a while. Nobody was there, and so it was quiet. " +
		"Later it rained a little, and we went home by the other way, which is longer but dry under the trees."
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

// spelt is a word of letters for a number.
func spelt(word string, i int) string { return word + string(rune('a'+i/26)) + string(rune('a'+i%26)) }

// ruled are the options as shipped, but for a change.
func ruled(change func(*Options)) *Options {
	o := Defaults()
	if change != nil {
		change(&o)
	}
	return &o
}

// In a session the code of a message stands as it is, with its prose summarised and without entities.
func TestCodeOfASessionStaysInPlace(t *testing.T) {
	text := "The fix is in parseFeed. " + strings.Repeat("There is more to be said about the weather of that day. ", 8)
	s := newScript()
	s.human("Fix it.")
	s.say("Look at openGate_1 and openGate_2. " + text + "\n```go\nfunc gate() bool { return open.parseFeed }\n```\n")
	s.say("Done.")
	s.later()
	line, _ := earlierLine(t, s, 2, tokensOf(30000))
	wants(t, line, "> func gate() bool { return open.parseFeed }")
	wantsNot(t, line, "entities:")
}
