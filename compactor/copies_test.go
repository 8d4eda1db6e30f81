package compactor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

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

// TestComparedMessagesOfASession has a person's word supersede what the agent said before, and near copies found up to
// the newest message: what they stand for is told with its record, where the options say so.
func TestComparedMessagesOfASession(t *testing.T) {
	notes := lined(24, 24, "")
	s := newScript()
	s.human("Look after the gate.")
	s.say("The gate opens at seven in the evening, as the keeper wrote into the ledger of the orchard, and so the ledger keeps seven for the evening gate. " + strings.Repeat("It is told there at length. ", 20))
	s.bash("look gate", "shut")
	s.say("That is all of it.")
	s.human("No, the gate opens at nine in the evening: the keeper of the orchard wrote a wrong hour into the ledger.")
	s.say(notes)
	for i := range 60 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat("building a unit of it\n", 60))
	}
	s.say(lined(24, 23, " of rain"))
	newest := s.n
	s.bash("true", "")
	s.say("Done.")
	for name, c := range map[string]struct {
		change func(*Options)
		want   []string
		kinds  []string
	}{
		"both":           {func(o *Options) { o.NearDedup, o.Contradictions = true, true }, []string{"superseded by #6 (", fmt.Sprintf("near-dup of #%d, %d chars, ~9", newest, lexicon.Chars(notes))}, []string{"near-dup", "superseded"}},
		"near copies":    {func(o *Options) { o.NearDedup = true }, []string{fmt.Sprintf("near-dup of #%d", newest)}, []string{"near-dup"}},
		"contradictions": {func(o *Options) { o.Contradictions = true }, []string{"superseded by #6 ("}, []string{"superseded"}},
		"none":           {func(*Options) {}, nil, nil},
	} {
		o := Defaults()
		c.change(&o)
		f := folding(t, s.buf.Bytes(), o)
		out := f.compact(t)
		f.check(t, out)
		wants(t, out.section("Conversation"), c.want...)
		for _, kind := range []string{"near-dup", "superseded"} {
			want := slices.Contains(c.kinds, kind)
			if saves := out.saving(kind).Items > 0; saves != want {
				t.Errorf("%s: saved %+v", name, out.Header.Saved)
			}
			if !want {
				wantsNot(t, out.section("Conversation"), kind+" by", kind+" of")
			}
		}
	}
}

// In a plain message list a text that begins with a marker of ours stays; in a transcript it is content, and inert.
func TestMarkersOfPlainLists(t *testing.T) {
	marked := "[ccd 0123456789ab summary: " + strings.Repeat("it was told at length before. ", 20) + "]"
	var b bytes.Buffer
	add := func(role, content string) {
		data, err := json.Marshal(map[string]any{"role": role, "content": content})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	add("user", "Go on with the gate.")
	add("assistant", marked)
	for i := range 12 {
		add("assistant", fmt.Sprintf("We walked by gate %d. ", i)+strings.Repeat(fmt.Sprintf("It was the evening of day %d and nobody was there. ", i), 20))
	}
	f := foldingAs(t, "messages", transcript.Main, b.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	wants(t, c.all(), `> [\ccd 0123456789ab summary: it was told at length before. it was`)
	s := newScript()
	s.human("Go on with the gate.")
	s.say(marked)
	s.padded()
	f = folding(t, s.buf.Bytes(), Defaults())
	c = f.compact(t)
	f.check(t, c)
	wantsNot(t, c.all(), "\n[ccd 0123456789ab", "\n- #2 [ccd 0123456789ab")
}

// Words in focus make what holds them stand, and longer.
func TestFocus(t *testing.T) {
	s := newScript()
	s.human("Look around.")
	for range 30 {
		s.bash("make notes", strings.Repeat("Nothing of interest in these notes. ", 50))
	}
	s.bash("make tariff", strings.Repeat("The tariff of the ferry is in here. ", 15))
	s.padded()
	count := func(focus ...string) int {
		o := tokensOf(16000)
		o.Focus = focus
		f := folding(t, s.buf.Bytes(), o)
		c := f.compact(t)
		f.check(t, c)
		return strings.Count(c.all(), "tariff of the ferry")
	}
	if got, before := count("tariff", "ferry"), count(); got <= before {
		t.Errorf("in focus it stands %d times, else %d", got, before)
	}
	if got, before := count("orchard"), count(); got != before {
		t.Errorf("the control: with another word in focus it stands %d times, else %d", got, before)
	}
}
