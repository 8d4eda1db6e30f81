package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ccd/daemon"
	"ccd/internal/history"
	"ccd/internal/sidecar"
	"ccd/internal/transcript"
)

type showFlags struct {
	agent, section string
	fresh          bool
}

func (a *app) showCommand() *cobra.Command {
	p := page{
		use: "show SESSION", group: everyday, short: "print a session's companion",
		forms: []string{"ccd show [--section NAME] [--fresh] SESSION"},
		long: `Printed is the companion as it was last written. Where its file is gone, or none was written yet, it is
made anew from the archive; nothing is written then. --fresh brings archive and companion up to date
with the transcript first.`,
		examples: []example{
			{"ccd show latest", "the companion of the session that grew last"},
			{"ccd show --section State 5d2f7a1e", "what was asked, decided, done and is open"},
			{"ccd show --fresh latest:. | less", "of the project in this directory, up to date"},
		},
		exits: []int{exitNotFound, exitDamage},
	}
	var f showFlags
	c := p.command(cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if err := a.noJSON(c); err != nil {
			return err
		}
		return a.show(c.Context(), args[0], f)
	})
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
	text, err := a.companionText(ctx, l, e, f.fresh)
	if err != nil {
		return err
	}
	if f.section != "" {
		if text, err = section(text, f.section); err != nil {
			return err
		}
	}
	return a.print(string(text))
}

func (a *app) companionText(ctx context.Context, l *library, e entry, fresh bool) ([]byte, error) {
	if fresh {
		d, _, err := a.daemonFor(ctx, false)
		if err != nil {
			return nil, err
		}
		made, err := d.Compact(ctx, e.Key, daemon.CompactOptions{Write: true})
		if errors.Is(err, daemon.ErrNotPlaced) { // what was asked for is its text
			fmt.Fprintf(a.err, "ccd: warning: %v\n", err)
			made, err = d.Compact(ctx, e.Key, daemon.CompactOptions{})
		}
		return made.Text, err
	}
	if e.state.Companion != "" {
		switch text, err := os.ReadFile(e.state.Companion); {
		case err == nil:
			return text, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("read companion: %w", err)
		}
	}
	return l.anew(ctx, e)
}

// anew makes a companion's text from the archive and writes nothing. It is the text that the daemon would write.
func (l *library) anew(ctx context.Context, e entry) ([]byte, error) {
	g, err := e.generation(0)
	if err != nil {
		return nil, err
	}
	f := l.fold(e, g.N)
	for r, err := range history.Records(ctx, l.archive, e.Session.Session, g.N) {
		if err != nil {
			return nil, err
		}
		f.Add(r)
	}
	c, err := f.compaction(ctx)
	if err != nil {
		return nil, err
	}
	extent := daemon.Extent{Records: f.Status().Records, Bytes: g.Tip.Offset, Sum: g.Sum, Parent: f.Status().Parent}
	return daemon.Render(e.Session.Session, l.options(e), c, extent).Text, nil
}

func section(text []byte, name string) ([]byte, error) {
	p, err := sidecar.Parse(text)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range p.Sections {
		if strings.EqualFold(s.Name, name) {
			return []byte("## " + s.Name + "\n" + s.Body), nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("find section %s: %w: the companion has %s", name, history.ErrNotFound, strings.Join(names, ", "))
}
