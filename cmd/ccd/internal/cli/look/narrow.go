package look

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/project"
	"ccd/internal/words"
)

// narrow has the flags that say of which sessions and times a list is.
type narrow struct{ agent, project, since, until string }

// add adds the flags. of says what is in the times.
func (n *narrow) add(a *app, c *cobra.Command, of string) {
	flags := c.Flags()
	a.AgentFlag(c, &n.agent)
	flags.StringVar(&n.project, "project", "", "only sessions of `PROJECT`: a directory, the end of its path, or . for this one")
	a.timeFlag(c, &n.since, "since", "only "+of+" since `TIME` (yesterday, 3h, 2026-01-29, ...)", false)
	a.timeFlag(c, &n.until, "until", "only "+of+" until `TIME` (a day: its end)", true)
}

// typed returns the flags that exclude something, as they are typed.
func (n narrow) typed() string {
	return typedFlags("agent", n.agent, "project", n.project, "since", n.since, "until", n.until)
}

// typedFlags returns flags as they are typed. Their names and values take turns; one that is empty was not given.
func typedFlags(pairs ...string) (line string) {
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			line += " --" + pair[0] + " " + words.Shell(pair[1])
		}
	}
	return line
}

// read reads the flags.
func (n narrow) read(a *app) (c reader.Choice, err error) {
	now := time.Now()
	if c.Since, _, err = words.Instant(n.since, now); err != nil {
		return c, err
	}
	if c.Until, err = words.Moment(n.until, now); err != nil {
		return c, err
	}
	home, err := a.Home()
	in := project.Named(n.project, a.Absolute("."), home)
	c.Session = func(e *reader.Entry) bool { return (n.agent == "" || e.Agent == n.agent) && in(e.Kept.Cwd) }
	return c, err
}

// missing returns an error if no session has the agent or the project.
func (n narrow) missing(a *app, l *reader.Library) error {
	has := func(one narrow) bool {
		c, err := one.read(a)
		return err == nil && slices.ContainsFunc(l.Sessions, c.Session)
	}
	switch {
	case len(l.Sessions) == 0, l.ForAgent(): // it must not learn what is out of its reach
	case !has(narrow{agent: n.agent}):
		return words.Hint(fmt.Errorf("find agent %s: %w in any session", n.agent, archive.ErrNotFound), "ccd agents")
	case n.project != "." && !has(narrow{project: n.project}):
		return words.Hint(l.Missing(fmt.Errorf("find project %s: %w in any session", n.project, archive.ErrNotFound)), "ccd status --totals lists the projects")
	}
	return nil
}

// limitFlag adds --limit, which is the same for all lists. text says what it does and, if that is not one screen, its default.
func limitFlag(flags *pflag.FlagSet, limit *int, without int, text string) {
	*limit = without
	flags.FuncP("limit", "n", text+"; 0: all", func(given string) error {
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 {
			return errors.New("must be a whole number, 0 or more")
		}
		*limit = n
		return nil
	})
}

// screen is the limit of a list without --limit: on a terminal one screen, in a pipe and in JSON all.
const screen = -1

// frame is how many lines of a screen are not the list's: the heading, what is left out, and the next prompt.
const frame = 4

// most returns how many lines a list has that a text stands below, 0 for all.
func (a *app) most(limit int, below string) int {
	switch {
	case limit != screen:
		return limit
	case a.JSON:
		return 0
	}
	return max(a.Lines()-frame-a.Height(below), 0)
}
