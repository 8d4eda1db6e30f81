package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
)

// Checked is what a check has read.
type Checked struct {
	Machines int     `json:"machines"`
	Packs    int     `json:"packs"` // that exist with the right size
	Read     int     `json:"read"`  // packs whose bytes were all verified
	Problems []error `json:"-"`
}

// sizes returns the sizes of a machine's objects in the store.
func sizes(ctx context.Context, s Store, machine string) (map[string]int64, error) {
	all := map[string]int64{}
	for o, err := range s.List(ctx, prefixOf(machine)) {
		if err != nil {
			return nil, fmt.Errorf("list objects: %w", err)
		}
		all[o.Name] = o.Size
	}
	return all, nil
}

// compare adds a problem if an object is missing or has another size.
func (c *Checked) compare(name string, size int64, all map[string]int64) bool {
	switch got, ok := all[name]; {
	case !ok:
		c.Problems = append(c.Problems, badCopy(name, "it is missing"))
	case got != size:
		c.Problems = append(c.Problems, badCopy(name, "it has %d bytes, expected %d", got, size))
	default:
		return true
	}
	return false
}

// Check compares the names and sizes of the machine's objects with what it has pushed. It needs no identity.
func (m *Machine) Check(ctx context.Context) (c Checked, err error) {
	if err := m.settle(ctx); err != nil || m.meta.Seq == 0 {
		return c, err
	}
	object, _, err := m.stored(ctx)
	if err != nil {
		return c, err
	}
	c.Machines = 1
	if err := m.checkHead(object); err != nil {
		c.Problems = append(c.Problems, err)
	}
	all, err := sizes(ctx, m.o.Store, m.ID())
	if err != nil {
		return c, err
	}
	packs, err := readJSON[listed](m.db, bucketPacks)
	for _, p := range packs {
		if c.compare(packObject(m.ID(), p.Name), p.Size, all) {
			c.Packs++
		}
	}
	for _, r := range m.meta.Catalogues {
		c.compare(catalogueObject(m.ID(), r.Name), r.Size, all)
	}
	return c, err
}

// Check verifies the heads and catalogues of all machines and the sizes of their packs, and reads sample packs of each
// machine (all for a negative number) with every byte in them.
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
		s, err := r.look(ctx, machine, false)
		if errors.Is(err, ErrBadCopy) || errors.Is(err, ErrKey) {
			c.Problems = append(c.Problems, err)
			continue
		}
		if err != nil {
			return c, err
		}
		all, err := sizes(ctx, r.o.Store, machine)
		if err != nil {
			return c, err
		}
		left := sample
		for _, i := range rand.Perm(len(s.packs)) {
			if !c.compare(packObject(machine, s.packs[i].Name), s.packs[i].Size, all) {
				continue
			}
			c.Packs++
			if left == 0 {
				continue
			}
			left--
			err := r.checkPack(ctx, machine, s.packs[i])
			if errors.Is(err, ErrBadCopy) || errors.Is(err, ErrKey) {
				c.Problems = append(c.Problems, err)
			} else if err != nil {
				return c, err
			}
			c.Read++
		}
	}
	return c, nil
}

// checkPack reads a pack and verifies everything in it.
func (r *Reader) checkPack(ctx context.Context, machine string, p Pack) error {
	o, err := r.fetchPack(ctx, machine, p)
	if err != nil {
		return err
	}
	parts, err := o.index()
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(parts, p.Parts) {
		return badCopy(o.object, "its index is not what the head lists")
	}
	for _, part := range parts {
		for _, t := range part.Stretches {
			if t.Size == 0 {
				continue
			}
			if _, err := o.stretch(t); err != nil {
				return err
			}
		}
	}
	return nil
}
