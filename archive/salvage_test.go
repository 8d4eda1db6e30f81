package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// salvaged salvages the archive at path into a new file, and reads everything in it.
func (ro rotten) salvaged(t *testing.T) (outcome, Report, *Archive) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "new.db")
	r, err := openAt(t, ro.path, Options{ReadOnly: true}).Salvage(t.Context(), file, nil)
	must(t, err)
	a := openAt(t, file, Options{})
	return ro.check(a), r, a
}

// Whatever bit is flipped, at most the block that has it is missing, and the sources bring it back.
func TestFlipsAreHealed(t *testing.T) {
	t.Parallel()
	ro := newRotten(t)
	sources := map[transcript.Key][][]byte{session("again").Key: ro.again}
	for i, data := range ro.data {
		sources[session(fmt.Sprint("r", i)).Key] = [][]byte{data}
	}
	met, missing, lost := 0, 0, 0
	least, tried := testkit.Cases(t, 2, 30), 0
	for at := range ro.flips(t) {
		if tried++; tried == 5000 || met >= least && missing > 0 {
			break
		}
		if ro.check(openAt(t, ro.path, Options{ReadOnly: true})).refused == 0 {
			continue
		}
		met++
		a := openAt(t, ro.path, Options{})
		r, err := a.Rebuild(t.Context(), nil)
		if err != nil {
			t.Fatalf("a flipped bit at %d: %v", at, err)
		}
		if len(r.Damage) > 0 {
			missing++
		}
		ro.heal(t, a, sources)
		v, err := a.Verify(t.Context(), nil)
		must(t, err)
		if o := ro.check(a); o.wrong > 0 || len(v.Damage) > 0 && o.refused == 0 {
			t.Errorf("a flipped bit at %d: %+v, %v", at, o, v.Damage)
		}
		for k, all := range sources {
			for n, want := range all {
				got, _, err := everything(a.Reader(k, n+1))
				switch {
				case err == nil && bytes.Equal(got, want):
				case err != nil && n+1 < len(all): // the record of an earlier one may be lost
					lost++
				default:
					t.Errorf("a flipped bit at %d: session %s, generation %d: %d bytes of %d, %v", at, k.ID, n+1, len(got), len(want), err)
				}
			}
		}
	}
	t.Logf("%d flips met, %d cost a block; %d earlier generations lost", met, missing, lost)
	if met == 0 || missing == 0 {
		t.Error("no flip was met: the test sees nothing")
	}
}

// heal does what the daemon does with the sources at hand: heals each generation, and archives sessions that are gone.
func (ro rotten) heal(t *testing.T, a *Archive, sources map[transcript.Key][][]byte) {
	t.Helper()
	ctx := context.Background()
	for k, all := range sources {
		for n, data := range all {
			s, err := a.Session(ctx, k)
			if err != nil || len(s.Generations) <= n {
				must(t, a.Append(ctx, session(k.ID), segment(n+1, 0, data)))
				continue
			}
			tip := s.Generations[n].Tip.Offset
			_, err = a.Heal(ctx, k, n+1, bytes.NewReader(data))
			if err != nil && (!errors.Is(err, ErrDiffers) || n+1 == len(all)) { // the record of an earlier one may be lost
				t.Errorf("heal %s %d: %v", k.ID, n+1, err)
			}
			if n+1 == len(s.Generations) && tip < int64(len(data)) {
				must(t, a.Append(ctx, session(k.ID), segment(n+1, tip, data[tip:])))
			}
		}
	}
}

// Rebuild leaves a file alone that is no archive, one of a newer ccd, and one on a disk that fails.
func TestRebuildRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string){
		"database of another program": func(path string) {
			must(t, os.Remove(path))
			db, err := bolt.Open(path, 0o600, nil)
			must(t, err)
			must(t, errors.Join(db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err }), db.Close()))
		},
		"text": func(path string) { must(t, os.WriteFile(path, bytes.Repeat([]byte("notes\n"), 3000), 0o600)) },
		"newer": func(path string) {
			scribble(t, path, func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Put(keySchema, []byte("99")) })
		},
	} {
		ro := newRotten(t)
		spoil(ro.path)
		want, err := os.ReadFile(ro.path)
		must(t, err)
		if r, err := openAt(t, ro.path, Options{}).Rebuild(t.Context(), nil); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
		if got, err := os.ReadFile(ro.path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the file has changed, %v", name, err)
		}
	}
	ro := newRotten(t)
	a := openAt(t, ro.path, Options{})
	f, err := os.OpenFile(ro.path, os.O_WRONLY, 0) // cannot be read
	must(t, err)
	defer f.Close()
	if _, err := a.salvage(t.Context(), f, filepath.Join(t.TempDir(), "new.db"), nil); !errors.Is(err, errDisk) {
		t.Errorf("a disk that fails: %v", err)
	}
}

// Of an archive of which only the pages with blocks are left, the envelopes bring back every session. Its control: without
// the blocks nothing comes back.
func TestSalvageByEnvelopes(t *testing.T) {
	t.Parallel()
	for _, left := range []string{"frames tail", "sessions generations manifest ids"} {
		ro := newRotten(t)
		raw, err := os.ReadFile(ro.path)
		must(t, err)
		w, m, _ := newWalker(bytes.NewReader(raw), int64(len(raw)))
		live := map[uint64]string{}
		w.live(m.Root, "", live, 0)
		keep := map[uint64]bool{0: true, 1: true}
		for id, name := range live {
			h, err := w.header(id)
			must(t, err)
			for i := range uint64(h.Overflow) + 1 {
				keep[id+i] = name != "" && strings.Contains(left, name)
			}
		}
		for id := range w.pages {
			if !keep[id] {
				clear(raw[int64(id)*w.page:][:w.page])
			}
		}
		must(t, os.WriteFile(ro.path, raw, 0o600))
		_, _, a := ro.salvaged(t)
		for i, want := range ro.data {
			got, _, err := everything(a.Reader(session(fmt.Sprint("r", i)).Key, 1))
			if back := err == nil && bytes.Equal(got, want); back != (left == "frames tail") {
				t.Errorf("with %s: session r%d has %d bytes of %d, %v", left, i, len(got), len(want), err)
			}
		}
	}
}
