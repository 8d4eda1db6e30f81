package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ccd/packaging"
)

// serviceFlags choose between the user's own service and one of the machine.
type serviceFlags struct {
	system bool
	user   string
}

func (a *app) installCommand() *cobra.Command {
	return a.serviceCommand(page{
		use: "install", short: "make ccd a service and start it",
		forms: []string{"ccd install [--system --user NAME]"},
		long: `Writes a systemd user unit (Linux), a launch agent (macOS) or a service (Windows), enables and starts
it. Run again, it repairs what is amiss. Nothing else is changed; ` + "`ccd uninstall`" + ` undoes it.`,
		examples: []example{
			{"ccd install", "for you: starts with your session"},
			{"sudo ccd install --system --user alice", "for the machine, running as alice"},
		},
	}, (*packaging.Service).Install)
}

func (a *app) uninstallCommand() *cobra.Command {
	return a.serviceCommand(page{
		use: "uninstall", short: "stop the service and remove it; the archive stays",
		forms: []string{"ccd uninstall [--system]"},
		examples: []example{
			{"ccd uninstall", "your own service"},
			{"sudo ccd uninstall --system", "the machine's"},
		},
	}, (*packaging.Service).Uninstall)
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
		l, err := a.locate(true)
		if err != nil {
			return err
		}
		s, err := a.service(l, f.system, f.user)
		if err != nil {
			return err
		}
		return do(s, c.Context())
	})
	c.Flags().BoolVar(&f.system, "system", false, "the machine's service instead of your own (needs root)")
	if p.use == "install" {
		c.Flags().StringVar(&f.user, "user", "", "the user `NAME` that a system service runs as")
	}
	return c
}

// service describes the service that this binary, with this configuration, is or would be.
func (a *app) service(l *library, system bool, user string) (*packaging.Service, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	o := packaging.Options{
		Executable: exe, StateDir: l.stateDir, Home: home, Environ: a.env, System: system, User: user, Out: a.err,
		Child: len(l.config.Summarizer.Command) > 0,
	}
	if a.configFile != "" {
		if o.Config, err = filepath.Abs(a.configFile); err != nil {
			return nil, fmt.Errorf("find configuration: %w", err)
		}
	}
	return packaging.New(o)
}
