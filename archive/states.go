package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// Change replaces the caller's state of a session, and updates the path of its file. It adds the session if it is new.
type Change struct {
	Session transcript.Session
	Old     []byte // expected stored state; if it differs, the change is skipped
	New     []byte
}

// Addition is a segment to append to a session.
type Addition struct {
	Session transcript.Session
	Segment transcript.Segment
}

// Save appends segments, at most one for each session, and stores states in one transaction: each transaction waits for
// the disk twice. stale are the sessions whose segment or state was not stored, because another process has appended or
// stored a state, and those in whose segment something was forgotten: it is stored without that, and without the state. If
// Save fails, nothing is stored.
func (a *Archive) Save(ctx context.Context, additions []Addition, changes []Change) (stale []transcript.Key, err error) {
	defer wrap(&err, "archive what is new")
	var plans []*plan
	var raced []transcript.Key
	var tips []*landed
	var need int64
	all, err := a.plans(ctx, additions...)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		switch {
		case errors.Is(p.err, ErrStale):
			raced = append(raced, p.session.Key)
		case p.err != nil:
			return nil, fmt.Errorf("append to session %s %s: %w", p.session.Agent, p.session.ID, p.err)
		case !p.noop():
			plans, tips, need = append(plans, p), append(tips, &p.tip), need+p.need
		}
	}
	for _, c := range changes {
		need += int64(len(c.New))
	}
	err = a.update(ctx, need, func(tx *bolt.Tx) error {
		stale = slices.Clone(raced)
		for _, p := range plans {
			switch err := p.commit(tx); {
			case errors.Is(err, ErrStale):
				stale = append(stale, p.session.Key)
			case err != nil:
				return err
			case p.filled: // the caller's bytes were others
				stale = append(stale, p.session.Key)
			}
		}
		for _, c := range changes {
			if slices.Contains(stale, c.Session.Key) {
				continue
			}
			if was, _ := getState(tx, c.Session.Key); !bytes.Equal(was, c.Old) {
				stale = append(stale, c.Session.Key)
				continue
			}
			if err := a.keep(tx, c); err != nil {
				return err
			}
		}
		return nil
	}, tips...)
	return stale, err
}

// keep adds a session if it is new, updates what its record says of its file, and stores its state.
func (a *Archive) keep(tx *bolt.Tx, c Change) error {
	k := c.Session.Key
	was, _, err := getSession(tx, k)
	if err != nil {
		return a.damageIn(k, transcript.Cursor{}, err)
	}
	if r := (sessionRecord{c.Session, was.Generation}); r != was {
		err = putSession(tx, r)
	}
	if err != nil || len(c.New) == 0 {
		return err
	}
	return putState(tx, k, c.New)
}
