package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// Session returns an archived session. It fails with ErrNotFound if there is none.
func (a *Archive) Session(ctx context.Context, k transcript.Key) (Session, error) {
	return a.lookUp(ctx, k, 1)
}

// Last is like Session, but returns only the current generation, at a constant cost. It fails as that does.
func (a *Archive) Last(ctx context.Context, k transcript.Key) (Session, error) {
	return a.lookUp(ctx, k, math.MaxInt)
}

func (a *Archive) lookUp(ctx context.Context, k transcript.Key, from int) (Session, error) {
	s, err := a.find(ctx, k, from)
	if err = a.explainMissing(ctx, err); err != nil {
		return Session{}, fmt.Errorf("look up session %s %s: %w", k.Agent, k.ID, err)
	}
	return s, nil
}

// find returns a session with its generations from from on. If there is none, it does not look for damage that may hide it.
func (a *Archive) find(ctx context.Context, k transcript.Key, from int) (s Session, err error) {
	err = a.view(ctx, func(tx *bolt.Tx) error {
		r, ok, err := getSession(tx, k)
		if err == nil && ok {
			s, err = a.session(tx, r, min(from, r.Generation))
		}
		if err != nil {
			return a.damageIn(k, transcript.Cursor{}, err)
		}
		if !ok {
			return ErrNotFound
		}
		return nil
	})
	return s, err
}

// explainMissing returns the damage that may hide what was not found; any other error as it is.
func (a *Archive) explainMissing(ctx context.Context, err error) error {
	if errors.Is(err, ErrNotFound) {
		if damage := a.checkKeys(ctx, kindSession); damage != nil {
			return fmt.Errorf("%v: %w", err, damage) // report damage instead of a missing session
		}
	}
	return err
}

// checkKeys fails with a DamageError if an entry of a kind is damaged or hidden: a lookup of its key finds nothing.
func (a *Archive) checkKeys(ctx context.Context, kind kind) error {
	return a.each(ctx, kind, func(tx *bolt.Tx, k, v []byte) error {
		if _, err := unseal(kind, k, v); err != nil {
			return a.damage("bucket %q: %w", buckets[kind], err)
		}
		if kind.bucket(tx).Get(k) == nil { // a damaged key of a branch page leads elsewhere
			return a.damage("bucket %q: an entry cannot be looked up", buckets[kind])
		}
		return nil
	})
}

// session reads a session without its bytes, with the generations from from on.
func (a *Archive) session(tx *bolt.Tx, r sessionRecord, from int) (Session, error) {
	s := Session{Session: r.Session}
	for n := max(1, from); n <= r.Generation; n++ {
		g, err := getGeneration(tx, generationOf{r.Key, n})
		if err != nil {
			return s, err
		}
		sum, err := g.sum()
		if err != nil {
			return s, err
		}
		s.Generations = append(s.Generations, Generation{N: n, Tip: g.cursor(n), Sum: sum})
		if off, lost := g.lost(); lost {
			s.Lost = a.damageIn(s.Key, transcript.Cursor{Generation: n, Offset: off}, ErrMissing)
		}
	}
	err := a.guard(func() (err error) { // a damaged page of states does not make the session unreadable
		s.State, err = getState(tx, s.Key)
		return err
	})
	if err != nil {
		s.StateDamage = a.damageIn(s.Key, s.Tip(), fmt.Errorf("session state: %w", err))
	}
	s.State = bytes.Clone(s.State)
	return s, nil
}

// getState returns the caller's state, nil if there is none or it is damaged: the next one replaces it.
func getState(tx *bolt.Tx, k transcript.Key) (state []byte, err error) {
	if state, err = get(tx, kindState, sessionKey(k)); err != nil {
		return nil, err
	}
	return state, nil
}

func putState(tx *bolt.Tx, k transcript.Key, state []byte) error {
	return put(tx, kindState, sessionKey(k), state)
}

// Sessions returns all sessions, ordered by agent and ID. Damaged ones are skipped, and each is reported as a
// DamageError, joined, together with the good ones; so is damage that may hide sessions. A session with a damaged state
// is not skipped, but has StateDamage set.
func (a *Archive) Sessions(ctx context.Context) ([]Session, error) {
	var all []Session
	var damaged error
	err := a.Held(ctx, func(a *Archive) error {
		err := a.each(ctx, kindSession, func(tx *bolt.Tx, key, v []byte) error {
			s, err := a.stored(tx, key, v)
			if err != nil {
				damaged = errors.Join(damaged, err)
				return nil
			}
			all = append(all, s)
			return nil
		})
		if err == nil && damaged == nil {
			err = a.each(ctx, kindState, func(*bolt.Tx, []byte, []byte) error { return nil })
		}
		return err
	})
	if err != nil && !errors.Is(err, errAbsent) {
		damaged = errors.Join(damaged, fmt.Errorf("list sessions: %w", err))
	}
	return all, damaged
}

// SessionsOf returns the sessions of an agent. Damaged ones are left out. It fails with a DamageError if some are hidden.
func (a *Archive) SessionsOf(ctx context.Context, agent string) (all []Session, err error) {
	err = a.each(ctx, kindSession, func(tx *bolt.Tx, key, v []byte) error {
		if k, err := parseSessionKey(key); err == nil && k.Agent == agent {
			if s, err := a.stored(tx, key, v); err == nil {
				all = append(all, s)
			}
		}
		return nil
	})
	return all, err
}

// stored reads an entry of "sessions". It fails with a DamageError.
func (a *Archive) stored(tx *bolt.Tx, key, v []byte) (s Session, err error) {
	r, err := parseSession(key, v)
	if err == nil {
		s, err = a.session(tx, r, 1)
	}
	if err != nil {
		err = a.damageIn(r.Key, transcript.Cursor{}, err)
	}
	return s, err
}

// pageSize is how many entries each reads in one transaction.
const pageSize = 8192

// each calls fn with every entry of a kind, in order, in several short read transactions. It may miss entries that are added
// meanwhile. fn runs under the lock. It fails with a DamageError if there are fewer entries than were stored.
func (a *Archive) each(ctx context.Context, k kind, fn func(tx *bolt.Tx, k, v []byte) error) error {
	var last []byte
	found, stored, file := uint64(0), uint64(0), ""
	for more := true; more; {
		more = false
		err := a.viewAny(ctx, func(tx *bolt.Tx) error {
			if file == "" {
				stored, file = k.bucket(tx).Sequence(), fileOf(tx)
			}
			if file != fileOf(tx) { // replaced meanwhile
				stored = 0
			}
			c := k.bucket(tx).Cursor()
			key, v := c.Seek(last)
			if last != nil && bytes.Equal(key, last) {
				key, v = c.Next()
			}
			for n := 0; key != nil; key, v = c.Next() {
				if n++; n > pageSize {
					more = true
					break
				}
				last = key
				found++
				if err := fn(tx, key, v); err != nil {
					return err
				}
			}
			last = bytes.Clone(last) // it is part of the mapped file
			return nil
		})
		if err != nil {
			return err
		}
	}
	if k.counted() && found < stored {
		return a.damage("%d entries of bucket %q are hidden by damage", stored-found, buckets[k])
	}
	return nil
}
