package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/internal/transcript"
)

// GCOptions say what GC does.
type GCOptions struct {
	Grace time.Duration // how long an object stays after no head names it; readers may be using it
	All   bool          // write every pack again: for new recipients
}

// Collected is what GC has done.
type Collected struct {
	Rewritten int      `json:"rewritten"` // packs
	Packs     int      `json:"packs"`     // that replaced them
	Deleted   int      `json:"deleted"`   // objects
	Freed     int64    `json:"freed_bytes"`
	Waiting   int      `json:"waiting"` // objects that nothing names, deleted after the grace period
	Kept      []string `json:"kept"`    // packs with void parts that cannot be written again, and why
	Refused   int      `json:"refused"` // objects that the store does not delete
	Why       error    `json:"-"`       // of Refused: the LockedError that ends last, else another one
}

// delete deletes an object. refused is why the store does not delete it; err is any other failure.
func (c *Collected) delete(ctx context.Context, s Store, o Object) (refused, err error) {
	err = s.Delete(ctx, o.Name)
	switch {
	case errors.As(err, new(*LockedError)), errors.Is(err, ErrDenied):
		c.refuse(err)
		return err, nil
	case err != nil:
		return nil, fmt.Errorf("delete %s: %w", short(o.Name), err)
	}
	c.Deleted++
	c.Freed += o.Size
	return nil, nil
}

// refuse counts an object that the store does not delete.
func (c *Collected) refuse(err error) {
	var old, locked *LockedError
	c.Refused++
	if c.Why == nil || errors.As(err, &locked) && (!errors.As(c.Why, &old) || !old.Until.IsZero() && (locked.Until.IsZero() || locked.Until.After(old.Until))) {
		c.Why = err
	}
}

// DefaultGrace is how long GC keeps objects that no head names any more.
const DefaultGrace = 7 * 24 * time.Hour

const (
	smallPack = 1 << 20 // bytes; smaller packs are merged if there are many
	manySmall = 256
)

// GC writes packs that have forgotten parts again, from the archive, merges small ones if there are many, and deletes
// objects that no head has named for the grace period. It only touches the machine's own prefix.
func (m *Machine) GC(ctx context.Context, o GCOptions) (c Collected, err error) {
	err = m.settle(ctx)
	if err == nil && m.meta.Seq == 0 {
		return c, nil
	}
	var object []byte
	if err == nil {
		object, _, err = m.stored(ctx)
	}
	if err == nil {
		err = m.checkHead(object) // a clone's packs are its own
	}
	if err == nil {
		err = m.rewrite(ctx, o, &c)
	}
	if err == nil {
		err = m.sweep(ctx, o.Grace, &c)
	}
	return c, wrap(err, "gc")
}

// void reports whether no reader may keep a part.
func (m *meta) void(p Part) bool {
	return slices.ContainsFunc(m.Forgotten, func(f Forgotten) bool {
		return f.Agent == p.Session.Agent && f.ID == p.Session.ID && f.voids(p.Revision)
	})
}

// chosen returns the packs to write again, in order.
func (m *Machine) chosen(all bool) (names []string, packs map[string]listed, err error) {
	if packs, err = readJSON[listed](m.db, bucketPacks); err != nil {
		return nil, nil, err
	}
	var small []string
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		p := packs[name]
		if all || slices.ContainsFunc(p.Parts, m.meta.void) {
			names = append(names, name)
		} else if p.Size < smallPack {
			small = append(small, name)
		}
	}
	if len(small) >= manySmall {
		names = append(names, small...)
		slices.Sort(names)
	}
	return names, packs, nil
}

// rewrite writes packs again without their void parts.
func (m *Machine) rewrite(ctx context.Context, o GCOptions, done *Collected) error {
	names, packs, err := m.chosen(o.All)
	if err != nil || len(names) == 0 {
		return err
	}
	states, err := m.states(ctx)
	if err != nil {
		return err
	}
	c := m.begin()
	flush := func() error {
		if len(c.Dropped) == 0 {
			return nil
		}
		c.all = true
		if err := m.commit(ctx, c); err != nil {
			return err
		}
		if done.Rewritten += len(c.Dropped); len(c.parts) > 0 {
			done.Packs++
		}
		c = m.begin()
		return nil
	}
	for _, name := range names {
		p := packs[name]
		if len(c.parts) > 0 && int64(len(c.frames))+p.Size > fullPack {
			if err := flush(); err != nil {
				return err
			}
		}
		frames, parts := len(c.frames), len(c.parts)
		switch err := m.copyPack(ctx, c, p.Pack, states); {
		case errors.Is(err, archive.ErrNotFound) || errors.As(err, new(*archive.DamageError)) || errors.Is(err, errChanged):
			c.frames, c.parts = c.frames[:frames], c.parts[:parts]
			done.Kept = append(done.Kept, fmt.Sprintf("%s: %v", name, err))
		case err != nil:
			return err
		default:
			c.Dropped = append(c.Dropped, name)
		}
	}
	return flush()
}

// states returns the daemon's state of each session.
func (m *Machine) states(ctx context.Context) (map[string][]byte, error) {
	stored, _, err := m.sessions(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, s := range stored {
		all[keyOf(s.Key)] = s.State
	}
	return all, nil
}

// copyPack adds the parts of a pack that are not void, with bytes from the archive. It fails if the archive does
// not have the bytes that were pushed.
func (m *Machine) copyPack(ctx context.Context, c *collection, p Pack, states map[string][]byte) error {
	for _, part := range p.Parts {
		if m.meta.void(part) {
			continue
		}
		key := part.Session.key()
		for _, t := range part.Stretches {
			var data []byte
			var err error
			switch {
			case t.copied() || t.Len == 0:
				c.part(part.Session, part.Revision, t)
				continue
			case t.Generation == 0:
				if data = states[keyOf(key)]; !bytes.Equal(hash(data), t.Sum) { // a newer one was pushed, or will be
					continue
				}
			default:
				data, err = m.o.Archive.Reader(key, t.Generation).Span(ctx, transcript.Span{Off: t.Off, Len: t.Len})
			}
			if err == nil && !bytes.Equal(hash(data), t.Sum) {
				err = errChanged
			}
			if err != nil {
				return fmt.Errorf("session %s is not in this archive as it was pushed: %w", part.Session.ID, err)
			}
			c.add(part.Session, part.Revision, t, data)
		}
	}
	return nil
}

// sweep deletes the machine's objects that no head has named for the grace period. Those of an interrupted push count
// from the time at which the store got them. After a refusal without a date, it does not try the others.
func (m *Machine) sweep(ctx context.Context, grace time.Duration, done *Collected) error {
	packs, err := readJSON[listed](m.db, bucketPacks)
	if err != nil {
		return err
	}
	live := map[string]bool{}
	for name := range packs {
		live[packObject(m.ID(), name)] = true
	}
	for _, r := range m.meta.Catalogues {
		live[catalogueObject(m.ID(), r.Name)] = true
	}
	before := m.o.Now().Add(-grace)
	next, stop := m.meta, false
	next.Garbage = map[string]time.Time{}
	for name, since := range m.meta.Garbage { // a list may be stale; what it lacks must not lose its date
		if since.After(before) {
			next.Garbage[name] = since
		}
	}
	for o, err := range m.o.Store.List(ctx, prefixOf(m.ID())) {
		if err != nil {
			return fmt.Errorf("list objects: %w", err)
		}
		since, known := m.meta.Garbage[o.Name]
		if !known {
			since = o.Modified
		}
		switch {
		case live[o.Name] || !strings.HasPrefix(o.Name, prefixOf(m.ID())):
		case since.After(before):
			done.Waiting++
			next.Garbage[o.Name] = since
		case stop:
			done.Refused++
			next.Garbage[o.Name] = since
		default:
			refused, err := done.delete(ctx, m.o.Store, o)
			if err != nil {
				return err
			}
			if refused != nil {
				next.Garbage[o.Name] = since
				stop = !errors.As(refused, new(*LockedError))
			}
		}
	}
	return m.apply(&round{Meta: next}, next.Tag)
}
