package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/transcript"

	bolt "go.etcd.io/bbolt"
)

// testdata has archives of older schemas, made by makeOld with the code of then: frames, a tail, two generations, states,
// IDs and a summary.
var (
	oldLong   = ledger(1, 700<<10)
	oldFirst  = ledger(2, 9<<10)
	oldSecond = ledger(3, 4<<10)
	oldInput  = mark.Sum([]byte("an input"))
)

// ledger returns n bytes or more of invented lines that pack well.
func ledger(seed, n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "{\"n\":%d,\"text\":\"the nightly export of ledger %d writes whole cents\"}\n", i, seed)
	}
	return b.Bytes()
}

// makeOld fills an archive as the fixture is.
func makeOld(t testing.TB, a *Archive) {
	t.Helper()
	ctx := context.Background()
	portions := func() int { return 150 << 10 }
	fill(t, a, session("long"), 1, oldLong, portions)
	fill(t, a, session("twice"), 1, oldFirst, portions)
	fill(t, a, session("twice"), 2, oldSecond, func() int { return 3 << 10 })
	err := a.Publish(ctx, Publication{
		Key: session("long").Key, At: transcript.Cursor{Generation: 1, Offset: int64(len(oldLong))},
		Pointers: []transcript.Pointer{single(oldLong, 100, 500), ranged(oldLong, 3, 60)},
		Replace:  func() ([]byte, error) { return []byte("state of long"), nil },
	})
	must(t, err)
	must(t, a.KeepSummary(ctx, oldInput, Summary{Text: "a summary"}))
}

// oldArchive puts the fixture of the oldest schema into a directory and returns its path.
func oldArchive(t testing.TB, dir string) string {
	t.Helper()
	return fixture(t, dir, "schema2.db.gz")
}

func fixture(t testing.TB, dir, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	must(t, err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	must(t, err)
	data, err := io.ReadAll(r)
	must(t, err)
	path := filepath.Join(dir, "archive.db")
	must(t, os.WriteFile(path, data, 0o600))
	return path
}

// What is written today holds what the fixture does: a test that reads one reads the other.
func TestFixtureIsStillWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "archive.db")
	makeOld(t, openAt(t, path, Options{}))
	holdsOld(t, path)
	for _, name := range []string{"schema2.db.gz", "schema3.db.gz"} {
		holdsOld(t, fixture(t, t.TempDir(), name))
	}
}

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
		if err != nil || len(found) != 1 || a.Reader(found[0].Key, 1).CheckPointer(ctx, found[0].Pointer) != nil {
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

func bytesOf(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// contentsOf hashes what the buckets of an archive hold: the same for the same archive, whatever stands in free pages.
func contentsOf(t testing.TB, path string) mark.Hash {
	t.Helper()
	h := sha256.New()
	err := openAt(t, path, Options{ReadOnly: true}).view(context.Background(), func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			fmt.Fprintf(h, "%q %d\n", name, b.Sequence())
			return b.ForEach(func(k, v []byte) error {
				if string(k) == string(keyFile) { // each file has its own number
					return nil
				}
				fmt.Fprintf(h, "%d %d\n%s%s", len(k), len(v), k, v)
				return nil
			})
		})
	})
	must(t, err)
	return mark.Hash(h.Sum(nil))
}

// scribble changes an archive of whatever schema, as no call of the package would.
func scribble(t testing.TB, path string, fn func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, errors.Join(db.Update(fn), db.Close()))
}

func schemaAt(t testing.TB, path string) (schema string) {
	t.Helper()
	err := openAt(t, path, Options{ReadOnly: true}).view(context.Background(), func(tx *bolt.Tx) error {
		schema = string(tx.Bucket(bucketMeta).Get(keySchema))
		return nil
	})
	must(t, err)
	return schema
}

// An archive of an older schema gets the newest one with its first new block, which has an envelope and a checksum, and
// everything in it stays. Compact gives every block a checksum.
func TestFromTheOldestSchema(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"schema2.db.gz", "schema3.db.gz"} {
		t.Run(name, func(t *testing.T) { fromOlder(t, fixture(t, t.TempDir(), name)) })
	}
}

func fromOlder(t *testing.T, path string) {
	if with, without := checksums(t, path); with > 0 || without == 0 {
		t.Fatalf("the fixture has %d blocks with a checksum and %d without", with, without)
	}
	found, _, err := openAt(t, path, Options{}).LookupAll(t.Context(), []mark.ID{single(oldLong, 100, 500).Hash.ID()})
	must(t, err)
	damaged, read, err := openAt(t, path, Options{}).CheckStored(t.Context(), found, 1)
	if err != nil || len(found) != 1 || len(damaged) > 0 || read < 200<<10 {
		t.Errorf("%d originals, %d damaged, %v; %d bytes were decoded", len(found), len(damaged), err, read)
	}
	a := openAt(t, path, Options{})
	fill(t, a, session("new"), 1, talk(1, 9000), whole)
	more := ledger(4, 2000)
	must(t, a.Append(context.Background(), session("twice"), segment(2, int64(len(oldSecond)), more)))
	third := slices.Concat([]byte("first\n"), oldSecond, more, []byte("last\n"))
	fill(t, a, session("twice"), 3, third, whole)
	if got := schemaAt(t, path); got != "4" {
		t.Errorf("schema %s", got)
	}
	for gen, want := range map[int][]byte{1: oldFirst, 2: slices.Concat(oldSecond, more), 3: third} {
		if got, _, err := everything(a.Reader(session("twice").Key, gen)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("generation %d: %d bytes of %d, %v", gen, len(got), len(want), err)
		}
	}
	if got, _, err := everything(a.Reader(session("long").Key, 1)); err != nil || !bytes.Equal(got, oldLong) {
		t.Errorf("%d bytes of %d, %v", len(got), len(oldLong), err)
	}
	sound(t, a)
	if with, without := checksums(t, path); with == 0 || without == 0 {
		t.Errorf("%d blocks with a checksum, %d without", with, without)
	}
	_, err = a.Compact(t.Context(), Removal{}, nil)
	must(t, err)
	if with, without := checksums(t, path); with == 0 || without > 0 {
		t.Errorf("after Compact: %d blocks with a checksum, %d without", with, without)
	}
	sound(t, a)
}

// checksums counts the stored blocks with a checksum that is right, and those without one.
func checksums(t *testing.T, path string) (with, without int) {
	t.Helper()
	must(t, openAt(t, path, Options{ReadOnly: true}).view(t.Context(), func(tx *bolt.Tx) error {
		return tx.Bucket(bucketManifest).ForEach(func(k, v []byte) error {
			b, err := parseBlock(k, v)
			if err != nil {
				return err
			}
			stored, err := getChunks(b.bucket(tx), b.ID, nil)
			var c checksum
			if c.begin(b.Sum, stored); c.matches() {
				with++
			} else if !c.ok {
				without++
			} else {
				t.Errorf("block %d has a wrong checksum", b.ID)
			}
			return err
		})
	}))
	return with, without
}

// An archive of a schema that is not known is refused by whatever reads or writes, and not touched.
func TestOtherSchemasAreRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for schema, want := range map[string]struct {
		err  error
		hint string
	}{"1": {ErrOlder, "mv "}, "99": {ErrNewer, "install the newer ccd"}} {
		path := oldArchive(t, t.TempDir())
		scribble(t, path, func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Put(keySchema, []byte(schema)) })
		before := bytesOf(t, path)
		a := openAt(t, path, Options{})
		for name, call := range map[string]func() error{
			"Append":   func() error { return a.Append(ctx, session("new"), segment(1, 0, []byte("x\n"))) },
			"Sessions": func() error { _, err := a.Sessions(ctx); return err },
			"Verify":   func() error { _, err := a.Verify(ctx, nil); return err },
			"Segments": func() error { _, _, err := everything(a.Reader(session("long").Key, 1)); return err },
		} {
			var other *SchemaError
			if err := call(); !errors.Is(err, want.err) || !errors.As(err, &other) || !strings.Contains(other.Hint(), want.hint) {
				t.Errorf("schema %s, %s = %v, want %v and what to do", schema, name, err, want.err)
			}
		}
		if bytesOf(t, path) != before {
			t.Errorf("schema %s: it was changed", schema)
		}
	}
}
