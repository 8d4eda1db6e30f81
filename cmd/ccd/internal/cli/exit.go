package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// How a command ends without a message.
var (
	ErrInterrupted = errors.New("interrupted")  // by SIGINT
	ErrTerminated  = errors.New("terminated")   // by SIGTERM
	ErrSaid        = errors.New("failed")       // what failed was reported
	ErrDamaged     = errors.New("damage found") // so was the damage
	ErrStopped     = errors.New("stopped")      // a daemon, on purpose
)

// ErrChild is returned for a child process that has failed and has reported why.
type ErrChild struct{ Code int }

// Error returns the exit code.
func (e ErrChild) Error() string {
	return fmt.Sprintf("%s exited with status %d", account.RemoteProgram, e.Code)
}

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	var usage words.UsageError
	var several *reader.AmbiguousError
	var damage *archive.DamageError
	var child ErrChild
	switch {
	case err == nil:
		return words.ExitDone
	case errors.Is(err, ErrInterrupted), errors.Is(err, ErrTerminated), errors.Is(err, context.Canceled):
		return words.ExitInterrupted
	case errors.As(err, &usage):
		return words.ExitUsage
	case errors.As(err, &child):
		return child.Code
	case errors.As(err, &damage), errors.Is(err, ErrDamaged):
		return words.ExitDamage
	case errors.As(err, &several), errors.Is(err, archive.ErrNotFound):
		return words.ExitNotFound
	}
	return words.ExitFailed
}

// Report prints an error in one line, then candidates and a hint.
func Report(w io.Writer, err error, forAgent bool) {
	var several *reader.AmbiguousError
	var next interface{ Hint() string }
	if err == nil || errors.Is(err, ErrSaid) || errors.Is(err, ErrDamaged) || errors.As(err, new(ErrChild)) || ExitCode(err) == words.ExitInterrupted {
		return
	}
	err = reader.Locked(err)
	text := fmt.Sprintf("ccd: %s\n", strings.TrimPrefix(err.Error(), "ccd: "))
	if errors.As(err, &several) {
		for _, m := range several.Matches {
			text += fmt.Sprintf("  %s\n", m)
		}
	}
	if errors.As(err, &next) {
		line := next.Hint()
		if forAgent {
			line = agentHint(line)
		}
		text += fmt.Sprintf("hint: %s\n", line)
	}
	fmt.Fprint(w, mark.Visible(text)) // the error may quote names from transcripts
}

// Signals returns a context that the first SIGINT or SIGTERM cancels, with errInterrupted or errTerminated as its
// cause. The second signal ends the process at once. A signal that stops the process (Ctrl-Z) waits until no call with
// that context holds the archive's lock.
func Signals() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		cause := ErrInterrupted
		if s, ok := <-c; !ok {
			return
		} else if s == syscall.SIGTERM {
			cause = ErrTerminated
		}
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		cancel(cause)
	}()
	return ctx, func() { signal.Stop(c); cancel(nil) }
}

// agentHint turns a hint for a person into one for an agent, which may run only `ccd agent`.
func agentHint(line string) string {
	verb, rest, _ := strings.Cut(strings.TrimPrefix(line, "ccd "), " ")
	switch {
	case strings.HasPrefix(line, "ccd help agent "):
		return strings.Replace(line, " help", "", 1) + " --help"
	case strings.HasPrefix(line, "ccd agent "), !actsOutside().MatchString(line):
		return line
	case !strings.HasPrefix(line, "ccd "):
		return "ask the user: " + line
	case (verb == "restore" || verb == "show" || verb == "search") && !strings.HasPrefix(rest, "--"):
		return "ccd agent " + verb + " " + rest
	}
	return "ask the user to run: " + line
}

// actsOutside matches hints that an agent may not follow.
var actsOutside = lazy.Regexp(`^(ccd|kill|unset|the process is stopped|try again)\b`)
