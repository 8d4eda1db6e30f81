package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/form"
	"ccd/cmd/ccd/internal/history"
	"ccd/compactor/sidecar"
	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// The forms that a companion is printed in.
const (
	asMarkdown = "markdown"
	asJSON     = "json"
	asMessages = "messages"
	asHTML     = "html"
)

var formNames = [...]string{asMarkdown, asJSON, asMessages, asHTML}

// formName is the value of --format.
type formName struct{ to *string }

// String implements pflag.Value.
func (formName) String() string { return "" }

// Type implements pflag.Value.
func (formName) Type() string { return "FORM" }

// Set implements pflag.Value.
func (f formName) Set(name string) error {
	if !slices.Contains(formNames[:], name) {
		return fmt.Errorf("unknown form, want one of %s", strings.Join(formNames[:], ", "))
	}
	*f.to = name
	return nil
}

const formUsage = "print as `FORM`: markdown, json, messages or html"

// companion is one that is to be printed: its text and, where it was made just now, what it was made of.
type companion struct {
	text    []byte
	made    *daemon.Compacted
	known   []transcript.Pointer // what its IDs stand for, as far as that is known
	records iter.Seq2[*transcript.Record, error]
}

// fresh is a companion as it was made just now, with the records that it was made from and perhaps some behind them.
func fresh(made daemon.Compacted, records iter.Seq2[*transcript.Record, error]) companion {
	return companion{text: made.Text, made: &made, known: made.Pointers, records: until(made.At.Offset, records)}
}

// printForm prints a companion, or one section of it.
func (a *app) printForm(c companion, name, only string) error {
	if only == "" && (name == asMarkdown || name == "") {
		return a.print(string(c.text))
	}
	p, err := sidecar.Parse(c.text)
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
		d, err := form.JSON(p, c.known)
		if err != nil {
			return err
		}
		return a.printJSON(d)
	case asHTML:
		page, err := form.HTML(p, c.known)
		if err != nil {
			return err
		}
		return a.print(string(page))
	case asMessages:
		list, err := form.Messages(c.records, form.Talk{
			Lead: sidecar.Lead(c.made.Options.Host, p.Fields["session"], 0), Sections: p.Sections, Verbatim: c.made.Verbatim, Budget: c.made.Options.MaxTokens * 3 / 4,
		})
		if err != nil {
			return err
		}
		return a.print(string(list))
	}
	return a.print("## " + p.Sections[0].Name + "\n" + p.Sections[0].Body)
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

// until ends a transcript's records at an offset.
func until(end int64, records iter.Seq2[*transcript.Record, error]) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		for r, err := range records {
			if err == nil && r.Span.End() > end || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// fileRecords reads the records of a transcript's file.
func fileRecords(ctx context.Context, s transcript.Session) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		d := registry.NewDecoder(s.Agent, s.Class)
		for seg, err := range watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}) {
			if err != nil {
				yield(nil, fmt.Errorf("read transcript: %w", err))
				return
			}
			for r := range d.Records(seg) {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}
