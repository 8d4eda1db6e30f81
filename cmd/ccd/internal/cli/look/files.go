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
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/search"
	"ccd/cmd/ccd/internal/table"
	"ccd/cmd/ccd/internal/work"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

type filesFlags struct {
	narrow
	limit int
}

// fileRow is a file that a session changed: all its versions there, or one.
type fileRow struct {
	Path     string     `json:"path"`
	How      string     `json:"how"`
	Versions int        `json:"versions"`
	Plus     int64      `json:"plus"`
	Minus    int64      `json:"minus"`
	Agent    string     `json:"agent"`
	Session  string     `json:"session"`
	Record   int64      `json:"record"`
	Time     *time.Time `json:"time"`
	Project  string     `json:"project"`

	at    time.Time
	alone bool // it is one version
	from  *work.Session
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
	rows, more, err := changedFiles(ctx, l, which, most, func(file string) bool { return path == "" || at(file) }, path)
	if err != nil {
		return err
	}
	a.Incomplete(l)
	a.SayLag(l, which.Of(l.Sessions)...)
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
	if err := cli.PrintTable(a.App, rows, filesColumns(rows, time.Now())); err != nil {
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
	case f.given():
		return words.Hint(fmt.Errorf("list files: %w with these flags", archive.ErrNotFound), "ccd files%s", cli.Typed(args))
	}
	return words.Hint(fmt.Errorf("list files: %w: no archived session changed such a file", archive.ErrNotFound), "ccd search --path PATH finds what was read, too")
}

// versionHint says on a terminal how a version of the newest file is printed.
func (a *app) versionHint(l *reader.Library, rows []*fileRow) string {
	if a.Width() == 0 {
		return ""
	}
	r := rows[0]
	path, dir := r.Path, a.Absolute(".")
	if !disk.Within(dir, r.Project) { // in a project, a path is taken from here
		dir = r.Project
	}
	if below, ok := transcript.Below(path, dir); ok {
		path = below
	}
	at := strings.Replace(r.at.Local().Format(second), " ", "T", 1)
	return fmt.Sprintf("a version, if the transcript shows all of it: ccd restore --file %s --at %s %s", words.Shell(path), at, l.Argument(r.from.Entry))
}

// second is the form of the time of a version, as --at reads it.
const second = "2006-01-02 15:04:05"

// changedFiles returns the newest lines, all if most is 0, and whether there are more. Sessions are read from the newest on, until no
// older one can have a newer change.
func changedFiles(ctx context.Context, l *reader.Library, which reader.Choice, most int, at func(file string) bool, path string) (rows []*fileRow, more bool, err error) {
	seen, chosen := map[int64]bool{}, which.Session
	rows = []*fileRow{}
	which.Session = func(e *reader.Entry) bool {
		return chosen(e) && (most == 0 || len(rows) <= most || rows[most].at.Before(e.Last()))
	}
	for s, err := range work.Each(ctx, l, which) {
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, rowsOf(s, which, at, path, seen)...)
		slices.SortStableFunc(rows, func(x, y *fileRow) int { return y.at.Compare(x.at) })
		if most > 0 {
			rows = rows[:min(len(rows), most+1)]
		}
	}
	if more = most > 0 && len(rows) > most; more {
		rows = rows[:most]
	}
	return rows, more, nil
}

// rowsOf returns the lines of a session: one for each file or, of the file that path is, one for each change.
func rowsOf(s *work.Session, which reader.Choice, at func(file string) bool, path string, seen map[int64]bool) (rows []*fileRow) {
	files := map[string]*fileRow{}
	for _, e := range s.Deeds {
		if e.Kind != session.Changed || !at(e.Name) || !which.In(e.Time()) || seen[e.Key] {
			continue
		}
		seen[e.Key] = true
		r := files[transcript.PathKey(e.Name)]
		if itself := path != "" && transcript.EndsWith(e.Name, path); r == nil || itself {
			r = &fileRow{Path: e.Name, Agent: s.Agent, Session: mark.Name(s.Name()), Project: s.Kept.Cwd, alone: itself, from: s}
			files[transcript.PathKey(e.Name)] = r
			rows = append(rows, r)
		}
		r.How, r.Versions, r.Record, r.at, r.Time = reader.How[transcript.Op(e.Op)], r.Versions+1, e.Record, e.Time(), words.Known(e.Time())
		r.Plus, r.Minus = r.Plus+e.Plus, r.Minus+e.Minus
	}
	return rows
}

func filesColumns(rows []*fileRow, now time.Time) []table.Column[*fileRow] {
	var projects []string
	for _, r := range rows {
		projects = append(projects, r.Project)
	}
	names := words.Directories(projects)
	agent := cli.AgentColumn(func(r *fileRow) string { return r.Agent })
	agent.Drop = 1
	return []table.Column[*fileRow]{
		{Head: "FILE", Least: 20, Part: 40, Cut: table.CutMiddle, Text: func(r *fileRow) string { return within(r.Project, r.Path) }, Piped: func(r *fileRow) string { return mark.Inline(r.Path, 0) }},
		{Head: "CHANGED", Text: func(r *fileRow) string {
			if r.alone && !r.at.IsZero() {
				return r.at.Local().Format(second)
			}
			return words.Ago(r.at, now)
		}, Piped: func(r *fileRow) string {
			if r.at.IsZero() {
				return ""
			}
			return r.at.UTC().Format(time.RFC3339)
		}},
		{Head: "HOW", Drop: 3, Text: func(r *fileRow) string { return r.How }},
		{Head: "VERSIONS", Drop: 2, Text: func(r *fileRow) string {
			if r.alone {
				return ""
			}
			return fmt.Sprint(r.Versions)
		}, Piped: func(r *fileRow) string { return fmt.Sprint(r.Versions) }},
		{Head: "+/-", Text: func(r *fileRow) string {
			if r.Plus+r.Minus == 0 && r.How == reader.How[transcript.Revert] { // how much that was, no call says
				return r.How
			}
			return fmt.Sprintf("+%d -%d", r.Plus, r.Minus)
		}},
		{
			Head: "RECORD", Text: func(r *fileRow) string { return mark.Inline(r.from.Short(), 0) + "#" + fmt.Sprint(r.Record) },
			Piped: func(r *fileRow) string { return r.Session + "#" + fmt.Sprint(r.Record) },
		},
		{
			Head: "PROJECT", Least: 8, Drop: 4, Text: func(r *fileRow) string { return table.CutMiddle(names[r.Project], 24) },
			Piped: func(r *fileRow) string { return mark.Inline(r.Project, 0) },
		},
		agent,
	}
}
