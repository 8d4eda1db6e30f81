//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// TestStatusDoesNotReadContents: status reports only damage in the index of sessions; verify reports all.
func TestStatusDoesNotReadContents(t *testing.T) {
	d := newDamageable(t)
	if _, talk, code := outputs(t, d.home, "verify", "-q"); code != exitDone || talk != "" {
		t.Fatalf("sound: exit %d: %s", code, talk)
	}
	db, err := bolt.Open(d.path, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("tail"))
		key, stored := b.Cursor().First()
		bad := slices.Clone(stored)
		bad[len(bad)-1] ^= 1
		return b.Put(slices.Clone(key), bad)
	}))
	must(t, db.Close())
	if out, talk, code := outputs(t, d.home, "status"); code != exitDone || strings.Contains(string(out), "degraded") {
		t.Errorf("status: exit %d: %s%s", code, out, talk)
	}
	if out, _, code := outputs(t, d.home, "verify", "-q"); code != exitDamage || !strings.Contains(string(out), "damaged: ") {
		t.Errorf("verify: exit %d: %s", code, out)
	}
}
