package compactor_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the processor time of this thread, which other programs do not change.
func threadTime() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now)
	return time.Duration(now.Nano())
}
