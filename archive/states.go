package archive

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// Change replaces the caller's state of a session, and updates the path of its file. It adds the session if it is new.
type Change struct {
	Session transcript.Session
	Old     []byte // expected stored state; if it differs, the change is skipped
	New     []byte
}

// SetStates stores many states in one transaction. It returns the keys of the changes that were skipped because another
// process had stored a state.
func (a *Archive) SetStates(ctx context.Context, changes []Change) (stale []transcript.Key, err error) {
	var need int64
	for _, c := range changes {
		need += int64(len(c.New))
	}
	err = a.update(ctx, need, func(tx *bolt.Tx) error {
		stale = nil
		for _, c := range changes {
			if was, _ := getState(tx, c.Session.Key); !bytes.Equal(was, c.Old) {
				stale = append(stale, c.Session.Key)
				continue
			}
			if err := a.putChange(tx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("store states of %d sessions: %w", len(changes), err)
	}
	return stale, nil
}

func (a *Archive) putChange(tx *bolt.Tx, c Change) error {
	was, known, err := getSession(tx, c.Session.Key)
	if err != nil {
		return a.damageIn(c.Session.Key, transcript.Cursor{}, err)
	}
	r := newSessionRecord(c.Session)
	r.Num, r.Generation = was.Num, was.Generation
	if !known {
		if r.Num, err = tx.Bucket(bucketSessions).NextSequence(); err != nil {
			return err
		}
	}
	if r != was {
		if err := putSession(tx, c.Session.Key, r); err != nil {
			return err
		}
	}
	return putState(tx, c.Session.Key, c.New)
}
