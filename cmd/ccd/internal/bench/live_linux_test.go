//go:build rig

package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ccd/compactor/sidecar"
)

// liveID is the ID of the session that benchmarks let grow.
const liveID = "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b"

// live is a session that grows under `ccd run`.
type live struct {
	b          *testing.B
	bin, home  string
	path       string // of the transcript
	sum        hash.Hash
	size, said int64 // bytes; of the last added line
	cmd        *exec.Cmd
}

// newLive returns an empty session in a home.
func newLive(b *testing.B, bin, home string) *live {
	b.Helper()
	s := &live{b: b, bin: bin, home: home, sum: sha256.New()}
	s.path = filepath.Join(home, ".claude", "projects", "-home-me-ledger", liveID+".jsonl")
	err := os.MkdirAll(filepath.Dir(s.path), 0o700)
	if err == nil {
		err = os.WriteFile(s.path, nil, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// newArchived returns a session with a text that is archived, in a home of its own.
func newArchived(b *testing.B, bin string, text []byte) *live {
	b.Helper()
	s := newLive(b, bin, b.TempDir())
	s.grow(text)
	ccd(b, bin, s.home, "run", "--once", "-q")
	return s
}

// grow appends text to the transcript.
func (s *live) grow(text []byte) {
	s.b.Helper()
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.MultiWriter(f, s.sum).Write(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		s.b.Fatal(err)
	}
	s.size += int64(len(text))
}

// say appends one message of about 2 KB.
func (s *live) say() {
	s.said++
	s.grow(fmt.Appendf(nil, `{"type":"assistant","uuid":"u-%d","timestamp":"2026-03-01T09:00:00Z","sessionId":"5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b",`+
		`"cwd":"/home/me/ledger","message":{"role":"assistant","id":"msg-%[1]d","model":"some-model","content":[{"type":"text","text":"%[2]s"}]}}`+"\n",
		1_000_000+s.said, strings.Repeat("The ledger keeps its totals in cents, and the tests pass again. ", 28)))
}

// run starts the daemon, which covers the last bytes after a time without changes. The returned function ends it.
func (s *live) run(idle string) (end func()) {
	s.b.Helper()
	s.cmd = exec.Command(s.bin, "run")
	s.cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "CCD_WATCH_SETTLE=100ms", "CCD_COMPANION_REFRESH_IDLE=" + idle}
	if err := s.cmd.Start(); err != nil {
		s.b.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			_ = s.cmd.Process.Signal(os.Interrupt)
			_ = s.cmd.Wait()
		}
	}
	s.b.Cleanup(end) // also if the benchmark fails
	return end
}

// hook is PreCompact as an agent calls it.
func (s *live) hook() *exec.Cmd {
	cmd := exec.Command(s.bin, "hook", "PreCompact", "--agent", "claude-code")
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(`{"hook_event_name":"PreCompact","session_id":"` + liveID + `","transcript_path":"` + s.path + `","cwd":"/home/me/ledger","trigger":"auto"}`)
	return cmd
}

// covered reports whether the companion is that of all bytes of the transcript.
func (s *live) covered() bool {
	made, err := os.ReadFile(strings.TrimSuffix(s.path, ".jsonl") + sidecar.Suffix)
	return err == nil && bytes.Contains(made, []byte("sha256: "+hex.EncodeToString(s.sum.Sum(nil))))
}

// archivedAll waits until the archive has every byte.
func (s *live) archivedAll() {
	s.b.Helper()
	soon(s.b, "the new lines are archived", func() bool { return archived(filepath.Join(s.home, ".local", "state")) == s.size })
}

// step is what the daemon did for one change.
type step struct {
	cpu  time.Duration
	read int64 // bytes, with read(2)
}

// after appends with add, and returns what the daemon did until the companion covered that.
func (s *live) after(add func()) step {
	s.b.Helper()
	cpu, read := cpuOf(s.b, s.cmd.Process.Pid), proc(s.cmd.Process.Pid, "io")["rchar"]
	add()
	soon(s.b, "the companion covers all", s.covered)
	return step{cpuOf(s.b, s.cmd.Process.Pid) - cpu, proc(s.cmd.Process.Pid, "io")["rchar"] - read}
}

// cpuOf returns the processor time of another process.
func cpuOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil { // as clock_getcpuclockid(3) makes it
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// soon waits until cond is true, for five minutes at most.
func soon(b *testing.B, what string, cond func() bool) {
	b.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); !cond(); <-tick.C {
		if time.Now().After(end) {
			b.Fatalf("not within five minutes: %s", what)
		}
	}
}
