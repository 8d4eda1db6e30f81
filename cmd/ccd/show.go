package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

type showFlags struct {
	agent, section, form string
	fresh                bool
}

func (a *app) showCommand() *cobra.Command {
	p := page{
		use: "show [SESSION]", group: everyday, short: "print a session's companion",
		forms: []string{"ccd show [--format FORM] [--section NAME] [--fresh] [SESSION]"},
		long: `Prints the companion as ccd last wrote it. If its file is missing, ccd rebuilds it from the archive.
Text that is damaged in the archive is shown as "[ccd ID content unavailable: PATH, hash
mismatch]".`,
		more: `With --format, json is an object (front_matter, lead, sections, pointers; docs/FORMAT.md), html is one
self-contained page, and messages is a list of {role, content} for a model's API: the compacted part, an
answer to it, then the last messages in full, from the archive. A session that needed no shortening
has only the section recent.`,
		picks: true,
		examples: []example{
			{"ccd show", "the companion of this directory's session"},
			{"ccd show --section now 5d2f7a1e", "the last request, work in progress, plan and open problems"},
			{"ccd show --format html latest > page.html", "read it in a browser"},
		},
		exits: []int{exitNotFound, exitDamage},
	}
	var f showFlags
	c := p.command(oneSession, func(c *cobra.Command, args []string) error {
		if err := a.noJSON(c); err != nil {
			return words.Hint(err, "ccd show --format json %s", words.Argument(sessionOf(args)))
		}
		if f.section != "" && f.form == asMessages {
			return usage(c, errors.New("--section cannot be used with --format messages"))
		}
		return a.show(c.Context(), sessionOf(args), f)
	})
	formatFlag(c.Flags(), &f.form, "")
	c.Flags().StringVar(&f.section, "section", "", "print only the section `NAME`: now, rules, conversation, files, commands, problems, recent or rest")
	c.Flags().BoolVar(&f.fresh, "fresh", false, "update the companion first")
	a.agentFlag(c, &f.agent)
	a.machineFlag(c)
	return c
}

func (a *app) show(ctx context.Context, arg string, f showFlags) error {
	l, e, err := a.session(ctx, arg, f.agent)
	if err != nil {
		return err
	}
	if e.StateDamage != nil {
		a.incomplete(l) // the labels and options that the user chose are lost
	}
	if e.Class == transcript.Attachment {
		return words.Hint(fmt.Errorf("show %s: an attachment has no companion", e.ID), "ccd restore --session %s", words.Shell(e.ID))
	}
	if e.Agent == transcript.Messages && f.form == asMessages {
		return a.filterArchived(ctx, l, e, compactFlags{noArchive: true, filter: filterFlags{recent: -1}})
	}
	c, err := a.companionOf(ctx, l, e, f)
	if err != nil {
		return err
	}
	if err := a.printHeading(e); err != nil {
		return err
	}
	return a.printForm(c, f.form, f.section)
}

// companionOf returns the session's companion as it was last written. It makes a new one if that is missing, or if the
// form needs more than its text.
func (a *app) companionOf(ctx context.Context, l *reader.Library, e reader.Entry, f showFlags) (reader.Companion, error) {
	if f.fresh {
		return a.freshCompanion(ctx, e)
	}
	return l.Companion(ctx, e, f.form == asMessages)
}

func (a *app) freshCompanion(ctx context.Context, e reader.Entry) (reader.Companion, error) {
	d, l, err := a.daemonFor(ctx, false)
	if err != nil {
		return reader.Companion{}, err
	}
	d.Summarize = nil // agents may run this without asking, with any configuration, so it starts no command
	made, err := d.Compact(ctx, e.Key, daemon.CompactOptions{Write: true})
	if errors.Is(err, daemon.ErrNotPlaced) { // its text exists, which is enough here
		fmt.Fprintf(a.err, "ccd: warning: %v\n", err)
		made, err = d.Compact(ctx, e.Key, daemon.CompactOptions{})
	}
	if err != nil {
		return reader.Companion{}, err
	}
	return reader.Fresh(made, history.Records(ctx, l.History(), e.Session.Session, made.At.Generation)), nil
}
