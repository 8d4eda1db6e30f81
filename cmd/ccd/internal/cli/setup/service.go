package setup

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/install"
	"ccd/internal/words"
	"ccd/packaging"
)

// serviceFlags choose between the user's service and a system service.
type serviceFlags struct {
	system bool
	user   string
}

// serviceCommand returns `ccd service`, with a subcommand for each verb.
func (a *app) serviceCommand() *cobra.Command {
	c := cli.Grouped(
		&cobra.Command{
			Use: "service", GroupID: cli.Setup, Short: "install, start, stop and remove the background service",
			Long: `The service is a systemd user unit (Linux), a launch agent (macOS) or a service
(Windows). With --system it is the machine's, which root installs for one user.`,
			Example: `  ccd service install                              start ccd at login, or repair it
  ccd config && ccd service restart                apply a changed configuration
  sudo ccd service install --system --user alice   a system service that runs as alice`,
		},
		a.serviceVerb("install", "install the service and start it"),
		a.serviceVerb("start", "start the service"),
		a.serviceVerb("stop", "stop the service until the next login or start"),
		a.serviceVerb("restart", "restart the service"),
		a.serviceVerb("remove", "stop the service and remove it; the archive stays"),
	)
	return c
}

// serviceVerb returns the command of a verb.
func (a *app) serviceVerb(verb, short string) *cobra.Command {
	var f serviceFlags
	c := &cobra.Command{Use: verb, Short: short, Args: cobra.NoArgs}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if f.user != "" && !f.system {
			return cli.Usage(c, errors.New("--user needs --system"))
		}
		place, err := a.Place(true)
		if err != nil && verb == "remove" { // a broken configuration does not prevent it
			place, err = a.State()
		}
		if err != nil {
			return err
		}
		var s *packaging.Service
		if f.user != "" {
			s, err = a.MachineService(f.user, a.talkOut())
		} else {
			s, err = place.Service(packaging.Options{System: f.system, Out: a.talkOut()})
		}
		if err != nil {
			return err
		}
		switch verb {
		case "install":
			l, err := a.Locate(true)
			if err != nil {
				return err
			}
			return install.Install(c.Context(), l, s, f.user, a.Say)
		case "stop":
			if pid := account.Foreground(c.Context(), s, place.StateDir); pid != 0 && !f.system {
				return words.Hint(fmt.Errorf("stop service: the running daemon (pid %d) is not the service", pid), "stop it: kill %d", pid)
			}
		case "remove":
			if err := s.Uninstall(c.Context()); err != nil {
				return err
			}
			a.Say("kept: the archive, the configuration and the companions (ccd setup --undo removes the companions)")
			return nil
		}
		return s.Do(c.Context(), verb)
	}
	c.Flags().BoolVar(&f.system, "system", false, "the system service instead of the user's (needs root)")
	if verb == "install" {
		c.Flags().StringVar(&f.user, "user", "", "run the system service as the user `NAME`")
	}
	return c
}

// talkOut returns the writer for messages of other packages.
func (a *app) talkOut() io.Writer {
	if a.Quiet {
		return io.Discard
	}
	return a.Err
}
