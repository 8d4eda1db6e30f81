package watcher

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	pollEvery  = time.Second
	pollRecent = time.Hour
)

// polls reports whether there are roots without usable events. Between scans, their directories and the files that
// changed in the last hour are checked; changes to older files are found by the next scan.
func (l *loop) polls() bool {
	return slices.ContainsFunc(l.tree.roots, func(r root) bool { return r.polled != "" })
}

func (l *loop) pollWhenDue(ctx context.Context) {
	start := time.Now()
	if !l.polls() || start.Before(l.pollAt) {
		return
	}
	since := start.Add(-pollRecent).UnixNano()
	for _, d := range l.tree.dirs {
		if l.tree.roots[d.root].polled == "" {
			continue
		}
		for name, f := range d.files {
			if f.mtime > since {
				l.pollFile(d, name, f.stamp)
			}
		}
		l.pollDir(ctx, d)
	}
	for i, r := range l.tree.roots {
		if !r.present() && isDir(l.o.Roots[i].Path) {
			l.scanAt = start
		}
	}
	l.pollAt = start.Add(max(min(pollEvery, l.o.Settle/2), time.Since(start)*scanPauseFactor))
}

func (l *loop) pollFile(d *dir, name string, known uint64) {
	path := filepath.Join(d.path, name)
	info, err := os.Lstat(path)
	now := time.Now()
	switch {
	case err == nil && stamp(info) != known:
		d.files[name] = newFile(info)
		l.queue.changed(place{path, d.root}, now, now)
	case err != nil && NotExist(err):
		l.queue.changed(place{path, d.root}, now, now) // checked again when it is due
	}
}

// pollDir lists a directory again if an entry was created, removed or renamed.
func (l *loop) pollDir(ctx context.Context, d *dir) {
	info, err := os.Stat(d.path)
	switch {
	case err == nil && !info.ModTime().Equal(d.mtime):
		l.scanTree(ctx, d.root, d.path, false)
	case err != nil && NotExist(err):
		l.scanSoon()
	}
}
