package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/removal"
	"ccd/cmd/ccd/internal/words"
	"ccd/packaging"
)

// serviceFlags choose between the user's service and a system service.
type serviceFlags struct {
	system bool
	user   string
	linger bool
}

// serviceVerb is a command for the service.
type serviceVerb struct {
	page
	do func(*packaging.Service, context.Context) error // nil: installService
}

func installVerb() serviceVerb {
	return serviceVerb{page{
		use: "install", short: "make ccd a service and start it",
		forms: []string{"ccd install [--linger]", "ccd install --system --user NAME"},
		long: `Writes a systemd user unit (Linux), a launch agent (macOS) or a service (Windows), enables it and starts it.
Run it again to repair a broken service. ccd uninstall removes it.`,
		examples: []example{
			{"ccd install", "for you: starts with your session"},
			{"sudo ccd install --system --user alice", "for the machine, running as alice"},
		},
	}, nil}
}

func startService() serviceVerb {
	return serviceVerb{page{
		use: "start", short: "start the installed service", forms: []string{"ccd start [--system]"},
		examples: []example{
			{"ccd start", "your own service"},
			{"ccd start && ccd status", "and show its state"},
		},
	}, (*packaging.Service).Start}
}

func stopService() serviceVerb {
	return serviceVerb{page{
		use: "stop", short: "stop the service", forms: []string{"ccd stop [--system]"},
		examples: []example{
			{"ccd stop", "until the next session, or `ccd start`"},
			{"sudo ccd stop --system", "the machine's"},
		},
	}, (*packaging.Service).Stop}
}

func restartService() serviceVerb {
	return serviceVerb{page{
		use: "restart", short: "restart the service to apply a changed configuration", forms: []string{"ccd restart [--system]"},
		examples: []example{
			{"ccd restart", "your own service"},
			{"ccd config && ccd restart", "check the configuration first"},
		},
	}, (*packaging.Service).Restart}
}

func (a *app) serviceCommand(v serviceVerb) *cobra.Command {
	v.group = setup
	var f serviceFlags
	c := v.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		if err := a.noJSON(c); err != nil {
			return err
		}
		if f.user != "" && !f.system {
			return usage(c, errors.New("--user goes with --system"))
		}
		if f.linger && f.system {
			return usage(c, errors.New("--linger goes with your own service: the machine's does not end with a session"))
		}
		l, err := a.locate(true)
		if err != nil {
			return err
		}
		var s *packaging.Service
		if f.user != "" {
			s, err = a.MachineService(f.user, a.talkOut())
		} else {
			s, err = l.Place.Service(packaging.Options{System: f.system, Linger: f.linger, Out: a.talkOut()})
		}
		if err != nil {
			return err
		}
		if v.use == "install" {
			return a.installService(c.Context(), l, s, f)
		}
		if v.use == "stop" && !f.system {
			if pid := account.Foreground(c.Context(), s, l.StateDir); pid != 0 {
				return words.Hint(fmt.Errorf("stop service: the daemon that runs (pid %d) is not the service", pid), "stop it: kill %d", pid)
			}
		}
		return v.do(s, c.Context())
	})
	c.Flags().BoolVar(&f.system, "system", false, "the machine's service instead of your own (needs root)")
	if v.use == "install" {
		c.Flags().StringVar(&f.user, "user", "", "the user `NAME` that a system service runs as")
		c.Flags().BoolVar(&f.linger, "linger", false, "keep your services running after you log out (loginctl enable-linger)")
	}
	return c
}

// installService installs a service if nothing would keep it from running.
func (a *app) installService(ctx context.Context, l *reader.Library, s *packaging.Service, f serviceFlags) error {
	if err := a.mayInstall(ctx, l, s, f); err != nil {
		return err
	}
	if err := s.Install(ctx); err != nil || f.system { // root does not touch the user's files
		return err
	}
	a.removeEarlier(ctx, l)
	return nil
}

// removeEarlier removes the companions in an earlier companion.dir, which the daemon's sandbox cannot reach. The daemon
// may not have rewritten all of them yet; ccd doctor removes the rest.
func (a *app) removeEarlier(ctx context.Context, l *reader.Library) {
	if _, err := disk.Bounded(ctx, disk.Patience, func(ctx context.Context) (any, error) { return nil, l.Load(ctx) }); err != nil {
		return // ccd doctor reports it
	}
	if n, _ := removal.RemoveEarlier(ctx, removal.Earlier(l.Place, l.Sessions)); n > 0 {
		a.say("removed %s of an earlier companion.dir", words.Count(n, "companion"))
	}
	if removal.Moving(l.Place, l.Sessions) {
		a.say("companions are written again for companion.dir; ccd doctor --fix then removes the earlier ones that ccd cannot write to any more")
	}
}

// mayInstall fails if another service or a running daemon would keep the new service from running. An account never has
// two daemons at once.
func (a *app) mayInstall(ctx context.Context, l *reader.Library, s *packaging.Service, f serviceFlags) error {
	fail := func(err error, then string, args ...any) error {
		return words.Hint(fmt.Errorf("install service: %w", err), then, args...)
	}
	stateDir := l.StateDir
	if f.user != "" {
		as, err := a.As(f.user)
		if err != nil {
			return err
		}
		theirs, err := as.Place(true)
		if err != nil {
			return err
		}
		own, err := theirs.Service(packaging.Options{User: f.user})
		switch before := s.Account(); {
		case err != nil:
			return err
		case own.Account() != "":
			return fail(fmt.Errorf("%s has a service of their own", f.user), "as %s: ccd uninstall", f.user)
		case before != "" && before != f.user:
			a.say("this takes the machine's service from %s: their sessions are no longer archived", before)
		}
		stateDir = theirs.StateDir
	} else if other, err := l.Place.Installed(nil); err == nil && other.System() {
		return fail(errors.New("a service of the machine runs as you"), "sudo ccd uninstall --system")
	}
	if had, err := s.PlaceChanges(); err == nil && len(had) > 0 {
		a.say("this has the service work elsewhere: it was installed with %s", strings.Join(had, ", "))
	}
	if pid := account.Foreground(ctx, s, stateDir); pid != 0 {
		return fail(fmt.Errorf("a daemon runs that is not this service, pid %d", pid), "end it first: kill %d", pid)
	}
	return nil
}

// talkOut returns the writer for messages of other packages.
func (a *app) talkOut() io.Writer {
	if a.quiet {
		return io.Discard
	}
	return a.err
}
