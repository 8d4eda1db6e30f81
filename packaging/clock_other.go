//go:build !linux

package packaging

import "time"

// monotonic is of use to systemd alone.
func monotonic() time.Duration { return 0 }
