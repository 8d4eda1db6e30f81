package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
)

// Upgraded is what Upgrade found and did.
type Upgraded struct {
	From, To int    // schemas: equal where nothing was to be done, 0 where there is no archive yet
	Backup   string // path of the archive as it was, "" where nothing was to be done
}

// growth is what an upgrade itself may add to the file, in bytes: bbolt grows it in steps of 16 MB.
const growth = 16 << 20

// Upgrade carries an older archive to the schema that this ccd writes. First the whole file is copied beside itself, to
// ARCHIVE.schemaN.bak, and the copy is synced and compared; then everything happens in one transaction. Killed at any
// moment, it leaves the archive as it was or upgraded, and the next one goes on. A copy of the same bytes that is there
// already is kept; one of other bytes stays too, and the new one gets a number (ARCHIVE.schemaN.2.bak).
//
// It holds the archive's lock all the while: for an archive of some GB that is some seconds. It fails with ErrFull where
// there is no space for the copy, and with ErrNewer as all calls do. progress, if not nil, is told bytes of the copy.
func (a *Archive) Upgrade(ctx context.Context, progress func(done, total int64)) (Upgraded, error) {
	found := 0
	err := a.viewStore(ctx, func(s *store, _ *bolt.Tx) error {
		found = s.schema
		return nil
	})
	if errors.Is(err, errAbsent) || err == nil && found == newest {
		return Upgraded{From: found, To: found}, nil
	}
	var done Upgraded
	if err == nil {
		done, err = a.upgrade(ctx, progress)
	}
	if err != nil {
		return Upgraded{}, fmt.Errorf("upgrade archive: %w", err)
	}
	return done, nil
}

func (a *Archive) upgrade(ctx context.Context, progress func(done, total int64)) (done Upgraded, err error) {
	if a.o.ReadOnly {
		return done, ErrReadOnly
	}
	s := &store{a: a, write: true}
	if err := s.open(ctx, nil); err != nil {
		return done, err
	}
	defer s.close()
	done = Upgraded{From: s.schema, To: newest}
	if s.schema == newest { // another process was faster
		return done, nil
	}
	if done.Backup, err = s.keep(ctx, progress); err != nil {
		return done, full(fmt.Errorf("copy it first: %w", err))
	}
	return done, s.update(func(tx *bolt.Tx) error { return raise(tx, s.schema) })
}

// keep makes sure that a copy of the file as it is stands beside it, and returns its path.
func (s *store) keep(ctx context.Context, progress func(done, total int64)) (string, error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	for n := 1; ; n++ {
		path := backupName(s.a.path, s.schema, n)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path, s.copyTo(ctx, path, progress)
		case err != nil:
			return "", err
		case !info.Mode().IsRegular():
			continue
		case wholeArchive(ctx, path) != nil: // half a copy
			return path, s.copyTo(ctx, path, progress)
		}
		same, err := s.holds(ctx, path)
		if err != nil || same {
			return path, err
		}
	}
}

// holds reports whether the archive at path holds the same. Where either is too damaged to tell, it does not.
func (s *store) holds(ctx context.Context, path string) (bool, error) {
	ours, err := contents(ctx, s)
	theirs, failed := contentsAt(ctx, path)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil && failed == nil && ours == theirs, nil
}

// copyTo copies the file, which nobody changes while it is locked, to path: whole or not at all.
func (s *store) copyTo(ctx context.Context, path string, progress func(done, total int64)) (err error) {
	if err := s.room(filepath.Dir(path)); err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp) // what it is there for has failed already
		}
	}()
	sum, err := copyFile(ctx, s.a.path, tmp, progress)
	if err != nil {
		return err
	}
	got, err := hashFile(ctx, tmp)
	if err == nil && got != sum {
		err = errors.New("the copy reads back as something else")
	}
	if err == nil {
		err = wholeArchive(ctx, tmp)
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// room fails where a copy would not leave what must stay free.
func (s *store) room(dir string) error {
	free, err := freeSpace(dir)
	if err != nil {
		return fmt.Errorf("ask for free space: %w", err)
	}
	need := s.lock.info.Size() + growth + s.a.o.MinFree
	if free < need {
		return fmt.Errorf("%w: %s free in %s, %s needed for the copy and %s must stay free: make room for %s more, or lower archive.min_free",
			ErrFull, size(free), dir, size(s.lock.info.Size()+growth), size(s.a.o.MinFree), size(need-free))
	}
	return nil
}

// size is bytes for people.
func size(n int64) string { return humanize.IBytes(uint64(n)) }

// copyFile copies a file to a new one, synced, and returns the hash of its bytes.
func copyFile(ctx context.Context, from, to string, progress func(done, total int64)) (sum mark.Hash, err error) {
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return sum, err
	}
	sum, err = readFile(ctx, from, func(data []byte, done, total int64) error {
		progress(done, total)
		_, err := dst.Write(data)
		return err
	})
	if err == nil {
		err = dst.Sync()
	}
	return sum, errors.Join(err, dst.Close())
}

func hashFile(ctx context.Context, path string) (mark.Hash, error) {
	return readFile(ctx, path, func([]byte, int64, int64) error { return nil })
}

// readFile gives fn the bytes of a file, with how many they are so far and in all, and returns the hash of all.
func readFile(ctx context.Context, path string, fn func(data []byte, done, total int64) error) (sum mark.Hash, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return sum, err
	}
	h, buf, done := sha256.New(), make([]byte, 1<<20), int64(0)
	for {
		n, err := f.Read(buf)
		h.Write(buf[:n])
		done += int64(n)
		if n > 0 {
			if err := fn(buf[:n], done, info.Size()); err != nil {
				return sum, err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return mark.Hash(h.Sum(nil)), nil
		case err != nil:
			return sum, err
		case ctx.Err() != nil:
			return sum, ctx.Err()
		}
	}
}

// contents hashes what the buckets of an archive hold: the same for the same archive, whatever stands in pages that are
// free, as an upgrade leaves them that was killed.
func contents(ctx context.Context, s *store) (sum mark.Hash, err error) {
	h := sha256.New()
	err = s.view(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			fmt.Fprintf(h, "%q %d\n", name, b.Sequence())
			return b.ForEach(func(k, v []byte) error {
				fmt.Fprintf(h, "%d %d\n", len(k), len(v))
				h.Write(k)
				h.Write(v)
				return ctx.Err()
			})
		})
	})
	return mark.Hash(h.Sum(nil)), err
}

// contentsAt is contents of the archive at path.
func contentsAt(ctx context.Context, path string) (sum mark.Hash, err error) {
	err = openCopy(ctx, path, func(s *store) (err error) {
		sum, err = contents(ctx, s)
		return err
	})
	return sum, err
}

// wholeArchive fails unless an archive that can be read stands at path, as long as its own first page says.
func wholeArchive(ctx context.Context, path string) error {
	return openCopy(ctx, path, func(s *store) error {
		return s.view(func(tx *bolt.Tx) error {
			if have, size := s.lock.info.Size(), tx.Size(); have < size {
				return s.a.damage("%d bytes of %d", have, size)
			}
			return nil
		})
	})
}

// openCopy opens an archive that nobody writes to.
func openCopy(ctx context.Context, path string, fn func(s *store) error) error {
	b, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	s := &store{a: b}
	if err := s.open(ctx, nil); err != nil {
		return err
	}
	defer s.close()
	return fn(s)
}

const (
	backupMiddle = ".schema"
	backupEnd    = ".bak"
)

// backupName is what the n-th copy of an archive of a schema is called.
func backupName(path string, schema, n int) string {
	name := path + backupMiddle + strconv.Itoa(schema)
	if n > 1 {
		name += "." + strconv.Itoa(n)
	}
	return name + backupEnd
}

// schemaOf returns the schema that the name of a copy tells, 0 where it is no such name.
func schemaOf(path, backup string) int {
	name, ours := strings.CutPrefix(backup, filepath.Clean(path)+backupMiddle)
	name, ends := strings.CutSuffix(name, backupEnd)
	first, second, numbered := strings.Cut(name, ".")
	schema, err := strconv.Atoi(first)
	if numbered && err == nil {
		_, err = strconv.Atoi(second)
	}
	if !ours || !ends || err != nil {
		return 0
	}
	return schema
}

// Backups returns the copies that Upgrade has left beside the archive at path, the newest first. They are of no more use
// once nobody wants to go back to the ccd that wrote them.
func Backups(path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	made := map[string]int64{}
	var all []string
	for _, e := range entries {
		file := filepath.Join(filepath.Dir(path), e.Name())
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && schemaOf(path, file) > 0 {
			all, made[file] = append(all, file), info.ModTime().UnixNano()
		}
	}
	slices.SortStableFunc(all, func(x, y string) int { return cmp.Compare(made[y], made[x]) })
	return all
}
