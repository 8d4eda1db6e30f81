package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// many is an archive of so many sessions that its index has branch pages.
func many(t *testing.T, sessions int) *Archive {
	t.Helper()
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
	var changes []Change
	for i := range sessions {
		changes = append(changes, Change{Session: session(fmt.Sprintf("s%04d", i))})
	}
	if _, err := a.Save(t.Context(), nil, changes); err != nil {
		t.Fatal(err)
	}
	data := talk(1, 60<<10)
	fill(t, a, session("s0001"), 1, data, whole)
	var pointers []transcript.Pointer
	for i := range 200 {
		pointers = append(pointers, single(data, i*100, 90))
	}
	err := a.Publish(t.Context(), Publication{
		Key: session("s0001").Key, At: transcript.Cursor{Generation: 1, Offset: int64(len(data))}, Pointers: pointers,
		Replace: func() ([]byte, error) { return []byte("state"), nil },
	})
	must(t, err)
	return a
}

// A page that hides entries by its count is read by bbolt without an error. Nothing may be called missing then.
func TestHiddenEntriesAreDamage(t *testing.T) {
	t.Parallel()
	a := many(t, 600)
	if err := a.CheckIndex(t.Context()); err != nil {
		t.Fatal("sound:", err)
	}
	good, err := os.ReadFile(a.path)
	must(t, err)
	hidden, branches := 0, 0
	for page := 2; page*4096 < len(good); page++ {
		head := good[page*4096:]
		flags, count := binary.NativeEndian.Uint16(head[8:]), binary.NativeEndian.Uint16(head[10:])
		if count == 0 || flags != leafFlag && flags != branchFlag {
			continue
		}
		bad := append([]byte(nil), good...)
		binary.NativeEndian.PutUint16(bad[page*4096+10:], count-1)
		must(t, os.WriteFile(a.path, bad, 0o600))
		short := shortened(t, a.path)
		if !short {
			continue
		}
		hidden++
		if flags == branchFlag {
			branches++
		}
		if err := openAt(t, a.path, Options{}).CheckIndex(t.Context()); !errors.As(err, new(*DamageError)) {
			t.Errorf("page %d hides an entry: %v", page, err)
		}
	}
	if hidden < 10 || branches == 0 {
		t.Errorf("%d pages hid entries, %d of them branches: the test sees nothing", hidden, branches)
	}
}

// shortened reports whether bbolt reads less than there was, and sees no error.
func shortened(t *testing.T, path string) (short bool) {
	t.Helper()
	defer func() {
		if recover() != nil {
			short = false
		}
	}()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		return false
	}
	defer db.Close()
	sessions, ids := 0, 0
	_ = db.View(func(tx *bolt.Tx) error {
		sessions, ids = tx.Bucket(bucketSessions).Stats().KeyN, 0
		return tx.Bucket(bucketIDs).ForEach(func(_, _ []byte) error { ids++; return nil })
	})
	return sessions < 600 || ids < 200
}
