package setup

import (
	"cmp"
	"context"
	"errors"
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
)

// sayOwn ends a first pass, on a terminal, with something of the person's: what the newest compaction by an agent dropped, else
// its longest session. What cannot be read is not told: other commands report it.
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
	for _, e := range all[:min(len(all), ownSessions)] {
		if line, err := a.forgot(ctx, l, e); err == nil && line != "" {
			a.Say("%s", line)
			return
		}
	}
	a.Say("Your longest session: %s show %s", a.typed(), l.Argument(longest))
}

// forgot says what the agent dropped at the last compaction of a session, "" if nothing.
func (a *app) forgot(ctx context.Context, l *reader.Library, e *reader.Entry) (string, error) {
	var index view.Index
	if err := index.Grow(ctx, l, e); err != nil {
		return "", err
	}
	r, err := index.Forgotten(ctx, dropped.Choice{})
	if none := new(dropped.NoneError); errors.As(err, &none) || err == nil && (r.Dropped == 0 || r.ByCCD) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	own := ""
	for _, c := range r.Classes {
		if c.Class == dropped.Asked && c.Dropped > 0 {
			own = fmt.Sprintf(", %d of them your words", c.Dropped)
		}
	}
	return fmt.Sprintf("The last compaction dropped %d of %s%s: %s diff %s", r.Dropped, words.Count(r.Facts, "fact"), own, a.typed(), l.Argument(e)), nil
}
