package compactor_test

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor"
	"ccd/internal/mark"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// made is a companion in a room of so many chars.
type made struct {
	s    *session
	room int
	c    *compactor.Compaction
	text string
}

// laws hold for every companion; each returns what is wrong.
var laws = []struct {
	name  string
	judge func(m made) []string
}{
	{"the room is used", func(m made) []string { return roomUsed(m.s, m.text, m.room) }},
	{"the room is not padded", func(m made) []string { return padded(m.s, m.text) }},
	{"nothing long stands twice", func(m made) []string { return twice(m.text) }},
	{"pairs stand together", func(m made) []string { return parted(m.s, section(m.c, "Recent")) }},
	{"each has a line", func(m made) []string {
		if (m.room != defaultChars && m.room != lineRoom) || !fits(m.s.musts(), m.room) {
			return nil
		}
		return lineless(m.s, m.text)
	}},
	{"no bare names", func(m made) []string { return bareNames(m.text) }},
	{"sections stand in order", func(m made) []string { return misplaced(m.c.Sections) }},
}

// lineRoom is the smaller room, in chars, in which all that must have a line has one, where such lines fit.
const lineRoom = 12000

// TestLaws holds companions of several sizes against the laws.
func TestLaws(t *testing.T) {
	var all []made
	pairs, lines := 0, 0
	for _, s := range sessions(t) {
		for _, room := range append([]int{lineRoom}, sizes...) {
			c := s.companion(t, room)
			all = append(all, made{s, room, c, rendered(c)})
			pairs += len(entries(section(c, "Recent")))
		}
		if fits(s.musts(), defaultChars) {
			lines++
		} else if s.rules != nil {
			t.Errorf("%s: the lines of an invented session do not fit", s.name)
		}
	}
	if pairs == 0 || lines == 0 {
		t.Errorf("%d records stand in Recent and %d sessions have lines that fit: the laws hold of nothing", pairs, lines)
	}
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) {
			for _, m := range all {
				if bad := law.judge(m); len(bad) > 0 {
					t.Errorf("%s, %d chars: %s", m.s.name, m.room, complaints(bad))
				}
			}
		})
	}
}

// complaints shows how many there are, and the first.
func complaints(bad []string) string {
	return fmt.Sprintf("%d complaints:\n%s", len(bad), strings.Join(bad[:min(len(bad), 4)], "\n"))
}

// TestMoreRoomHidesNothing has what is visible at a size be visible at twice that size too.
func TestMoreRoomHidesNothing(t *testing.T) {
	for _, s := range sessions(t) {
		var before []bool
		for room := 4000; room <= 64000; room *= 2 {
			now := s.shown(rendered(s.companion(t, room)))
			if before != nil {
				if bad := vanished(s, before, now); len(bad) > 0 {
					t.Errorf("%s, visible in %d chars and not in %d: %s", s.name, room/2, room, complaints(bad))
				}
			}
			before = now
		}
	}
}

// everything is a text that says all of a session in the order of its records.
func everything(s *session) *compactor.Compaction {
	var rules, files, problems, recent strings.Builder
	for _, rule := range s.rules {
		rules.WriteString("- \"" + rule + "\"\n")
	}
	for _, f := range s.list {
		switch f.Class {
		case scorecard.Edited:
			files.WriteString("- edited 2x `" + f.Text + "`\n")
		case scorecard.OpenErrors:
			problems.WriteString("- failed: `" + mark.Inline(f.Text, 0) + "`\n")
		}
	}
	for _, one := range s.all {
		switch one.kind {
		case transcript.Human, transcript.Text, transcript.Call, transcript.Result:
			recent.WriteString(fmt.Sprintf("#%d %v\n", one.n, one.kind) + mark.Quote("", one.text+one.input))
		}
	}
	c := &compactor.Compaction{}
	for i, body := range []string{rules.String(), files.String(), problems.String(), recent.String()} {
		if body != "" {
			c.Sections = append(c.Sections, compactor.Section{Name: []string{"Rules", "Files", "Problems", "Recent"}[i], Body: body})
		}
	}
	return c
}

// TestLawsCanBeKept is the control from the other side: a text that says all of a session breaks no law, but for what the
// session itself says twice.
func TestLawsCanBeKept(t *testing.T) {
	for _, s := range sessions(t) {
		c := everything(s)
		text := rendered(c)
		for _, law := range laws {
			if bad := law.judge(made{s, 3 * chars(text), c, text}); len(bad) > 0 && law.name != "nothing long stands twice" {
				t.Errorf("%s, %s: %s", s.name, law.name, complaints(bad))
			}
		}
		if bad := lineless(s, text); len(bad) > 0 {
			t.Errorf("%s: without a line: %s", s.name, complaints(bad))
		}
	}
}
