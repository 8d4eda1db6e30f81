package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/onboard"
	"ccd/internal/words"
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
	do func(*packaging.Service, context.Context) error // nil: onboard.Install
}

func installVerb() serviceVerb {
	return serviceVerb{page{
		use: "install", short: "install ccd as a service and start it",
		forms: []string{"ccd install [--linger]", "ccd install --system --user NAME"},
		long: `Writes a systemd user unit (Linux), a launch agent (macOS) or a service (Windows), enables it and starts it.
Run it again to repair a broken service. ccd uninstall removes it.`,
		examples: []example{
			{"ccd install", "a user service, which starts at login"},
			{"sudo ccd install --system --user alice", "a system service that runs as alice"},
		},
	}, nil}
}

func startService() serviceVerb {
	return serviceVerb{page{
		use: "start", short: "start the installed service", forms: []string{"ccd start [--system]"},
		examples: []example{
			{"ccd start", "start the user service"},
			{"ccd start && ccd status", "start it and show its state"},
		},
	}, (*packaging.Service).Start}
}

func stopService() serviceVerb {
	return serviceVerb{page{
		use: "stop", short: "stop the service", forms: []string{"ccd stop [--system]"},
		examples: []example{
			{"ccd stop", "stop it until the next login or `ccd start`"},
			{"sudo ccd stop --system", "stop the system service"},
		},
	}, (*packaging.Service).Stop}
}

func restartService() serviceVerb {
	return serviceVerb{page{
		use: "restart", short: "restart the service to apply a changed configuration", forms: []string{"ccd restart [--system]"},
		examples: []example{
			{"ccd restart", "restart the user service"},
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
			return usage(c, errors.New("--user needs --system"))
		}
		if f.linger && f.system {
			return usage(c, errors.New("--linger cannot be used with --system: a system service does not stop at logout"))
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
			return onboard.Install(c.Context(), l, s, f.user, a.say)
		}
		if v.use == "stop" && !f.system {
			if pid := account.Foreground(c.Context(), s, l.StateDir); pid != 0 {
				return words.Hint(fmt.Errorf("stop service: the running daemon (pid %d) is not the service", pid), "stop it: kill %d", pid)
			}
		}
		return v.do(s, c.Context())
	})
	c.Flags().BoolVar(&f.system, "system", false, "install a system service instead of a user service (needs root)")
	if v.use == "install" {
		c.Flags().StringVar(&f.user, "user", "", "run the system service as the user `NAME`")
		c.Flags().BoolVar(&f.linger, "linger", false, "keep your services running after you log out (loginctl enable-linger)")
	}
	return c
}

// talkOut returns the writer for messages of other packages.
func (a *app) talkOut() io.Writer {
	if a.quiet {
		return io.Discard
	}
	return a.err
}
