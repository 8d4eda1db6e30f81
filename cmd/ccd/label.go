package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"ccd/daemon"
)

func (a *app) pinCommand() *cobra.Command {
	p := page{
		use: "pin [SESSION]", group: everyday, short: "keep a session's companion; list it with ls --pinned",
		forms: []string{"ccd pin [--remove] [SESSION]"},
		long: `ccd keeps the companion of a pinned session forever, even after the agent removed the transcript
(companion.keep_after_purge does not apply). The pin is stored in the archive, so it is in backups and survives a
rewrite of the transcript. A running daemon needs no restart.`,
		examples: []example{
			{"ccd pin 5d2f7a1e", "pin a session"},
			{"ccd pin --remove 5d2f7a1e", "remove the pin"},
		},
		exits: []int{exitNotFound, exitDamage},
	}
	l := labelCommand{app: a}
	c := p.command(oneSession, func(c *cobra.Command, args []string) error {
		return l.set(c, sessionOf(args), func(was daemon.Labels) (daemon.Labels, error) {
			was.Pinned = !l.remove
			return was, nil
		}, func(now daemon.Labels) string {
			if now.Pinned {
				return "pinned"
			}
			return "not pinned"
		})
	})
	return l.flags(c, "remove the pin")
}

func (a *app) tagCommand() *cobra.Command {
	p := page{
		use: "tag SESSION TAG...", group: everyday, short: "tag a session; list by tag with ls --tag",
		forms: []string{"ccd tag [--remove] SESSION TAG..."},
		long: `A tag is one word of at most 40 characters, stored in lower case. Adding an existing tag, or removing a
missing one, changes nothing. ccd stores tags in the archive, as ` + "`ccd pin`" + ` does.`,
		examples: []example{
			{"ccd tag 5d2f7a1e billing release-3", "add two tags"},
			{"ccd tag --remove 5d2f7a1e billing", "remove one"},
		},
		exits: []int{exitNotFound, exitDamage},
	}
	l := labelCommand{app: a}
	check := func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return errors.New("expected a SESSION and at least one TAG")
		}
		return nil
	}
	c := p.command(check, func(c *cobra.Command, args []string) error {
		return l.set(c, args[0], func(was daemon.Labels) (daemon.Labels, error) { return was.Tagged(args[1:], l.remove) },
			func(now daemon.Labels) string { return "tags: " + cmp.Or(strings.Join(now.Tags, ", "), "none") })
	})
	return l.flags(c, "remove the tags")
}

func (a *app) nameCommand() *cobra.Command {
	p := page{
		use: "name SESSION NAME", group: everyday, short: "name a session; lists show the name before the agent's title",
		long: `NAME is one line of at most 120 characters; an empty one removes the name. ccd stores it in the archive,
as ` + "`ccd pin`" + ` does. The agent's own title does not change.`,
		examples: []example{
			{`ccd name 5d2f7a1e "cents migration"`, "name a session"},
			{`ccd name 5d2f7a1e ""`, "remove the name"},
		},
		exits: []int{exitNotFound, exitDamage},
	}
	l := labelCommand{app: a}
	c := p.command(cobra.ExactArgs(2), func(c *cobra.Command, args []string) error {
		return l.set(c, args[0], func(was daemon.Labels) (daemon.Labels, error) { return was.Named(args[1]) },
			func(now daemon.Labels) string {
				if now.Name == "" {
					return "no name"
				}
				return "named " + now.Name
			})
	})
	return l.flags(c, "")
}

// labelCommand is what pin, tag and name have in common.
type labelCommand struct {
	*app
	agent  string
	remove bool
}

func (l *labelCommand) flags(c *cobra.Command, remove string) *cobra.Command {
	if remove != "" {
		c.Flags().BoolVar(&l.remove, "remove", false, remove)
	}
	l.agentFlag(c, &l.agent)
	return c
}

// set changes the labels of a session and prints the result.
func (l *labelCommand) set(c *cobra.Command, arg string, change func(daemon.Labels) (daemon.Labels, error), told func(daemon.Labels) string) error {
	if err := l.noJSON(c); err != nil {
		return err
	}
	if _, err := change(daemon.Labels{}); err != nil {
		return usage(c, err)
	}
	library, err := l.locate(false)
	if err == nil {
		err = library.Load(c.Context())
	}
	if err != nil {
		return err
	}
	e, err := l.choose(c.Context(), library, arg, l.agent)
	if err != nil {
		return err
	}
	var now daemon.Labels
	err = daemon.Label(c.Context(), library.Archive, e.Key, func(was daemon.Labels) (daemon.Labels, error) {
		now, err = change(was)
		return now, err
	})
	if err != nil {
		return err
	}
	l.say("%s: %s", e.ID, told(now))
	return nil
}
