package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"ccd/archive"
	"ccd/compactor/prose"
	"ccd/daemon"
	"ccd/internal/form"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// filterFlags are the flags of compact that concern plain lists alone.
type filterFlags struct {
	recent   int
	roles    []string
	patterns []string
	given    *pflag.FlagSet
}

func (f *filterFlags) add(flags *pflag.FlagSet) {
	f.given = flags
	flags.IntVar(&f.recent, "keep-recent", 0, "keep the newest `N` messages of a plain list as they are (default compaction.keep_recent, 4)")
	flags.StringSliceVar(&f.roles, "keep-role", nil, "keep its messages of this `ROLE`; can be given more than once (default compaction.keep_roles, system)")
	flags.StringArrayVar(&f.patterns, "keep-pattern", nil, "keep its messages that match this regular `EXPRESSION`; can be given more than once (default compaction.keep_patterns, none)")
}

var filterFlagNames = [...]string{"keep-recent", "keep-role", "keep-pattern"}

func (f *filterFlags) any() bool {
	for _, name := range filterFlagNames {
		if f.given.Changed(name) {
			return true
		}
	}
	return false
}

// check compiles the patterns: what is wrong with one is a matter of the command line.
func (f *filterFlags) check() error {
	for _, p := range f.patterns {
		if _, err := regexp.Compile(p); err != nil {
			return fmt.Errorf("--keep-pattern %q: not a regular expression", p)
		}
	}
	return nil
}

// errOnlyLists tells that something was asked that only a plain list has.
var errOnlyLists = errors.New("--keep-recent, --keep-role, --keep-pattern and --json go with --format messages of a plain list only")

// isFilter reports whether a list is to be given back. It fails where what only a list has is asked of something else.
func (f compactFlags) isFilter(s transcript.Session, json bool) (bool, error) {
	if s.Agent == transcript.Messages && f.form == asMessages {
		return true, nil
	}
	if f.filter.any() || json && f.form == asMessages {
		return false, usageError{errOnlyLists}
	}
	return false, nil
}

// filterSession archives a list and prints it with its prose shortened.
func (a *app) filterSession(ctx context.Context, d *daemon.Daemon, l *library, s transcript.Session, f compactFlags) error {
	if err := d.Update(ctx, s.Key); err != nil {
		return err
	}
	known, err := d.Archive.Session(ctx, s.Key)
	if err != nil {
		return err
	}
	generation := known.Generations[len(known.Generations)-1].N
	data, err := wholeOf(ctx, d.Archive, s.Key, generation)
	if err != nil {
		return err
	}
	out, err := a.filtered(ctx, l, data, f)
	if err != nil {
		return fmt.Errorf("compact %s: %w", s.ID, err)
	}
	if len(out.Pointers) > 0 {
		if err := d.Publish(ctx, s.Key, generation, out.Pointers); err != nil {
			return err
		}
	}
	return a.printFiltered(out)
}

// filterFile prints a list with its prose shortened and writes nothing.
func (a *app) filterFile(ctx context.Context, l *library, s transcript.Session, f compactFlags) error {
	var data []byte
	for seg, err := range watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}) {
		if err != nil {
			return fmt.Errorf("read list: %w", err)
		}
		data = append(data, seg.Data...)
	}
	out, err := a.filtered(ctx, l, data, f)
	if err != nil {
		return fmt.Errorf("compact %s: %w", s.ID, err)
	}
	if len(out.Pointers) > 0 {
		a.say("ccd: warning: not archived: the IDs in this list cannot be restored")
	}
	return a.printFiltered(out)
}

// wholeOf reads a generation whole.
func wholeOf(ctx context.Context, from *archive.Archive, key transcript.Key, generation int) (data []byte, err error) {
	for seg, err := range from.Reader(key, generation).Segments(ctx) {
		if err != nil {
			return nil, err
		}
		data = append(data, seg.Data...)
	}
	return data, nil
}

func (a *app) filtered(ctx context.Context, l *library, data []byte, f compactFlags) (form.Filtered, error) {
	o, err := a.filterOptions(ctx, l, f)
	if err != nil {
		return form.Filtered{}, err
	}
	list, err := form.ReadList(data)
	if err != nil {
		return form.Filtered{}, err
	}
	return list.Filter(o), nil
}

// filterOptions is what the configuration and the flags say of a list.
func (a *app) filterOptions(ctx context.Context, l *library, f compactFlags) (o form.FilterOptions, err error) {
	c := l.config.Compaction
	o.Options = prose.Options{
		Dedup: c.Dedup, NearDedup: c.NearDedup, NearLike: c.NearThreshold, Contradictions: c.Contradictions, TopicOverlap: c.ContradictionThreshold,
		KeepImportance: c.KeepImportance, SummaryChars: c.SummaryChars, LongCap: c.LongCap,
	}
	o.KeepRoles, o.Recent, o.Focus, o.MaxTokens = c.KeepRoles, c.KeepRecent, f.manual.Focus, f.manual.MaxTokens
	o.Percent = f.manual.Level.Percent()
	patterns := c.KeepPatterns
	if f.filter.given != nil {
		if f.filter.given.Changed("keep-recent") {
			o.Recent, o.Least = f.filter.recent, f.filter.recent
		}
		if f.filter.given.Changed("keep-role") {
			o.KeepRoles = f.filter.roles
		}
		if f.filter.given.Changed("keep-pattern") {
			patterns = f.filter.patterns
		}
	}
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return o, err
		}
		o.KeepPatterns = append(o.KeepPatterns, re)
	}
	o.Summarize = a.listSummaries(ctx, l)
	return o, nil
}

// listSummaries has the configured command write the summaries of a list, nil where none is configured. Each text is
// asked for once; a command that fails three times is asked no more.
func (a *app) listSummaries(ctx context.Context, l *library) func(text string, most int) string {
	ask := a.summarize(l)
	if ask == nil {
		return nil
	}
	o, known, failures := compactionOptions(l.config), map[string]string{}, 0
	return func(text string, _ int) string {
		in, ok := o.Input(text)
		if s, asked := known[text]; asked || !ok || failures == 3 {
			return s
		}
		out, err := ask(ctx, in.Text)
		if err != nil {
			failures++
			fmt.Fprintf(a.err, "ccd: warning: write summary: %v\n", err)
		}
		known[text], _ = in.Take(out)
		return known[text]
	}
}

func (a *app) printFiltered(f form.Filtered) error {
	shortened := 0
	for _, d := range f.Report.Decisions {
		if d.Action != prose.Preserved.String() {
			shortened++
		}
	}
	a.say("%s -> %s tokens (est), %.1f %% saved, %d of %d messages shortened", humanize.Comma(int64(f.Report.Original)),
		humanize.Comma(int64(f.Report.Tokens)), f.Report.Saved, shortened, len(f.Report.Decisions))
	if a.json {
		return a.printJSON(f.Report)
	}
	return a.print(string(f.Text))
}

// filterArchived prints a list that the archive has, as filterSession does, and writes nothing.
func (a *app) filterArchived(ctx context.Context, l *library, e entry, f compactFlags) error {
	g, err := e.generation(0)
	if err != nil {
		return err
	}
	data, err := wholeOf(ctx, l.archive, e.Key, g.N)
	if err != nil {
		return err
	}
	out, err := a.filtered(ctx, l, data, f)
	if err != nil {
		return fmt.Errorf("compact %s: %w", e.ID, err)
	}
	return a.printFiltered(out)
}
