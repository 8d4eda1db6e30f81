package filter

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

const (
	// dropChars is the maximum length of what stands in place of dropped messages, without names, in chars; loneChars of one.
	dropChars = len("[ccd 0123456789ab range #1000000-#1000000, 1000000 messages, 1023 MB]")
	loneChars = len("[ccd 0123456789ab cut, 10000000 chars]")

	maxCut     = 512  // chars of a text that is cut to fit the budget
	pasteChars = 2000 // chars from which a person's text is a paste, of which the budget leaves the beginning and the end
	cutWorth   = 200  // chars that a cut saves at least
	namesRoom  = 400  // chars reserved for the versions in dropped messages, if there is as much

	leastPercent = 3 // length of the shortest summaries in percent of their texts
)

// fitted returns the list within its budget, as far as its options allow. Older messages give way first, then the newest, at last
// messages of persons are dropped.
func (f *filter) fitted() *filter {
	least := max(1, f.o.Least)
	for _, recent := range []int{max(least, f.o.Recent), least} {
		if f.over() > 0 {
			f = f.shortened(len(f.list) - min(recent, len(f.list)))
		}
	}
	f.drop(len(f.list)-least, true)
	return f
}

// over returns how many chars the list is longer than its budget.
func (f *filter) over() int { return f.chars() - f.o.Budget }

// shortened returns the list with the rules applied to as many of its old messages as needed, the oldest first. If that is not
// enough, summaries get shorter, then the longest texts are cut and the oldest messages dropped; if it takes that, also those of persons
// are cut.
func (f *filter) shortened(old int) (g *filter) {
	f.look() // the shapes of all texts
	oldest := sort.Search(old, func(n int) bool { return f.ruled(n, 0).over() <= 0 })
	tighter := sort.Search(max(0, f.o.Percent-leastPercent), func(n int) bool { return f.ruled(oldest, n).over() <= 0 })
	for _, persons := range []bool{false, true} {
		g = f.ruled(oldest, tighter)
		g.cut(old, persons)
		if g.drop(old, false); g.over() <= 0 {
			break
		}
	}
	return g
}

// Run is a run of messages that were dropped. Names are the versions in them, as far as the budget has room for them.
type Run struct {
	From, To int // To is the index behind the last one
	Names    []string
}

// runs returns the dropped messages. Of the versions in them, those that nothing else names are named, the newest first.
func (f *filter) runs() (all []Run) {
	for i := range f.list {
		switch {
		case !f.dropped[i]:
		case len(all) == 0 || all[len(all)-1].To < i:
			all = append(all, Run{From: i, To: i + 1})
		default:
			all[len(all)-1].To = i + 1
		}
	}
	known := map[string]bool{}
	for _, t := range f.texts {
		if len(all) > 0 && !f.dropped[t.msg] && t.fate.Into < 0 {
			for _, p := range pins(t.now()) {
				known[p] = true
			}
		}
	}
	left := -f.over()
	at := len(all) - 1
	for _, t := range slices.Backward(f.texts) {
		if !f.dropped[t.msg] || t.isTool() {
			continue
		}
		for all[at].From > t.msg {
			at--
		}
		for _, p := range pins(t.Text) {
			if n := lexicon.Chars(p) + len(" | entities: "); n <= left && !known[p] {
				known[p] = true
				all[at].Names, left = append(all[at].Names, p), left-n
			}
		}
	}
	return all
}

// isSystem reports whether a role's messages are instructions, which no budget touches.
func isSystem(role string) bool { return role == "system" || role == "developer" }

// cut cuts texts before end to their beginning, the longest first, until the list fits its budget; those of persons last, if they may
// be. A person's text also keeps its end, where the question usually is.
func (f *filter) cut(end int, persons bool) {
	var order []*entry
	for _, t := range f.texts {
		standing := (t.fate.Text == "" || t.fate.Action == Split) && t.fate.Into < 0 && !startsWithMarker(t.Text)
		may := t.kept != "role" || persons && t.role == Human && t.chars > pasteChars
		if standing && may && t.msg < end && t.chars > maxCut+cutWorth {
			order = append(order, t)
		}
	}
	worth := func(t *entry) int {
		if t.role == Human {
			return t.chars - math.MaxInt
		}
		return t.chars
	}
	slices.SortStableFunc(order, func(a, b *entry) int { return cmp.Compare(worth(b), worth(a)) })
	over := f.over()
	for _, t := range order {
		if over <= 0 {
			return
		}
		said, was := mark.Inline(t.Text, maxCut), *t
		if t.role == Human {
			said += between + mark.Inline(lexicon.TailAt(t.Text, maxCut), 0)
		}
		if f.replace(t, mark.New(t.ID, fmt.Sprintf("cut, %d chars: %s", t.chars, said)), 0) && t.chars+cutWorth <= was.chars {
			over -= was.chars - t.chars
			t.fate.Decision = Decision{Action: Cut, Reason: "the budget", Of: -1}
		} else {
			*t = was
		}
	}
}

// drop drops the oldest messages before end until the list fits its budget: what persons say only with persons. It does not part a call
// from its result.
func (f *filter) drop(end int, persons bool) {
	opened, ended := map[string]int{}, map[string]int{} // where a call is, and its last result
	for i, m := range f.list {
		for _, id := range m.Opens {
			opened[id] = i
		}
		for _, id := range m.Answers {
			ended[id] = i
		}
	}
	for i := len(f.list) - 1; i >= max(end, 0); i-- { // the results after end keep their calls
		for _, id := range f.list[i].Answers {
			if at, ok := opened[id]; ok {
				end = min(end, at)
			}
		}
	}
	sizes, kept, names := make([]int, len(f.list)), make([]bool, len(f.list)), 0
	for _, t := range f.texts {
		if !t.isTool() {
			names += lexicon.Chars(strings.Join(pins(t.Text), ", "))
		}
		if t.fate.Into < 0 {
			sizes[t.msg] += t.chars
		}
		kept[t.msg] = kept[t.msg] || t.kept == "role" || t.kept == "focus"
	}
	over, until := f.over(), -1 // until: the last result of what was dropped
	if over > 0 {
		over += min(f.o.Budget/8, namesRoom, names)
	}
	for i := range max(end, 0) {
		m := &f.list[i]
		if i > until && over <= 0 {
			return
		}
		paired := len(m.Opens)+len(m.Answers) > 0
		lone := i > 0 && !f.dropped[i-1] && f.list[i+1].human() && sizes[i] < 2*loneChars
		if isSystem(m.Role) || f.gone[i] || f.dropped[i] || !persons && !paired && (kept[i] || lone) {
			continue
		}
		before := f.runChars(i-1) + f.runChars(i+1)
		f.dropped[i] = true
		next := i + 1
		for ; next < len(f.list) && f.gone[next]; next++ { // what was merged into it goes with it
			f.dropped[next] = true
		}
		over += f.runChars(i) - before - sizes[i] - m.Rest
		for _, id := range m.Opens {
			until = max(until, ended[id])
		}
	}
}

// runChars returns the length of what stands in place of the run of dropped messages around an index.
func (f *filter) runChars(i int) int {
	at := func(i int) bool { return i >= 0 && i < len(f.list) && f.dropped[i] }
	switch {
	case !at(i):
		return 0
	case !at(i-1) && !at(i+1):
		return loneChars
	}
	return dropChars
}
