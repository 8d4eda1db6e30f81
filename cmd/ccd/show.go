package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/compactor"
	"ccd/daemon"
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
		long: `ccd show prints the companion as it was last written. If its file is missing or unreadable, ccd makes it
from the archive and writes nothing. --fresh brings archive and companion up to date with the transcript
first. A session that needed no shortening has only the section recent. Where the archive is damaged,
"[ccd ID content unavailable: PATH, hash mismatch]" stands for what it cannot give back any more, and the
rest is shown.

With --format, json is an object (front_matter, lead, sections, pointers; docs/FORMAT.md), html one page
that needs nothing else, messages a list of {role, content} that an API takes: the compressed part, an
answer to it, then the last messages whole, made from the archive.`,
		examples: []example{
			{"ccd show latest", "the companion of the session with the newest record"},
			{"ccd show --section now 5d2f7a1e", "what was asked last, what is under way, planned and open"},
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
	c.Flags().StringVar(&f.section, "section", "", "only the section `NAME`: now, rules, conversation, files, commands, problems, recent or rest")
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
	if e.StateDamage != nil {
		l.incomplete() // what a person chose for its companion is lost
	}
	if e.Class == transcript.Attachment {
		return hint(fmt.Errorf("show %s: an attachment has no companion", e.ID), "ccd restore --session %s", shellWord(e.ID))
	}
	if e.Agent == transcript.Messages && f.form == asMessages {
		return a.filterArchived(ctx, l, e, compactFlags{noArchive: true, filter: filterFlags{recent: -1}})
	}
	c, err := a.companionOf(ctx, l, e, f)
	if err != nil {
		return err
	}
	return a.printForm(c, f.form, f.section)
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
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission): // another machine's, or another user's
			return companion{}, fmt.Errorf("read companion: %w", err)
		}
	}
	return l.recompact(ctx, e, l.options(e), at)
}

func (a *app) freshCompanion(ctx context.Context, e entry) (companion, error) {
	d, l, err := a.daemonFor(ctx, false)
	if err != nil {
		return companion{}, err
	}
	d.Summarize = nil // an agent may run this unasked, with a configuration of its own making: no command is started
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

// recompact makes a companion from the archive and writes nothing. It is the one that the daemon would write; where the
// archive is damaged, that of what can still be read. At is how far it goes; the zero Place means as far as the archive
// does, and only then its text names the bytes by their hash.
func (l *library) recompact(ctx context.Context, e entry, o compactor.Options, at daemon.Place) (companion, error) {
	g, err := e.generation(at.Generation)
	if err != nil {
		return companion{}, err
	}
	whole := daemon.Place{Generation: g.N, Offset: g.Tip.Offset}
	r := remake{library: l, entry: e, generation: g, options: o, at: at}
	if at.Generation == 0 {
		r.at = whole
	}
	r.records = until(r.at.Offset, history.Records(ctx, l.archive, e.Session.Session, g.N))
	c, err := r.companion(ctx)
	if err == nil || !errors.As(err, new(*archive.DamageError)) {
		return c, err
	}
	s, err := l.salvaged(ctx, e, g, err)
	if err != nil {
		return companion{}, err
	}
	r.at, r.records, r.tell = whole, s.records(ctx), s.tell
	return r.companion(ctx)
}

// remake is a companion that is made anew.
type remake struct {
	library    *library
	entry      entry
	generation archive.Generation
	options    compactor.Options
	at         daemon.Place
	records    iter.Seq2[*transcript.Record, error]
	// tell, if not nil, changes what it says; it is given the number of the first record that is lost.
	tell func(ctx context.Context, c *compactor.Compaction, first int) error
}

func (r remake) companion(ctx context.Context) (companion, error) {
	f, lost := r.library.foldWith(r.entry, r.generation.N, r.options), 0
	for rec, err := range r.records {
		if err != nil {
			return companion{}, err
		}
		if lost == 0 && rec.Broken && rec.Span.Len == 0 {
			lost = rec.N
		}
		f.Add(rec)
	}
	c, err := f.compaction(ctx)
	if err == nil && r.tell != nil {
		err = r.tell(ctx, c, lost)
	}
	if err != nil {
		return companion{}, err
	}
	extent := daemon.Extent{Records: f.Status().Records, Bytes: r.at.Offset, Sum: r.generation.Sum, Parent: f.Status().Parent}
	doc := daemon.Render(r.entry.Session.Session, r.options, c, extent)
	return fresh(daemon.Compacted{Document: doc, Compaction: c, Options: r.options, At: r.at}, r.records), nil
}
