package packaging

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// Notify sends a state to the service manager: "READY=1", "WATCHDOG=1", or "STOPPING=1". Without
// $NOTIFY_SOCKET it does nothing. It fails if nobody listens there.
func Notify(state string) error {
	addr := os.Getenv("NOTIFY_SOCKET")
	if addr == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: addr, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notify service manager: %w", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("notify service manager: %w", err)
	}
	return nil
}

// Pulse reports the daemon's progress to the watchdog of the service manager, at a limited rate. It must only be called by the
// goroutine that works: a ticker would also report progress while the work hangs. It is not safe for concurrent use.
type Pulse struct {
	every time.Duration // longest time between two reports, 0 without a watchdog
	last  time.Time     // last report
}

// NewPulse reads the manager's settings from the environment: $NOTIFY_SOCKET, and $WATCHDOG_USEC if $WATCHDOG_PID is
// unset or this process.
func NewPulse() *Pulse {
	p := &Pulse{}
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return p
	}
	if usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec > 0 && os.Getenv("NOTIFY_SOCKET") != "" {
		p.every = time.Duration(usec) * time.Microsecond / 3
	}
	return p
}

// Every returns how often Beat has to be called: a third of the watchdog's timeout, or 0 without a watchdog.
func (p *Pulse) Every() time.Duration { return p.every }

// Beat reports progress. It may be called at any rate, and sends at most two datagrams per Every. It fails as Notify does.
func (p *Pulse) Beat() error {
	now := time.Now()
	if p.every == 0 || now.Sub(p.last) < p.every/2 {
		return nil
	}
	p.last = now
	return Notify("WATCHDOG=1")
}
