package packaging

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestPulseReadsWhatTheManagerWants(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	tests := []struct {
		name              string
		socket, usec, pid string
		every             time.Duration
	}{
		{"watched", "/run/notify", "60000000", own, 20 * time.Second},
		{"watched, no process named", "/run/notify", "60000000", "", 20 * time.Second},
		{"another process is", "/run/notify", "60000000", "1", 0},
		{"not watched", "/run/notify", "", "", 0},
		{"no number", "/run/notify", "soon", own, 0},
		{"below zero", "/run/notify", "-3000000", own, 0},
		{"nobody listens", "", "60000000", own, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("NOTIFY_SOCKET", tt.socket)
			t.Setenv("WATCHDOG_USEC", tt.usec)
			t.Setenv("WATCHDOG_PID", tt.pid)
			if got := NewPulse().Every(); got != tt.every {
				t.Errorf("every %v, want %v", got, tt.every)
			}
		})
	}
}

// beats calls Beat every 100 ms for 30 s and returns how many datagrams were sent, and the longest silence.
func beats(p *Pulse) (sent []string, silence time.Duration) {
	last := time.Now()
	p.notify = func(state string) error {
		sent, silence, last = append(sent, state), max(silence, time.Since(last)), time.Now()
		return nil
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 300 {
		<-tick.C
		_ = p.Beat()
	}
	return sent, silence
}

func TestPulseIsNoFasterThanNeeded(t *testing.T) {
	const long = "EXTEND_TIMEOUT_USEC=60000000"
	tests := []struct {
		name string
		p    Pulse
		want []string
	}{
		{"watched, 6 s", Pulse{listens: true, ready: true, every: 2 * time.Second}, slices.Repeat([]string{"WATCHDOG=1"}, 30)},
		{"starting", Pulse{listens: true}, []string{long, long, long}},
		{"not watched", Pulse{listens: true, ready: true}, nil},
		{"nobody listens", Pulse{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := tt.p
				sent, silence := beats(&p)
				if n := len(sent) - len(tt.want); n < -1 || n > 1 || len(sent) > 0 && sent[0] != tt.want[0] {
					t.Errorf("%d datagrams, first of them %q, want %d of %q", len(sent), sent[:min(1, len(sent))], len(tt.want), tt.want[:min(1, len(tt.want))])
				}
				if p.every > 0 && silence > p.every {
					t.Errorf("silent for %v, want %v at most", silence, p.every)
				}
			})
		})
	}
}
