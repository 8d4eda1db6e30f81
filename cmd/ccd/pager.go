package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// paged are the commands whose output may be longer than a screen.
var paged = []string{"show", "timeline", "search", "diff", "restore", "ls", "help"}

// errPagerQuit ends a command whose pager was quit. The command then exits 0.
var errPagerQuit = errors.New("pager quit")

// pager is the stdout of a command behind a pager. The pager starts with the first byte. Messages on stderr wait until
// it ends.
type pager struct {
	screen  *os.File
	start   func() (*exec.Cmd, io.WriteCloser)
	app     *app
	process *exec.Cmd // nil before the first byte, and if it failed to start
	to      io.WriteCloser
	err     io.Writer // the real stderr, while messages are held
	held    bytes.Buffer
}

// pageCommand starts a pager for commands with long output, unless --raw is given.
func (a *app) pageCommand(c *cobra.Command) {
	raw := c.Flags().Lookup("raw")
	if slices.Contains(paged, c.Name()) && (raw == nil || !raw.Changed) {
		a.page(c.Context())
	}
}

// page sends stdout through a pager if stdout is a terminal and there is a pager.
func (a *app) page(ctx context.Context) {
	screen, ok := a.out.(*os.File)
	if !ok || a.noPager || !a.terminal(screen) {
		return
	}
	args := a.pagerCommand()
	if args == nil {
		return
	}
	a.out = &pager{screen: screen, app: a, start: func() (*exec.Cmd, io.WriteCloser) {
		p := exec.CommandContext(ctx, args[0], args[1:]...)
		p.Cancel = func() error { return p.Process.Signal(syscall.SIGTERM) }
		p.WaitDelay = 2 * time.Second
		p.Env, p.Stdout, p.Stderr = a.Vars, screen, unguarded(a.err)
		if a.Getenv("LESS") == "" {
			p.Env = append(slices.Clone(p.Env), "LESS=FRX")
		}
		if a.Getenv("LESSCHARSET") == "" {
			p.Env = append(slices.Clone(p.Env), "LESSCHARSET=utf-8")
		}
		to, err := p.StdinPipe()
		if err != nil || p.Start() != nil {
			return nil, nil
		}
		signal.Ignore(os.Interrupt) // the pager handles Ctrl-C
		return p, to
	}}
}

// pagerCommand returns the command in CCD_PAGER or PAGER, else less if installed, or nil.
func (a *app) pagerCommand() []string {
	text := "less -FRX"
	for _, name := range []string{"PAGER", "CCD_PAGER"} {
		if i := slices.IndexFunc(a.Vars, func(v string) bool { return strings.HasPrefix(v, name+"=") }); i >= 0 {
			text = a.Getenv(name)
		}
	}
	args := strings.Fields(text)
	if len(args) == 0 || text == "cat" {
		return nil
	}
	if strings.ContainsAny(text, "|&;<>()$`\\\"'*?[#~=%") && runtime.GOOS != "windows" {
		return []string{"sh", "-c", text}
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil
	}
	return args
}

func (p *pager) Write(text []byte) (int, error) {
	if p.start != nil {
		p.process, p.to = p.start()
		p.start = nil
		if p.process != nil {
			p.err, p.app.err = p.app.err, &p.held
		}
	}
	if p.process == nil {
		n, err := p.screen.Write(text)
		if err != nil {
			return n, fmt.Errorf("write to terminal: %w", err)
		}
		return n, nil
	}
	if n, err := p.to.Write(text); err != nil {
		return n, errPagerQuit
	}
	return len(text), nil
}

// endPager waits until the user quits the pager, then prints the held messages. It ignores the exit code of the pager.
func (a *app) endPager() {
	p, ok := a.out.(*pager)
	if !ok {
		return
	}
	a.out = p.screen
	if p.process != nil {
		p.to.Close()
		_ = p.process.Wait()
		a.err = p.err
		_, _ = a.err.Write(p.held.Bytes())
	}
}
