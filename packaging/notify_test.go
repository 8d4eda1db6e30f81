package packaging

import (
	"os"
	"strconv"
	"testing"
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
