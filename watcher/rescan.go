package watcher

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// scanPauseFactor keeps slow scans from using all I/O: the pause is at least so many times as long as the scan.
const scanPauseFactor = 20

func (l *loop) scanWhenDue(ctx context.Context) {
	start := time.Now()
	if rest := l.scanned.Add(l.scanTook * scanPauseFactor); l.scanAt.Before(rest) {
		l.scanAt = rest
	}
	if start.Before(l.scanAt) {
		return
	}
	l.tree.linked, l.tree.told, l.tree.unreadable = 0, l.tree.unreadable, map[string]string{}
	for i, err := range l.tree.resolve() {
		l.tree.roots[i].missing = l.updateRoot(i, err)
		if err == nil {
			l.tree.scan(ctx, i, l.o.Roots[i].Path, true)
		} else if !errors.Is(err, errDuplicateRoot) {
			l.watchAncestor(l.o.Roots[i].Path)
		}
	}
	if ctx.Err() != nil {
		return
	}
	l.queue.sortCold()
	l.scanned, l.scanTook = start, time.Since(start)
	l.scanAt = start.Add(max(l.o.ScanInterval, l.scanTook*scanPauseFactor))
	l.publish()
	if l.o.Scanned != nil {
		l.o.Scanned(l.w.Health())
	}
}

func (l *loop) scanTree(ctx context.Context, root int, top string, deep bool) {
	if l.scanned.IsZero() {
		return // the first scan will see it
	}
	l.tree.scan(ctx, root, top, deep)
	l.queue.sortCold()
}

// updateRoot records whether root i exists, given the error of resolve, and returns why it does not.
func (l *loop) updateRoot(i int, err error) string {
	r := &l.tree.roots[i]
	if err == nil {
		if fs := EventlessFS(l.tree.roots[i].real); fs != "" {
			l.pollRoot(i, "file system "+fs)
		}
		return ""
	}
	why := cause(err).Error()
	if NotExist(err) {
		why = "it does not exist"
	}
	if r.missing != why {
		l.o.Log.Info("not watching root", "root", l.o.Roots[i].Path, "why", why)
	}
	return why
}

// watchAncestor watches the nearest existing directory above a missing root, to notice when the root is created. The
// watch is never removed: some agent's root is always missing.
func (l *loop) watchAncestor(root string) {
	nearest := func() string {
		dir := filepath.Dir(root)
		for !isDir(dir) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
		return dir
	}
	for l.source != nil {
		dir := nearest()
		if err := l.source.add(dir); err != nil || nearest() == dir { // else a parent was created before the watch
			return // on an error the next scan finds the root
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
