package archive

import (
	"context"
	"errors"
	"fmt"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// SetState stores a state whatever was stored before.
func (a *Archive) SetState(ctx context.Context, s transcript.Session, state []byte) error {
	err := a.update(ctx, int64(len(state)), func(tx *bolt.Tx) error {
		return a.putChange(tx, Change{Session: s, New: state})
	})
	if err != nil {
		return fmt.Errorf("store state of session %s %s: %w", s.Agent, s.ID, err)
	}
	return nil
}

// A damaged state costs no session: it is told beside the session, by Verify too, and the next one takes its place.
func TestDamagedState(t *testing.T) {
	one := sessionKey(session("one").Key)
	for name, damage := range map[string]func(b *bolt.Bucket) error{
		"value": func(b *bolt.Bucket) error { return b.Put(one, []byte("12345678kepT")) },
		"key": func(b *bolt.Bucket) error {
			return errors.Join(b.Put([]byte("claude-code\x00ond"), b.Get(one)), b.Delete(one))
		},
	} {
		a := open(t)
		for _, name := range []string{"one", "two"} {
			if _, err := a.Save(t.Context(), nil, []Change{{Session: session(name), New: []byte("kept")}}); err != nil {
				t.Fatal(err)
			}
		}
		db, err := bolt.Open(a.path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bolt.Tx) error { return damage(tx.Bucket(bucketState)) })
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		all, err := a.Sessions(t.Context())
		if len(all) != 2 || all[0].State != nil || string(all[1].State) != "kept" || all[1].StateDamage != nil {
			t.Fatalf("%s: sessions = %+v, %v", name, all, err)
		}
		var told *DamageError
		if !errors.As(errors.Join(err, all[0].StateDamage), &told) {
			t.Errorf("%s: nothing tells of the damage: %v", name, err)
		}
		if r, err := a.Verify(t.Context(), nil); err != nil || len(r.Damage) != 1 || r.Sessions != 2 {
			t.Errorf("%s: Verify: %+v, %v", name, r, err)
		}
		stale, err := a.Save(t.Context(), nil, []Change{{Session: session("one"), New: []byte("new")}})
		if err != nil || len(stale) > 0 {
			t.Errorf("%s: made anew: stale %v, %v", name, stale, err)
		}
		sound(t, a)
	}
}
