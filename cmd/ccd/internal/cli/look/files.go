package look

import (
	"cmp"
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
	session string
	record  int
	limit   int
	diff    bool
}

func (a *app) filesCommand() *cobra.Command {
	var f filesFlags
	c := &cobra.Command{
		Use: "files [PATH|SESSION#N]", GroupID: cli.Everyday, Short: "list the files that agents changed",
		Long: `Lists the files that sessions changed, newest first, one line for each file of
a session: how often it was changed there (VERSIONS), and the lines added and
removed, as the calls say. With the PATH of a file: one line for each change,
on a terminal without VERSIONS.
PATH is as in ccd search --path. With --diff: the newest change of the file, as
a unified diff without secrets against the version before it; with --since or -n
all of these, oldest first; with SESSION#N, a RECORD, instead of PATH what that
call changed.

` + timeWords + `

With --json: one array, an object per line: path, how (the last change:
"written", "edited", "deleted", "renamed", "reverted", "created"), versions,
plus, minus, agent, session, record and time (of the last change; if its record
has none, of the session), project, diff (with --diff, if ccd knows all of the
file after the change, and a line of it changed)`,
		Example: `  ccd files --since 1d
      what agents changed since yesterday
  ccd files --project . src
      the files below src of this project
  ccd files money.py
      each version of a file; ccd restore --file money.py --at TIME prints one
  ccd files money.py --diff -n 3
      the last three changes of a file`,
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if f.diff && len(args) == 0 {
			return errors.New("--diff needs the PATH of a file, or SESSION#N")
		}
		return cobra.MaximumNArgs(1)(c, args)
	}
	c.RunE = func(c *cobra.Command, args []string) error { return a.files(c.Context(), f, args) }
	limitFlag(c.Flags(), &f.limit, screen, "list `N` lines")
	c.Flags().BoolVar(&f.diff, "diff", false, "print what changed in the file PATH, the newest change without -n and --since")
	c.Flags().StringVar(&f.session, "session", "", "only what `SESSION` and its sub-agents changed")
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
	if session, n, _, wrong := (reader.Wanted{Name: path}).Range(); f.diff && wrong == nil {
		f.session, f.record, which.Record, path = session, n, n, ""
	}
	at, err := search.At(path)
	if err != nil {
		return words.Usage(err)
	}
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	most, err := f.scope(ctx, a, l, &which)
	if err != nil {
		return err
	}
	rows, more, err := work.Files(ctx, l, which, most, func(file string) bool { return path == "" || at(file) }, path)
	if err == nil && f.diff {
		err = a.compare(ctx, l, rows)
	}
	if err != nil {
		return err
	}
	a.Incomplete(l)
	a.SayLag(l, which.Filter(l.Sessions)...)
	missing := f.missing(a, l)
	switch {
	case a.JSON:
		return errors.Join(a.PrintJSON(rows), missing)
	case missing != nil:
		return missing
	case len(rows) == 0:
		return f.none(l, args)
	case f.diff:
		return a.printDiffs(rows)
	}
	return f.print(a, l, rows, more)
}

// scope narrows what is listed to the wanted session, and returns how many lines are wanted, 0 for all.
func (f filesFlags) scope(ctx context.Context, a *app, l *reader.Library, which *reader.Choice) (most int, err error) {
	if f.session != "" {
		e, err := a.Choose(ctx, l, f.session, f.agent)
		if err != nil {
			return 0, err
		}
		which.Session = func(one *reader.Entry) bool { return one == e || f.record == 0 && l.Parent(one) == e }
	}
	switch {
	case !f.diff || f.limit != screen:
		return a.most(f.limit, ""), nil
	case f.since == "" && f.record == 0:
		return 1, nil
	}
	return 0, nil
}

// print prints the list. more reports that it goes on.
func (f filesFlags) print(a *app, l *reader.Library, rows []*work.File, more bool) error {
	hint := ""
	if r := rows[0]; a.Width() > 0 {
		hint = fmt.Sprintf("what changed: ccd files --diff %[1]s\nthe file then: ccd restore --file %[1]s --at %[2]s", words.Shell(r.Path), step(l, r))
	}
	if fit := a.most(f.limit, hint); fit > 0 && fit < len(rows) {
		rows, more = rows[:fit], true
	}
	if err := cli.PrintTable(a.App, rows, filesColumns(time.Now())); err != nil {
		return err
	}
	if more {
		a.Say("more: ccd files -n %d, or -n 0 for all", 4*a.most(f.limit, ""))
	}
	if hint != "" {
		a.Say("%s", hint)
	}
	return nil
}

// compare adds to each change its diff, and puts the oldest first. It says which version the transcript does not show whole.
func (a *app) compare(ctx context.Context, l *reader.Library, rows []*work.File) error {
	slices.Reverse(rows)
	known := map[string][]reader.Version{}
	for _, r := range rows {
		if !r.Alone {
			return words.Usage(errors.New("--diff needs the PATH of a file"))
		}
		whole, at := cmp.Or(l.Parent(r.Of), r.Of), step(l, r)
		all, read := known[whole.ID+" "+r.Path]
		if !read {
			var err error
			if _, all, err = l.Changes(ctx, whole, r.Path); err != nil && !errors.Is(err, archive.ErrNotFound) {
				return err
			}
			known[whole.ID+" "+r.Path] = all
		}
		i := slices.IndexFunc(all, func(v reader.Version) bool {
			return v.Session == r.Of.ID && v.Call == int(r.Record) && v.How != reader.Found
		})
		if i < 0 || !all[i].Known {
			a.Say("%s: ccd does not know all of %s after this change, which is: ccd restore %s", at, r.Path, at)
			continue
		}
		changed := all[i].Compare(cmp.Or(all[i].Before, &reader.Version{}))
		if all[i].Before != nil && changed == "" {
			a.Say("%s changed no line of %s", at, r.Path)
			continue
		}
		r.Diff = "--- " + headOf(r, all[i].Before) + "+++ " + headOf(r, &all[i]) + changed
	}
	return nil
}

// headOf names a version in a unified diff.
func headOf(r *work.File, v *reader.Version) string {
	switch {
	case v == nil:
		return mark.Inline(r.Path, 0) + "\tno earlier version in this session\n"
	case v.Gone != nil:
		return "/dev/null\n"
	}
	return fmt.Sprintf("%s\t%s#%d, %s\n", mark.Inline(r.Path, 0), v.Session, v.Record, v.How)
}

// printDiffs prints the diffs that there are.
func (a *app) printDiffs(rows []*work.File) error {
	text := ""
	for _, r := range rows {
		text += r.Diff
	}
	if !a.Colours() {
		return a.Print(text)
	}
	tones := map[byte]table.Tone{'+': table.Good, '-': table.Bad, '@': table.Dim}
	lines := strings.Split(mark.Visible(text), "\n")
	for i, line := range lines {
		lines[i] = tones[(line + " ")[0]].Paint(line, true)
	}
	return a.Draw(strings.Join(lines, "\n"))
}

// none returns the error of a list without a line.
func (f filesFlags) none(l *reader.Library, args []string) error {
	switch {
	case len(l.Sessions) == 0:
		return words.Hint(fmt.Errorf("list files: %w: nothing is archived yet", archive.ErrNotFound), "ccd run --once")
	case f.record != 0:
		return words.Hint(fmt.Errorf("list files: %w: record #%d is no call that changed a file", archive.ErrNotFound, f.record), "ccd files --session %s", words.Shell(f.session))
	case f.typed() != "" || f.session != "":
		return words.Hint(fmt.Errorf("list files: %w with%s", archive.ErrNotFound, f.typed()+typedFlags("session", f.session)), "ccd files%s", cli.Typed(args))
	}
	if e, err := l.Find(strings.Join(args, ""), f.agent); err == nil {
		return words.Hint(fmt.Errorf("list files: %w: %s is a session", archive.ErrNotFound, args[0]), "ccd files --session %s", l.Argument(e))
	}
	return words.Hint(fmt.Errorf("list files: %w: no archived session changed such a file", archive.ErrNotFound), "ccd search --path PATH finds what was read, too")
}

// step is the record of a change, as the command line names it.
func step(l *reader.Library, r *work.File) string {
	return fmt.Sprintf("%s#%d", l.Argument(r.Of), r.Record)
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
				return ""
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
