package setup

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/words"
)

// ownBytes is the longest session that is read for sayOwn, and ownSessions how many are: they take less than a second.
const (
	ownBytes    = 32 << 20
	ownSessions = 3
	quoted      = 100 // bytes of what was dropped
)

// sayOwn ends a first pass, on a terminal, with something of the person's: the newest compaction by an agent that dropped some of
// their words, else one that dropped anything, else their longest session. What cannot be read is not told: other commands report it.
func (a *app) sayOwn(ctx context.Context) {
	if a.Quiet || !a.Terminal(a.Err) {
		return
	}
	l, err := a.Library(ctx)
	if err != nil {
		return
	}
	all := l.Listed("")
	if len(all) == 0 {
		return
	}
	longest := slices.MaxFunc(all, func(x, y *reader.Entry) int { return cmp.Compare(x.Kept.About, y.Kept.About) })
	all = slices.DeleteFunc(all, func(e *reader.Entry) bool { return e.Kept.Boundary.IsZero() || e.Bytes() > ownBytes })
	slices.SortStableFunc(all, func(x, y *reader.Entry) int { return y.Kept.Boundary.Compare(x.Kept.Boundary) })
	say := ""
	for _, e := range all[:min(len(all), ownSessions)] {
		var index view.Index
		if index.Grow(ctx, l, e) != nil {
			continue
		}
		r, err := index.Forgotten(ctx, dropped.Choice{})
		if err != nil || r.ByCCD || r.Dropped == 0 {
			continue
		}
		name := l.Argument(e)
		lost := fmt.Sprintf("The last compaction of %s dropped %d of %s", name, r.Dropped, words.Count(r.Facts, "fact"))
		then := fmt.Sprintf("%s diff %s", a.typed(), name)
		if one := example(r); one != nil {
			then += "\n  > " + one.Inline(quoted)
		}
		if first := r.Classes[0]; first.Class == dropped.Asked && first.Dropped > 0 {
			say = fmt.Sprintf("%s, %d of them your words: %s", lost, first.Dropped, then)
			break
		}
		say = cmp.Or(say, lost+": "+then)
	}
	a.Say("%s", cmp.Or(say, fmt.Sprintf("Your longest session: %s show %s", a.typed(), l.Argument(longest))))
}

// example returns the first dropped fact that ccd would give the agent back, else nil. A check that passed is none, nor is a command that
// was refused: by itself it says little.
func example(r *dropped.Report) *dropped.Fact {
	for _, c := range r.Classes {
		if c.Class == dropped.Checks {
			continue
		}
		if i := slices.IndexFunc(c.List, func(f dropped.Fact) bool { return f.InTold && f.Status != "refused" }); i >= 0 {
			return &c.List[i]
		}
	}
	return nil
}
