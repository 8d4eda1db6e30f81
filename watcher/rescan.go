package watcher

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// restFactor keeps slow scans from eating the machine: at least so many times as long as a scan took lie between two.
const restFactor = 20

func (l *loop) scanWhenDue(ctx context.Context) {
	start := time.Now()
	if rest := l.scanned.Add(l.scanTook * restFactor); l.scanAt.Before(rest) {
		l.scanAt = rest
	}
	if start.Before(l.scanAt) {
		return
	}
	l.tree.skipped, l.tree.linked = 0, 0
	l.poll.begin(start)
	missing := map[string]bool{}
	for i, err := range l.walk.resolve() {
		l.tree.roots[i].missing = l.rootState(i, err)
		if err == nil {
			l.tree.scan(ctx, l.walk, i, l.o.Roots[i].Path, true)
		} else if !errors.Is(err, errTwice) {
			l.waitFor(l.o.Roots[i].Path, missing)
		}
	}
	if ctx.Err() != nil {
		return
	}
	l.waitNoMore(missing)
	if l.scanned.IsZero() {
		l.missKnown()
	}
	l.settleNews()
	l.scanned, l.scanTook = start, time.Since(start)
	l.scanAt = start.Add(max(l.o.ScanInterval, l.scanTook*restFactor))
	l.poll.end()
	l.publish()
	if l.o.Scanned != nil {
		l.o.Scanned(l.w.Health())
	}
}

func (l *loop) scanTree(ctx context.Context, root int, top string, deep bool) {
	if l.walk.real == nil {
		return // before the first scan: that one sees it
	}
	l.tree.scan(ctx, l.walk, root, top, deep)
	l.settleNews()
}

func (l *loop) settleNews() {
	if len(l.news) > 0 {
		l.queue.found(l.news)
		l.news = nil
	}
}

// rootState notes whether root i is there, given what resolve said of it, and returns why it is not.
func (l *loop) rootState(i int, err error) string {
	r := &l.tree.roots[i]
	r.present = err == nil
	if err == nil {
		if fs := ForeignFS(l.walk.real[i]); fs != "" {
			l.pollRoot(i, "file system "+fs)
		}
		return ""
	}
	why := cause(err).Error()
	if absent(err) {
		why = "it does not exist"
	}
	if r.missing != why {
		l.o.Log.Info("root is not watched", "root", l.o.Roots[i].Path, "why", why)
	}
	return why
}

// waitFor watches the nearest directory above a root that is missing, so that its coming is noticed.
func (l *loop) waitFor(root string, missing map[string]bool) {
	for l.source != nil {
		dir := filepath.Dir(root)
		for !isDir(dir) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
		if missing[dir] {
			return
		}
		missing[dir] = true
		if l.waitedFor[dir] || l.tree.dirs[dir] != nil {
			continue
		}
		if err := l.source.add(dir); err != nil {
			return // the scan will see the root come
		}
		l.waitedFor[dir] = true
		// Look again: a part of the path may have been made before the watch was.
	}
}

func (l *loop) waitNoMore(missing map[string]bool) {
	for dir := range l.waitedFor {
		if missing[dir] {
			continue
		}
		delete(l.waitedFor, dir)
		if d := l.tree.dirs[dir]; l.source != nil && (d == nil || !d.watched) {
			l.source.remove(dir)
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// missKnown offers as gone what an earlier life knew and the first scan did not find. Each is looked at once more
// when its turn comes; a root that is not there says nothing of its files.
func (l *loop) missKnown() {
	for _, path := range l.o.Known {
		root, ok := l.tree.rootOf(path)
		if ok && l.tree.roots[root].present && l.tree.find(path) == nil {
			l.queue.gone = append(l.queue.gone, place{path, root})
		}
	}
	l.o.Known = nil
}
