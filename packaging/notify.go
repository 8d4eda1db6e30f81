package packaging

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// notify sends a state to the service manager, if there is one. It fails if nobody listens there.
func notify(state string) error {
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

// A daemon that is not ready yet but makes progress extends its start timeout by startExtension, every
// startExtendEvery.
const (
	startExtendEvery = 10 * time.Second
	startExtension   = time.Minute
)

// Pulse reports the daemon's progress to the service manager, at a limited rate. It must only be called by the
// goroutine that works: a ticker would also report progress while the work hangs. It is not safe for concurrent use.
type Pulse struct {
	notify  func(state string) error
	listens bool          // there is a manager that listens
	every   time.Duration // longest time between two reports, 0 without a watchdog
	ready   bool
	last    time.Time // last report
}

// NewPulse reads the manager's settings from the environment: $NOTIFY_SOCKET, and $WATCHDOG_USEC if $WATCHDOG_PID is
// unset or this process.
func NewPulse() *Pulse {
	p := &Pulse{notify: notify, listens: os.Getenv("NOTIFY_SOCKET") != ""}
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return p
	}
	if usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec > 0 && p.listens {
		p.every = time.Duration(usec) * time.Microsecond / 3
	}
	return p
}

// Every returns how often Beat has to be called: a third of the watchdog's timeout, or 0 without a watchdog.
func (p *Pulse) Every() time.Duration { return p.every }

// Ready reports that the daemon is watching. It fails if nobody listens there.
func (p *Pulse) Ready() error {
	p.ready, p.last = true, time.Now()
	return p.notify("READY=1")
}

// Beat reports progress: to the watchdog or, before Ready, to extend the start timeout. It may be called at any rate,
// and sends at most two datagrams per Every. It fails if nobody listens there.
func (p *Pulse) Beat() error {
	state, gap := "WATCHDOG=1", p.every/2
	if !p.ready {
		state, gap = fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", startExtension.Microseconds()), startExtendEvery
	}
	if !p.listens || gap == 0 {
		return nil
	}
	now := time.Now()
	if now.Sub(p.last) < gap {
		return nil
	}
	p.last = now
	return p.notify(state)
}
