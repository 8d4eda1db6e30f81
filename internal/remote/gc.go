package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/archive"
	"ccd/internal/transcript"
)

// GCOptions say what GC does.
type GCOptions struct {
	Grace time.Duration // how long a pack stays after another one took its place; readers may be using it
	All   bool          // write every pack again: for new recipients
}

// Collected is what GC has done.
type Collected struct {
	Rewritten int      `json:"rewritten"` // packs
	Packs     int      `json:"packs"`     // that replaced them
	Deleted   int      `json:"deleted"`   // objects
	Freed     int64    `json:"freed_bytes"`
	Waiting   int      `json:"waiting"` // replaced packs, deleted after the grace period
	Kept      []string `json:"kept"`    // packs with void parts that cannot be written again, and why
	Refused   int      `json:"refused"` // objects that the store does not delete
	Why       error    `json:"-"`       // of Refused, the first one
}

// delete deletes an object, or counts that the store does not. Any other failure is an error.
func (c *Collected) delete(ctx context.Context, s Store, o Object) error {
	switch err := s.Delete(ctx, o.Name); {
	case err == nil:
		c.Deleted++
		c.Freed += o.Size
	case errors.Is(err, ErrDenied):
		c.Refused++
		c.Why = cmp.Or(c.Why, err)
	default:
		return fmt.Errorf("delete %s: %w", short(o.Name), err)
	}
	return nil
}

const (
	smallPack = 1 << 20 // bytes; smaller packs are merged if there are many
	manySmall = 64
)

// GC pushes what is new, writes packs that have forgotten parts again, from the archive, merges small ones if there are many,
// and deletes packs that were replaced before the grace period. It only touches the machine's own prefix. It fails as Push does.
func (m *Machine) GC(ctx context.Context, o GCOptions) (c Collected, err error) {
	if _, err := m.Push(ctx); err != nil || m.meta.Seq == 0 { // what is written again must be what was pushed
		return c, err
	}
	if err = m.look(ctx); err == nil { // a clone's packs are its own
		err = m.rewrite(ctx, o, &c)
	}
	if err == nil {
		err = m.sweep(ctx, o.Grace, &c)
	}
	return c, wrap(err, "gc")
}

// rewriting writes packs again without their void parts: one for each run of packs.
type rewriting struct {
	m      *Machine
	done   *Collected
	void   map[transcript.Key]int64
	states map[transcript.Key][]byte // as they are now

	names []string // of the run
	parts []Part
	data  []byte
}

// rewrite writes packs again: those with void parts, small ones if there are many, or all.
func (m *Machine) rewrite(ctx context.Context, o GCOptions, done *Collected) error {
	packs, err := readJSON[stored](m.db, bucketPacks)
	if err != nil {
		return err
	}
	small := 0
	for _, p := range packs {
		if p.Size < smallPack {
			small++
		}
	}
	all, _, err := m.sessions(ctx)
	if err != nil {
		return err
	}
	w := rewriting{m: m, done: done, void: tombstones(m.meta.Forgotten), states: map[transcript.Key][]byte{}}
	for _, s := range all {
		w.states[s.Key] = s.State
	}
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		p := packs[name]
		forgotten := slices.ContainsFunc(p.Parts, func(part Part) bool { return w.isVoid(name, part) })
		if o.All || forgotten || small >= manySmall && p.Size < smallPack {
			err = w.add(ctx, name, p.Parts)
		} else {
			err = w.flush(ctx)
		}
		if err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// mustNumber returns the number of a name that this package has stored.
func mustNumber(name string) number {
	n, _ := numberOf(name)
	return n
}

func (w *rewriting) isVoid(name string, part Part) bool {
	return mustNumber(name).last < w.void[part.Session.Key]
}

// add adds a pack to the run. One of which the archive has not all stays, and ends it.
func (w *rewriting) add(ctx context.Context, name string, parts []Part) error {
	parts, data, err := w.again(ctx, name, parts)
	missing := errors.Is(err, archive.ErrNotFound) || errors.As(err, new(*archive.DamageError))
	if missing {
		w.done.Kept, err = append(w.done.Kept, fmt.Sprintf("%s: %v", name, err)), nil
	}
	if err == nil && (missing || int64(len(w.data)+len(data)) > w.m.o.Limit) {
		err = w.flush(ctx)
	}
	if err == nil && !missing {
		w.names, w.parts, w.data = append(w.names, name), append(w.parts, parts...), append(w.data, data...)
	}
	return err
}

// again returns the parts of a pack that are not void, with bytes and the present states from the archive.
func (w *rewriting) again(ctx context.Context, name string, all []Part) (parts []Part, data []byte, err error) {
	for _, part := range all {
		if w.isVoid(name, part) {
			continue
		}
		key := part.Session.Key
		for _, t := range part.Stretches {
			if t.Len == 0 {
				continue
			}
			piece, err := w.m.o.Archive.Reader(key, t.Generation).Span(ctx, transcript.Span{Off: t.Off, Len: t.Len})
			if err != nil {
				return nil, nil, fmt.Errorf("session %s is not in this archive as it was pushed: %w", part.Session.ID, err)
			}
			data = append(data, piece...)
		}
		part.State = w.states[key]
		parts = append(parts, part)
	}
	return parts, data, nil
}

// flush writes one pack for the run. Readers may use either.
func (w *rewriting) flush(ctx context.Context) error {
	if len(w.names) == 0 {
		return nil
	}
	m, run := w.m, w.names
	n := number{first: mustNumber(run[0]).first, last: mustNumber(run[len(run)-1]).last, written: m.o.Now().Unix()}
	pack, err := m.coder.encodePack(n, w.parts, w.data, m.meta.key())
	if err == nil {
		err = m.create(ctx, packObject(m.ID(), n), pack)
	}
	if err != nil {
		return err
	}
	w.done.Rewritten, w.done.Packs = w.done.Rewritten+len(run), w.done.Packs+1
	parts := withoutStates(w.parts)
	w.names, w.parts, w.data = nil, nil, nil
	return m.update(func(_, _, packs *bolt.Bucket) error {
		for _, name := range run {
			if err := packs.Delete([]byte(name)); err != nil {
				return err
			}
		}
		return putJSON(packs, []byte(n.String()), stored{int64(len(pack)), parts})
	})
}

// packs returns the machine's packs by name, as it has written them, those of them that are in the store, and other objects
// below its prefix.
func (m *Machine) packs(ctx context.Context) (packs map[string]stored, live, others map[string]Object, err error) {
	if packs, err = readJSON[stored](m.db, bucketPacks); err != nil {
		return nil, nil, nil, err
	}
	live, others = map[string]Object{}, map[string]Object{}
	for o, err := range m.o.Store.List(ctx, prefixOf(m.ID()), "") {
		if err != nil {
			return nil, nil, nil, fmt.Errorf("list objects: %w", err)
		}
		name := strings.TrimPrefix(o.Name, prefixOf(m.ID()))
		if _, ok := packs[name]; ok {
			live[name] = o
		} else {
			others[name] = o
		}
	}
	return packs, live, others, nil
}

// sweep deletes packs that others replaced before the grace period, by the store's clock.
func (m *Machine) sweep(ctx context.Context, grace time.Duration, done *Collected) error {
	packs, live, old, err := m.packs(ctx)
	if err != nil {
		return err
	}
	if len(live) != len(packs) { // it may be stale, and must not make us delete what is still needed
		return badCopy(prefixOf(m.ID()), "%d of its %d packs are missing", len(packs)-len(live), len(packs))
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		n, ok := numberOf(name)
		since := old[name].Modified
		for by, l := range live {
			if by := mustNumber(by); by.first <= n.last && n.first <= by.last && l.Modified.After(since) {
				since = l.Modified
			}
		}
		switch {
		case !ok || n.last > m.meta.Seq: // it is not a pack of this machine, as far as is known
		case since.After(m.o.Now().Add(-grace)):
			done.Waiting++
		default:
			if err := done.delete(ctx, m.o.Store, old[name]); err != nil {
				return err
			}
		}
	}
	return nil
}
