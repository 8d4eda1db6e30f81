package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"ccd/compactor"
	"ccd/daemon"
	"ccd/internal/history"
	"ccd/internal/transcript"
)

type showFlags struct {
	agent, section, form string
	fresh                bool
}

func (a *app) showCommand() *cobra.Command {
	p := page{
		use: "show SESSION", group: everyday, short: "print a session's companion",
		forms: []string{"ccd show [--format FORM] [--section NAME] [--fresh] SESSION"},
		long: `Printed is the companion as it was last written. Where its file is gone, or none was written yet, it is
made anew from the archive; nothing is written then. --fresh brings archive and companion up to date
with the transcript first.

With --format, json is an object (front_matter, lead, sections, pointers; docs/FORMAT.md), html one page
that needs nothing else, messages a list of {role, content} that an API takes: the compressed part, an
answer to it, then the last messages whole, made from the archive.`,
		examples: []example{
			{"ccd show latest", "the companion of the session that grew last"},
			{"ccd show --section State 5d2f7a1e", "what was asked, decided, done and is open"},
			{"ccd show --format html latest > page.html", "to read in a browser"},
			{"ccd show --fresh latest:. | less", "of the project in this directory, up to date"},
		},
		exits: []int{exitNotFound, exitDamage},
	}
	var f showFlags
	c := p.command(cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if err := a.noJSON(c); err != nil {
			return hint(err, "ccd show --format json %s", shellWord(args[0]))
		}
		if f.section != "" && f.form == asMessages {
			return usage(c, errors.New("--section goes with markdown, json and html: messages are made of all of them"))
		}
		return a.show(c.Context(), args[0], f)
	})
	c.Flags().Var(formName{&f.form}, "format", formUsage)
	c.Flags().StringVar(&f.section, "section", "", "only the section `NAME`: State, Earlier, Files or Recent")
	c.Flags().BoolVar(&f.fresh, "fresh", false, "bring the companion up to date first")
	agentFlag(c, &f.agent)
	return c
}

func (a *app) show(ctx context.Context, arg string, f showFlags) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	e, err := l.find(arg, f.agent)
	if err != nil {
		return err
	}
	if e.Class == transcript.Attachment {
		return hint(fmt.Errorf("show %s: an attachment has no companion", e.ID), "ccd restore --session %s", shellWord(e.ID))
	}
	c, err := a.companionOf(ctx, l, e, f)
	if err != nil {
		return err
	}
	return a.printForm(c, e.Agent, f.form, f.section)
}

// companionOf is the session's companion as it was last written, or made anew where it is not there, or where its text
// is not all that is asked for.
func (a *app) companionOf(ctx context.Context, l *library, e entry, f showFlags) (companion, error) {
	if f.fresh {
		return a.freshCompanion(ctx, e)
	}
	at := daemon.Place{}
	if e.state.Companion != "" {
		switch text, err := os.ReadFile(e.state.Companion); {
		case err == nil && f.form == asMessages:
			at = e.state.Covers
		case err == nil:
			text, known, err := l.checked(ctx, text)
			return companion{text: text, known: known}, err
		case !errors.Is(err, fs.ErrNotExist):
			return companion{}, fmt.Errorf("read companion: %w", err)
		}
	}
	made, err := l.anew(ctx, e, l.options(e), at)
	if err != nil {
		return companion{}, err
	}
	return fresh(made, history.Records(ctx, l.archive, e.Session.Session, made.At.Generation)), nil
}

func (a *app) freshCompanion(ctx context.Context, e entry) (companion, error) {
	d, l, err := a.daemonFor(ctx, false)
	if err != nil {
		return companion{}, err
	}
	made, err := d.Compact(ctx, e.Key, daemon.CompactOptions{Write: true})
	if errors.Is(err, daemon.ErrNotPlaced) { // what was asked for is its text
		fmt.Fprintf(a.err, "ccd: warning: %v\n", err)
		made, err = d.Compact(ctx, e.Key, daemon.CompactOptions{})
	}
	if err != nil {
		return companion{}, err
	}
	return fresh(made, history.Records(ctx, l.archive, e.Session.Session, made.At.Generation)), nil
}

// anew makes a companion from the archive and writes nothing. It is the one that the daemon would write. At is how far
// it goes; the zero Place means as far as the archive does, and only then its text names the bytes by their hash.
func (l *library) anew(ctx context.Context, e entry, o compactor.Options, at daemon.Place) (daemon.Compacted, error) {
	g, err := e.generation(at.Generation)
	if err != nil {
		return daemon.Compacted{}, err
	}
	if at.Generation == 0 {
		at = daemon.Place{Generation: g.N, Offset: g.Tip.Offset}
	}
	f := l.foldWith(e, g.N, o)
	for r, err := range until(at.Offset, history.Records(ctx, l.archive, e.Session.Session, g.N)) {
		if err != nil {
			return daemon.Compacted{}, err
		}
		f.Add(r)
	}
	c, err := f.compaction(ctx)
	if err != nil {
		return daemon.Compacted{}, err
	}
	extent := daemon.Extent{Records: f.Status().Records, Bytes: at.Offset, Sum: g.Sum, Parent: f.Status().Parent}
	return daemon.Compacted{Document: daemon.Render(e.Session.Session, o, c, extent), Compaction: c, Options: o, At: at}, nil
}
