package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/words"
)

const (
	exitDone        = words.ExitDone
	exitFailed      = words.ExitFailed
	exitUsage       = words.ExitUsage
	exitNotFound    = words.ExitNotFound
	exitDamage      = words.ExitDamage
	exitInterrupted = words.ExitInterrupted
)

var (
	errInterrupted = errors.New("interrupted")
	errTerminated  = errors.New("terminated")
	// errSaid ends a command that has already reported what failed.
	errSaid    = errors.New("failed")
	errDamaged = errors.New("damage found")
	// errStopped ends a daemon that was stopped on purpose.
	errStopped = errors.New("stopped")
)

// errChild is returned for a child process that has failed and has reported why.
type errChild struct{ code int }

// Error returns the exit code.
func (e errChild) Error() string {
	return fmt.Sprintf("%s exited with status %d", account.RemoteProgram, e.code)
}

// exitCode returns the exit code of an error.
func exitCode(err error) int {
	var usage words.UsageError
	var several *history.AmbiguousError
	var damage *archive.DamageError
	var child errChild
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errInterrupted), errors.Is(err, errTerminated), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &child):
		return child.code
	case errors.As(err, &damage), errors.Is(err, errDamaged):
		return exitDamage
	case errors.As(err, &several), errors.Is(err, history.ErrNotFound), errors.Is(err, archive.ErrNotFound):
		return exitNotFound
	}
	return exitFailed
}

// report prints an error in one line, then candidates and a hint.
func report(w io.Writer, err error, forAgent bool) {
	var several *history.AmbiguousError
	var next interface{ Hint() string }
	if err == nil || errors.Is(err, errSaid) || errors.Is(err, errDamaged) || errors.As(err, new(errChild)) || exitCode(err) == exitInterrupted {
		return
	}
	err = reader.Locked(err)
	text := fmt.Sprintf("ccd: %s\n", middle(strings.TrimPrefix(brief(err), "ccd: ")))
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

// brief returns what ccd did and what the system answered, without the steps between.
func brief(err error) string {
	text := err.Error()
	var cause *fs.PathError
	if !errors.As(err, &cause) || !strings.HasSuffix(text, cause.Error()) {
		return text
	}
	did, _, _ := strings.Cut(strings.TrimSuffix(text, cause.Error()), ": ")
	switch {
	case did == "":
		return text
	case strings.Contains(did, cause.Path):
		return did + ": " + cause.Err.Error()
	}
	return did + ": " + cause.Path + ": " + cause.Err.Error()
}

// mostError is the number of characters of an error that are printed. An error ends with its cause and may quote an
// argument of any length.
const mostError = 4000

// middle cuts the middle out of a text that is too long.
func middle(text string) string {
	if r := []rune(text); len(r) > mostError {
		return string(r[:mostError/8]) + "…" + string(r[len(r)-mostError/8:])
	}
	return text
}

// signals returns a context that the first SIGINT or SIGTERM cancels, with errInterrupted or errTerminated as its
// cause. The second signal ends the process at once. A signal that stops the process (Ctrl-Z) waits until no call with
// that context holds the archive's lock.
func signals() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		cause := errInterrupted
		if s, ok := <-c; !ok {
			return
		} else if s == syscall.SIGTERM {
			cause = errTerminated
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
	case line == "ccd help agent":
		return "ccd agent restore --help"
	case strings.HasPrefix(line, "ccd agent "), !actsOutside.MatchString(line):
		return line
	case !strings.HasPrefix(line, "ccd "):
		return "ask the user: " + line
	case (verb == "restore" || verb == "show" || verb == "search") && !strings.HasPrefix(rest, "--"):
		return "ccd agent " + verb + " " + rest
	}
	return "ask the user to run: " + line
}

// actsOutside matches hints that an agent may not follow.
var actsOutside = regexp.MustCompile(`^(ccd|kill|unset|the process is stopped|try again)\b`)
