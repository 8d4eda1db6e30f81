package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// testdata/schema1.db.gz is an archive as the first release wrote it, made by makeSchema1 with the code of then: frames,
// a tail, two generations, states, IDs and a summary. It stays as it is for ever.
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

// makeSchema1 fills an archive as the fixture is.
func makeSchema1(t testing.TB, a *Archive) {
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
	if err != nil {
		t.Fatal(err)
	}
	if err := a.KeepSummary(ctx, oldInput, Summary{Text: "a summary"}); err != nil {
		t.Fatal(err)
	}
}

// schema1 puts the fixture into a directory and returns its path.
func schema1(t testing.TB, dir string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "schema1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "archive.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is written today holds what the fixture does: a test that reads one reads the other.
func TestFixtureIsStillWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	makeSchema1(t, openAt(t, path, Options{}))
	holdsOld(t, path)
	if schemaAt(t, path) != newest {
		t.Error("a new archive is of an older schema")
	}
	holdsOld(t, schema1(t, t.TempDir()))
}
