package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"ccd/internal/config"
	"ccd/packaging"
)

// uninstallFlags are those of `ccd uninstall`.
type uninstallFlags struct {
	serviceFlags
	purge, yes bool
}

func (a *app) uninstallCommand() *cobra.Command {
	p := page{
		use: "uninstall", group: setup, short: "stop the service and remove it; the archive stays",
		forms: []string{"ccd uninstall [--purge [--yes]]", "ccd uninstall --system [--purge [--yes] [--user NAME]]"},
		long: `Stops and disables the service, in whatever state it is, and removes its files and the links to them.
Archive, configuration and companions stay, and so does what you wrote beside the service's files.

--purge removes everything else of ccd too: what it added to agents' settings, its companions, the
archive and the copies that ccd made of it, what ccd wrote into its state directory, and its
configuration. It lists what it removes and asks. If sessions exist only in the archive (the transcript
is gone, shorter or another one, or the input was stdin), you must type their number. Without a terminal,
it needs --yes.

Transcripts stay, and so do sessions written by ` + "`ccd resume`" + `, files that others wrote under a name of
ours or put into the state directory, and copies by ` + "`ccd backup`" + `. Companions that the archive knows from
another home or machine stay and are listed. If a companion cannot be removed, archive, state and
configuration stay too. After an interruption, run it again.`,
		examples: []example{
			{"ccd uninstall", "your own service"},
			{"ccd uninstall --purge", "all that is ccd's; it asks first"},
			{"sudo ccd uninstall --system", "the machine's"},
		},
	}
	var f uninstallFlags
	c := p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		if err := a.noJSON(c); err != nil {
			return err
		}
		switch {
		case f.yes && !f.purge:
			return usage(c, errors.New("--yes goes with --purge"))
		case f.user != "" && !(f.system && f.purge):
			return usage(c, errors.New("--user goes with --system --purge"))
		case f.purge && !f.yes && !a.answers():
			return usage(c, fmt.Errorf("%s--purge needs a terminal to confirm, or --yes", a.lostByPurge(c.Context(), f)))
		}
		return a.uninstall(c.Context(), f)
	})
	c.Flags().BoolVar(&f.purge, "purge", false, "remove archive, state, configuration, hooks and companions too")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&f.system, "system", false, "the machine's service instead of your own (needs root)")
	c.Flags().StringVar(&f.user, "user", "", "whose the machine's service was, where it is gone already: `NAME`")
	return c
}

// lostByPurge says how many sessions a purge would destroy, before the reason for a refusal; "" if there are none or it
// cannot be told.
func (a *app) lostByPurge(ctx context.Context, f uninstallFlags) string {
	i, err := a.installation(f)
	if err != nil || i.library.load(ctx) != nil {
		return ""
	}
	n, err := i.library.onlyHere(ctx)
	if err != nil || n == 0 {
		return ""
	}
	return onlyHereText(n) + "; "
}

// installation is a service, and the account that it runs as: the app as that account would be given it, what it has.
type installation struct {
	*packaging.Service
	app     *app
	library *library
	user    string // of a service of the machine; "" for the user's own
}

func (a *app) uninstall(ctx context.Context, f uninstallFlags) error {
	i, err := a.installation(f)
	if err != nil {
		return err
	}
	if f.purge {
		return i.purge(ctx, f.yes)
	}
	if err := i.Uninstall(ctx); err != nil {
		return err
	}
	switch path := i.library.archivePath; {
	case path != "" && !exists(path):
		a.say("there is no archive in %s; configuration and companions stay, where there are any", path)
	case path != "":
		a.say("the archive stays in %s; so do the configuration and the companions (ccd uninstall --purge removes them)", path)
	default:
		a.say("the archive, the configuration and the companions stay")
	}
	return nil
}

// installation finds what uninstall is about. Without --purge nothing of a configuration is needed, so that one which is
// broken keeps no service from being removed.
func (a *app) installation(f uninstallFlags) (i installation, err error) {
	i.app = a
	if f.system {
		if i.user, err = a.systemUser(f.user); err != nil {
			return i, err
		}
		switch {
		case i.user == "" && f.purge:
			return i, hint(errors.New("find account: no service of the machine is installed that would tell whose archive is meant"),
				"ccd uninstall --system --purge --user NAME")
		case i.user != "":
			if i.app, err = a.as(i.user); err != nil {
				return i, err
			}
		}
	}
	i.library, err = i.app.locate(true)
	if err != nil && !f.purge {
		i.library, err = i.app.stateOnly()
	}
	if err == nil && f.system && i.user == "" {
		i.library.archivePath = "" // whose it was is not known
	}
	if err == nil {
		i.Service, err = i.app.serviceWith(i.library, packaging.Options{System: f.system, User: i.user})
	}
	return i, err
}

// systemUser is the account that the machine's service runs as, else the one that was named, else none.
func (a *app) systemUser(named string) (string, error) {
	l, err := a.stateOnly()
	if err != nil {
		return "", err
	}
	s, err := a.serviceWith(l, packaging.Options{System: true})
	if err != nil {
		return "", err
	}
	return meant(s.Account(), named)
}

// meant is the account whose service and archive go: that of the installed service, which no other name may stand for.
func meant(installed, named string) (string, error) {
	if installed != "" && named != "" && named != installed {
		return "", hint(fmt.Errorf("purge: the machine's service runs as %s, not as %s", installed, named),
			"as %s: ccd uninstall --purge", named)
	}
	return cmp.Or(installed, named), nil
}

// stateOnly is what is known without a configuration.
func (a *app) stateOnly() (*library, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	dir, err := config.StateDir(a.getenv, home)
	return &library{app: a, stateDir: dir, archivePath: filepath.Join(dir, "archive.db")}, err
}
