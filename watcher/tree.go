package watcher

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tree is what is known of the files: of each directory the names that are offered, of each name a stamp of what it
// was like when its offer was last arranged. It is what a scan is compared with; 50,000 files take about 5 MB.
type tree struct {
	o          *Options
	roots      []root
	dirs       map[string]*dir
	unreadable map[string]trouble
	skipped    int // in the last scan
	linked     int
	pass       uint32

	// report is told of each file that is new or changed; watch of each directory before it is listed.
	report func(d *dir, name string, info fs.FileInfo, unknown bool)
	seen   func(d *dir, name string, mtime time.Time) // of every file
	watch  func(d *dir)
	gone   func(root int, path string)
}

// trouble is why a directory could not be read, and the scan that met it last.
type trouble struct {
	cause string
	root  int
	pass  uint32
}

type root struct {
	present bool
	missing string // why it is not present, or cannot be read
	polled  string // why it is polled, "" where events are trusted
}

func (r root) why() string { return cmp.Or(r.missing, r.polled) }

type dir struct {
	path    string
	root    int
	inode   uint64
	mtime   time.Time
	files   []file // sorted by name
	next    []file // those of the scan that goes on
	pass    uint32 // the scan that saw it last
	watched bool
}

type file struct {
	name  string
	stamp uint64
}

func newTree(o *Options) *tree {
	return &tree{o: o, roots: make([]root, len(o.Roots)), dirs: map[string]*dir{}, unreadable: map[string]trouble{}}
}

// stamp tells two states of a file apart: size, time of change and inode, mixed into 64 bits. It is never 0.
func stamp(info fs.FileInfo) uint64 {
	h := uint64(info.Size())
	for _, v := range [...]uint64{uint64(info.ModTime().UnixNano()), inode(info)} {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h | 1
}

// find returns what is known of the file at path, nil where nothing is. It is valid until the next scan.
func (t *tree) find(path string) *file {
	d := t.dirs[filepath.Dir(path)]
	if d == nil {
		return nil
	}
	return d.find(filepath.Base(path))
}

func (d *dir) find(name string) *file {
	i, ok := d.search(name)
	if !ok {
		return nil
	}
	return &d.files[i]
}

func (d *dir) search(name string) (int, bool) {
	return slices.BinarySearchFunc(d.files, name, func(f file, n string) int { return strings.Compare(f.name, n) })
}

// put notes the stamp of a file, known before or not.
func (t *tree) put(path string, stamp uint64) {
	d := t.dirs[filepath.Dir(path)]
	if d == nil {
		return // its directory was not scanned yet: the scan will find it, and offer it once more
	}
	name := filepath.Base(path)
	i, ok := d.search(name)
	if !ok {
		d.files = slices.Insert(d.files, i, file{name: strings.Clone(name)})
	}
	d.files[i].stamp = stamp
}

// drop forgets a file and reports whether it was known.
func (t *tree) drop(path string) bool {
	d := t.dirs[filepath.Dir(path)]
	if d == nil {
		return false
	}
	i, ok := d.search(filepath.Base(path))
	if ok {
		d.files = slices.Delete(d.files, i, i+1)
	}
	return ok
}

// rootOf returns the innermost root that path lies in.
func (t *tree) rootOf(path string) (int, bool) {
	best := -1
	for i, r := range t.o.Roots {
		if within(path, r.Path) && (best < 0 || len(r.Path) > len(t.o.Roots[best].Path)) {
			best = i
		}
	}
	return best, best >= 0
}

// scan walks top and compares. With deep false it looks into directories only that it does not know yet.
func (t *tree) scan(ctx context.Context, w *walk, root int, top string, deep bool) {
	t.pass++
	w.known = func(dir, name string) bool { d := t.dirs[dir]; return d != nil && d.find(name) != nil }
	w.enter, w.file, w.leave, w.fail, w.skip, w.refuse = t.enter, t.file, t.leave, t.fail, t.skip, t.refuse
	w.descend = func(dir string) bool { return deep || t.dirs[dir] == nil }
	w.tree(ctx, root, top)
	if deep && ctx.Err() == nil {
		t.sweep(root, top)
	}
}

func (t *tree) enter(root int, path string, info fs.FileInfo) {
	d := t.dirs[path]
	if d == nil {
		d = &dir{path: path, root: root}
		t.dirs[path] = d
	}
	if id := inode(info); d.inode != id {
		d.inode, d.watched = id, false // another directory of that name: the watch went with the old one
	}
	d.mtime, d.pass, d.next = info.ModTime(), t.pass, make([]file, 0, len(d.files))
	t.watch(d)
}

func (t *tree) file(_ int, path, name string, info fs.FileInfo) {
	d := t.dirs[path]
	now := file{name: name, stamp: stamp(info)}
	old := d.find(name)
	if old != nil {
		now.name = old.name // keep one copy of the name
	}
	d.next = append(d.next, now)
	if links(info) > 1 {
		t.linked++
	}
	t.seen(d, now.name, info.ModTime())
	if old == nil || old.stamp != now.stamp {
		t.report(d, now.name, info, old == nil || old.stamp == 0)
	}
}

func (t *tree) leave(root int, path string) {
	d := t.dirs[path]
	slices.SortFunc(d.next, func(a, b file) int { return strings.Compare(a.name, b.name) })
	old := d.files
	d.files, d.next = d.next, nil
	for _, f := range old {
		if d.find(f.name) == nil {
			t.gone(root, filepath.Join(path, f.name))
		}
	}
}

// fail keeps all that is known below path: a directory that cannot be read now says nothing of its files.
func (t *tree) fail(root int, path string, err error) {
	if absent(err) && path != t.o.Roots[root].Path {
		return // it went since its parent was listed; sweep takes it
	}
	t.trouble(root, path, err)
	for p, d := range t.dirs {
		if within(p, path) {
			d.pass = t.pass
		}
	}
	if d := t.dirs[path]; d != nil {
		for _, f := range d.next {
			t.put(filepath.Join(path, f.name), f.stamp)
		}
		d.next = nil
	}
}

// trouble notes what cannot be read, and logs it once.
func (t *tree) trouble(root int, path string, err error) {
	if _, told := t.unreadable[path]; !told {
		t.o.Log.Warn("cannot read", "path", path, "err", cause(err))
	}
	t.unreadable[path] = trouble{cause(err).Error(), root, t.pass}
}

func (t *tree) skip(int, string, string) { t.skipped++ }

func (t *tree) refuse(root int, file string, err error) { t.trouble(root, file, err) }

// sweep drops the root's directories at and below top that the scan did not see.
func (t *tree) sweep(root int, top string) {
	for p, d := range t.dirs {
		if d.pass == t.pass || d.root != root || !within(p, top) {
			continue
		}
		for _, f := range d.files {
			t.gone(d.root, filepath.Join(p, f.name))
		}
		delete(t.dirs, p)
	}
	for p, u := range t.unreadable {
		if u.pass != t.pass && u.root == root && within(p, top) {
			delete(t.unreadable, p)
		}
	}
}
