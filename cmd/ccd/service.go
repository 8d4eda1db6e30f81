package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ccd/daemon"
	"ccd/packaging"
)

// serviceFlags choose between the user's own service and one of the machine.
type serviceFlags struct {
	system bool
	user   string
	linger bool
}

func (a *app) installCommand() *cobra.Command {
	return a.serviceCommand(page{
		use: "install", short: "make ccd a service and start it",
		forms: []string{"ccd install [--linger]", "ccd install --system --user NAME"},
		long: `Writes a systemd user unit (Linux), a launch agent (macOS) or a service (Windows), enables and starts
it. Run again, it repairs what is amiss. Nothing else is changed; ` + "`ccd uninstall`" + ` undoes it.`,
		examples: []example{
			{"ccd install", "for you: starts with your session"},
			{"sudo ccd install --system --user alice", "for the machine, running as alice"},
		},
	}, (*packaging.Service).Install)
}

func (a *app) startCommand() *cobra.Command {
	return a.serviceCommand(page{
		use: "start", short: "start the installed service", forms: []string{"ccd start [--system]"},
		examples: []example{
			{"ccd start", "your own service"},
			{"ccd start && ccd status", "and see how it fares"},
		},
	}, (*packaging.Service).Start)
}

func (a *app) stopCommand() *cobra.Command {
	return a.serviceCommand(page{
		use: "stop", short: "stop the service", forms: []string{"ccd stop [--system]"},
		examples: []example{
			{"ccd stop", "until the next session, or `ccd start`"},
			{"sudo ccd stop --system", "the machine's"},
		},
	}, (*packaging.Service).Stop)
}

func (a *app) restartCommand() *cobra.Command {
	return a.serviceCommand(page{
		use: "restart", short: "restart the service, so that a changed configuration holds", forms: []string{"ccd restart [--system]"},
		examples: []example{
			{"ccd restart", "your own service"},
			{"ccd config && ccd restart", "check the configuration first"},
		},
	}, (*packaging.Service).Restart)
}

func (a *app) serviceCommand(p page, do func(*packaging.Service, context.Context) error) *cobra.Command {
	p.group = setup
	var f serviceFlags
	c := p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error {
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
		s, err := a.chosen(l, f)
		if err != nil {
			return err
		}
		if p.use == "stop" && !f.system {
			if pid := foreground(c.Context(), s, l.stateDir); pid != 0 {
				return hint(fmt.Errorf("stop service: the daemon that runs (pid %d) is not the service", pid), "stop it: kill %d", pid)
			}
		}
		if p.use != "install" {
			return do(s, c.Context())
		}
		if err := a.mayInstall(c.Context(), l, s, f); err != nil {
			return err
		}
		if err := do(s, c.Context()); err != nil || f.system { // what is the user's, root does not touch
			return err
		}
		a.removeEarlier(c.Context(), l)
		return nil
	})
	c.Flags().BoolVar(&f.system, "system", false, "the machine's service instead of your own (needs root)")
	if p.use == "install" {
		c.Flags().StringVar(&f.user, "user", "", "the user `NAME` that a system service runs as")
		c.Flags().BoolVar(&f.linger, "linger", false, "keep your services running after you log out (loginctl enable-linger)")
	}
	return c
}

// foreground returns the pid of a running daemon that is not the service, 0 if there is none.
func foreground(ctx context.Context, s *packaging.Service, stateDir string) int {
	info, running, _ := daemon.ReadRun(stateDir)
	if !running {
		return 0
	}
	if st, err := s.Status(ctx); err == nil && st.Active && st.Foreign == "" && (st.Pid == info.Pid || st.Pid == 0) {
		return 0
	}
	return info.Pid
}

// mayInstall fails where another service, or a daemon that is none, would keep the one that is to be installed from
// running: two daemons of one account never run at once.
func (a *app) mayInstall(ctx context.Context, l *library, s *packaging.Service, f serviceFlags) error {
	fail := func(err error, then string, args ...any) error {
		return hint(fmt.Errorf("install service: %w", err), then, args...)
	}
	if f.user != "" {
		own, theirs, err := a.ownService(f.user)
		switch before := s.Account(); {
		case err != nil:
			return err
		case own.Account() != "":
			return fail(fmt.Errorf("%s has a service of their own", f.user), "as %s: ccd uninstall", f.user)
		case before != "" && before != f.user:
			a.say("this takes the machine's service from %s: nothing of theirs is archived any longer", before)
		}
		l = theirs
	} else if other, err := a.installedService(l); err == nil && other.System() {
		return fail(errors.New("a service of the machine runs as you"), "sudo ccd uninstall --system")
	}
	if had, err := s.Differs(); err == nil && len(had) > 0 {
		a.say("this has the service work elsewhere: it was installed with %s", strings.Join(had, ", "))
	}
	info, running, _ := daemon.ReadRun(l.stateDir) // what else is amiss there, the daemon tells
	if !running {
		return nil
	}
	if st, err := s.Status(ctx); err == nil && st.Pid != info.Pid && !(st.Active && st.Pid == 0) {
		return fail(fmt.Errorf("a daemon runs that is not this service, pid %d", info.Pid), "end it first: kill %d", info.Pid)
	}
	return nil
}

// ownService describes the service of an account's own, whether it is installed or not.
func (a *app) ownService(name string) (*packaging.Service, *library, error) {
	as, err := a.as(name)
	if err != nil {
		return nil, nil, err
	}
	l, err := as.locate(true)
	if err != nil {
		return nil, nil, err
	}
	s, err := as.serviceWith(l, packaging.Options{User: name})
	return s, l, err
}

// chosen is the service that the flags mean.
func (a *app) chosen(l *library, f serviceFlags) (*packaging.Service, error) {
	if f.system && f.user != "" {
		return a.machineService(f.user)
	}
	return a.serviceWith(l, packaging.Options{System: f.system, Linger: f.linger})
}

// service describes the service that this binary, with this configuration, is or would be.
func (a *app) service(l *library, system bool, name string) (*packaging.Service, error) {
	return a.serviceWith(l, packaging.Options{System: system, User: name})
}

// serviceWith adds what this binary and its configuration say to what a command line says of a service. Of a system
// service, a and l are those of its account.
func (a *app) serviceWith(l *library, o packaging.Options) (*packaging.Service, error) {
	var err error
	if o.Home, err = a.home(); err != nil {
		return nil, err
	}
	if o.Executable, err = stableExecutable(); err != nil {
		return nil, err
	}
	if o.User == "" && !o.System {
		o.User = accountName()
	}
	o.StateDir, o.Environ, o.Out, o.Child = l.stateDir, a.env, a.err, len(l.config.Summarizer.Command) > 0
	o.Own = []string{l.stateDir, filepath.Dir(l.archivePath)}
	if l.config.Companion.Dir != "" {
		o.Own = append(o.Own, l.config.Companion.Dir)
	}
	for _, r := range l.roots {
		o.Reads = append(o.Reads, r.Path)
	}
	if o.Writes = slices.Clone(o.Own); l.config.Companion.Dir == "" {
		o.Writes = append(o.Writes, o.Reads...)
	}
	if file := l.config.Log.File; file != "" {
		o.Writes = append(o.Writes, filepath.Dir(file))
	} else {
		o.Log = filepath.Join(l.stateDir, "ccd.log")
	}
	if a.configFile != "" {
		if o.Config, err = filepath.Abs(a.configFile); err != nil {
			return nil, fmt.Errorf("find configuration: %w", err)
		}
	}
	if a.quiet {
		o.Out = io.Discard
	}
	return packaging.New(o)
}

// installedService returns the service that is installed for this user: the user's own, else the machine's that runs as
// this user. Where there is neither it is the user's own as it would be; Status tells that.
func (a *app) installedService(l *library) (*packaging.Service, error) {
	own, err := a.service(l, false, "")
	if err != nil || own.Account() != "" {
		return own, err
	}
	machine, err := a.machineService(accountName())
	if err == nil && machine.Account() == accountName() {
		return machine, nil
	}
	return own, nil
}

// machineService describes the machine's service that runs as the account of a name: with that account's home directory
// and nothing of this environment, as a service manager starts it.
func (a *app) machineService(name string) (*packaging.Service, error) {
	as, err := a.as(name)
	if err != nil {
		return nil, err
	}
	l, err := as.locate(true)
	if err != nil {
		return nil, err
	}
	return as.service(l, true, name)
}

// as is the app as a service manager would start it for an account.
func (a *app) as(name string) (*app, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, hint(fmt.Errorf("find account %s: %w", name, err), "getent passwd")
	}
	if u.Uid == "0" {
		return nil, hint(errors.New("find account: ccd serves a user's transcripts, not root's"), "ccd install --system --user NAME")
	}
	as := *a
	as.env = []string{"HOME=" + u.HomeDir, "USERPROFILE=" + u.HomeDir}
	return &as, nil
}

// accountName is the name of the account that runs this, its number where it has none.
func accountName() string {
	if u, err := user.LookupId(strconv.Itoa(os.Geteuid())); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Geteuid())
}
