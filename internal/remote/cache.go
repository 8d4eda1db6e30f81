package remote

import (
	"slices"
	"time"

	"ccd/internal/remote/pulled"
)

// Trim removes pulled archives until all of them together have at most limit bytes (0: no limit), first that of the machine
// whose last push is the oldest. It keeps that of one machine, or the newest one if keep is "". It returns the machines
// whose archives it removed. What was seen of them stays, so that an older head is noticed.
func (r *Reader) Trim(limit int64, keep string) (removed []pulled.Machine, err error) {
	all, err := pulled.List(r.o.Dir)
	if err != nil || limit <= 0 {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b pulled.Machine) int { return a.Time.Compare(b.Time) })
	all = slices.DeleteFunc(all, func(m pulled.Machine) bool { return pulled.Size(r.o.Dir, m.Machine) == 0 })
	total := int64(0)
	for _, m := range all {
		total += pulled.Size(r.o.Dir, m.Machine)
	}
	for i, m := range all {
		if total <= limit || m.Machine == keep || keep == "" && i == len(all)-1 {
			continue
		}
		m.Dropped = pulled.Size(r.o.Dir, m.Machine)
		if err := r.drop(m); err != nil {
			return removed, err
		}
		total -= m.Dropped
		removed = append(removed, m)
	}
	return removed, nil
}

// drop removes the archive of a machine. What was seen of its head stays.
func (r *Reader) drop(m pulled.Machine) error {
	if err := removePulled(r.o.Dir, m.Machine); err != nil {
		return err
	}
	m.Pulled, m.Whole, m.Revisions = time.Time{}, false, nil
	return pulled.Write(r.o.Dir, m)
}
