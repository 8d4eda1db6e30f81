package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/words"
	"ccd/packaging"
)

// service is the row of the account's service.
func (a Account) service(ctx context.Context, wanted bool) *Step {
	step := newStep("service", "service")
	s, st, err := a.ServiceState(ctx, a.Out)
	switch {
	case err != nil:
		return step.fail(err)
	case st.System && wanted:
		return step.is(Unchanged, "a system service already runs as you")
	case st.System:
		step.Hint = "sudo ccd service remove --system"
		return step.is(Unavailable, "it is a system service")
	case wanted && st.Current:
		return step.is(Unchanged, "already installed and running")
	case wanted:
		if err := s.CanInstall(st); err != nil {
			return a.noService(step, err)
		}
		step.What = "start `ccd run` at login (" + s.Manager() + ")"
		step.does("write ", st.Drift)
		step.do = func(ctx context.Context) (string, error) {
			err := Install(ctx, a.Library, s, "", a.Say)
			if err == nil && st.EndsAtLogout {
				step.Notes = append(step.Notes, "it stops when you log out and starts at the next login; `loginctl enable-linger` keeps it running")
			}
			return "installed and running", err
		}
	case len(st.Files) == 0 && st.OtherHome != "":
		return step.is(Unchanged, "not installed; that of another home stays: "+st.OtherHome)
	case len(st.Files) == 0 && !st.Installed:
		return step.is(Unchanged, "not installed")
	default:
		step.What = "stop and remove it"
		step.does("remove ", st.Files)
		step.do = func(ctx context.Context) (string, error) { return "stopped and removed", s.Uninstall(ctx) }
	}
	return step
}

// noService says why there can be no service here, and what to do instead.
func (a Account) noService(step *Step, err error) *Step {
	if info, running, _ := daemon.ReadRun(a.StateDir); running {
		return step.is(Unchanged, fmt.Sprintf("`ccd run` is running, pid %d; a service is not available here", info.Pid))
	}
	step.because(err)
	instead := "start `ccd run` at login (in a container: beside its main program)"
	switch {
	case a.Env.Getenv("WSL_DISTRO_NAME") != "":
		instead += "; or set systemd=true below [boot] in /etc/wsl.conf, restart WSL, and run ccd setup again"
	case !errors.Is(err, exec.ErrNotFound) && step.Hint != "":
		instead += "; or " + step.Hint
	}
	step.Hint = instead
	return step.is(Unavailable, "not available here: "+step.Error)
}

// Install installs the service s, for a service of the machine that of user, and says what this changes besides. It
// fails if another service or another daemon would keep s from running.
func Install(ctx context.Context, l *reader.Library, s *packaging.Service, user string, say func(format string, args ...any)) error {
	if err := mayInstall(ctx, l, s, user, say); err != nil {
		return err
	}
	return s.Install(ctx)
}

// mayInstall fails if another service, or a daemon that is not a service, would keep s from running: an account never
// runs two daemons.
func mayInstall(ctx context.Context, l *reader.Library, s *packaging.Service, user string, say func(format string, args ...any)) error {
	fail := func(err error, then string, args ...any) error {
		return words.Hint(fmt.Errorf("install service: %w", err), then, args...)
	}
	stateDir := l.StateDir
	if user != "" {
		as, err := l.Env.As(user)
		if err != nil {
			return err
		}
		theirs, err := as.Place(true)
		if err != nil {
			return err
		}
		own, err := theirs.Service(packaging.Options{User: user})
		switch before := s.Account(); {
		case err != nil:
			return err
		case own.Account() != "":
			return fail(fmt.Errorf("%s has a user service", user), "as %s: ccd service remove", user)
		case before != "" && before != user:
			say("the system service no longer runs as %s: that user's sessions are no longer archived", before)
		}
		stateDir = theirs.StateDir
	} else if other, err := l.Installed(nil); err == nil && other.System() {
		return fail(errors.New("a system service already runs as you"), "sudo ccd service remove --system")
	}
	if st, err := s.Status(ctx); err == nil && len(st.Places) > 0 {
		say("the service now uses other settings; it was installed with %s", strings.Join(st.Places, ", "))
	}
	if pid := account.Foreground(ctx, s, stateDir); pid != 0 {
		return fail(fmt.Errorf("another daemon is running, pid %d", pid), "stop it first: kill %d", pid)
	}
	return nil
}

// stopWithin is how long undo waits for a daemon that it stops.
const stopWithin = 10 * time.Second

// foreground stops a `ccd run` that is not the service; nil if none runs.
func (a Account) foreground(ctx context.Context) *Step {
	step := newStep("run", "ccd run")
	s, err := a.Installed(io.Discard)
	if err != nil {
		return step.fail(err)
	}
	pid := account.Foreground(ctx, s, a.StateDir)
	if pid == 0 {
		return nil
	}
	step.What = fmt.Sprintf("stop it, pid %d", pid)
	step.do = func(ctx context.Context) (string, error) {
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Signal(syscall.SIGTERM)
		}
		deadline := time.After(stopWithin)
		for running := true; err == nil && running; _, running, _ = daemon.ReadRun(a.StateDir) {
			select {
			case <-ctx.Done():
				err = context.Cause(ctx)
			case <-deadline:
				err = errors.New("it has not ended")
			case <-time.After(50 * time.Millisecond):
			}
		}
		return fmt.Sprintf("stopped, pid %d", pid), err
	}
	return step
}
