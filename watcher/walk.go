package watcher

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const readDirBatch = 512 // entries read at once: memory stays small in a directory of a million files

var (
	errNotDir = errors.New("not a directory")
	errTwice  = errors.New("the same directory as an earlier root")
)

// walk goes through directory trees. It opens nothing but directories and follows no symlink but the root itself.
// Of the functions only file and fail must be set.
type walk struct {
	o    *Options
	real []string      // of each root: its path without symlinks, "" where it is not there
	tops []fs.FileInfo // of each root that is there

	known   func(dir, name string) bool                        // the name was accepted before: no need to ask Match
	enter   func(root int, dir string, info fs.FileInfo)       // before it is listed
	file    func(root int, dir, name string, info fs.FileInfo) // regular and accepted
	leave   func(root int, dir string)                         // after it was listed to its end
	fail    func(root int, dir string, err error)              // it could not be
	skip    func(root int, dir, name string)                   // accepted by name, but not regular
	refuse  func(root int, path string, err error)             // ErrOwner, ErrName
	descend func(dir string) bool                              // nil: into every directory
}

// directory is what walk needs of an open directory.
type directory interface {
	Stat() (fs.FileInfo, error)
	ReadDir(n int) ([]fs.DirEntry, error)
	Close() error
}

func openDirectory(dir string, flags int) (directory, error) { return os.OpenFile(dir, flags, 0) }

func newWalk(o *Options) *walk {
	return &walk{
		o:       o,
		known:   func(string, string) bool { return false },
		enter:   func(int, string, fs.FileInfo) {},
		leave:   func(int, string) {},
		skip:    func(int, string, string) {},
		refuse:  func(int, string, error) {},
		descend: func(string) bool { return true },
	}
}

// resolve finds out where the roots are now. Its result holds for each root why it cannot be walked.
func (w *walk) resolve() []error {
	errs := make([]error, len(w.o.Roots))
	w.real, w.tops = make([]string, len(w.o.Roots)), make([]fs.FileInfo, len(w.o.Roots))
	seen := map[string]bool{}
	for i, r := range w.o.Roots {
		real, top, err := realDir(r.Path)
		if err == nil && seen[real] {
			err = errTwice
		}
		if errs[i] = err; err == nil {
			seen[real], w.real[i], w.tops[i] = true, real, top
		}
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

// tree walks top, a directory of the root, and everything below it. A directory is entered before it is listed, so
// that what is made in it between the two is seen twice rather than not at all.
func (w *walk) tree(ctx context.Context, root int, top string) {
	stack := []string{top}
	for len(stack) > 0 && ctx.Err() == nil {
		dir := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		below, err := w.list(ctx, root, dir)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.fail(root, dir, err)
		default:
			w.leave(root, dir)
		}
		stack = append(stack, below...)
	}
}

func (w *walk) list(ctx context.Context, root int, dir string) (below []string, err error) {
	flags := dirFlags
	if dir == w.o.Roots[root].Path {
		flags = os.O_RDONLY // the root may be a symlink
	}
	d, err := w.o.openDir(dir, flags)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	info, err := d.Stat()
	if err != nil {
		return nil, err
	}
	w.enter(root, dir, info)
	for {
		entries, err := d.ReadDir(readDirBatch)
		w.o.Alive()
		for _, e := range entries {
			if w.entry(root, dir, e) {
				below = append(below, filepath.Join(dir, e.Name()))
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

// entry looks at one entry and reports whether it is a directory to walk.
func (w *walk) entry(root int, dir string, e fs.DirEntry) bool {
	name := e.Name()
	if e.IsDir() {
		sub := filepath.Join(dir, name)
		if w.ignored(root, sub) || w.otherRoot(root, sub) {
			return false
		}
		if badName(name) {
			w.refuse(root, sub, ErrName)
			return false
		}
		return w.descend(sub)
	}
	if !w.known(dir, name) && !w.accepts(root, filepath.Join(dir, name)) {
		return false
	}
	if !e.Type().IsRegular() {
		w.skip(root, dir, name)
		return false
	}
	if badName(name) {
		w.refuse(root, filepath.Join(dir, name), ErrName)
		return false
	}
	// An lstat. A file that is gone by now is simply not there.
	info, err := e.Info()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if err := checkOwner(info, w.tops[root]); err != nil {
		w.refuse(root, filepath.Join(dir, name), err)
		return false
	}
	w.file(root, dir, name, info)
	return false
}

func (w *walk) accepts(root int, file string) bool {
	return !w.ignored(root, file) && w.o.Match(w.o.Roots[root], file)
}

func (w *walk) ignored(root int, file string) bool {
	if len(w.o.Ignore) == 0 {
		return false
	}
	rel, err := filepath.Rel(w.o.Roots[root].Path, file)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	for _, glob := range w.o.Ignore {
		if ok, _ := path.Match(glob, rel); ok {
			return true
		}
		if ok, _ := path.Match(glob, path.Base(rel)); ok {
			return true
		}
	}
	return false
}

// otherRoot reports whether dir is a root of its own: then it is walked as that one.
func (w *walk) otherRoot(root int, dir string) bool {
	if len(w.o.Roots) == 1 {
		return false
	}
	real := w.real[root] + strings.TrimPrefix(dir, w.o.Roots[root].Path)
	for i, r := range w.real {
		if i != root && r == real {
			return true
		}
	}
	return false
}

// badName reports whether a name holds control characters: nobody's transcripts do, and it would garble every list.
func badName(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f })
}

// within reports whether file is dir or lies below it.
func within(file, dir string) bool {
	return strings.HasPrefix(file, dir) &&
		(len(file) == len(dir) || file[len(dir)] == filepath.Separator || dir[len(dir)-1] == filepath.Separator)
}
