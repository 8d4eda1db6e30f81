package remote

import (
	"context"
	"errors"
	"math/rand/v2"
)

// Checked is what a check has read.
type Checked struct {
	Machines int     `json:"machines"`
	Packs    int     `json:"packs"` // that exist
	Read     int     `json:"read"`  // packs whose bytes were all verified
	Problems []error `json:"-"`
}

// Check compares names and sizes of the machine's packs with what it has pushed. It needs no identity, and fails as the store does.
func (m *Machine) Check(ctx context.Context) (c Checked, err error) {
	if err := m.resume(ctx); err != nil || m.meta.Seq == 0 {
		return c, err
	}
	c.Machines = 1
	switch err := m.look(ctx); {
	case errors.Is(err, ErrBadCopy), errors.Is(err, errFork):
		c.Problems = append(c.Problems, err)
	case err != nil:
		return c, err
	}
	packs, live, _, err := m.packs(ctx)
	for name, p := range packs {
		switch got, ok := live[name]; {
		case !ok:
			c.Problems = append(c.Problems, badCopy(prefixOf(m.ID())+name, "it is missing"))
		case got.Size != p.Size:
			c.Problems = append(c.Problems, badCopy(got.Name, "it has %d bytes, expected %d", got.Size, p.Size))
		default:
			c.Packs++
		}
	}
	return c, err
}

// Check verifies the heads of all machines and that no pack is missing, and reads sample packs of each machine (all for a
// negative number) with every byte in them. It fails as the store does; what is wrong with a copy is a problem.
func (r *Reader) Check(ctx context.Context, sample int) (c Checked, err error) {
	names, missing, err := r.Names(ctx)
	if err != nil {
		return c, err
	}
	for _, machine := range missing {
		c.Problems = append(c.Problems, badCopy(headsPrefix+machine, "it is missing"))
	}
	for _, machine := range names {
		c.Machines++
		if err := r.check(ctx, machine, sample, &c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// problem notes an error that says what is wrong with the copy. It returns any other one.
func (c *Checked) problem(err error) error {
	if errors.Is(err, ErrBadCopy) || errors.Is(err, ErrKey) {
		c.Problems = append(c.Problems, err)
		return nil
	}
	return err
}

// check adds a machine's packs and problems.
func (r *Reader) check(ctx context.Context, machine string, sample int, c *Checked) error {
	h, err := r.head(ctx, machine)
	if err != nil {
		return c.problem(err)
	}
	all, err := r.list(ctx, machine, 0)
	if err != nil {
		return err
	}
	var packs []number
	for at := int64(0); at < h.Seq; {
		n, err := h.next(all, at)
		if at++; err != nil {
			c.Problems = append(c.Problems, err)
			continue
		}
		packs, at = append(packs, n), n.last
	}
	c.Packs += len(packs)
	for _, i := range rand.Perm(len(packs)) {
		if sample == 0 {
			break
		}
		sample--
		if _, _, err := r.fetch(ctx, h, packs[i]); err != nil {
			if err := c.problem(err); err != nil {
				return err
			}
		}
		c.Read++
	}
	return nil
}
