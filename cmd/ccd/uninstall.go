package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/removal"
	"ccd/internal/words"
	"ccd/packaging"
)

type uninstallFlags struct {
	serviceFlags
	purge, yes bool
}

func (a *app) uninstallCommand() *cobra.Command {
	p := page{
		use: "uninstall", group: setup, short: "stop the service and remove it; the archive stays",
		forms: []string{"ccd uninstall [--purge [--yes]]", "ccd uninstall --system [--purge [--yes] [--user NAME]]"},
		long: `Stops the service and removes its files. The archive, the configuration and the companions stay.

--purge also removes what ccd added to agents' settings, its companions, the archive, its state directory
and its configuration. It lists them and asks first; if sessions exist only in the archive, you must type
their number. Without a terminal it needs --yes. Transcripts, sessions written by ccd resume and copies
made by ccd backup stay.`,
		more: `Files that ccd did not write stay too, even if they are named like ccd's files, or are in the state
directory or beside the service's files. Companions of another home or machine stay and are listed. If a
companion cannot be removed, archive, state and configuration stay. After an interruption, run it again.`,
		examples: []example{
			{"ccd uninstall", "remove the user service"},
			{"ccd uninstall --purge", "everything except transcripts; asks first"},
			{"sudo ccd uninstall --system", "remove the system service"},
		},
	}
	var f uninstallFlags
	c := p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		if err := a.noJSON(c); err != nil {
			return err
		}
		switch {
		case f.yes && !f.purge:
			return usage(c, errors.New("--yes needs --purge"))
		case f.user != "" && !(f.system && f.purge):
			return usage(c, errors.New("--user needs --system --purge"))
		case f.purge && !f.yes && !a.answers():
			return usage(c, fmt.Errorf("%s--purge needs a terminal to confirm, or --yes", a.lostByPurge(c.Context(), f)))
		}
		return a.uninstall(c.Context(), f)
	})
	c.Flags().BoolVar(&f.purge, "purge", false, "remove archive, state, configuration, hooks and companions too")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&f.system, "system", false, "remove the system service instead of the user service (needs root)")
	c.Flags().StringVar(&f.user, "user", "", "purge for the user `NAME` if the system service is already removed")
	return c
}

// lostByPurge returns how many sessions a purge would destroy, as the start of an error, or "" if none or unknown.
func (a *app) lostByPurge(ctx context.Context, f uninstallFlags) string {
	i, err := a.installation(f)
	if err != nil || i.Load(ctx) != nil {
		return ""
	}
	n, err := removal.OnlyHere(ctx, i.Library)
	if err != nil || n == 0 {
		return ""
	}
	return removal.OnlyHereText(n) + "; "
}

func (a *app) uninstall(ctx context.Context, f uninstallFlags) error {
	i, err := a.installation(f)
	if err != nil {
		return err
	}
	if f.purge {
		return a.purge(ctx, i, f.yes)
	}
	if err := i.Service.Uninstall(ctx); err != nil {
		return err
	}
	if f.system && i.User == "" {
		a.say("kept: the archive, the configuration and the companions")
	} else {
		a.sayWhatRemains(i.ArchivePath)
	}
	return nil
}

// sayWhatRemains says what remains after the service is removed.
func (a *app) sayWhatRemains(archive string) {
	if !disk.Exists(archive) {
		a.say("no archive at %s; configuration and companions stay", archive)
		return
	}
	a.say("kept: the archive %s, the configuration and the companions (ccd uninstall --purge removes them)", archive)
}

// installation finds what uninstall removes. It reads the configuration only for --purge, so that a broken one does not
// prevent removing the service.
func (a *app) installation(f uninstallFlags) (p removal.Purge, err error) {
	p.Say = a.say
	p.Problem = func(problem string) { fmt.Fprintf(a.err, "problem: %s\n", problem) } // printed even with --quiet
	env := a.Env
	if f.system {
		if p.User, err = env.MachineAccount(f.user); err != nil {
			return p, err
		}
		switch {
		case p.User == "" && f.purge:
			return p, words.Hint(errors.New("find account: no system service is installed, so the user is unknown"),
				"ccd uninstall --system --purge --user NAME")
		case p.User != "":
			if env, err = env.As(p.User); err != nil {
				return p, err
			}
		}
	}
	place, err := env.Place(true)
	if err != nil && !f.purge {
		place, err = env.State()
	}
	if err != nil {
		return p, err
	}
	if p.Library, err = reader.Open(place, false); err != nil {
		return p, err
	}
	p.Service, err = place.Service(packaging.Options{System: f.system, User: p.User, Out: a.talkOut()})
	return p, err
}

// purge lists everything of ccd of one account except transcripts, asks, and removes it.
func (a *app) purge(ctx context.Context, p removal.Purge, yes bool) error {
	if err := p.Check(ctx); err != nil {
		return err
	}
	as := *a
	as.Env = p.Env
	s, err := as.setup(nil, agentsFlags{})
	if err != nil {
		return err
	}
	p.Agents = s
	r, err := p.Find(ctx)
	if err != nil {
		return err
	}
	if !a.quiet || !yes {
		fmt.Fprint(a.err, r.Text())
	}
	for _, problem := range r.Problems() {
		p.Problem(problem)
	}
	if !yes {
		if err := a.confirm(ctx, r.OnlyHere); err != nil {
			return err
		}
	}
	if err := p.Remove(ctx, r); !errors.Is(err, removal.ErrIncomplete) {
		return err
	}
	return errSaid
}

// confirm asks before removing everything. If sessions exist nowhere else, the user must type their number.
func (a *app) confirm(ctx context.Context, onlyHere int) error {
	want, why := "yes", ""
	if onlyHere > 0 {
		want, why = strconv.Itoa(onlyHere), removal.OnlyHereText(onlyHere)+". "
	}
	fmt.Fprintf(a.err, "%sType %s to remove all of it: ", why, want)
	switch given, err := answer(ctx, a.in); {
	case err != nil:
		fmt.Fprintln(a.err) // end the line of the question
		return err
	case !strings.EqualFold(given, want):
		return fmt.Errorf("purge: answer was not %s; nothing removed", want)
	}
	return nil
}

// answers reports whether there is a terminal to ask on.
func (a *app) answers() bool {
	in, ok := a.in.(*os.File)
	return ok && a.terminal(in) && a.terminal(a.err)
}

// answer reads a line without the space around it, or "" if there is none. If ctx ends, it fails with the cause; the
// read continues until the process ends.
func answer(ctx context.Context, in io.Reader) (string, error) {
	text, err := readLine(ctx, bufio.NewReader(in))
	return strings.TrimSpace(text), err
}
