package watcher

import (
	"context"
	"slices"
	"time"
)

// Between scans, the roots without usable events are walked by themselves: every second, if that takes little of it.
const (
	pollEvery       = time.Second
	pollPauseFactor = 50 // the pause is at least so many times as long as the walk
)

func (l *loop) polls() bool {
	return slices.ContainsFunc(l.tree.roots, func(r root) bool { return r.polled != "" })
}

func (l *loop) pollWhenDue(ctx context.Context) {
	start := time.Now()
	if !l.polls() || start.Before(l.pollAt) {
		return
	}
	linked := l.tree.linked
	for i, r := range l.tree.roots {
		switch path := l.o.Roots[i].Path; {
		case r.missing == errDuplicateRoot.Error():
		case r.present() != isDir(path):
			l.scanAt = start
		case r.present() && r.polled != "":
			l.scanTree(ctx, i, path)
		}
	}
	l.tree.linked = linked // a scan counts them
	l.pollAt = start.Add(max(min(pollEvery, l.o.Settle/2), time.Since(start)*pollPauseFactor))
}
