package compactor_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// must is one thing that has at least a line in a companion.
type must struct {
	what, text string
	in         string // the section that it stands in, "" for any
	any        []string
	fact       int // in the session's list, -1 where any of the texts tells it
}

// musts are a session's messages, answers at the end of turns, edited paths, open problems, and rules.
func (s *session) musts() (all []must) {
	var answer *said
	turned := func() {
		if answer != nil {
			parts := sentences(answer.text)
			if len(parts) == 0 {
				parts = []string{flat(answer.text)}
			}
			all = append(all, must{what: "answer", text: answer.text, any: parts, fact: -1})
		}
		answer = nil
	}
	for i := range s.all {
		switch one := &s.all[i]; one.kind {
		case transcript.Human:
			if one.call == "" {
				turned()
			}
			for _, w := range one.words() {
				all = append(all, must{what: "message", text: w, any: []string{head(flat(w), 40)}, fact: -1})
			}
		case transcript.Text:
			answer = one
		}
	}
	turned()
	for i, one := range s.list {
		if one.Class == scorecard.Edited || one.Class == scorecard.OpenErrors {
			all = append(all, must{what: string(one.Class), text: one.Text, fact: i})
		}
	}
	for _, rule := range s.rules {
		all = append(all, must{what: "rule", text: rule, in: "Rules", any: []string{head(flat(rule), 60)}, fact: -1})
	}
	return all
}

// lineCost is what a line of ours takes beside the text that it tells, and lineMost what of a text it needs, in chars.
const (
	lineCost = 60
	lineMost = 160
)

// fits reports whether a line for each takes no more than six tenths of the room.
func fits(all []must, room int) bool {
	n := 0
	for _, m := range all {
		n += lineCost + min(chars(m.text), lineMost)
	}
	return n <= room*6/10
}

// lineless complains about what must have a line in a text and has none.
func lineless(s *session, text string) (bad []string) {
	shown := s.shown(text)
	pages := map[string]string{"": flat(plainText(text))}
	for _, b := range blocks(text) {
		pages[b.section] += flat(b.text) + " "
	}
	for _, m := range s.musts() {
		ok := slices.ContainsFunc(m.any, func(a string) bool { return strings.Contains(pages[m.in], a) })
		if m.fact >= 0 {
			ok = shown[m.fact]
		}
		if !ok {
			bad = append(bad, m.what+": "+head(flat(m.text), 80))
		}
	}
	return bad
}

func TestLinelessJudges(t *testing.T) {
	st := newStory("claude-code", 1)
	st.human("Never grind the rye twice.")
	st.edit("mill/wheel.py", "turn", "turn twice")
	st.bash("make flour", "error: the stone is broken", 1)
	st.say("It is ground. The stone broke over it.")
	s := newSession("control", "claude-code", st.buf.Bytes(), []string{"Never grind the rye twice."})
	lines := []string{
		"## Rules\n\n- \"Never grind the rye twice.\" (#1)\n", "## Conversation\n\n> Never grind the rye twice.\n", "[ccd 0123456789ab answer: The stone broke over it.]\n",
		"## Files\n\n- edited 1x `mill/wheel.py` (last #2)\n", "## Problems\n\n- `make flour` -> 2: `error: the stone is broken`\n",
	}
	wants(t, "all have one", lineless(s, strings.Join(lines, "")), false)
	for i := range lines {
		if i == 1 {
			continue // the rule tells the message too
		}
		wants(t, "without "+lines[i], lineless(s, strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")), true)
	}
	wants(t, "the rule elsewhere", lineless(s, strings.Replace(strings.Join(lines, ""), "## Rules", "## Now", 1)), true)
}

var (
	codeSpan     = regexp.MustCompile("`[^`]*`")
	recordNumber = regexp.MustCompile(`^#?\d+(?:-#?\d+)?$`)
	separator    = regexp.MustCompile(`\s*[,;·、，；：]\s*`)
	fileList     = regexp.MustCompile(`^(?:- )?(?:edited|read|created|deleted|renamed|written|changed|moved|uncommitted|Files?|Did)\b`)
)

// mostNames is how many single words in a row a line may list.
const mostNames = 5

// bareNames complains about lines of ours that list words without saying anything of them.
func bareNames(text string) (bad []string) {
	text = string(mark.Replace([]byte(text), func(mark.ID) (string, bool) { return "", true }))
	for _, b := range blocks(text) {
		if b.quoted || fileList.MatchString(b.text) {
			continue
		}
		line := codeSpan.ReplaceAllStringFunc(strings.TrimPrefix(b.text, "- "), func(span string) string {
			return strings.Repeat("x ", 1+strings.Count(span, " "))
		})
		if _, rest, ok := strings.Cut(line, ": "); ok {
			line = rest
		}
		run := 0
		for _, part := range separator.Split(line, -1) {
			part = strings.Trim(part, "*\"'. ()\t")
			if run++; part == "" || strings.ContainsAny(part, " \t") || recordNumber.MatchString(part) {
				run = 0
			}
			if run > mostNames {
				bad = append(bad, fmt.Sprintf("in %s: %s", b.section, head(b.text, 120)))
				break
			}
		}
	}
	return bad
}

func TestBareNamesJudges(t *testing.T) {
	for _, c := range []struct {
		what, line string
		want       bool
	}{
		{"a bag of words", "Named besides: 3.740s, NOT, 42488b9, `cents()`, Money, pytest, 317", true},
		{"without a label", "- rye · oats · wheat · spelt · millet · barley", true},
		{"behind a sentence", "- It failed: a.py, b.py, c.py, d.py, e.py, f.py, g.py", true},
		{"in Chinese", "- 另有：黑麦、燕麦、小麦、大麦、小米、荞麦、大米", true},
		{"files", "- edited: `a.py`, `b.py`, `c.py`, `d.py`, `e.py`, `f.py`, `g.py`", false},
		{"files that were read", "- read: `a.py` · `b.py` · `c.py` · `d.py` · `e.py` · `f.py`", false},
		{"what is in a range", "- [ccd 0123456789ab range #1-#9, 9 records, 1 KB: a.py, b.py, c.py, d.py, e.py, f.py]", false},
		{"records", "- asked under #1, #2, #3, #17, #21-#22, #40", false},
		{"code", "- it calls `turn(a, b, c, d, e, f, g)` first", false},
		{"sentences", "- Rye is ground, oats are stored, wheat is sold, spelt is dry, millet is wet, barley is gone", false},
		{"a quote", "> rye, oats, wheat, spelt, millet, barley", false},
		{"five", "- rye, oats, wheat, spelt, millet", false},
	} {
		wants(t, c.what, bareNames("## Conversation\n\n"+c.line+"\n"), c.want)
	}
}
