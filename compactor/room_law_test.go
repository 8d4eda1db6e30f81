package compactor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// fullLines is a text of so many lines that reading tools show no more of it: it is full, however short its lines are.
const fullLines = 1700

// oneThing is the part of a text that one output may take, as a divisor: what is longer stands as its ends.
const oneThing = 30

// unsaid counts what a text of a room could still tell: messages and answers of which less than half stands in it, and
// outputs of commands of which less stands than one thing may take,
// short lines counted as 50 chars. Lines that stand many times in an output are one.
func unsaid(s *session, text string, room int) (n int) {
	page := flat(plainText(text))
	for _, one := range s.all {
		parts := []string{one.text}
		switch {
		case one.kind == transcript.Human:
			parts = one.words()
		case one.kind != transcript.Text && !one.ran():
			continue
		}
		missing, stands, all := false, 0, 0
		for line := range strings.Lines(strings.Join(parts, "\n")) {
			line = flat(line)
			all += max(50, chars(line))
			if line != "" && !strings.Contains(page, line) {
				missing = true
			} else {
				stands += max(50, chars(line))
			}
		}
		if missing && stands*2 < all && (one.kind == transcript.Human || one.kind == transcript.Text || stands < room/oneThing) {
			n++
		}
	}
	return n
}

// roomUsed complains about a text that is larger than its room, and about one that leaves a tenth of it free while
// something is left to say. More than 60 % of the session's own text need not stand.
func roomUsed(s *session, text string, room int) (bad []string) {
	n := chars(text)
	if n > room {
		bad = append(bad, fmt.Sprintf("%d chars in a room of %d", n, room))
	}
	if n < min(room*9/10, s.chars()*55/100) && strings.Count(text, "\n") < fullLines {
		if left := unsaid(s, text, room); left > 0 {
			bad = append(bad, fmt.Sprintf("%d of %d chars used, and %d items are not told whole", n, room, left))
		}
	}
	return bad
}

// perFact is how many chars of the last tenth of a text may go without a fact of their own.
const perFact = 600

// smallText is how many chars a text may have whose last tenth is a line or two of ours.
const smallText = 3000

// padded complains where a text tells hardly less without its last tenth. What counts is a sentence, a line or a code
// span of the transcript, or an ID, that stands nowhere before.
func padded(s *session, text string) []string {
	lines := strings.SplitAfter(text, "\n")
	size, n := chars(text), 0
	cut := len(lines)
	for ; cut > 0 && n < size/10; cut-- {
		n += chars(lines[cut-1])
	}
	before := strings.Join(lines[:cut], "")
	page, ids, source := flat(plainText(before)), mark.IDs(before), s.source()
	facts := 0
	for _, id := range mark.IDs(strings.Join(lines[cut:], "")) {
		if !slices.Contains(ids, id) {
			facts++
		}
	}
	for _, b := range blocks(strings.Join(lines[cut:], "")) {
		parts := sentences(b.text)
		if !b.quoted {
			parts = pieces(b.text)
		}
		for _, p := range parts {
			if p = flat(p); chars(p) >= 6 && strings.Contains(source, p) && !strings.Contains(page, p) {
				facts++
			}
		}
	}
	if size > smallText && facts < max(1, n/perFact) {
		return []string{fmt.Sprintf("the last %d chars tell %d facts", n, facts)}
	}
	return nil
}

// source is all that the session's originals say, on one line.
func (s *session) source() string {
	var b strings.Builder
	for _, one := range s.all {
		b.WriteString(one.text + "\n" + one.input + "\n")
		if one.kind == transcript.Call {
			b.WriteString(one.action.Command + "\n")
		}
	}
	return flat(b.String())
}

func TestRoomJudges(t *testing.T) {
	s := told("claude-code", 1, 6)
	one := newSession("control", "claude-code", s.buf.Bytes(), nil)
	var whole strings.Builder
	for _, it := range one.all {
		whole.WriteString(mark.Quote("", it.text))
	}
	text := whole.String()
	n := chars(text)
	wants(t, "all is said", roomUsed(one, text, n*3), false)
	wants(t, "it is too large", roomUsed(one, text, n-1), true)
	half := text[:strings.LastIndex(text[:len(text)/2], "\n")+1]
	wants(t, "half is said", roomUsed(one, half, n), true)
	wants(t, "half is said in half the room", roomUsed(one, half, chars(half)), false)
	wants(t, "facts to the end", padded(one, half), false)
	wants(t, "the beginning again", padded(one, half+half[:len(half)/8]), true)
	wants(t, "words of nobody", padded(one, half+strings.Repeat("> And so it goes on and on.\n", len(half)/200)), true)
}

// longText is the longest text in chars that may stand twice; lineAgain the longest line that Now, Rules and Commands may
// repeat.
const (
	longText  = 200
	lineAgain = 400
)

// twice complains about paragraphs and lines of over longText chars that stand in two places.
func twice(text string) (bad []string) {
	all := blocks(text)
	flats := make([]string, len(all))
	for i, b := range all {
		flats[i] = flat(b.text)
	}
	again := func(b block) bool { return b.section == "Now" || b.section == "Rules" || b.section == "Commands" }
	for i, b := range all {
		for _, unit := range units(b) {
			for j := range all {
				if j == i || !strings.Contains(flats[j], unit) {
					continue
				}
				if word := "Recent Now"; strings.Contains(word, b.section) && strings.Contains(word, all[j].section) { // word by word, what the session itself says twice
					continue
				}
				if (again(b) || again(all[j])) && chars(unit) <= lineAgain {
					continue
				}
				bad = append(bad, fmt.Sprintf("in %s and in %s: %s", b.section, all[j].section, head(unit, 80)))
				break
			}
		}
	}
	return bad
}

// pieces are the texts that a line of ours tells: behind its label, between dots, in quotes and in code spans.
func pieces(line string) (all []string) {
	_, told, _ := strings.Cut(line, ": ")
	for _, between := range []string{" ... ", "`", `"`} {
		all = append(all, strings.Split(line, between)...)
		all = append(all, strings.Split(told, between)...)
	}
	for i, p := range all {
		all[i] = strings.TrimSuffix(flat(p), "]")
	}
	return all
}

// units are a block's paragraphs and lines that are long, and such texts in a line of ours.
func units(b block) (all []string) {
	parts := slices.Concat(strings.Split(b.text, "\n\n"), strings.Split(b.text, "\n"))
	if !b.quoted {
		parts = pieces(b.text)
	}
	for _, p := range parts {
		if p = flat(p); chars(p) > longText && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

func TestTwiceJudges(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("The wheel turns and the flour falls. ", 8))
	for _, c := range []struct {
		what, text string
		want       bool
	}{
		{"once", "## Conversation\n\n> " + long + "\n\n## Recent\n\n> The wheel turns.\n", false},
		{"in two sections", "## Conversation\n\n> " + long + "\n\n## Recent\n\n#7 assistant\n> So:\n> \n> " + long + "\n", true},
		{"in an answer of ours", "## Conversation\n\n- [ccd 0123456789ab answer, 1 KB: " + long + " ... Done.]\n[ccd 0123456789ac answer, 1 KB: Yes. ... " + long + " ... It is.]\n", true},
		{"an answer of one sentence", "## Conversation\n\n[ccd 0123456789ab answer, 1 KB: " + long + "]\n\n## Recent\n\n> " + long + "\n", true},
		{"a line that Now repeats", "## Now\n\n> " + long + "\n\n## Recent\n\n> " + long + "\n", false},
		{"a page that Now repeats", "## Now\n\n> " + long + long + "\n\n## Conversation\n\n> " + long + long + "\n", true},
	} {
		wants(t, c.what, twice(c.text), c.want)
	}
}

// grown are the classes of facts that stay visible when there is more room.
var grown = []scorecard.Class{scorecard.Asked, scorecard.Answers, scorecard.Commands, scorecard.Edited, scorecard.Errors, scorecard.OpenErrors}

// vanished complains about facts that the smaller text shows and the larger one does not.
func vanished(s *session, small, large []bool) (bad []string) {
	for i, one := range s.list {
		if slices.Contains(grown, one.Class) && small[i] && !large[i] {
			bad = append(bad, fmt.Sprintf("%s of #%d: %s", one.Class, one.Record, head(one.Text, 80)))
		}
	}
	return bad
}

func TestVanishedJudges(t *testing.T) {
	st := told("claude-code", 1, 2)
	s := newSession("control", "claude-code", st.buf.Bytes(), nil)
	text := rendered(s.companion(t, defaultChars))
	all := s.shown(text)
	if !slices.Contains(all, true) {
		t.Fatal("nothing is visible")
	}
	wants(t, "the same", vanished(s, all, all), false)
	wants(t, "less before", vanished(s, s.shown(text[:len(text)/2]), all), false)
	wants(t, "less after", vanished(s, all, s.shown(text[:len(text)/4])), true)
}
