//go:build rig && linux

package clients

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// screen is a terminal in tmux.
type screen struct {
	p      *place
	socket string
}

// newScreen starts a client in a terminal for the duration of the test.
func newScreen(p *place, command ...string) *screen {
	p.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		p.t.Skip("the picker needs tmux, which is not here")
	}
	s := &screen{p, filepath.Join(p.t.TempDir(), "tmux")}
	s.tmux(append([]string{"-f", "/dev/null", "new-session", "-d", "-x", "180", "-y", "50"}, command...)...)
	pid, err := strconv.Atoi(strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}")))
	testkit.Must(p.t, err)
	p.t.Cleanup(func() {
		exec.Command("tmux", "-S", s.socket, "kill-server").Run()
		end(pid) // otherwise it could write into the removed home
	})
	return s
}

func (s *screen) tmux(args ...string) string {
	s.p.t.Helper()
	return s.p.must("tmux", append([]string{"-S", s.socket}, args...)...)
}

func (s *screen) text() string { return s.tmux("capture-pane", "-p") }

// keys types tmux's names of keys.
func (s *screen) keys(names ...string) { s.tmux(append([]string{"send-keys"}, names...)...) }

// shows waits until the screen has all words, and returns it.
func (s *screen) shows(words ...string) string {
	s.p.t.Helper()
	return s.until(fmt.Sprintf("the screen shows %q", words), func(text string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
}

// until waits until wanted accepts the screen, and returns it.
func (s *screen) until(what string, wanted func(text string) bool) (text string) {
	s.p.t.Helper()
	defer func() {
		if s.p.t.Failed() {
			s.p.t.Logf("the screen:\n%s", text)
		}
	}()
	until(s.p.t, what, func() bool {
		text = s.text()
		return wanted(text)
	})
	return text
}

// until waits until done returns true.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	late := time.After(limit)
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// end waits until a process that was told to end has ended, and kills it after a while.
func end(pid int) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for n := 0; syscall.Kill(pid, 0) == nil && n < 200; n++ {
		if n == 100 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		<-tick.C
	}
}
