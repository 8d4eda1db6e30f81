package watcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/internal/ownfile"
)

// tree contains the known files: for each directory its files, for each file its stamp at the last scan or offer. A
// scan walks the roots and compares; 50,000 files take about 6 MB. It only opens directories, and follows no symlink
// except the root itself.
type tree struct {
	o          *Options
	roots      []root
	dirs       map[string]*dir
	unreadable map[string]string // why a path could not be read, since the last full scan began
	told       map[string]string // the same before it: not logged again
	linked     int               // in the last scan
	pass       uint32

	// onFile is called for each new or changed file, onDir for each directory before it is listed, onSkip each time that
	// something is skipped.
	onFile func(d *dir, name string, info fs.FileInfo, unknown bool)
	onDir  func(d *dir)
	onSkip func(err error)
}

type root struct {
	real    string      // its path without symlinks, "" if it does not exist
	info    fs.FileInfo // nil if it does not exist
	missing string      // why it is not present, or cannot be read
	polled  string      // why it is polled, "" if events work
}

func (r root) present() bool { return r.real != "" }

type dir struct {
	path    string
	root    int
	inode   uint64
	mtime   time.Time
	files   map[string]file // by name
	next    map[string]file // of the current scan
	pass    uint32          // the scan that saw it last
	watched bool
}

type file struct {
	stamp uint64
	mtime int64 // nanoseconds since 1970
}

func newFile(info fs.FileInfo) file { return file{stamp(info), info.ModTime().UnixNano()} }

func newTree(o *Options) *tree {
	return &tree{
		o: o, roots: make([]root, len(o.Roots)), dirs: map[string]*dir{}, unreadable: map[string]string{},
		onDir: func(*dir) {}, onSkip: func(error) {},
	}
}

// stamp is a 64-bit hash of size, modification time and inode, to detect that a file changed. It is never 0.
func stamp(info fs.FileInfo) uint64 {
	h := uint64(info.Size())
	for _, v := range [...]uint64{uint64(info.ModTime().UnixNano()), ownfile.Inode(info)} {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h | 1
}

// knows reports whether the file at path was there at the last scan or offer.
func (t *tree) knows(path string) bool {
	d := t.dirs[filepath.Dir(path)]
	return d != nil && d.files[filepath.Base(path)].stamp != 0
}

// put records the stamp of a file. One in a directory that is not known is left to the scan of that.
func (t *tree) put(path string, info fs.FileInfo) {
	if d := t.dirs[filepath.Dir(path)]; d != nil {
		d.files[strings.Clone(filepath.Base(path))] = newFile(info)
	}
}

// drop removes a file, if it is known.
func (t *tree) drop(path string) {
	if d := t.dirs[filepath.Dir(path)]; d != nil {
		delete(d.files, filepath.Base(path))
	}
}

func (t *tree) rootOf(path string) (int, bool) {
	best := -1
	for i, r := range t.o.Roots {
		if within(path, r.Path) && (best < 0 || len(r.Path) > len(t.o.Roots[best].Path)) {
			best = i
		}
	}
	return best, best >= 0
}

const readDirBatch = 512 // entries per read, to use little memory in a directory of a million files

var (
	errNotDir        = errors.New("not a directory")
	errDuplicateRoot = errors.New("the same directory as an earlier root")
)

// resolve locates the roots. It returns an error for each root that cannot be scanned.
func (t *tree) resolve() []error {
	errs := make([]error, len(t.roots))
	seen := map[string]bool{}
	for i, r := range t.o.Roots {
		real, top, err := realDir(r.Path)
		if err == nil && seen[real] {
			err = errDuplicateRoot
		}
		if errs[i] = err; err != nil {
			real, top = "", nil
		}
		seen[real] = true
		t.roots[i].real, t.roots[i].info = real, top
	}
	return errs
}

func realDir(dir string) (string, fs.FileInfo, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = errNotDir
	}
	return real, info, err
}

// scan walks top, a directory of the root, and everything below it, and compares. It watches a directory before it
// lists it, so that a file created in between is seen twice rather than not at all. Unless deep, it only enters
// directories that are not known yet.
func (t *tree) scan(ctx context.Context, root int, top string, deep bool) {
	t.pass++
	stack := []string{top}
	for len(stack) > 0 && ctx.Err() == nil {
		path := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		below, err := t.list(ctx, root, path)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			t.keepUnreadable(root, path, err)
		default:
			d := t.dirs[path]
			d.files, d.next = d.next, nil
		}
		for _, sub := range below {
			if deep || t.dirs[sub] == nil {
				stack = append(stack, sub)
			}
		}
	}
	if deep && ctx.Err() == nil {
		t.sweep(root, top)
	}
}

func (t *tree) list(ctx context.Context, root int, path string) (below []string, err error) {
	flags := dirFlags
	if path == t.o.Roots[root].Path {
		flags = os.O_RDONLY
	}
	open, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	info, err := open.Stat()
	if err != nil {
		return nil, err
	}
	d := t.beginDir(root, path, info)
	for {
		entries, err := open.ReadDir(readDirBatch)
		t.o.Heartbeat()
		for _, e := range entries {
			if t.addEntry(d, e) {
				below = append(below, filepath.Join(path, e.Name()))
			}
		}
		if err == io.EOF {
			return below, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return below, err
		}
	}
}

func (t *tree) beginDir(root int, path string, info fs.FileInfo) *dir {
	d := t.dirs[path]
	if d == nil {
		d = &dir{path: path, root: root, files: map[string]file{}}
		t.dirs[path] = d
	}
	if id := ownfile.Inode(info); d.inode != id {
		d.inode, d.watched = id, false // the directory was replaced, and its watch is gone
	}
	d.mtime, d.pass, d.next = info.ModTime(), t.pass, make(map[string]file, len(d.files))
	t.onDir(d)
	return d
}

// addEntry processes one entry of a directory and reports whether it is a directory to walk.
func (t *tree) addEntry(d *dir, e fs.DirEntry) (walk bool) {
	path := filepath.Join(d.path, e.Name())
	var err error
	switch {
	case !e.IsDir():
		err = t.addFile(d, e, path)
	case t.ignored(d.root, path) || t.otherRoot(d.root, path):
	case badName(e.Name()):
		err = ErrName
	default:
		return true
	}
	if err != nil {
		t.addUnreadable(path, fmt.Errorf("read %q: %w", path, err))
	}
	return false
}

// addFile adds a file that is offered. It fails for one that may not be read.
func (t *tree) addFile(d *dir, e fs.DirEntry, path string) error {
	was := d.files[e.Name()].stamp
	switch {
	case was == 0 && !t.accepts(d.root, path):
		if e.Type()&fs.ModeSymlink != 0 && t.leadsOut(d.root, path) {
			return ErrLink
		}
		return nil
	case !e.Type().IsRegular():
		t.onSkip(fmt.Errorf("skip %q: %w", path, ErrIrregular))
		return nil
	case badName(e.Name()):
		return ErrName
	}
	info, err := e.Info()                       // calls lstat
	if err != nil || !info.Mode().IsRegular() { // it may be gone by now
		return nil
	}
	if err := checkOwner(info, t.roots[d.root].info); err != nil {
		return err
	}
	now := newFile(info)
	d.next[e.Name()] = now
	if ownfile.Links(info) > 1 {
		t.linked++
	}
	if was != now.stamp {
		t.onFile(d, e.Name(), info, was == 0)
	}
	return nil
}

// leadsOut reports whether a symbolic link leads to a directory that is below no root: what it holds is not followed.
func (t *tree) leadsOut(of int, path string) bool {
	real, _, err := realDir(path)
	if err != nil || t.ignored(of, path) {
		return false
	}
	return !slices.ContainsFunc(t.roots, func(r root) bool { return r.real != "" && within(real, r.real) })
}

// keepUnreadable keeps the known files below path: they may still exist, although the directory cannot be read.
func (t *tree) keepUnreadable(root int, path string, err error) {
	if NotExist(err) && path != t.o.Roots[root].Path {
		return // removed after its parent was listed; sweep handles it
	}
	t.addUnreadable(path, fmt.Errorf("scan %s: %w", path, cause(err)))
	for p, d := range t.dirs {
		if within(p, path) {
			d.pass = t.pass
		}
	}
	if d := t.dirs[path]; d != nil {
		maps.Copy(d.files, d.next)
		d.next = nil
	}
}

// addUnreadable records what cannot be read, and logs it once.
func (t *tree) addUnreadable(path string, err error) {
	t.onSkip(err)
	err = cause(err)
	if inner := errors.Unwrap(err); inner != nil {
		err = inner // the path is logged separately
	}
	if t.told[path] == "" && t.unreadable[path] == "" {
		t.o.Log.Warn("cannot read", "path", path, "err", err)
	}
	t.unreadable[path] = err.Error()
}

// sweep removes the root's directories at and below top that the scan did not see.
func (t *tree) sweep(root int, top string) {
	for p, d := range t.dirs {
		if d.pass != t.pass && d.root == root && within(p, top) {
			delete(t.dirs, p)
		}
	}
}

func (t *tree) accepts(root int, file string) bool {
	return !t.ignored(root, file) && t.o.Match(t.o.Roots[root], file)
}

func (t *tree) ignored(root int, file string) bool {
	if len(t.o.Ignore) == 0 {
		return false
	}
	rel, err := filepath.Rel(t.o.Roots[root].Path, file)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	for _, glob := range t.o.Ignore {
		if ok, _ := path.Match(glob, rel); ok {
			return true
		}
		if ok, _ := path.Match(glob, path.Base(rel)); ok {
			return true
		}
	}
	return false
}

// otherRoot reports whether dir is another root, which is walked separately.
func (t *tree) otherRoot(root int, dir string) bool {
	real := t.roots[root].real + strings.TrimPrefix(dir, t.o.Roots[root].Path)
	for i, r := range t.roots {
		if i != root && r.real == real {
			return true
		}
	}
	return false
}

// badName reports whether a name contains control characters. Agents never use them, and they would garble lists.
func badName(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f })
}

// within reports whether file is dir or below it.
func within(file, dir string) bool {
	return strings.HasPrefix(file, dir) &&
		(len(file) == len(dir) || file[len(dir)] == filepath.Separator || dir[len(dir)-1] == filepath.Separator)
}
