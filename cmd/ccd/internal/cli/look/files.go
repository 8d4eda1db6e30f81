package look

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/search"
	"ccd/cmd/ccd/internal/table"
	"ccd/cmd/ccd/internal/work"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

type filesFlags struct {
	narrow
	limit int
}

func (a *app) filesCommand() *cobra.Command {
	var f filesFlags
	c := &cobra.Command{
		Use: "files [PATH]", GroupID: cli.Everyday, Short: "list the files that agents changed",
		Long: `Lists the files that sessions changed, newest first, one line for each file of
a session: how often it was changed there (VERSIONS), and the lines added and
removed, as the calls say. With the PATH of a file: one line for each change.
PATH is as in ccd search --path.

` + timeWords + `

With --json: one array, an object per line: path, how (the last change:
"written", "edited", "deleted", "renamed", "reverted", "created"), versions,
plus, minus, agent, session, record and time (of the last change; if its record
has none, of the session), project`,
		Example: `  ccd files --since 1d
      what agents changed since yesterday
  ccd files --project . src
      the files below src of this project
  ccd files money.py
      each version of a file; ccd restore --file money.py --at TIME prints one`,
	}
	c.Args = cobra.MaximumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error { return a.files(c.Context(), f, args) }
	limitFlag(c.Flags(), &f.limit, screen, "list `N` lines")
	f.add(a, c, "changes")
	a.MachineFlag(c)
	return c
}

func (a *app) files(ctx context.Context, f filesFlags, args []string) error {
	a.CollectLess()
	path := strings.Join(args, "")
	which, err := f.read(a)
	if err != nil {
		return words.Usage(err)
	}
	at, err := search.At(path)
	if err != nil {
		return words.Usage(err)
	}
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	most := a.most(f.limit, "")
	rows, more, err := work.Files(ctx, l, which, most, func(file string) bool { return path == "" || at(file) }, path)
	if err != nil {
		return err
	}
	a.Incomplete(l)
	a.SayLag(l, which.Filter(l.Sessions)...)
	missing := f.missing(a, l)
	if a.JSON {
		return errors.Join(a.PrintJSON(rows), missing)
	}
	switch {
	case missing != nil:
		return missing
	case len(rows) == 0:
		return f.none(l, args)
	}
	hint := a.versionHint(l, rows)
	if fit := a.most(f.limit, hint); fit > 0 && fit < len(rows) {
		rows, more = rows[:fit], true
	}
	if err := cli.PrintTable(a.App, rows, filesColumns(time.Now())); err != nil {
		return err
	}
	if more && f.limit == screen {
		a.Say("more: ccd files -n %d, or -n 0 for all", 4*most)
	}
	if hint != "" {
		a.Say("%s", hint)
	}
	return nil
}

// none returns the error of a list without a line.
func (f filesFlags) none(l *reader.Library, args []string) error {
	switch {
	case len(l.Sessions) == 0:
		return words.Hint(fmt.Errorf("list files: %w: nothing is archived yet", archive.ErrNotFound), "ccd run --once")
	case f.typed() != "":
		return words.Hint(fmt.Errorf("list files: %w with%s", archive.ErrNotFound, f.typed()), "ccd files%s", cli.Typed(args))
	}
	return words.Hint(fmt.Errorf("list files: %w: no archived session changed such a file", archive.ErrNotFound), "ccd search --path PATH finds what was read, too")
}

// versionHint says on a terminal how the newest version that the transcript may show is printed.
func (a *app) versionHint(l *reader.Library, rows []*work.File) string {
	i := slices.IndexFunc(rows, func(r *work.File) bool {
		return r.How != reader.How[transcript.Revert] && r.How != reader.How[transcript.Delete]
	})
	if a.Width() == 0 || i < 0 {
		return ""
	}
	r := rows[i]
	at := strings.Replace(r.At.Local().Format(time.DateTime), " ", "T", 1)
	return fmt.Sprintf("a version, if the transcript shows all of it: ccd restore --file %s --at %s %s", words.Shell(r.Path), at, l.Argument(r.Of))
}

func filesColumns(now time.Time) []table.Column[*work.File] {
	agent := cli.AgentColumn(func(r *work.File) string { return r.Agent })
	agent.Drop = 1
	return []table.Column[*work.File]{
		{Head: "FILE", Least: 20, Part: 40, Cut: table.CutMiddle, Text: func(r *work.File) string { return within(r.Project, r.Path) }, Piped: func(r *work.File) string { return mark.Inline(r.Path, 0) }},
		{Head: "CHANGED", Text: func(r *work.File) string {
			if r.Alone && !r.At.IsZero() {
				return r.At.Local().Format(time.DateTime)
			}
			return words.Ago(r.At, now)
		}, Piped: func(r *work.File) string {
			if r.At.IsZero() {
				return ""
			}
			return r.At.UTC().Format(time.RFC3339)
		}},
		{Head: "HOW", Text: func(r *work.File) string { return r.How }},
		{Head: "VERSIONS", Drop: 2, Text: func(r *work.File) string {
			if r.Alone {
				return ""
			}
			return fmt.Sprint(r.Versions)
		}, Piped: func(r *work.File) string { return fmt.Sprint(r.Versions) }},
		{Head: "+/-", Text: func(r *work.File) string {
			if r.Plus+r.Minus == 0 && r.How == reader.How[transcript.Revert] { // how much that was, no call says
				return r.How
			}
			return fmt.Sprintf("+%d -%d", r.Plus, r.Minus)
		}},
		{
			Head: "RECORD", Text: func(r *work.File) string { return mark.Inline(r.Of.Short(), 0) + "#" + fmt.Sprint(r.Record) },
			Piped: func(r *work.File) string { return r.Session + "#" + fmt.Sprint(r.Record) },
		},
		{
			Head: "PROJECT", Least: 8, Drop: 3, Cut: table.CutMiddle, Text: func(r *work.File) string { return table.CutMiddle(r.Of.Project, 24) },
			Piped: func(r *work.File) string { return mark.Inline(r.Project, 0) },
		},
		agent,
	}
}
