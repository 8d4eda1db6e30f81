package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
)

const (
	// length, in the environment, is how long the writers write, as in "1h"; without it the soak is a short one, in full
	// depth only.
	length = "CCD_SOAK"
	short  = 8 * time.Second

	// patience is what a command may take under all of this. The limit that ccd promises is 5 s for a lock; a busy
	// machine needs more for the rest.
	patience = 60 * time.Second
	diskSize = 1 << 30
)

// configuration makes everything happen often.
const configuration = `[watch]
settle = "100ms"
max_wait = "1s"
scan_interval = "2s"
[trigger]
threshold = 1
min_savings = 0
[companion]
refresh_idle = "2s"
[archive]
min_free = "1MB"
`

// TestSoak ends with every session byte-equal to its source, every hash right, and no command that hung.
func TestSoak(t *testing.T) {
	lasts, sessions := short, 24
	if v := os.Getenv(length); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			t.Fatalf("%s: %v", length, err)
		}
		lasts, sessions = d, 90
	} else {
		testkit.Long(t, "sessions come back exactly after kills, frozen processes and a full disk")
	}
	s := newSoak(t)
	s.start()
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	var writers sync.WaitGroup
	for n := range sessions {
		w := newWriter(s.home, n)
		s.files = append(s.files, w.path)
		writers.Go(func() {
			if err := w.run(ctx, lasts); err != nil {
				t.Error(err)
			}
		})
	}
	for round := 0; (round == 0 || ctx.Err() == nil) && !t.Failed(); round++ {
		s.troubles(t.Context())
	}
	writers.Wait()
	s.settled()
	s.compare()
	t.Logf("%d sessions, %v: %v", sessions, lasts, s.counts)
}

// soak is one home with one daemon.
type soak struct {
	*testing.T
	exe, home, state string
	tmpfs            bool
	files            []string
	rng              *rand.Rand
	daemon           *exec.Cmd
	log              bytes.Buffer // of the daemon
	counts           map[string]int
}

func newSoak(t *testing.T) *soak {
	dir := t.TempDir()
	s := &soak{T: t, exe: filepath.Join(dir, "ccd"), home: filepath.Join(dir, "home"), rng: rand.New(rand.NewPCG(7, 11)), counts: map[string]int{}}
	s.state = filepath.Join(s.home, ".local/state/ccd")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", s.exe, "ccd/cmd/ccd").CombinedOutput(); err != nil {
		t.Fatalf("build ccd: %v\n%s", err, out)
	}
	for _, d := range []string{s.state, filepath.Join(s.home, ".config/ccd"), filepath.Join(s.home, ".claude/projects/p"), filepath.Join(s.home, ".codex/sessions/2026/01/01")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.home, ".config/ccd/config.toml"), []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", s.state, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", diskSize)); err != nil {
		t.Logf("no full disk in this soak: mount tmpfs: %v", err)
	} else {
		s.tmpfs = true
		t.Cleanup(func() { _ = syscall.Unmount(s.state, syscall.MNT_DETACH) })
	}
	t.Cleanup(func() { s.signal(s.daemon, syscall.SIGKILL) })
	return s
}

func (s *soak) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.exe, args...)
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
	cmd.WaitDelay = time.Second
	return cmd
}

func (s *soak) start() {
	s.Helper()
	s.daemon = s.command(context.Background(), "run")
	s.daemon.Stderr = &s.log
	if err := s.daemon.Start(); err != nil {
		s.Fatal(err)
	}
}

func (s *soak) signal(cmd *exec.Cmd, sig syscall.Signal) {
	if cmd != nil && cmd.Process != nil {
		_ = cmd.Process.Signal(sig)
	}
}

// ask runs a command that has to end in time, and returns its exit code: 4, damage, is never right here.
func (s *soak) ask(args ...string) (out []byte, code int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := s.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		s.Fatalf("ccd %s: not done within %v (%v): %s", strings.Join(args, " "), patience, err, stderr.String())
	}
	if code = cmd.ProcessState.ExitCode(); code == 4 || code == 2 || code < 0 {
		s.Errorf("ccd %s: exit code %d: %s", strings.Join(args, " "), code, stderr.String())
	}
	s.counts["commands"]++
	return out, code
}

// troubles does everything that goes wrong once, in any order, and looks meanwhile.
func (s *soak) troubles(ctx context.Context) {
	s.Helper()
	all := []func(context.Context){s.kill, s.stop, s.freeze, s.freeze, s.fill}
	for _, i := range s.rng.Perm(len(all)) {
		wait(ctx, s.upTo(time.Second))
		all[i](ctx)
		s.look()
	}
}

// kill ends the daemon at any moment, and starts another.
func (s *soak) kill(context.Context) {
	s.Helper()
	s.signal(s.daemon, syscall.SIGKILL)
	_ = s.daemon.Wait()
	s.counts["daemon killed"]++
	s.start()
}

// stop freezes the daemon at any moment.
func (s *soak) stop(context.Context) {
	s.Helper()
	s.signal(s.daemon, syscall.SIGSTOP)
	s.counts["daemon frozen"]++
	s.look()
	s.signal(s.daemon, syscall.SIGCONT)
}

func (s *soak) upTo(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d))) }

// look asks what people ask.
func (s *soak) look() {
	s.Helper()
	for _, args := range [][]string{{"status"}, {"ls"}, {"search", "invoice"}, {"restore", "--session", s.files[s.rng.IntN(len(s.files))]}} {
		s.ask(args...)
	}
}

// freeze stops a reader at any moment of its life: by SIGSTOP, or as Ctrl-Z does.
func (s *soak) freeze(ctx context.Context) {
	s.Helper()
	args := [][]string{{"restore", "--session", s.files[s.rng.IntN(len(s.files))]}, {"search", "the"}, {"archive", "verify"}, {"ls"}}[s.rng.IntN(4)]
	limit, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	reader := s.command(limit, args...)
	if err := reader.Start(); err != nil {
		s.Fatal(err)
	}
	wait(ctx, s.upTo(60*time.Millisecond))
	s.signal(reader, []syscall.Signal{syscall.SIGSTOP, syscall.SIGTSTP}[s.rng.IntN(2)])
	s.counts["reader frozen"]++
	s.look()
	s.signal(reader, syscall.SIGCONT)
	if err := reader.Wait(); limit.Err() != nil {
		s.Fatalf("ccd %s does not go on after SIGCONT: %v", strings.Join(args, " "), err)
	}
}

// fill leaves no room on the archive's disk for a while.
func (s *soak) fill(ctx context.Context) {
	s.Helper()
	if !s.tmpfs {
		return
	}
	ballast := filepath.Join(s.state, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		return // it is full already
	}
	block := make([]byte, 1<<20)
	for err == nil {
		_, err = f.Write(block)
	}
	f.Close()
	s.counts["disk filled"]++
	wait(ctx, s.upTo(5*time.Second))
	s.look()
	if err := os.Remove(ballast); err != nil {
		s.Fatal(err)
	}
}

// settled waits until ccd says that it has all bytes.
func (s *soak) settled() {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	for !s.equal() {
		if !wait(ctx, 200*time.Millisecond) {
			s.look()
			break
		}
	}
}

// equal reports whether ccd ls has each file's length.
func (s *soak) equal() bool {
	s.Helper()
	out, _ := s.ask("ls", "--json")
	var rows []struct {
		Source string
		Bytes  int64
	}
	if err := json.Unmarshal(out, &rows); err != nil {
		return false
	}
	have := map[string]int64{}
	for _, r := range rows {
		have[r.Source] = r.Bytes
	}
	for _, f := range s.files {
		info, err := os.Stat(f)
		if err != nil {
			s.Fatal(err)
		}
		if have[f] != info.Size() {
			return false
		}
	}
	return true
}

// compare restores everything.
func (s *soak) compare() {
	s.Helper()
	for _, f := range s.files {
		want, err := os.ReadFile(f)
		if err != nil {
			s.Fatal(err)
		}
		got, code := s.ask("restore", "--session", f)
		if code != 0 || !bytes.Equal(got, want) {
			s.Errorf("%s: exit code %d, %d bytes come back of %d", filepath.Base(f), code, len(got), len(want))
		}
	}
	if _, code := s.ask("archive", "verify"); code != 0 {
		s.Errorf("verify: exit code %d", code)
	}
	if s.Failed() {
		s.Logf("daemon:\n%s", s.log.String()[max(0, s.log.Len()-8000):])
	}
}

// wait waits, and reports whether ctx goes on.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// writer is an agent that writes its session in pieces that end anywhere: in the middle of a line, of a character,
// or before the newline.
type writer struct {
	path string
	text []byte
	torn int // how the file ends at last
	rng  *rand.Rand
}

func newWriter(home string, n int) *writer {
	agent, path := gen.Claude, fmt.Sprintf("%s/.claude/projects/p/%08d-0000-4000-8000-0000000000aa.jsonl", home, n)
	if n%2 == 1 {
		agent, path = gen.Codex, fmt.Sprintf("%s/.codex/sessions/2026/01/01/rollout-2026-01-01T10-00-00-%08d-0000-4000-8000-0000000000aa.jsonl", home, n)
	}
	var b bytes.Buffer
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	if err := gen.Write(&b, agent, uint64(n), 100_000+rng.Int64N(400_000)); err != nil {
		panic(err) // it fails for an unknown agent only
	}
	return &writer{path: path, text: b.Bytes(), torn: n % 4, rng: rng}
}

// run writes until ctx ends, then the last bytes: a whole line, a line without its newline, half a line, or bytes that
// are no JSON.
func (w *writer) run(ctx context.Context, lasts time.Duration) error {
	text := w.text
	switch w.torn {
	case 1:
		text = bytes.TrimSuffix(text, []byte("\n"))
	case 2:
		text = text[:len(text)-2-w.rng.IntN(100)]
	case 3:
		text = append(text, `{"type":"user","message":{"role":"user","content":"torn in the mid`+"\xc3"...)
	}
	pieces := 20 + w.rng.IntN(60)
	for at := 0; at < len(text); {
		n := min(len(text)-at, 1+w.rng.IntN(2*len(text)/pieces))
		if i := bytes.IndexByte(text[at:at+n], '\n'); i >= 0 && w.rng.IntN(2) == 0 {
			n = i + w.rng.IntN(2) // before or behind the newline
		}
		if ctx.Err() != nil {
			n = len(text) - at
		}
		if err := appendTo(w.path, text[at:at+n]); err != nil {
			return err
		}
		at += n
		wait(ctx, time.Duration(w.rng.Int64N(int64(2*lasts)/int64(pieces)))*7/8)
	}
	return nil
}

func appendTo(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
