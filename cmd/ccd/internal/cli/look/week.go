package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/cmd/ccd/internal/work"
	"ccd/internal/mark"
	"ccd/internal/words"
)

type weekFlags struct {
	narrow
	day, month bool
}

func (a *app) weekCommand() *cobra.Command {
	var f weekFlags
	c := &cobra.Command{
		Use: "week", GroupID: cli.Everyday, Short: "add up the last 7 days: requests, files, commits, usage",
		Long: `Adds up what sessions did in the last 7 days, by day, session (on a terminal
the five with the most usage), project, agent and model: sessions, requests,
different files that were changed, commits, compactions by the agents, and
usage: the tokens of all replies, each once, as the agents report them, where
TOKENS of ccd ls are in the context now. IN, of it CACHED (read from a cache),
OUT. Older versions of Claude Code often wrote only the first count of an
output. Reports that say only how full the context is (Copilot CLI) are not
counted, and a client may leave out some of its requests. What has no time
counts when its session last grew. COST is there for models whose price is
configured ([models.prices] in the configuration).

` + timeWords + `

With --json: one object: since, until, total, by_time, by_session, by_project,
by_agent and by_model: {name (of a time its first day, 2026-01-29, or its
month; of a session its ID), agent (of a session), sessions, requests, files,
commits, compactions, input_tokens (not from a cache), cache_read_tokens,
cache_write_tokens, output_tokens, replies, replies_begun (with only the first
count of their output), cost_usd (null if a price is missing)}, unpriced
(models without a price, if any has one), damage`,
		Example: `  ccd week
      the last 7 days
  ccd week --month --project .
      the last 30 days of this project, by week
  ccd week --since 2026-01-01 --json
      all since then, for a program`,
	}
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return a.week(c.Context(), f) }
	c.Flags().BoolVar(&f.day, "day", false, "only today")
	c.Flags().BoolVar(&f.month, "month", false, "the last 30 days")
	f.add(a, c, "what happened")
	a.MachineFlag(c)
	cli.NotWith(c, "day", "month", "since")
	cli.NotWith(c, "month", "since")
	return c
}

// newestChange says when the newest session that counts changed before a time, and how to see that week; "" if there is none. A session
// whose time is still to come is in no week. A copy that nobody has continued did nothing.
func newestChange(l *reader.Library, counts func(*reader.Entry) bool, since, now time.Time) string {
	if len(l.Sessions) == 0 {
		return "; nothing is archived yet: ccd run --once"
	}
	for _, e := range l.Sessions { // newest first
		if last := e.Last(); !last.IsZero() && last.Before(since) && last.Before(now) && counts(e) && !e.Copy() {
			return fmt.Sprintf("; the newest session changed %s: ccd week --since %s", words.Ago(last, now), last.Local().AddDate(0, 0, -6).Format(time.DateOnly))
		}
	}
	return ""
}

func (a *app) week(ctx context.Context, f weekFlags) error {
	a.CollectLess()
	which, err := f.read(a)
	if err != nil {
		return words.Usage(err)
	}
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	l.Agents = l.Agents.Exact() // nothing that a record says is printed, so no secret is looked for
	now := time.Now()
	days := 7
	if f.day {
		days = 1
	} else if f.month {
		days = 30
	}
	w := work.Wanted{Choice: which, Models: l.Config.Models}
	if w.Until.IsZero() {
		w.Until = now
	}
	if f.since == "" {
		w.Since = time.Date(w.Until.Year(), w.Until.Month(), w.Until.Day()-days+1, 0, 0, 0, 0, now.Location())
	}
	sums, err := work.Of(ctx, l, w)
	if err != nil {
		return err
	}
	a.Incomplete(l)
	a.SayLag(l, which.Filter(l.Sessions)...)
	missing := f.missing(a, l)
	if a.JSON {
		return errors.Join(a.PrintJSON(sums), missing)
	}
	if missing != nil {
		return missing
	}
	if sums.Total.Sessions == 0 {
		a.Say("nothing happened in this time%s", newestChange(l, which.Session, w.Since, now))
		return nil
	}
	return a.printWeek(sums, l.Projects)
}

// printWeek prints the table, and what to know of its numbers.
func (a *app) printWeek(sums *work.Sums, projects map[string]string) error {
	var below []string
	if caveat := sums.Total.Caveat(); caveat != "" {
		below = append(below, caveat)
	}
	if len(sums.Unpriced) > 0 {
		below = append(below, fmt.Sprintf("no price for %s: [models.prices] in the configuration", strings.Join(sums.Unpriced, ", ")))
	}
	rows, more := weekRows(sums, projects, a.Width() > 0, math.MaxInt)
	for n := mostSums; a.Width() > 0 && n > 0 && len(rows) > a.most(screen, strings.Join(below, "\n")); n-- {
		rows, more = weekRows(sums, projects, true, n)
	}
	if err := cli.PrintTable(a.App, rows, weekColumns(sums)); err != nil {
		return err
	}
	a.SayMore(more, "line", "add | less")
	for _, line := range below {
		a.Say("%s", line)
	}
	return nil
}

// weekRow is a line of the table. By is what its sums are by, on a terminal only in the first line of each.
type weekRow struct {
	by, name string
	*work.Sum
}

// mostSums is how many sessions a terminal shows at most; and how many projects, agents and models, if it is too small for all.
const mostSums = 5

func weekRows(sums *work.Sums, projects map[string]string, brief bool, most int) (rows []weekRow, more int) {
	sessions := sums.Sessions
	if brief {
		sessions = sessions[:min(len(sessions), mostSums)]
	}
	for _, g := range []struct {
		by   string
		list []*work.Sum
	}{{sums.Unit(), sums.Times}, {"session", sessions}, {"project", sums.Projects}, {"agent", sums.Agents}, {"model", sums.Models}, {"total", []*work.Sum{sums.Total}}} {
		list := g.list
		if g.by != sums.Unit() {
			list = list[:min(len(list), most)]
			more += len(g.list) - len(list)
		}
		for i, one := range list {
			row := weekRow{g.by, mark.Inline(one.Name, 0), one}
			if brief && i > 0 {
				row.by = ""
			}
			switch {
			case brief && g.by == "project":
				row.name = cmp.Or(projects[one.Name], row.name)
			case brief && one.Of != nil:
				row.name = table.Cut(strings.TrimSuffix(one.Name, one.Key)+mark.Inline(one.Of.Short(), 0)+" "+status.Of(one.Of).Called(), 20)
			}
			rows = append(rows, row)
		}
	}
	return rows, more
}

func weekColumns(sums *work.Sums) []table.Column[weekRow] {
	number := func(of func(*work.Sum) int64, form func(int64) string) (text, piped func(weekRow) string) {
		piped = func(r weekRow) string { return fmt.Sprint(of(r.Sum)) }
		return func(r weekRow) string {
			if of(r.Sum) == 0 {
				return ""
			}
			return form(of(r.Sum))
		}, piped
	}
	plain := func(n int64) string { return fmt.Sprint(n) }
	columns := []table.Column[weekRow]{
		{Head: "BY", Text: func(r weekRow) string { return r.by }},
		{Head: "NAME", Least: 12, Part: 25, Cut: table.CutMiddle, Text: func(r weekRow) string { return r.name }},
	}
	for _, n := range []struct {
		head string
		drop int
		of   func(*work.Sum) int64
		form func(int64) string
	}{
		{"SESSIONS", 2, func(s *work.Sum) int64 { return int64(s.Sessions) }, plain},
		{"REQUESTS", 0, func(s *work.Sum) int64 { return int64(s.Requests) }, plain},
		{"FILES", 0, func(s *work.Sum) int64 { return int64(s.Files) }, plain},
		{"COMMITS", 3, func(s *work.Sum) int64 { return int64(s.Commits) }, plain},
		{"COMPACTED", 1, func(s *work.Sum) int64 { return int64(s.Compacted) }, plain},
		{"IN", 0, func(s *work.Sum) int64 { return s.Input() }, words.Tokens},
		{"CACHED", 0, func(s *work.Sum) int64 { return s.Cached }, words.Tokens},
		{"OUT", 0, func(s *work.Sum) int64 { return s.Out }, words.Tokens},
	} {
		text, piped := number(n.of, n.form)
		columns = append(columns, table.Column[weekRow]{Head: n.head, Drop: n.drop, Text: text, Piped: piped})
	}
	if sums.Total.Cost != nil || len(sums.Unpriced) > 0 {
		columns = append(columns, table.Column[weekRow]{Head: "COST", Text: func(r weekRow) string { return r.Dollars() }})
	}
	return columns
}
