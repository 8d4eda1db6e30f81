package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Report is what Verify has read, and the damage that it found.
type Report struct {
	Sessions, Generations, Blocks, Pointers, Summaries int
	Bytes                                              int64 // raw bytes of transcripts that were read and hashed
	Damage                                             []*DamageError
}

// Verify reads everything and checks every hash: each block, each generation, the original of each pointer, and the summaries.
// Damage is listed and Verify continues; err is only set if it could not continue. progress, if not nil, is called with raw
// bytes, never under the lock.
func (a *Archive) Verify(ctx context.Context, progress Progress) (Report, error) {
	for {
		v := verifier{a: a, progress: progress, blocks: map[uint64]bool{}}
		before := a.fileNow(ctx)
		for _, step := range []func(context.Context) error{v.id, v.list, v.generations, v.pointers, v.summaries} {
			if err := step(ctx); err != nil {
				return v.Report, fmt.Errorf("verify archive: %w", err)
			}
		}
		if len(v.Damage) == 0 || before == a.fileNow(ctx) {
			return v.Report, nil
		} // the file was replaced meanwhile: two files do not match each other
	}
}

// fileNow returns what identifies the archive's file, "" if it cannot be read.
func (a *Archive) fileNow(ctx context.Context) (file string) {
	_ = a.view(ctx, func(tx *bolt.Tx) error { // the steps report an error
		file = fileOf(tx)
		return nil
	})
	return file
}

type verifier struct {
	Report
	a        *Archive
	progress Progress
	total    int64
	sessions []Session
	blocks   map[uint64]bool // intact ones
}

// addDamage lists err if it is damage, and returns it otherwise.
func (v *verifier) addDamage(err error) error {
	var d *DamageError
	if errors.As(err, &d) {
		v.Damage = append(v.Damage, d)
		return nil
	}
	return err
}

// id reads the archive's ID.
func (v *verifier) id(ctx context.Context) error {
	_, err := v.a.ID(ctx)
	return v.addDamage(err)
}

// list reads the records of all sessions, and the index of frames.
func (v *verifier) list(ctx context.Context) error {
	all, lacking, err := v.a.Acknowledged(ctx)
	if err == nil {
		v.Damage = append(v.Damage, lacking...)
	}
	for _, s := range all {
		v.total += s.size()
		v.Sessions++
		if err := v.addDamage(s.StateDamage); err != nil {
			return err
		}
	}
	v.sessions = all
	for _, err := range Damages(err) {
		if err := v.addDamage(err); err != nil {
			return err
		}
	}
	return v.addDamage(v.a.checkKeys(ctx, kindHash))
}

func (v *verifier) generations(ctx context.Context) error {
	for _, s := range v.sessions {
		r := v.a.Reader(s.Key, 0) // shared, because generations share blocks
		for _, g := range s.Generations {
			v.Generations++
			if err := v.generation(ctx, r, g.N); err != nil {
				return err
			}
		}
	}
	return nil
}

// generation reads one generation block by block.
func (v *verifier) generation(ctx context.Context, r *Reader, n int) error {
	r.n = n
	g, err := r.generation(ctx)
	if err != nil {
		return v.addDamage(err)
	}
	sum, sound := sha256.New(), true
	for p, err := range r.portions(ctx, 0, g.Offset) {
		if err != nil {
			if err := v.addDamage(err); err != nil {
				return err
			}
			sound = false
			continue
		}
		if !v.blocks[p.id] {
			v.blocks[p.id] = true
			v.Blocks++
		}
		sum.Write(p.data)
		if v.Bytes += int64(len(p.data)); v.progress != nil {
			v.progress(v.Bytes, max(v.total, v.Bytes))
		}
	}
	if sound {
		if err := g.matches(sum); err != nil {
			return v.addDamage(r.damage(g.Offset, err))
		}
	}
	return nil
}

// pointers checks the originals, those of a generation in the order of their places, so that each block is read once.
func (v *verifier) pointers(ctx context.Context) error {
	var all []Found
	err := v.a.each(ctx, kindID, func(_ *bolt.Tx, key, value []byte) error {
		f, err := parsePointer(key, value)
		if err == nil && len(f.Parts) == 0 {
			err = errMismatch
		}
		if err != nil {
			return v.addDamage(&DamageError{Path: v.a.path, ID: f.Hash.ID(), Err: err})
		}
		all = append(all, f)
		return nil
	})
	if err := v.addDamage(err); err != nil {
		return err
	}
	v.Pointers += len(all)
	slices.SortFunc(all, func(x, y Found) int {
		return cmp.Or(cmp.Compare(x.Key.Agent, y.Key.Agent), cmp.Compare(x.Key.ID, y.Key.ID),
			cmp.Compare(x.Generation, y.Generation), cmp.Compare(x.Parts[0].Span.Off, y.Parts[0].Span.Off))
	})
	r := &Reader{}
	for _, f := range all {
		if f.Key != r.key || f.Generation != r.n {
			r = v.a.Reader(f.Key, f.Generation)
		}
		if err := v.addDamage(r.CheckPointer(ctx, f.Pointer)); err != nil {
			return err
		}
	}
	return nil
}
