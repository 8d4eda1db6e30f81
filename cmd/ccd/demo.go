package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/compactor/sidecar"
	"ccd/internal/mark"
)

// demoDeadline ends a demo that hangs.
const demoDeadline = 60 * time.Second

const demoConfig = `[watch]
settle = "300ms"
max_wait = "1s"
scan_interval = "2s"

[companion]
refresh_idle = "1s"
`

func (a *app) demoCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "demo", GroupID: setup, Short: "show ccd at work, in a temporary directory",
		Long: `An invented session grows in a temporary home directory, ccd watches it and
writes the companion, the daemon is killed and started again, and an original
is restored and compared byte for byte. ccd does not read your own files and
leaves nothing behind.`,
		Example: `  ccd demo                 see it work in a few seconds
  ccd demo -q && echo ok   use it as a test`,
	}
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := a.noJSON(c); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeoutCause(c.Context(), demoDeadline, errors.New("the demo took longer than a minute"))
		defer cancel()
		return a.demo(ctx)
	}
	return c
}

// demo is a run of `ccd demo`: a temporary home, the transcript in it, and the daemon.
type demo struct {
	*app
	home, exe  string
	transcript string
	companion  string
	begun      time.Time
	daemon     *exec.Cmd
}

func (a *app) demo(ctx context.Context) (err error) {
	home, err := os.MkdirTemp("", "ccd-demo-")
	if err != nil {
		return fmt.Errorf("make demo directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	transcript := filepath.Join(home, ".claude", "projects", "-home-you-ledger", storySession+".jsonl")
	d := &demo{
		app: a, home: home, exe: exe, begun: time.Now(), transcript: transcript,
		companion: strings.TrimSuffix(transcript, ".jsonl") + sidecar.Suffix,
	}
	defer d.kill()
	if err := d.play(ctx, newStory()); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("run demo: %w", err)
	}
	return nil
}

// play runs the steps of the demo.
func (d *demo) play(ctx context.Context, s *story) error {
	half := len(s.lines) * 4 / 5
	steps := []func() error{
		func() error { return d.prepare() },
		func() error { return d.start(ctx, "the daemon watches an empty home") },
		func() error { return d.grow(ctx, s.lines[:half]) },
		func() error { return d.await(ctx, 0, "the companion appeared beside it") },
		func() error { return d.killDaemon() },
		func() error { return d.grow(ctx, s.lines[half:]) },
		func() error { return d.start(ctx, "the daemon was started again") },
		func() error { return d.await(ctx, len(s.lines), "the companion covers all of it") },
		func() error { return d.restoreOne(ctx, s) },
		func() error { return d.restoreAll(ctx) },
		func() error { return d.verify(ctx) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	d.newStory("done: `ccd run` does this for your own sessions, `ccd setup` sets it up")
	return nil
}

func (d *demo) newStory(format string, args ...any) {
	if !d.quiet {
		fmt.Fprintf(d.out, "%5.1fs  %s\n", time.Since(d.begun).Seconds(), fmt.Sprintf(format, args...))
	}
}

func (d *demo) prepare() error {
	for _, dir := range []string{filepath.Dir(d.transcript), filepath.Join(d.home, "config", "ccd")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	d.newStory("a temporary home: %s", d.home)
	return os.WriteFile(filepath.Join(d.home, "config", "ccd", "config.toml"), []byte(demoConfig), 0o600)
}

// command runs this binary in the demo's home, without the caller's environment.
func (d *demo) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, d.exe, args...)
	c.Args[0] = os.Args[0]
	c.Env = []string{
		"HOME=" + d.home, "USERPROFILE=" + d.home, "PATH=" + d.Getenv("PATH"), "SYSTEMROOT=" + d.Getenv("SYSTEMROOT"),
		"XDG_CONFIG_HOME=" + filepath.Join(d.home, "config"), "XDG_STATE_HOME=" + filepath.Join(d.home, "state"),
	}
	return c
}

func (d *demo) start(ctx context.Context, what string) error {
	d.daemon = d.command(ctx, "run", "-q")
	if d.verbose {
		d.daemon.Stderr = unguarded(d.err)
	}
	if err := d.daemon.Start(); err != nil {
		return err
	}
	d.newStory("%s: ccd run, pid %d", what, d.daemon.Process.Pid)
	return nil
}

// kill kills the daemon with SIGKILL, if one runs.
func (d *demo) kill() {
	if d.daemon != nil {
		_ = d.daemon.Process.Kill() // it may have exited already
		_ = d.daemon.Wait()         // it always reports "signal: killed"
		d.daemon = nil
	}
}

func (d *demo) killDaemon() error {
	pid := d.daemon.Process.Pid
	d.kill()
	d.newStory("kill -9 %d, and the session continues without it", pid)
	return nil
}

// grow appends lines to the transcript, a few at a time, as an agent does.
func (d *demo) grow(ctx context.Context, lines [][]byte) error {
	f, err := os.OpenFile(d.transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for i, line := range lines {
		if _, err := f.Write(line); err != nil {
			return err
		}
		if i%8 == 7 {
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	d.newStory("an agent's session grew to %s", humanize.IBytes(uint64(info.Size())))
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// await waits for a companion that covers the given number of records; 0: any companion.
func (d *demo) await(ctx context.Context, records int, what string) error {
	want := fmt.Sprintf("covers: {records: %d,", records)
	for {
		text, err := os.ReadFile(d.companion)
		if err == nil && (records == 0 || bytes.Contains(text, []byte(want))) {
			p, err := sidecar.Parse(text)
			if err != nil {
				return err
			}
			front, err := p.Front()
			if err != nil {
				return err
			}
			d.newStory("%s: %s, %.0f%% smaller than the session", what, humanize.IBytes(uint64(len(text))), front.Tokens.SavedPercent)
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// restoreOne restores a marker of the companion whose original is known, and compares the two.
func (d *demo) restoreOne(ctx context.Context, s *story) error {
	text, err := os.ReadFile(d.companion)
	if err != nil {
		return err
	}
	known := map[mark.ID]string{}
	for _, out := range s.outputs {
		known[mark.Sum(quoted(out)).ID()] = out
	}
	for _, id := range mark.IDs(string(text)) {
		want, ok := known[id]
		if !ok {
			continue
		}
		got, err := d.command(ctx, "restore", string(id)).Output()
		if err != nil {
			return fmt.Errorf("ccd restore %s: %w", id, err)
		}
		if string(got) != want {
			return fmt.Errorf("ccd restore %s: the %d restored bytes differ from the original %d", id, len(got), len(want))
		}
		d.newStory("the companion says: %s", markerLine(string(text), id))
		d.newStory("ccd restore %s: %d bytes, identical to the original", id, len(got))
		return nil
	}
	return errors.New("the companion has no ID of an output")
}

// markerLine returns the marker of an ID as the companion has it.
func markerLine(text string, id mark.ID) string {
	_, rest, _ := strings.Cut(text, "[ccd "+string(id))
	rest, _, _ = strings.Cut(rest, "]")
	return mark.New(id, mark.Inline(rest, 100))
}

func (d *demo) restoreAll(ctx context.Context) error {
	got, err := d.command(ctx, "restore", "--session", storySession).Output()
	if err != nil {
		return fmt.Errorf("ccd restore --session: %w", err)
	}
	want, err := os.ReadFile(d.transcript)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("ccd restore --session: the restored transcript differs from the original")
	}
	d.newStory("ccd restore --session: %s, identical byte for byte", humanize.IBytes(uint64(len(got))))
	return nil
}

func (d *demo) verify(ctx context.Context) error {
	c := d.command(ctx, "archive", "verify")
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("ccd archive verify: %w", err)
	}
	d.newStory("ccd archive verify: %s", strings.TrimSpace(string(out)))
	return nil
}

// quoted returns text as JSON, as in the story's lines.
func quoted(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil {
		panic("demo: its own words do not encode: " + err.Error())
	}
	return b
}
