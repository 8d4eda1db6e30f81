package main

import (
	"context"
	"time"
)

// upgrade carries an archive of an older ccd to the schema of this one. The caller holds run.lock, or knows that no
// daemon does. alive is called as the work gets on; a service manager waits for it then.
func (a *app) upgrade(ctx context.Context, l *library, alive func()) error {
	begun := time.Now()
	show, wipe := a.progress("archive of an older ccd, copying it before it is upgraded:")
	done, err := l.archive.Upgrade(ctx, func(done, total int64) {
		alive()
		show(done, total)
	})
	wipe()
	if err != nil || done.From == done.To {
		return err
	}
	a.say("archive upgraded from schema %d to %d in %s\nthe archive as it was: %s; remove it once you do not want the older ccd back",
		done.From, done.To, time.Since(begun).Round(10*time.Millisecond), done.Backup)
	return nil
}
