package compactor_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ccd/internal/transcript"
)

// entry is what Recent shows of a record, or of a few that stand together: the line with its number, and what follows.
type entry struct {
	from, to int // numbers of records
	head     string
	body     string // quoted and not, with the head
}

var entryHead = regexp.MustCompile(`^(?:- )?#(\d+)(?:-#?(\d+))?\b`)

func entries(recent string) (all []entry) {
	for line := range strings.Lines(recent) {
		m := entryHead.FindStringSubmatch(line)
		if m != nil && !isQuote(line) {
			from, _ := strconv.Atoi(m[1])
			to, err := strconv.Atoi(m[2])
			if err != nil {
				to = from
			}
			all = append(all, entry{from: from, to: to, head: line})
		}
		if len(all) > 0 {
			all[len(all)-1].body += line
		}
	}
	return all
}

// pair is a call and its result.
type pair struct{ call, result said }

func (s *session) pairs() (all []pair) {
	calls := map[string]said{}
	for _, one := range s.all {
		switch {
		case one.kind == transcript.Call && one.call != "":
			calls[one.call] = one
		case one.kind == transcript.Result && calls[one.call].n > 0:
			all = append(all, pair{calls[one.call], one})
			delete(calls, one.call)
		}
	}
	return all
}

// tells reports whether an entry tells a result: by its record's number, a status, a reference, an ID or words of it.
func (e *entry) tells(p pair) bool {
	for line := range strings.Lines(e.body) {
		if !isQuote(line) && (strings.Contains(line, " -> ") || strings.Contains(line, ": see ") || strings.Contains(line, "[ccd ")) {
			return true
		}
	}
	if p.call.action.Op == transcript.Edit || p.call.action.Op == transcript.Write || p.call.action.Op == transcript.Plan {
		return true // the call itself says what came of it
	}
	page := flat(plainText(e.body))
	for line := range strings.Lines(p.result.text) {
		if line = flat(line); chars(line) > 3 && strings.Contains(page, head(line, 60)) {
			return true
		}
	}
	return mentions(e.body, p.result.n) || flat(p.result.text) == ""
}

// mentions reports whether a line of ours names a record.
func mentions(text string, n int) bool {
	for line := range strings.Lines(text) {
		if !isQuote(line) && regexp.MustCompile(fmt.Sprintf(`#%d\b`, n)).MatchString(line) {
			return true
		}
	}
	return false
}

// parted complains about calls in Recent without their result beside them, and about results without their call. Beside
// means that nothing but other calls and results of the same round stands between.
func parted(s *session, recent string) (bad []string) {
	all := entries(recent)
	spoken := map[int]bool{} // records in which somebody speaks
	for _, one := range s.all {
		if one.kind == transcript.Human || one.kind == transcript.Text {
			spoken[one.n] = true
		}
	}
	at := func(n int) int {
		for i, e := range all {
			if e.from <= n && n <= e.to {
				return i
			}
		}
		return -1
	}
	for _, p := range s.pairs() {
		c, r := at(p.call.n), at(p.result.n)
		switch {
		case c < 0 && r < 0, spoken[p.call.n] || spoken[p.result.n]:
		case c < 0 && !all[r].calls(p):
			bad = append(bad, fmt.Sprintf("the result #%d stands without its call #%d", p.result.n, p.call.n))
		case c >= 0 && r < 0 && !all[c].tells(p):
			bad = append(bad, fmt.Sprintf("the call #%d stands without its result #%d", p.call.n, p.result.n))
		case c >= 0 && r >= 0:
			for i := c + 1; i < r; i++ {
				if spoken[all[i].from] {
					bad = append(bad, fmt.Sprintf("#%d stands between the call #%d and its result #%d", all[i].from, p.call.n, p.result.n))
					break
				}
			}
		}
	}
	return bad
}

// calls reports whether an entry that stands under the result's number tells the call.
func (e *entry) calls(p pair) bool {
	return mentions(e.body, p.call.n) || p.call.tool != "" && strings.Contains(e.head, p.call.tool) ||
		p.call.action.Command != "" && strings.Contains(e.head, head(flat(p.call.action.Command), 20))
}

func TestPairsJudges(t *testing.T) {
	st := newStory("claude-code", 1)
	st.human("Grind the rye.")
	st.bash("grind --rye", "12 sacks of flour\nthe stone is warm", 0)
	st.say("It is ground.")
	s := newSession("control", "claude-code", st.buf.Bytes(), nil)
	call, result := "#2 Bash\n> grind --rye\n", "> 12 sacks of flour\n"
	for _, c := range []struct {
		what, recent string
		want         bool
	}{
		{"together", "#1 human\n> Grind the rye.\n" + call + result + "#4 assistant\n> It is ground.\n", false},
		{"under their own numbers", call + "#3 result\n" + result, false},
		{"the outcome in the line", "#2 Bash `grind --rye` -> 0: 12 sacks of flour (result #3)\n", false},
		{"neither", "#4 assistant\n> It is ground.\n", false},
		{"no result", call + "#4 assistant\n> It is ground.\n", true},
		{"no call", "#3 result\n" + result + "#4 assistant\n> It is ground.\n", true},
		{"parted", call + "#4 assistant\n> It is ground.\n#3 result\n" + result, true},
	} {
		wants(t, c.what, parted(s, c.recent), c.want)
	}
}
