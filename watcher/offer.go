package watcher

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// next returns the next offer. ok is false if none is due.
func (l *loop) next(ctx context.Context) (o Offer, ok bool) {
	for ctx.Err() == nil && !ok {
		now := time.Now()
		if f := l.queue.due(now); f != nil {
			o, ok = l.offerLive(ctx, f, now)
		} else if f, took := l.queue.popCold(); took {
			o, ok = l.offerCold(f, now)
		} else {
			return o, false
		}
		o.More = len(l.queue.cold) > 0 || l.queue.due(now) != nil
	}
	return o, ok
}

// offerLive offers a live file that is due. Events may have been lost, so it checks first whether the file still
// changes.
func (l *loop) offerLive(ctx context.Context, f *live, now time.Time) (Offer, bool) {
	info, err := os.Lstat(f.path)
	if err != nil || !info.Mode().IsRegular() {
		delete(l.queue.live, f.path)
		return l.offerIrregular(ctx, f, info, err)
	}
	if s := stamp(info); s != f.stamp {
		late := f.stamp != 0 && !f.unsynced // it changed since the last offer without an event
		f.stamp = s
		if late {
			l.queue.changed(f.place, now, now)
		} else if m := info.ModTime(); m.After(f.last) && !m.After(now) {
			l.queue.changed(f.place, m, m)
		}
		if f.due.After(now) {
			return Offer{}, false
		}
	}
	l.tree.put(f.path, info)
	o := l.offer(f.place, now.Sub(f.last))
	o.Live, o.Size = true, info.Size()
	l.queue.markOffered(f, now)
	return o, true
}

// offerIrregular handles a live path that is not a regular file any more.
func (l *loop) offerIrregular(ctx context.Context, f *live, info fs.FileInfo, err error) (Offer, bool) {
	switch {
	case err != nil && NotExist(err):
		l.tree.drop(f.path)
		o := l.offer(f.place, 0)
		o.Gone = true
		return o, true
	case err == nil && info.IsDir():
		l.scanTree(ctx, f.root, f.path, true)
	}
	return Offer{}, false // the next scan counts it
}

func (l *loop) offerCold(f foundFile, now time.Time) (Offer, bool) {
	p := place{filepath.Join(f.dir.path, f.name), f.dir.root}
	if l.queue.live[p.path] != nil {
		return Offer{}, false // it became live meanwhile, with a schedule of its own
	}
	info, err := os.Lstat(p.path)
	if err != nil || !info.Mode().IsRegular() {
		return Offer{}, false // left to the next scan
	}
	quiet := now.Sub(info.ModTime())
	if quiet < l.o.RefreshIdle {
		at := now.Add(-max(quiet, 0))
		l.queue.changed(p, at, at)
		return Offer{}, false
	}
	l.tree.put(p.path, info)
	o := l.offer(p, quiet)
	o.Cold, o.Size = true, info.Size()
	return o, true
}

func (l *loop) offer(p place, quiet time.Duration) Offer {
	if quiet < l.o.Settle {
		quiet = 0
	}
	return Offer{Path: p.path, Root: l.o.Roots[p.root], Quiet: quiet}
}
