package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ccd/daemon"
	"ccd/packaging"
)

// A service manager gives a start so long before it gives up; an upgrade that goes on asks for more, in time.
const (
	moreTime  = "EXTEND_TIMEOUT_USEC=120000000"
	moreEvery = 10 * time.Second
)

// upgrade carries an archive of an older ccd to the schema of this one. Where a daemon runs it does nothing: the archive
// is that one's, and there is no second one to be started.
func (a *app) upgrade(ctx context.Context, l *library) error {
	if _, running, err := daemon.ReadRun(l.stateDir); err != nil || running {
		return nil // the daemon's own lock says what there is to say
	}
	begun := time.Now()
	show, wipe := a.progress("archive of an older ccd, copying it before it is upgraded:")
	done, err := l.archive.Upgrade(ctx, askTime(show))
	wipe()
	if err != nil && errors.Is(context.Cause(ctx), errTerminated) {
		return errStopped
	}
	if err != nil || done.From == done.To {
		return err
	}
	a.say("archive upgraded from schema %d to %d in %s\nthe archive as it was: %s; remove it once you do not want the older ccd back",
		done.From, done.To, time.Since(begun).Round(10*time.Millisecond), done.Backup)
	return nil
}

// askTime is show that keeps a service manager waiting too.
func askTime(show func(done, total int64)) func(done, total int64) {
	var last time.Time
	return func(done, total int64) {
		if time.Since(last) >= moreEvery {
			last = time.Now()
			_ = packaging.Notify(fmt.Sprintf("%s\nSTATUS=upgrading the archive, %d%%", moreTime, 100*done/max(total, 1))) // it waits less then
		}
		show(done, total)
	}
}
