package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

func backup(t testing.TB, a *Archive, file string) {
	t.Helper()
	c, err := a.Backup(context.Background(), file, false, nil)
	must(t, err)
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 || info.Size() != c.Size {
		t.Errorf("the file is %v, %v; told %d bytes", info, err, c.Size)
	}
}

// alone fails the test unless dir holds the named files only.
func alone(t testing.TB, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, %v; want %q", dir, got, err, want)
	}
}

func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	state := filepath.Join(dir, "state")
	a := openAt(t, filepath.Join(state, "archive.db"), Options{})
	if _, err := a.Backup(ctx, filepath.Join(dir, "new"), false, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("of nothing: %v", err)
	}
	alone(t, dir)
	fill(t, a, session("s"), 1, talk(1, 9000), whole)
	before := contentsOf(t, a.path)
	other := openAt(t, filepath.Join(dir, "other.db"), Options{})
	fill(t, other, session("s"), 1, talk(1, 9000), whole)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("notes"), []byte("my own"), 0o600), os.Mkdir(at("folder"), 0o700),
		os.Symlink(a.path, at("link")), os.Symlink(state, at("place")), os.Link(a.path, at("hard")), os.Symlink(at("nowhere"), at("dangling")),
	} {
		must(t, err)
	}
	for name, c := range map[string]struct {
		file  string
		force bool // refuses even so
		says  string
	}{
		"the archive":            {a.path, true, "the archive itself"},
		"by a link":              {at("link"), true, "the archive itself"},
		"by a hard link":         {at("hard"), true, "the archive itself"},
		"by a directory's link":  {at("place/archive.db"), true, "the archive itself"},
		"its lock":               {filepath.Join(state, "archive.lock"), true, "uses this name"},
		"its own temporary file": {a.path + ".tmp", true, "uses this name"},
		"a twin of its lock":     {filepath.Join(state, "archive"), true, "uses this name"},
		"a directory":            {at("folder"), true, "not a regular file"},
		"a link to nothing":      {at("dangling"), true, "not a regular file"},
		"in no directory":        {at("none/copy"), true, "no such file"},
		"another file":           {at("notes"), false, "file exists"},
		"another archive":        {at("other.db"), false, "file exists"},
	} {
		_, err := a.Backup(ctx, c.file, false, nil)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if c.force == errors.Is(err, ErrOverwrite) {
			t.Errorf("%s: is it only a matter of force? %v", name, err)
		}
		if !c.force {
			_, err = a.Backup(ctx, c.file, true, nil)
			if err != nil || contentsOf(t, c.file) != before {
				t.Errorf("%s, with force: %v", name, err)
			}
		} else if _, err := a.Backup(ctx, c.file, true, nil); err == nil {
			t.Errorf("%s, with force: written", name)
		}
	}
	if contentsOf(t, a.path) != before {
		t.Error("the archive has changed")
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".ccd-*"))
	if more, _ := filepath.Glob(at(".ccd-*")); err != nil || len(left)+len(more) > 0 {
		t.Errorf("left behind: %v %v", left, more)
	}
}

// busy is somebody who writes all the time, a little at each call, and knows what each generation holds.
type busy struct {
	t     *testing.T
	a     *Archive
	r     *rand.Rand
	held  map[string][][]byte // by session, each generation's bytes
	steps map[string]int
}

func (w *busy) step() {
	w.t.Helper()
	id := fmt.Sprint("busy", w.r.IntN(5))
	gens := w.held[id]
	what := w.r.IntN(8)
	if len(gens) == 0 || what == 0 && len(gens) < 9 {
		gens = append(gens, nil)
		w.steps["generations"]++
	}
	n := len(gens)
	off := len(gens[n-1])
	data := talk(w.r.Uint64(), 1+w.r.IntN(1<<(4+w.r.IntN(15))))
	must(w.t, w.a.Append(context.Background(), session(id), segment(n, int64(off), data)))
	gens[n-1] = append(gens[n-1][:off:off], data...)
	w.held[id] = gens
	w.steps["appends"]++
	if what > 4 {
		return
	}
	w.steps["publications"]++
	s, err := w.a.Session(context.Background(), session(id).Key)
	must(w.t, err)
	err = w.a.Publish(context.Background(), Publication{
		Key: session(id).Key, At: transcript.Cursor{Generation: n, Offset: int64(len(gens[n-1]))}, State: s.State,
		Pointers: []transcript.Pointer{single(gens[n-1], off, len(data))},
		Replace:  func() ([]byte, error) { return fmt.Append(nil, off), nil },
	})
	must(w.t, err)
}

// check fails the test unless each session in the copy is what it was at some time.
func (w *busy) check(file string) (sessions int) {
	w.t.Helper()
	b := openAt(w.t, file, Options{ReadOnly: true})
	all, err := b.Sessions(context.Background())
	must(w.t, err)
	for _, s := range all {
		gens := w.held[s.ID]
		for _, g := range s.Generations {
			got, _, err := everything(b.Reader(s.Key, g.N))
			if err != nil || !bytes.HasPrefix(gens[g.N-1], got) || g.N < len(s.Generations) && len(got) != len(gens[g.N-1]) {
				w.t.Errorf("session %s, generation %d of %d: %d bytes of %d, %v", s.ID, g.N, len(s.Generations), len(got), len(gens[g.N-1]), err)
			}
		}
	}
	return len(all)
}

// Whatever is written meanwhile, a backup is the archive as it was at some time.
func TestBackupBesideAWriter(t *testing.T) {
	t.Parallel()
	a, dir := open(t), t.TempDir()
	w := &busy{t, a, rand.New(rand.NewPCG(5, 5)), map[string][][]byte{}, map[string]int{}}
	for range 30 {
		w.step()
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; n < 500; n++ {
			select {
			case <-stop:
				return
			default:
				w.step()
			}
		}
	}()
	var files []string
	for i := range 3 {
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		backup(t, openAt(t, a.Path(), Options{}), files[i])
	}
	close(stop)
	<-ended
	for _, file := range files {
		if n := w.check(file); n < 5 {
			t.Errorf("%d sessions", n)
		}
	}
	if w.steps["appends"] <= 30 {
		t.Error("nothing was written meanwhile: the test sees nothing")
	}
}

var someInput = mark.Sum([]byte("an input"))

// makeSome fills an archive with something of every kind.
func makeSome(t testing.TB, a *Archive) {
	t.Helper()
	long := talk(1, 700<<10)
	portions := func() int { return 150 << 10 }
	fill(t, a, session("long"), 1, long, portions)
	fill(t, a, session("twice"), 1, talk(2, 9<<10), portions)
	fill(t, a, session("twice"), 2, talk(3, 4<<10), func() int { return 3 << 10 })
	must(t, a.Publish(t.Context(), Publication{
		Key: session("long").Key, At: transcript.Cursor{Generation: 1, Offset: int64(len(long))},
		Pointers: []transcript.Pointer{single(long, 100, 500), ranged(long, 3, 60)},
		Replace:  func() ([]byte, error) { return []byte("state of long"), nil },
	}))
	must(t, a.KeepSummary(t.Context(), someInput, Summary{Text: "a summary"}))
}

// contentsOf hashes what the buckets of an archive hold: the same for the same archive, whatever stands in free pages.
func contentsOf(t testing.TB, path string) mark.Hash {
	t.Helper()
	h := sha256.New()
	err := openAt(t, path, Options{ReadOnly: true}).view(t.Context(), func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			fmt.Fprintf(h, "%q %d\n", name, b.Sequence())
			return b.ForEach(func(k, v []byte) error {
				if v == nil {
					v = b.Bucket(k).Get(k)
				}
				if string(k) != string(keyFile) { // each file has its own
					fmt.Fprintf(h, "%d %d\n%s%s", len(k), len(v), k, v)
				}
				return nil
			})
		})
	})
	must(t, err)
	return mark.Hash(h.Sum(nil))
}
