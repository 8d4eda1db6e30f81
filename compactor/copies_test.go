package compactor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ccd/internal/transcript"
)

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
