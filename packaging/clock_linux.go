package packaging

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the clock that systemd compares times of services by.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
