package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"ccd/cmd/ccd/internal/form"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/resume"
	"ccd/cmd/ccd/internal/web"
	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// printForm prints a companion, or one section of it.
func (a *app) printForm(c reader.Companion, name, only string) error {
	if only == "" && (name == asMarkdown || name == "") {
		return a.print(string(c.Text))
	}
	p, err := sidecar.Parse(c.Text)
	if err != nil {
		return err
	}
	if only != "" {
		if err := keepSection(&p, only); err != nil {
			return err
		}
	}
	switch name {
	case asJSON:
		d, err := form.JSON(p, c.Known)
		if err != nil {
			return err
		}
		return a.printJSON(d)
	case asHTML:
		return a.shown(func(w io.Writer) error { return web.Companion(p, w) })
	case asMessages:
		list, err := resume.List(p.Fields["agent"], c.Records, resume.Handover{
			Lead: sidecar.Lead(c.Made.Options.Host, p.Fields["session"], 0), Sections: p.Sections, Budget: c.Made.Options.MaxTokens * 3 / 4,
		})
		if err != nil {
			return err
		}
		return a.print(string(list))
	}
	return a.printWrapped("## " + p.Sections[0].Name + "\n" + p.Sections[0].Body)
}

func keepSection(p *sidecar.Parsed, name string) error {
	var names []string
	for _, s := range p.Sections {
		if strings.EqualFold(s.Name, name) {
			p.Sections = p.Sections[:0:0]
			p.Sections = append(p.Sections, s)
			return nil
		}
		names = append(names, s.Name)
	}
	return fmt.Errorf("find section %s: %w: the companion has %s", name, history.ErrNotFound, strings.Join(names, ", "))
}

func fileRecords(ctx context.Context, agents registry.Table, s transcript.Session) iter.Seq2[*transcript.Record, error] {
	tail := watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}) // its errors say what was read
	return func(yield func(*transcript.Record, error) bool) { agents.NewDecoder(s.Agent, s.Class).All(tail)(yield) }
}
