package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// holdsOld fails the test unless the archive at path gives back all that the fixture holds.
func holdsOld(t testing.TB, path string) {
	t.Helper()
	ctx := context.Background()
	a := openAt(t, path, Options{ReadOnly: true})
	for _, want := range []struct {
		id   string
		gen  int
		data []byte
	}{{"long", 1, oldLong}, {"twice", 1, oldFirst}, {"twice", 2, oldSecond}} {
		if got, _, err := everything(a.Reader(session(want.id).Key, want.gen)); err != nil || !bytes.Equal(got, want.data) {
			t.Errorf("%s: session %s, generation %d: %d bytes of %d, %v", path, want.id, want.gen, len(got), len(want.data), err)
		}
	}
	for _, p := range []transcript.Pointer{single(oldLong, 100, 500), ranged(oldLong, 3, 60)} {
		found, err := a.Lookup(ctx, string(p.Hash.ID()))
		if err != nil || len(found) != 1 || a.Reader(found[0].Key, 1).Check(ctx, found[0].Pointer) != nil {
			t.Errorf("%s: id %s: %v, %v", path, p.Hash.ID(), found, err)
		}
	}
	if s, err := a.Session(ctx, session("long").Key); err != nil || string(s.State) != "state of long" {
		t.Errorf("%s: state %q, %v", path, s.State, err)
	}
	if s, err := a.Summary(ctx, oldInput); err != nil || s.Text != "a summary" {
		t.Errorf("%s: summary %+v, %v", path, s, err)
	}
	if r := sound(t, a); r.Pointers < 2 || r.Generations < 3 || r.Summaries != 1 {
		t.Errorf("%s: %+v", path, r)
	}
}

func schemaAt(t testing.TB, path string) (n int) {
	t.Helper()
	err := openAt(t, path, Options{ReadOnly: true}).viewStore(context.Background(), func(s *store, _ *bolt.Tx) error {
		n = s.schema
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func bytesOf(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func contentsOf(t testing.TB, path string) mark.Hash {
	t.Helper()
	sum, err := contentsAt(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestUpgrade(t *testing.T) {
	ctx := context.Background()
	path := schema1(t, t.TempDir())
	before := bytesOf(t, path)
	holdsOld(t, path)
	a := openAt(t, path, Options{})
	if id, err := a.ID(ctx); id != "" || err != nil {
		t.Errorf("before: id %q, %v", id, err)
	}
	for name, write := range map[string]func() error{
		"Append":      func() error { return a.Append(ctx, session("new"), segment(1, 0, []byte("x\n"))) },
		"SetState":    func() error { return a.SetState(ctx, session("new"), nil) },
		"KeepSummary": func() error { return a.KeepSummary(ctx, oldInput, Summary{Text: "x"}) },
	} {
		var older *SchemaError
		if err := write(); !errors.Is(err, ErrOlder) || !errors.As(err, &older) || !strings.Contains(older.Hint(), "ccd run --once") {
			t.Errorf("%s = %v, want ErrOlder and what to do", name, err)
		}
	}
	if bytesOf(t, path) != before {
		t.Fatal("reading an older archive, or what was refused, has changed it")
	}
	var told int64
	done, err := a.Upgrade(ctx, func(done, total int64) {
		if told = done; total != int64(len(before)) {
			t.Errorf("progress of %d bytes, the file has %d", total, len(before))
		}
	})
	want := Upgraded{From: 1, To: newest, Backup: path + ".schema1.bak"}
	if err != nil || done != want || told != int64(len(before)) {
		t.Fatalf("Upgrade = %+v, %v, told %d bytes", done, err, told)
	}
	if info, err := os.Stat(want.Backup); err != nil || info.Mode() != 0o600 || bytesOf(t, want.Backup) != before {
		t.Errorf("the copy is not the archive as it was: %v, %v", info, err)
	}
	for _, p := range []string{path, want.Backup} {
		holdsOld(t, p)
	}
	if schemaAt(t, path) != newest || schemaAt(t, want.Backup) != 1 {
		t.Errorf("schemas %d and %d", schemaAt(t, path), schemaAt(t, want.Backup))
	}
	id, err := a.ID(ctx)
	if len(id) != 2*idSize || err != nil {
		t.Errorf("id %q, %v", id, err)
	}
	if again, err := a.Upgrade(ctx, nil); err != nil || again != (Upgraded{From: newest, To: newest}) {
		t.Errorf("once more: %+v, %v", again, err)
	}
	fill(t, a, session("new"), 1, talk(1, 5000), whole)
	if next, _ := a.ID(ctx); next != id {
		t.Errorf("the id has changed from %s to %s", id, next)
	}
	if err := os.Rename(want.Backup, path); err != nil { // the way back
		t.Fatal(err)
	}
	holdsOld(t, path)
}

// An older archive has a step for each schema up to the newest, and none beyond.
func TestStepsLeadToTheNewest(t *testing.T) {
	for i, st := range steps() {
		if st.from != i+1 {
			t.Errorf("step %d starts at schema %d", i, st.from)
		}
	}
	if len(steps()) != newest-1 {
		t.Errorf("%d steps to schema %d", len(steps()), newest)
	}
}

func TestUpgradeOfNothing(t *testing.T) {
	dir := t.TempDir()
	a := openAt(t, filepath.Join(dir, "archive.db"), Options{})
	if done, err := a.Upgrade(context.Background(), nil); err != nil || done != (Upgraded{}) {
		t.Errorf("Upgrade = %+v, %v", done, err)
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("%v was made", list)
	}
	ro := openAt(t, schema1(t, dir), Options{ReadOnly: true})
	if _, err := ro.Upgrade(context.Background(), nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
}

// What stands under the name of the copy decides: the same bytes are kept, half a copy is made anew, and any other
// archive is somebody's.
func TestUpgradeKeepsWhatStandsThere(t *testing.T) {
	ctx := context.Background()
	other := schema1(t, t.TempDir())
	scribble(t, other, func(tx *bolt.Tx) error { return putState(tx, session("long").Key, []byte("another")) })
	for name, c := range map[string]struct {
		there func(original string) string // what stands there
		kept  bool
		name  string
	}{
		"the same":    {func(o string) string { return o }, true, ".schema1.bak"},
		"half":        {func(o string) string { return o[:len(o)/2] }, false, ".schema1.bak"},
		"nothing":     {func(string) string { return "" }, false, ".schema1.bak"},
		"other bytes": {func(o string) string { return strings.Repeat("x", len(o)) }, false, ".schema1.bak"},
		"more space":  {func(o string) string { return o + strings.Repeat("x", 4096) }, true, ".schema1.bak"},
		"another":     {func(string) string { return bytesOf(t, other) }, true, ".schema1.2.bak"},
	} {
		path := schema1(t, t.TempDir())
		original, sum, there := bytesOf(t, path), contentsOf(t, path), path+".schema1.bak"
		if err := os.WriteFile(there, []byte(c.there(original)), 0o600); err != nil {
			t.Fatal(err)
		}
		was, _ := os.Stat(there)
		done, err := openAt(t, path, Options{}).Upgrade(ctx, nil)
		if err != nil || done.Backup != path+c.name || contentsOf(t, done.Backup) != sum {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		if is, _ := os.Stat(there); os.SameFile(was, is) != c.kept {
			t.Errorf("%s: kept is %v, want %v", name, !c.kept, c.kept)
		}
		if n := len(Backups(path)); n != 1 && (name != "another" || n != 2) {
			t.Errorf("%s: %d copies", name, n)
		}
	}
}

// scribble changes an archive of whatever schema, as no call of the package would.
func scribble(t testing.TB, path string, fn func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestUpgradeWithoutSpace(t *testing.T) {
	path := schema1(t, t.TempDir())
	before := bytesOf(t, path)
	_, err := openAt(t, path, Options{MinFree: 1 << 60}).Upgrade(context.Background(), nil)
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "make room for") {
		t.Errorf("Upgrade = %v", err)
	}
	leftAlone(t, path, before)
}

// leftAlone fails the test unless the archive is as it was, and alone.
func leftAlone(t testing.TB, path, before string) {
	t.Helper()
	if bytesOf(t, path) != before {
		t.Error("the archive has changed")
	}
	list, err := filepath.Glob(path + ".*")
	if err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// Without the copy nothing is upgraded, whatever keeps it from being made: this goes red where Upgrade does without.
func TestNoUpgradeWithoutItsCopy(t *testing.T) {
	path := schema1(t, t.TempDir())
	before := bytesOf(t, path)
	if err := os.MkdirAll(filepath.Join(path+".schema1.bak.tmp", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(t, path, Options{}).Upgrade(context.Background(), nil); err == nil {
		t.Error("upgraded, and there is no copy")
	}
	if bytesOf(t, path) != before || len(Backups(path)) > 0 {
		t.Error("the archive has changed")
	}
	if os.Geteuid() == 0 {
		return // may write everywhere
	}
	path = schema1(t, t.TempDir())
	openAt(t, path, Options{})
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	if _, err := openAt(t, path, Options{}).Upgrade(context.Background(), nil); !errors.Is(err, os.ErrPermission) {
		t.Errorf("in a directory that is not to be written to: %v", err)
	}
	leftAlone(t, path, before)
}

func TestUpgradeIsInterrupted(t *testing.T) {
	path := schema1(t, t.TempDir())
	before := bytesOf(t, path)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := openAt(t, path, Options{}).Upgrade(ctx, func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Upgrade = %v", err)
	}
	leftAlone(t, path, before)
}

func TestNewerIsRefusedAndLeftAlone(t *testing.T) {
	ctx := context.Background()
	path := schema1(t, t.TempDir())
	a := openAt(t, path, Options{})
	done, err := a.Upgrade(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = a.update(ctx, 0, func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Put(keySchema, []byte(fmt.Sprint(newest+1))) })
	if err != nil {
		t.Fatal(err)
	}
	before := bytesOf(t, path)
	a = openAt(t, path, Options{})
	for name, do := range map[string]func() error{
		"Sessions": func() error { _, err := a.Sessions(ctx); return err },
		"Upgrade":  func() error { _, err := a.Upgrade(ctx, nil); return err },
		"Append":   func() error { return a.Append(ctx, session("s"), segment(1, 0, []byte("x\n"))) },
		"Verify":   func() error { _, err := a.Verify(ctx, nil); return err },
		"ID":       func() error { _, err := a.ID(ctx); return err },
	} {
		var newer *SchemaError
		err := do()
		if !errors.Is(err, ErrNewer) || !errors.As(err, &newer) || newer.Found != newest+1 {
			t.Errorf("%s = %v, want ErrNewer", name, err)
			continue
		}
		if !strings.Contains(newer.Hint(), "install the newer ccd") || !strings.Contains(newer.Hint(), "cp -p "+done.Backup+" "+path) {
			t.Errorf("%s: hint %q", name, newer.Hint())
		}
	}
	if bytesOf(t, path) != before {
		t.Error("it was changed")
	}
	if err := os.Remove(done.Backup); err != nil {
		t.Fatal(err)
	}
	var newer *SchemaError
	if _, err := a.Sessions(ctx); !errors.As(err, &newer) || newer.Backup != "" || strings.Contains(newer.Hint(), "mv ") {
		t.Errorf("without a copy: %v", err)
	}
}

func TestDamagedID(t *testing.T) {
	ctx := context.Background()
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
	fill(t, a, session("s"), 1, []byte("x\n"), whole)
	err := a.update(ctx, 0, func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Put(keyID, []byte("not sealed at all")) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.ID(ctx); !errors.As(err, new(*DamageError)) {
		t.Errorf("ID = %v", err)
	}
	if r, err := a.Verify(ctx, nil); err != nil || len(r.Damage) != 1 {
		t.Errorf("Verify: %v, %v", r.Damage, err)
	}
}

// Two that upgrade at once, beside readers: one does it, both find it done.
func TestUpgradeAtOnce(t *testing.T) {
	path := schema1(t, t.TempDir())
	var group sync.WaitGroup
	did := make([]Upgraded, 4)
	for i := range did {
		group.Go(func() {
			var err error
			if did[i], err = openAt(t, path, Options{}).Upgrade(context.Background(), nil); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			if _, err := openAt(t, path, Options{ReadOnly: true}).Sessions(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	copies := 0
	for _, d := range did {
		if d.To != newest {
			t.Errorf("%+v", d)
		}
		if d.Backup != "" {
			copies++
		}
	}
	if all := Backups(path); copies != 1 || len(all) != 1 {
		t.Errorf("%d made a copy, there are %v", copies, all)
	}
	holdsOld(t, path)
}

func TestBackupNames(t *testing.T) {
	const path = "/a b/archive.db"
	for name, want := range map[string]int{
		backupName(path, 1, 1): 1, backupName(path, 12, 3): 12, path + ".schema1.bak.tmp": 0, path + ".schemax.bak": 0,
		path + ".schema1.x.bak": 0, path: 0, path + ".bak": 0,
	} {
		if got := schemaOf(path, name); got != want {
			t.Errorf("schemaOf(%s) = %d, want %d", name, got, want)
		}
	}
}

// A damaged archive is upgraded as it is: what is sound in it goes on.
func TestUpgradeOfADamagedArchive(t *testing.T) {
	path := schema1(t, t.TempDir())
	scribble(t, path, func(tx *bolt.Tx) error {
		return tx.Bucket(bucketFrames).ForEach(func(k, v []byte) error { return tx.Bucket(bucketFrames).Put(k, []byte("spoilt")) })
	})
	a := openAt(t, path, Options{})
	if done, err := a.Upgrade(context.Background(), nil); err != nil || done.To != newest {
		t.Fatalf("Upgrade = %+v, %v", done, err)
	}
	if got, _, err := everything(a.Reader(session("twice").Key, 2)); err != nil || !bytes.Equal(got, oldSecond) {
		t.Errorf("what was sound: %d bytes, %v", len(got), err)
	}
}
