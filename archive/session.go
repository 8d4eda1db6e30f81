package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// Session returns what is held of a session, ErrNotFound where it is nothing.
func (a *Archive) Session(ctx context.Context, k transcript.Key) (Session, error) {
	var s Session
	err := a.view(ctx, func(tx *bolt.Tx) error {
		r, ok, err := getSession(tx, k)
		if err == nil && ok {
			s, err = a.session(tx, k, r)
		}
		if err != nil {
			return a.damageIn(k, transcript.Cursor{}, err)
		}
		if !ok {
			return ErrNotFound
		}
		return nil
	})
	if err = a.absent(ctx, err); err != nil {
		return Session{}, fmt.Errorf("look up session %s %s: %w", k.Agent, k.ID, err)
	}
	return s, nil
}

// absent returns ErrNotFound for what is not in the archive, or the damage that may hide it; any other error as it is.
func (a *Archive) absent(ctx context.Context, err error) error {
	if errors.Is(err, errAbsent) {
		return ErrNotFound
	}
	if errors.Is(err, ErrNotFound) {
		if damage := a.checkForm(ctx, bucketSessions, bucketGenerations); damage != nil {
			return fmt.Errorf("%v: %w", err, damage) // nobody may take it for absent
		}
	}
	return err
}

// session reads all of a session but its bytes.
func (a *Archive) session(tx *bolt.Tx, k transcript.Key, r sessionRecord) (Session, error) {
	s := Session{Session: r.session(k)}
	for n := 1; n <= r.Generation; n++ {
		g, ok, err := getGeneration(tx, newStream(r.Num, n))
		if err == nil && !ok {
			err = fmt.Errorf("generation %d is missing", n)
		}
		if err != nil {
			return s, err
		}
		sum, err := g.sum()
		if err != nil {
			return s, err
		}
		s.Generations = append(s.Generations, Generation{N: n, Tip: g.cursor(n), Sum: sum})
	}
	state, err := getState(tx, k)
	if err != nil {
		s.StateDamage = a.damageIn(k, s.Tip(), err)
	}
	s.State = bytes.Clone(state)
	return s, nil
}

// getState returns the caller's state, nil where there is none or it is damaged: the next one replaces it.
func getState(tx *bolt.Tx, k transcript.Key) (state []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // of its page: that keeps no session from being read (see guard)
			err = fmt.Errorf("session state: %v", p)
		}
	}()
	key := sessionKey(k)
	v := tx.Bucket(bucketState).Get(key)
	if v == nil {
		return nil, nil
	}
	if state, err = unseal(key, v); err != nil {
		return nil, fmt.Errorf("session state: %w", err)
	}
	return state, nil
}

func putState(tx *bolt.Tx, k transcript.Key, state []byte) error {
	key := sessionKey(k)
	return tx.Bucket(bucketState).Put(key, seal(key, state))
}

// Sessions returns all sessions, ordered by agent and ID. Damaged ones are left out, and reported in a DamageError each,
// joined, beside the sound ones; so is damage that may hide others. A session whose state alone is damaged is not left
// out, and its StateDamage tells.
func (a *Archive) Sessions(ctx context.Context) ([]Session, error) {
	var all []Session
	damaged := a.checkForm(ctx, bucketSessions, bucketGenerations, bucketState)
	lost := map[uint64]bool{} // numbers of generations whose session is not met
	err := a.each(ctx, bucketGenerations, func(_ *bolt.Tx, key, _ []byte) error {
		if len(key) == len(stream{}) {
			lost[binary.BigEndian.Uint64(key)] = true
		}
		return nil
	})
	if err == nil {
		err = a.each(ctx, bucketSessions, func(tx *bolt.Tx, key, v []byte) error {
			s, num, err := a.stored(tx, key, v)
			if err != nil {
				damaged = errors.Join(damaged, err)
				return nil
			}
			delete(lost, num)
			all = append(all, s)
			return nil
		})
	}
	if err == nil && damaged == nil {
		err = a.lostStates(ctx, all)
	}
	switch {
	case errors.As(err, new(*DamageError)) && damaged == nil, err != nil && !errors.As(err, new(*DamageError)):
		damaged = fmt.Errorf("list sessions: %w", err)
	case err == nil && damaged == nil && len(lost) > 0:
		damaged = a.damage("%d sessions are missing, whose transcripts are there", len(lost))
	}
	return all, damaged
}

// lostStates fails with a DamageError where a session has no state and there are damaged ones of no session: a damaged key
// keeps a state from being found. A session that was just stored has none yet, and is no damage by itself.
func (a *Archive) lostStates(ctx context.Context, sessions []Session) error {
	keys, without := map[string]bool{}, false
	for _, s := range sessions {
		keys[string(sessionKey(s.Key))] = true
		without = without || s.State == nil && s.StateDamage == nil
	}
	if !without {
		return nil
	}
	return a.each(ctx, bucketState, func(_ *bolt.Tx, key, v []byte) error {
		if _, err := unseal(key, v); err != nil && !keys[string(key)] {
			return a.damage("the state of a session is missing, and one is damaged whose session is not known")
		}
		return nil
	})
}

// stored reads an entry of "sessions". It fails with a DamageError.
func (a *Archive) stored(tx *bolt.Tx, key, v []byte) (s Session, num uint64, err error) {
	k, err := parseSessionKey(key)
	var r sessionRecord
	if err == nil {
		r, err = parseSession(key, v)
	}
	if err == nil {
		s, err = a.session(tx, k, r)
	}
	if err != nil {
		err = a.damageIn(k, transcript.Cursor{}, err)
	}
	return s, r.Num, err
}

// pageSize is how many entries each reads in one transaction.
const pageSize = 512

// each calls fn with every entry of a bucket, in order, in as many short read transactions as it takes. Entries that
// are added meanwhile may be missed. fn runs under the lock.
func (a *Archive) each(ctx context.Context, bucket []byte, fn func(tx *bolt.Tx, k, v []byte) error) error {
	var last []byte
	for more := true; more; {
		var err error
		if last, more, err = a.page(ctx, bucket, last, fn); err != nil {
			return err
		}
	}
	return nil
}

// page calls fn with the entries behind the key last, pageSize at most, and returns the last key and whether there
// are more.
func (a *Archive) page(ctx context.Context, bucket, last []byte, fn func(tx *bolt.Tx, k, v []byte) error) (
	_ []byte, more bool, err error,
) {
	err = a.view(ctx, func(tx *bolt.Tx) error {
		c := tx.Bucket(bucket).Cursor()
		k, v := c.Seek(last)
		if last != nil && bytes.Equal(k, last) {
			k, v = c.Next()
		}
		for n := 0; k != nil; k, v = c.Next() {
			if n++; n > pageSize {
				more = true
				break
			}
			last = bytes.Clone(k)
			if err := fn(tx, k, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		more = false
	}
	if errors.Is(err, errAbsent) {
		err = nil
	}
	return last, more, err
}
