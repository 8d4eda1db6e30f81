package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/form"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor"
	"ccd/compactor/filter"
	"ccd/compactor/limits"
	"ccd/daemon"
	"ccd/internal/redact"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// filterFlags are the flags of compact for plain lists.
type filterFlags struct {
	recent          int // -1: not given
	roles, patterns []string
	level           compactor.Level
}

func (f *filterFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.recent, "keep-recent", -1, "in a list, keep the newest `N` messages")
	flags.Lookup("keep-recent").DefValue = "4"
	flags.StringSliceVar(&f.roles, "keep-role", nil, "in a list, keep messages of this `ROLE`; repeatable (default system, user)")
	flags.Func("level", "in a list, summarize to this `LEVEL`: gentle (30 %), standard (20 %), aggressive (10 %), maximum (5 %)", func(name string) (err error) {
		f.level, err = limits.ParseLevel(name)
		return err
	})
	flags.StringArrayVar(&f.patterns, "keep-pattern", nil, "in a list, keep messages that match `REGEXP`; repeatable")
}

// isFilter reports whether f filters a plain list. It fails if the flags for lists are given with anything else.
func (f compactFlags) isFilter(s transcript.Session, json bool) (bool, error) {
	if s.Agent == transcript.Messages && f.form == cli.AsMessages {
		return true, nil
	}
	if f.filter.recent >= 0 || f.filter.roles != nil || f.filter.patterns != nil || f.filter.level != 0 || json && f.form == cli.AsMessages {
		return false, words.Usage(errors.New("--keep-recent, --keep-role, --keep-pattern, --level and --json need --format messages and a plain list"))
	}
	if n := f.manual.MaxTokens; n > 0 && n < leastTokens {
		return false, words.Usage(fmt.Errorf("--max-tokens of a companion must be %d or more", leastTokens))
	}
	return false, nil
}

// filterSession prints a plain list, filtered. It archives the list first, unless --no-archive is given.
func (a *app) filterSession(ctx context.Context, d *daemon.Daemon, l *reader.Library, s transcript.Session, f compactFlags) error {
	if f.noArchive {
		tail := watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true})
		return a.filter(ctx, l, s.ID, tail, f, func([]transcript.Pointer) error {
			a.Say("ccd: warning: not archived: the IDs in this list cannot be restored")
			return nil
		})
	}
	if err := d.Update(ctx, s.Key); err != nil {
		return err
	}
	known, err := d.Archive.Session(ctx, s.Key)
	if err != nil {
		return err
	}
	n := known.Tip().Generation
	return a.filter(ctx, l, s.ID, d.Archive.Reader(s.Key, n).Segments(ctx), f, func(pointers []transcript.Pointer) error {
		return d.Publish(ctx, s.Key, n, pointers, nil)
	})
}

// FilterArchived prints an archived list of messages, filtered by the configuration. It archives nothing, and fails for no list.
func FilterArchived(ctx context.Context, shared *cli.App, l *reader.Library, e *reader.Entry) error {
	return (&app{shared}).filterArchived(ctx, l, e, compactFlags{noArchive: true, filter: filterFlags{recent: -1}})
}

func (a *app) filterArchived(ctx context.Context, l *reader.Library, e *reader.Entry, f compactFlags) error {
	g, err := e.Generation(0)
	if err != nil {
		return err
	}
	return a.filter(ctx, l, e.ID, l.Archive.Reader(e.Key, g.N).Segments(ctx), f, func([]transcript.Pointer) error { return nil })
}

// filter reads a list from segments and prints it, filtered. It calls publish with the pointers of the new IDs, if any.
func (a *app) filter(ctx context.Context, l *reader.Library, name string, segments iter.Seq2[transcript.Segment, error], f compactFlags, publish func([]transcript.Pointer) error) error {
	data, err := joined(segments)
	if err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	hide := hider(l.Agents.Redact)
	list, err := form.ReadList(data, hide)
	if err != nil {
		return fmt.Errorf("compact %s: %w", name, err)
	}
	o := a.filterOptions(ctx, l, f)
	out := list.Filter(o)
	if out.Over {
		flag := "--max-tokens " + humanize.Comma(int64(o.MaxTokens))
		if o.Ratio > 0 {
			flag = fmt.Sprintf("--ratio %g", o.Ratio)
		}
		left, of := humanize.Comma(int64(out.Report.Tokens)), humanize.Comma(int64(out.Report.Original))
		if out.Report.Tokens > out.Report.Original {
			return fmt.Errorf("compact %s: %s cannot be met: a list of %s estimated tokens is too short for it", name, flag, of)
		}
		return fmt.Errorf("compact %s: %s cannot be met: %s estimated tokens are left, of %s: what must stay is longer", name, flag, left, of)
	}
	if len(out.Pointers) > 0 {
		if err := publish(out.Pointers); err != nil {
			return err
		}
	}
	a.sayFiltered(out.Report)
	if !a.JSON {
		return a.Print(withoutSecrets(hide, out.Text))
	}
	text, err := json.Marshal(out.Report) // in one line: secrets are told from what is around them in whole JSON
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, hide(text), "", "  "); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return a.Print(b.String() + "\n")
}

// sayFiltered says how much a list was shortened, and which rules kept all of it.
func (a *app) sayFiltered(r form.FilterReport) {
	shortened, dropped, kept := 0, 0, map[string]int{}
	for _, d := range r.Decisions {
		switch d.Action {
		case filter.Preserved.String():
			kept[strings.TrimRight(d.Reason, " .0123456789")]++ // without how important it is
		case filter.Dropped.String():
			dropped++
		default:
			shortened++
		}
	}
	line := fmt.Sprintf("%s -> %s estimated tokens, %.1f %% saved, %d of %d messages shortened", humanize.Comma(int64(r.Original)),
		humanize.Comma(int64(r.Tokens)), r.Saved, shortened, len(r.Decisions))
	if dropped > 0 {
		line += fmt.Sprintf(", %d dropped", dropped)
	}
	a.Say("%s", line)
	if len(kept) > 0 && shortened+dropped == 0 {
		var rules []string
		for _, rule := range slices.Sorted(maps.Keys(kept)) {
			rules = append(rules, fmt.Sprintf("%s (%d)", rule, kept[rule]))
		}
		a.Say("kept by a rule of docs/ENGINE.md: %s; --keep-role system or --ratio keep less", strings.Join(rules, ", "))
	}
}

// hider returns a function that leaves out the secrets of the next line or text.
func hider(rules *redact.Rules) func(text []byte) []byte {
	session := rules.Session()
	return func(text []byte) []byte { return redact.Apply(text, 0, session.Marks(text)) }
}

// withoutSecrets leaves the secrets out of each line of a list, so that its lines stay JSON.
func withoutSecrets(hide func([]byte) []byte, text []byte) string {
	out := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		out = append(out, hide(line)...)
	}
	return string(out)
}

// filterOptions returns the options of a list, of the configuration and of flags.
func (a *app) filterOptions(ctx context.Context, l *reader.Library, f compactFlags) (o form.FilterOptions) {
	c := l.Config.Compaction
	o.Options = filter.Options{
		KeepRoles: []string{"system", filter.Human}, Recent: 4, Percent: f.filter.level.Percent(), Focus: f.manual.Focus,
		Dedup: c.Dedup, NearDedup: c.NearDedup, Contradictions: c.Contradictions,
		KeepImportance: c.KeepImportance, SummaryChars: limits.Defaults().SummaryChars, LongCap: c.LongCap,
		OldResult: limits.Chars(c.MicrocompactTokens), Large: limits.Chars(c.LargeOutputTokens),
	}
	o.MaxTokens, o.Ratio = f.manual.MaxTokens, f.manual.Ratio
	if !f.noArchive { // --no-archive starts no command: agents may run it without asking
		o.Summarize = a.listSummaries(ctx, l)
	}
	if f.filter.recent >= 0 {
		o.Recent, o.Least = f.filter.recent, f.filter.recent
	}
	if f.filter.roles != nil {
		o.KeepRoles = f.filter.roles
	}
	for _, p := range f.filter.patterns {
		o.KeepPatterns = append(o.KeepPatterns, regexp.MustCompile(p)) // the flags were checked
	}
	return o
}

// listSummaries returns a function that asks the summarizer, or nil if none is configured. It asks once per text and
// gives up after three failures.
func (a *app) listSummaries(ctx context.Context, l *reader.Library) func(text string) string {
	ask := a.Summarize(l)
	if ask == nil {
		return nil
	}
	o, known, failures := reader.Options(l.Place), map[string]string{}, 0
	return func(text string) string {
		in, ok := compactor.InputOf(o, text)
		if s, asked := known[text]; asked || !ok || failures == 3 {
			return s
		}
		out, err := ask(ctx, in.Text)
		if err != nil {
			failures++
			fmt.Fprintf(a.Err, "ccd: warning: write summary: %v\n", err)
		}
		known[text] = in.Take(out)
		return known[text]
	}
}

// joined returns the bytes of a transcript.
func joined(segments iter.Seq2[transcript.Segment, error]) (data []byte, err error) {
	for seg, err := range segments {
		if err != nil {
			return nil, err
		}
		data = append(data, seg.Data...)
	}
	return data, nil
}
