package watcher

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	pollEvery  = time.Second
	pollRecent = time.Hour // files that changed in the last hour are polled,
	pollMax    = 256       // at most so many, and as many directories, the latest changed ones
)

// poller looks after the roots whose events cannot be trusted, or that have none: between two scans it looks at the
// files that changed lately and at the directories in which something was made lately. A file older than that is
// found by the next scan.
type poller struct {
	at    time.Time
	since time.Time // older files are not polled; as of the last scan
	files map[fileKey]time.Time
	dirs  []*dir
	tree  *tree
}

type fileKey struct {
	dir  *dir
	name string
}

func (p *poller) polled(root int) bool { return p.tree.roots[root].polled != "" }

// next returns when to look again; ok is false where nothing is polled.
func (p *poller) next() (at time.Time, ok bool) {
	for i := range p.tree.roots {
		if p.polled(i) {
			return p.at, true
		}
	}
	return time.Time{}, false
}

func (p *poller) begin(now time.Time) {
	p.since = now.Add(-pollRecent)
	p.files = map[fileKey]time.Time{}
}

// seen is told of every file that a scan sees.
func (p *poller) seen(d *dir, name string, mtime time.Time) {
	if p.polled(d.root) && mtime.After(p.since) {
		p.files[fileKey{d, name}] = mtime
		if len(p.files) >= 4*pollMax {
			p.cut()
		}
	}
}

func (p *poller) cut() {
	newest := slices.SortedFunc(maps.Keys(p.files), func(a, b fileKey) int { return p.files[b].Compare(p.files[a]) })
	for _, k := range newest[min(len(newest), pollMax):] {
		delete(p.files, k)
	}
}

func (p *poller) end() {
	p.cut()
	p.dirs = nil
	for _, d := range p.tree.dirs {
		if p.polled(d.root) {
			p.dirs = append(p.dirs, d)
		}
	}
	slices.SortFunc(p.dirs, func(a, b *dir) int { return b.mtime.Compare(a.mtime) })
	p.dirs = slices.Clone(p.dirs[:min(len(p.dirs), pollMax)])
}

func (l *loop) pollWhenDue(ctx context.Context) {
	at, ok := l.poll.next()
	start := time.Now()
	if !ok || start.Before(at) {
		return
	}
	for f := range l.poll.files {
		l.pollFile(f)
	}
	for _, d := range l.poll.dirs {
		l.pollDir(ctx, d)
	}
	for i, r := range l.tree.roots {
		if !r.present && isDir(l.o.Roots[i].Path) {
			l.scanAt = start
		}
	}
	l.poll.at = start.Add(max(min(pollEvery, l.o.Settle/2), time.Since(start)*restFactor))
}

func (l *loop) pollFile(f fileKey) {
	known := f.dir.find(f.name)
	if known == nil {
		return
	}
	path := filepath.Join(f.dir.path, f.name)
	info, err := os.Lstat(path)
	now := time.Now()
	switch {
	case err == nil && stamp(info) != known.stamp:
		known.stamp = stamp(info)
		l.queue.changed(place{path, f.dir.root}, now, now)
	case err != nil && absent(err):
		l.queue.changed(place{path, f.dir.root}, now, now) // it is looked at again when it is due
	}
}

// pollDir lists a directory again in which something was made, removed or renamed.
func (l *loop) pollDir(ctx context.Context, d *dir) {
	info, err := os.Stat(d.path)
	switch {
	case err == nil && !info.ModTime().Equal(d.mtime):
		l.scanTree(ctx, d.root, d.path, false)
	case err != nil && absent(err) && l.tree.dirs[d.path] == d:
		l.scanSoon()
	}
}
