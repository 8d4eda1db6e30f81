package filter

import (
	"cmp"
	"fmt"
	"slices"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

const (
	// dropChars is the maximum length of what stands in place of dropped messages, without names, in chars.
	dropChars = len("[ccd 0123456789ab range #1000000-#1000000, 1000000 messages, 1023 MB]")

	maxCut     = 512  // chars of a text that is cut to fit the budget
	pasteChars = 2000 // chars from which a person's text is a paste, of which the budget leaves the beginning and the end
	cutWorth   = 200  // chars that a cut saves at least
	namesRoom  = 400  // chars reserved for the versions in dropped messages, if there is as much
)

// fitted returns the list within its budget, as far as its options allow: with the rules on no more messages than needed, then
// with the longest texts cut, then with the oldest messages dropped. Each step applies only where the steps before were not
// enough.
func (f *filter) fitted() *filter {
	if f.chars() <= f.o.Budget {
		return f
	}
	for _, percent := range []int{0, f.o.Percent, f.o.Percent / 3} {
		best, fits := f.widest(percent)
		if f = best; fits {
			return f
		}
	}
	newest := len(f.list) - max(1, f.o.Least)
	steps := []func(){
		func() { f.cut(func(t *entry) bool { return t.kept == "" }) },
		func() {
			f.cut(func(t *entry) bool { return t.kept == "tool call" || f.isPaste(t) && t.kept != "recent" })
		},
		func() { f.drop(min(newest, len(f.list)-f.o.Recent), false) },
		func() { f.cut(func(t *entry) bool { return t.msg < newest && (t.kept != "role" || f.isPaste(t)) }) },
		func() { f.drop(newest, true) },
	}
	for _, step := range steps {
		if f.chars() > f.o.Budget {
			step()
		}
	}
	return f
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
	left := f.o.Budget - f.chars()
	at := len(all) - 1
	for _, t := range slices.Backward(f.texts) {
		if !f.dropped[t.msg] {
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

// widest returns the list with the rules applied to as few old messages as the budget allows, and whether it fits. With a percentage
// for summaries the rules also shorten what a person's message answers and short results.
func (f *filter) widest(percent int) (best *filter, fits bool) {
	try := func(recent int) *filter {
		g := newFilter(f.list, f.o, recent)
		if percent > 0 {
			g.relaxed, g.o.Percent = true, percent
		}
		g.rules()
		return g
	}
	fewest, most := min(max(f.o.Recent, f.o.Least), len(f.list)), len(f.list)
	if best = try(fewest); best.chars() > f.o.Budget {
		return best, false
	}
	for fewest+1 < most {
		at := (fewest + most) / 2
		if g := try(at); g.chars() <= f.o.Budget {
			best, fewest = g, at
		} else {
			most = at
		}
	}
	return best, true
}

// isPaste reports whether a person's text is too long to be all typed.
func (f *filter) isPaste(t *entry) bool { return t.role == Human && t.chars > pasteChars }

// isSystem reports whether a role's messages are instructions, which no budget touches.
func isSystem(role string) bool { return role == "system" || role == "developer" }

// cut cuts texts to their beginning, the longest first, until the list fits its budget. A person's text also keeps its end, where
// the question usually is.
func (f *filter) cut(may func(*entry) bool) {
	var order []*entry
	for _, t := range f.texts {
		standing := t.fate.Text == "" || t.fate.Action == Split
		if standing && t.fate.Into < 0 && !f.dropped[t.msg] && t.chars > maxCut+cutWorth && !startsWithMarker(t.Text) && may(t) {
			order = append(order, t)
		}
	}
	slices.SortStableFunc(order, func(a, b *entry) int { return cmp.Compare(b.chars, a.chars) })
	over := f.chars() - f.o.Budget
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

// drop drops the oldest messages before end until the list fits its budget, and those of persons only if they may be. It does not
// part a call from its result.
func (f *filter) drop(end int, persons bool) {
	opened, last := map[string]int{}, map[string]int{} // where a call is, and its last result
	for i, m := range f.list {
		for _, id := range m.Opens {
			opened[id] = i
		}
		for _, id := range m.Answers {
			last[id] = i
		}
	}
	for i := len(f.list) - 1; i >= max(end, 0); i-- { // the results after end keep their calls
		for _, id := range f.list[i].Answers {
			if at, ok := opened[id]; ok {
				end = min(end, at)
			}
		}
	}
	sizes, kept := make([]int, len(f.list)), make([]bool, len(f.list))
	for _, t := range f.texts {
		if t.fate.Into < 0 {
			sizes[t.msg] += t.chars
		}
		kept[t.msg] = kept[t.msg] || t.kept == "role" || t.kept == "focus"
	}
	over, until := f.chars()-f.o.Budget+min(f.o.Budget/8, namesRoom), 0 // until: the last result of what was dropped
	for i := range max(end, 0) {
		m := &f.list[i]
		if i > until && over <= 0 {
			return
		}
		paired := len(m.Opens)+len(m.Answers) > 0
		lone := i > 0 && !f.dropped[i-1] && f.list[i+1].human() && sizes[i] < dropChars
		if isSystem(m.Role) || f.gone[i] || f.dropped[i] || !persons && !paired && (kept[i] || lone) {
			continue
		}
		if f.dropped[i] = true; i == 0 || !f.dropped[i-1] {
			over += dropChars
		}
		next := i + 1
		for ; next < len(f.list) && f.gone[next]; next++ { // what was merged into it goes with it
			f.dropped[next] = true
		}
		if next < len(f.list) && f.dropped[next] { // two runs become one
			over -= dropChars
		}
		over -= sizes[i] + m.Rest
		for _, id := range m.Opens {
			until = max(until, last[id])
		}
	}
}
