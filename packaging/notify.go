package packaging

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// Notify tells the service manager how the daemon fares: "READY=1", "WATCHDOG=1", "STOPPING=1", several separated by
// newlines. Without a manager that listens ($NOTIFY_SOCKET) it does nothing.
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

// NotifyReloading tells the service manager that the configuration is being read anew; "READY=1" ends that.
func NotifyReloading() error {
	return Notify("RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(monotonic().Microseconds(), 10))
}

// Before it is ready, a daemon whose work gets on asks for startLonger more, each startSign anew.
const (
	startSign   = 10 * time.Second
	startLonger = time.Minute
)

// Pulse tells the service manager that the daemon's work gets on, no oftener than the manager has use for. Whoever
// does the work calls it, and nobody else: a ticker would call it also when the work hangs. It is not safe for
// concurrent use.
type Pulse struct {
	tell    func(state string) error
	listens bool          // a manager does
	every   time.Duration // between two signs at the most, 0 where the manager does not watch
	ready   bool
	last    time.Time // when it was told last
}

// NewPulse reads from the environment what the manager wants: $NOTIFY_SOCKET, and $WATCHDOG_USEC where $WATCHDOG_PID
// is absent or this process.
func NewPulse() *Pulse {
	p := &Pulse{tell: Notify, listens: os.Getenv("NOTIFY_SOCKET") != ""}
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return p
	}
	if usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec > 0 && p.listens {
		p.every = time.Duration(usec) * time.Microsecond / 3
	}
	return p
}

// Every returns how often Beat is to be called at the least: a third of the time that the watchdog gives. It is 0 where
// nobody watches, and nobody need wake up for it.
func (p *Pulse) Every() time.Duration { return p.every }

// Ready tells that the daemon watches.
func (p *Pulse) Ready() error {
	p.ready, p.last = true, time.Now()
	return p.tell("READY=1")
}

// Beat tells that work got on: to the watchdog, or, before Ready, that the start takes longer. It may be called at any
// rate; a datagram is sent twice in Every at the most.
func (p *Pulse) Beat() error {
	state, gap := "WATCHDOG=1", p.every/2
	if !p.ready {
		state, gap = fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", startLonger.Microseconds()), startSign
	}
	if !p.listens || gap == 0 {
		return nil
	}
	now := time.Now()
	if now.Sub(p.last) < gap {
		return nil
	}
	p.last = now
	return p.tell(state)
}
