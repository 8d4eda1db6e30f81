// Package summarizer runs the commands that the configuration names: the summarizer and the notice command.
// Whatever the command does, Run returns at most a second after the time limit, and then kills what is left of the
// command's process group. Only cmd/ccd and its packages import this package, so the daemon itself starts no process.
// It knows nothing about transcripts or summaries.
package summarizer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Variable is set to "1" for the command, so that a ccd that the command starts can notice it.
const Variable = "CCD_SUMMARIZER"

// MaxOutput is the most that a command may print, in bytes; more is a failure.
const MaxOutput = 64 << 10

// grace is how long Run waits for the pipes of an ended command, which a child may keep open.
const grace = time.Second

// ErrNotStarted is returned if the command does not exist or cannot be run.
var ErrNotStarted = errors.New("command not started")

// ErrLate is returned if the command took longer than its time limit.
var ErrLate = errors.New("not done in time")

// Command is a command that reads a text on stdin and prints a result, such as a summary, on stdout.
type Command struct {
	Args    []string      // the program (absolute or in PATH) and its arguments
	Dir     string        // working directory, created with mode 0700 if missing
	Env     []string      // like os.Environ
	Timeout time.Duration // after which the whole process group is killed
}

// Name returns 16 hexadecimal digits that identify program and arguments.
func (c Command) Name() string {
	sum := sha256.Sum256([]byte(strings.Join(c.Args, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Run passes a text to the command and returns its output, at most MaxOutput bytes. It fails with ErrNotStarted, ctx's
// error, or the cause: the time limit, the exit status, too much output. Errors contain nothing of input, output or
// stderr.
func (c Command) Run(ctx context.Context, input string) ([]byte, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out := &capped{full: cancel}
	cmd := exec.CommandContext(limited, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.environment()
	cmd.Stdin, cmd.Stdout = strings.NewReader(input), out
	cmd.WaitDelay = grace
	group(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	err := cmd.Wait()
	end(cmd) // kill leftover processes
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.over:
		return nil, fmt.Errorf("over %d bytes of output", MaxOutput)
	case limited.Err() != nil:
		return nil, fmt.Errorf("%w: over %s", ErrLate, c.Timeout)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // ErrWaitDelay is only about a child that kept the pipes open
		return nil, err
	}
	return out.data, nil
}

// environment returns the command's environment, without the variables of the service manager.
func (c Command) environment() []string {
	env := make([]string, 0, len(c.Env)+1)
	for _, e := range c.Env {
		switch name, _, _ := strings.Cut(e, "="); name {
		case Variable, "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID":
		default:
			env = append(env, e)
		}
	}
	return append(env, Variable+"=1")
}

// capped keeps the output of a command, and stops the command if it prints too much.
type capped struct {
	data []byte
	over bool
	full func()
}

// Write keeps at most MaxOutput bytes, and calls full at more. It never fails.
func (c *capped) Write(p []byte) (int, error) {
	if len(c.data)+len(p) > MaxOutput {
		c.over = true
		c.full()
		return len(p), nil
	}
	c.data = append(c.data, p...)
	return len(p), nil
}
