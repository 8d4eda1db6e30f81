package install

import (
	"context"
	"fmt"
	"os"

	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// OnlyHere counts the sessions that exist, in whole or in part, only in the archive: the transcript or an attachment is
// gone, or has less than was archived of it. A session that cannot be read counts too, because it cannot be compared.
func OnlyHere(ctx context.Context, l *reader.Library) (int, error) {
	only := map[transcript.Key]bool{}
	for _, d := range l.Damages() {
		if d.Session != "" {
			only[transcript.Key{ID: d.Session}] = true
		}
	}
	for _, e := range l.Sessions {
		k := e.Key
		if e.Class == transcript.Attachment && e.Parent != "" {
			k.ID = e.Parent
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if !only[k] && !elsewhere(ctx, e) {
			only[k] = true
		}
	}
	return len(only), nil
}

// elsewhere reports whether the session's file has all the archived bytes. It compares the length and the fingerprints
// of both ends, not every byte.
func elsewhere(ctx context.Context, e reader.Entry) bool {
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

// OnlyHereText returns the count of OnlyHere as a sentence.
func OnlyHereText(n int) string {
	if n == 1 {
		return "1 session exists only in this archive"
	}
	return fmt.Sprintf("%d sessions exist only in this archive", n)
}
