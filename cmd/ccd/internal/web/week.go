package web

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/view"
	"ccd/cmd/ccd/internal/work"
	"ccd/internal/mark"
)

const (
	mostEdits  = 8               // on the board
	mostSums   = 6               // projects there
	weekDays   = 7               // of the strip
	weeklyRest = 5 * time.Minute // before the week is added up again, if the archive has changed since
)

// weekly is what was done in the last 7 days: the numbers of `ccd week`, and the files that were changed last.
type weekly struct {
	Sums     *work.Sums
	Days     []day
	Projects []*work.Sum // with the most tokens
	Left     []*work.Sum // the other projects
	Edits    []edited

	losses      []loss
	Taken, seen time.Time // when, and how old the archive was
}

// day is one of the strip.
type day struct {
	*work.Sum
	Name  string
	Share float64 // of the day with the most tokens
}

// edited is a file that a session changed.
type edited struct {
	*work.File
	Label string
}

// weekly returns the newest numbers, nil if there are none yet. Where they are missing or old, they are read in the background.
func (s *shelf) weekly(l *reader.Library, now time.Time) *weekly {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed, before := s.library.ChangedAt(), s.week
	old := before == nil || before.seen != changed && now.Sub(before.Taken) > weeklyRest || before.Taken.YearDay() != now.YearDay()
	if old && !s.weighing && s.start != nil {
		s.weighing = true
		own := *l // what is damaged is noted in it
		s.start(func(ctx context.Context) {
			w, err := weeklyOf(ctx, &own, now)
			if err == nil {
				w.Taken, w.seen = now, changed
				s.count(ctx, &own, w)
				debug.FreeOSMemory() // the page may now be idle for hours
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.weighing = false; err == nil {
				s.week = w
			}
		})
	}
	return before
}

// count compares what the week's compactions kept with what was in the context. A session that cannot be read counts nothing.
func (s *shelf) count(ctx context.Context, l *reader.Library, w *weekly) {
	read := 0
	for _, e := range l.Listed("") {
		row := status.Of(e)
		if row.Compactions == 0 || row.Bytes > lossBytes || row.Apart() != "" || w.Taken.Sub(row.LastAt()) > week || read == mostLosses {
			continue
		}
		read++
		_ = s.use(ctx, l, e, func(one *view.Index) error {
			losses, err := lossesOf(ctx, one, newRow(row, w.Taken), w.Taken)
			w.losses = append(w.losses, losses...)
			return err
		})
	}
	slices.SortStableFunc(w.losses, func(a, b loss) int { return b.Time.Compare(a.Time) })
	w.losses = w.losses[:min(len(w.losses), mostLosses)]
}

func lossesOf(ctx context.Context, one *view.Index, of row, now time.Time) (all []loss, err error) {
	for _, k := range slices.Backward(one.Compactions[max(0, len(one.Compactions)-mostLosses):]) {
		if k.N == 0 || now.Sub(k.Time) > week {
			continue
		}
		f, err := one.Forgotten(ctx, dropped.Choice{Boundary: k.N})
		if err != nil {
			return all, err
		}
		if f.Dropped > 0 {
			all = append(all, loss{Row: of, N: k.N, Time: k.Time, Facts: f.Facts, Dropped: f.Dropped, Told: f.InTold})
		}
	}
	return all, nil
}

func weeklyOf(ctx context.Context, l *reader.Library, now time.Time) (*weekly, error) {
	w := &weekly{}
	from := time.Date(now.Year(), now.Month(), now.Day()-weekDays+1, 0, 0, 0, 0, now.Location())
	since := reader.Choice{Since: from, Until: now, Session: func(*reader.Entry) bool { return ctx.Err() == nil }}
	sums, err := work.Of(ctx, l, work.Wanted{Choice: since, Models: l.Config.Models})
	if err != nil {
		return nil, err
	}
	files, _, err := work.Files(ctx, l, since, mostEdits, func(string) bool { return true }, "")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		w.Edits = append(w.Edits, edited{f, mark.Inline(status.Of(f.Of).Called(), 60)})
	}
	most := int64(1)
	for _, one := range sums.Times {
		most = max(most, one.Tokens())
	}
	for n := range weekDays {
		d := day{Sum: &work.Sum{}, Name: from.AddDate(0, 0, n).Format("Mon 2 Jan")}
		if i := slices.IndexFunc(sums.Times, func(one *work.Sum) bool { return one.Name == d.Name }); i >= 0 {
			d.Sum, d.Share = sums.Times[i], float64(sums.Times[i].Tokens())/float64(most)
		}
		w.Days = append(w.Days, d)
	}
	w.Sums, w.Projects = sums, sums.Projects[:min(len(sums.Projects), mostSums)]
	w.Left = sums.Projects[len(w.Projects):]
	return w, nil
}
