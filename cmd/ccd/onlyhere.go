package main

import (
	"context"
	"os"

	"ccd/internal/transcript"
	"ccd/watcher"
)

// onlyHere counts the sessions that exist nowhere but in the archive, wholly or in part: the transcript or an attachment
// is gone, or it is not all that was archived of it. A session that cannot be read cannot be compared, and counts.
func (l *library) onlyHere(ctx context.Context) (int, error) {
	only := map[transcript.Key]bool{}
	for _, d := range l.damages() {
		if d.Session != "" {
			only[transcript.Key{ID: d.Session}] = true
		}
	}
	for _, e := range l.sessions {
		k := e.Key
		if e.Class == transcript.Attachment && e.Parent != "" {
			k.ID = e.Parent
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if !only[k] && !e.elsewhere(ctx) {
			only[k] = true
		}
	}
	return len(only), nil
}

// elsewhere reports whether the session's file has all the bytes that are archived of it, as far as its length and the
// fingerprints of both ends of what was archived tell.
func (e entry) elsewhere(ctx context.Context) bool {
	if len(e.Generations) == 0 {
		return true // nothing is archived
	}
	tip := e.Tip()
	info, err := os.Lstat(e.Path)
	if err != nil || len(e.Generations) > 1 || !e.Packed && info.Size() < tip.Offset {
		return false
	}
	for seg, err := range watcher.Tail(ctx, e.Session.Session, tip, watcher.TailOptions{}) {
		return err == nil && seg.Start.Generation == tip.Generation
	}
	return true
}
