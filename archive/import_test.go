package archive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ccd/internal/testkit"
)

func TestImport(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ro := newRotten(t)
	from := openAt(t, ro.path, Options{ReadOnly: true})
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{})
	other := talk(70, 100<<10)
	fill(t, a, session("r0"), 1, ro.data[0][:150_000], whole) // a part of it
	fill(t, a, session("r1"), 1, other, whole)                // another content
	fill(t, a, session("only"), 1, other, whole)
	for n := range 2 {
		got, err := a.Import(ctx, ro.path, nil)
		must(t, err)
		if n == 0 && (got.Sessions != 3 || got.Grown != 1 || got.Pointers != len(ro.pointers) || len(got.Renamed) != 1) ||
			n == 1 && (got.Sessions+got.Grown+got.Pointers > 0 || got.Bytes > 0) {
			t.Errorf("import %d: %+v", n, got)
		}
		id, err := from.ID(ctx)
		must(t, err)
		for key, want := range map[string][]byte{"r0": ro.data[0], "r1": other, "r1~" + id[:8]: ro.data[1], "r2": ro.data[2], "only": other} {
			if data, _, err := everything(a.Reader(session(key).Key, 1)); err != nil || !bytes.Equal(data, want) {
				t.Errorf("import %d: session %s has %d bytes of %d, %v", n, key, len(data), len(want), err)
			}
		}
		for gen, want := range ro.again {
			if data, _, err := everything(a.Reader(session("again").Key, gen+1)); err != nil || !bytes.Equal(data, want) {
				t.Errorf("import %d: generation %d has %d bytes of %d, %v", n, gen+1, len(data), len(want), err)
			}
		}
		for _, p := range ro.pointers {
			if found, err := a.Lookup(ctx, p.Hash.ID()); err != nil || len(found) != 1 || a.Reader(found[0].Key, found[0].Generation).CheckPointer(ctx, found[0].Pointer) != nil {
				t.Errorf("import %d: id %s: %v, %v", n, p.Hash.ID(), found, err)
			}
		}
		sound(t, a)
	}
	must(t, a.Append(ctx, session("r2"), segment(1, int64(len(ro.data[2])), other)))
	must(t, a.Append(ctx, session("again"), segment(5, 0, other)))
	sound(t, a)
}

// A backup brings back what is damaged here, and what is damaged there costs nothing but itself.
func TestImportHeals(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ro := newRotten(t)
	file := filepath.Join(t.TempDir(), "backup.db")
	backup(t, openAt(t, ro.path, Options{}), file)
	good := bytesOf(t, file)
	met, most, tried := 0, testkit.Cases(t, 2, 10), 0
	for at := range ro.flips(t) {
		if tried++; tried == 500 || met == most {
			break
		}
		a := openAt(t, ro.path, Options{})
		if ro.check(a).refused == 0 {
			continue
		}
		met++
		r, err := rebuild(ctx, a)
		must(t, err)
		_, err = a.Import(ctx, file, nil)
		must(t, err)
		if o := ro.check(a); o.wrong+o.refused > 0 {
			t.Errorf("a flipped bit at %d: %+v", at, o)
		}
		sound(t, a)
		b := openAt(t, filepath.Join(t.TempDir(), "new.db"), Options{})
		if _, err := b.Import(ctx, r.Aside, nil); err == nil {
			if o := ro.check(b); o.wrong > 0 {
				t.Errorf("a flipped bit at %d, imported: %+v", at, o)
			}
		}
		if bytesOf(t, file) != good {
			t.Error("the backup was changed")
		}
	}
	if met == 0 {
		t.Error("no flip was met: the test sees nothing")
	}
}

// A crafted file costs no more than its size: a generation with a very high number is none, and pages in a circle are not followed. The
// control: without the one entry, all of it is imported.
func TestImportOfACraftedFile(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from := open(t)
	data := talk(70, 100<<10)
	for n := range 200 {
		fill(t, from, session(fmt.Sprint("s", n)), 1, data[:1000+n], whole)
	}
	sound := bytesOf(t, from.Path())
	imports := func(file string) (*Archive, Imported, error) {
		path := filepath.Join(t.TempDir(), "crafted.db")
		must(t, os.WriteFile(path, []byte(file), 0o600))
		a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
		im, err := a.Import(ctx, path, nil)
		return a, im, err
	}
	if _, im, err := imports(sound); err != nil || im.Sessions != 200 {
		t.Fatalf("%d sessions, %v", im.Sessions, err)
	}
	key := generationOf{session("s3").Key, 1 << 31}.key()
	crafted := sound + string(key) + string(seal(kindGeneration, 1<<40, key, generationRecord{}.encode()))
	a, im, err := imports(crafted)
	info, statErr := os.Stat(a.Path())
	must(t, statErr)
	if err != nil || im.Sessions != 200 || info.Size() > 8*int64(len(sound)) {
		t.Errorf("a high number: %d sessions, %d bytes, %v", im.Sessions, info.Size(), err)
	}
	circle := []byte(sound)
	for at := 4096; at+4096 <= len(circle); at += 4096 {
		if binary.NativeEndian.Uint16(circle[at+8:]) == 1 { // the first child of each branch page is the page itself
			binary.NativeEndian.PutUint64(circle[at+16+8:], binary.NativeEndian.Uint64(circle[at:]))
		}
	}
	if _, im, err := imports(string(circle)); err != nil || im.Sessions != 200 || len(im.Damage) > 0 {
		t.Errorf("pages in a circle: %v, %v", im.Damage, err)
	}
}
