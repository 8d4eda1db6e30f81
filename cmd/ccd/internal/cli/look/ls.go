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

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

const sessionKeys = `agent, session, damage ("" if it can be read; else why not, and only agent and
session are set), parent, project, title (the agent's own), asked (the
beginning of the first request), last, records, bytes, lag_bytes (bytes of the
source that are not archived yet; all bytes of a compressed source that has
changed), generations, model, reported_tokens, estimated_tokens, about_tokens
(the estimate converted to real tokens), size_tokens (what TOKENS shows),
size_about (whether that is converted from the estimate), context_window,
context_window_assumed, pressure (size_tokens of the window; 1: it is full),
level, trigger ("" if none has fired), original_tokens and companion_tokens
(estimated), companion_about (in real tokens, converted), saved_percent,
verified, companion ("" if there is none), not_understood (no record is of a
known type, so it gets no companion), skipped (why it is not followed, else
""), resumed (the ID of the session that ccd resume made it from, else ""),
forked_from (that of the one that it is a fork of, else ""), source,
source_present,
rewritten (when the source was last found replaced or rewritten in place, else
null), pinned, tags, name ("" if it has none; see ccd help label), waiting
(the agent spoke last and waits for the person), compactions (by the agent),
curve (tokens in the context, the highest of each curve_step records; [] if
the model reports none), machine (that has it, if it is another one), state
(working, quiet, waiting, idle, deleted), attention (why it needs attention, ""
if it does not)`

type lsFlags struct {
	narrow
	all, pinned, everywhere bool
	tag, sort               string
	limit                   int
}

// orders are what --sort takes: each is a number of which the largest comes first.
var orders = map[string]func(status.Session) float64{
	"context": func(s status.Session) float64 { return s.Pressure },
	"size":    func(s status.Session) float64 { return float64(s.Tokens) },
	"last":    func(s status.Session) float64 { return float64(s.LastAt().Unix()) },
}

func (a *app) lsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "ls", GroupID: cli.Everyday, Short: "list the sessions",
		Long: `Lists the sessions, pinned ones (*) first, then newest first. TITLE is the
name from ccd label, else the agent's own title, else the first request. LAST
is when it last grew, or who is next: working (the agent), waiting (you), or
"quiet 3m" (the agent thinks, runs something, or has ended); or deleted
(the transcript, which ccd still has). CONTEXT is the share of the agent's
window that is full, by the model's last report, else by the length of its
texts ("~", here and wherever ccd shows tokens), and "2x" that the agent
compacted it twice, in a pipe as COMPACTED.

On a terminal, ls shows one screen; the title is cut, and columns that do not
fit are left out: STATE first, then TOKENS (not with --sort size), AGENT,
PROJECT. In a pipe, every session is one line with all columns, separated
by tabs.

` + timeWords + `

With --json: one array, an object per session:
` + sessionKeys,
		Example: `  ccd ls
      the sessions, newest first
  ccd ls --project . --since 7d --sort size
      those of this project in the last 7 days, the largest first
  ccd ls --everywhere
      and the pulled sessions of other machines
  ccd ls --all
      include sub-agents and copies (under their sessions) and sessions without
      messages from you
  ccd ls --json | jq -r '.[] | select(.pressure > 0.6) | .session'
      sessions that use over 60% of their window`,
	}
	var f lsFlags
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return a.ls(c.Context(), f) }
	limitFlag(c.Flags(), &f.limit, screen, "list `N` sessions")
	cli.OneOf(c.Flags(), &f.sort, "sort", "the largest first, by `ORDER`: context (how full), size (tokens) or last", "context", "size", "last")
	c.Flags().BoolVar(&f.all, "all", false, "include sub-agents, copies that nobody has continued, sessions in which no person spoke, summarizer sessions, and files from ccd compact FILE")
	c.Flags().BoolVar(&f.pinned, "pinned", false, "only pinned sessions")
	c.Flags().BoolVar(&f.everywhere, "everywhere", false, "include the pulled sessions of all machines")
	c.Flags().StringVar(&f.tag, "tag", "", "only sessions with this `TAG`")
	f.add(a, c, "sessions that changed")
	a.MachineFlag(c)
	cli.NotWith(c, "everywhere", "machine")
	return c
}

func (a *app) ls(ctx context.Context, f lsFlags) error {
	a.CollectLess()
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	a.Incomplete(l)
	which, err := f.read(a)
	if err != nil {
		return words.Usage(err)
	}
	var missing error
	if !f.everywhere {
		missing = f.missing(a, l)
	}
	f.keep(l, which)
	a.SayLag(l, l.Sessions...)
	families := status.Families(l.Sessions, f.all)
	if f.everywhere {
		families = a.lsEverywhere(ctx, l, families, f, which)
	}
	rows, more := f.page(families, a.most(f.limit, ""))
	if a.JSON {
		return errors.Join(a.PrintJSON(append(slices.DeleteFunc(rows, status.Session.Damaged), status.Unreadable(l.Damage)...)), missing)
	}
	if len(rows) == 0 || missing != nil {
		if missing == nil && !a.Damaged {
			a.Say("%s", f.nothing(a, l))
		}
		return missing
	}
	columns := cli.LsColumns(time.Now())
	if f.sort == "size" { // which TOKENS shows
		columns[slices.IndexFunc(columns, func(c table.Column[status.Session]) bool { return c.Head == "TOKENS" })].Drop = 0
	}
	if f.everywhere {
		columns = append(columns, machineColumn())
	}
	if err := cli.PrintTable(a.App, rows, columns); err != nil {
		return err
	}
	if a.Width() > 0 {
		a.SayMore(more, "session", fmt.Sprintf("ccd ls -n %d", len(rows)+more))
	}
	if n := f.hidden(l); n > 0 && a.Width() > 0 {
		a.Say("%s", aside(n, "more session"))
	}
	return nil
}

// nothing says why no session is listed.
func (f lsFlags) nothing(a *app, l *reader.Library) string {
	flags := f.typed() + typedFlags("tag", f.tag)
	if f.pinned {
		flags += " --pinned"
	}
	switch {
	case a.Agent && (flags != "" || f.hidden(l) > 0): // it may not learn what is out of its reach, not even by a name that it gave
		return "no session matches"
	case flags != "":
		return "no session with" + flags
	case f.hidden(l) > 0:
		return aside(f.hidden(l), "session")
	case a.Agent:
		return "nothing is archived yet" + l.Scope()
	case a.HasPulled(l):
		return "nothing is archived here yet; `ccd ls --everywhere` lists the pulled sessions of other machines"
	}
	where := ""
	if path := l.Config.Archive.Path; path != "" { // perhaps mistyped, or on a disk that is not there
		where = " in " + mark.Inline(path, 200)
	}
	return "nothing is archived yet" + where + "; `ccd run --once` archives your sessions, `ccd demo` shows how ccd works"
}

// hidden returns how many sessions are only listed with --all.
func (f lsFlags) hidden(l *reader.Library) (n int) {
	for _, e := range l.Sessions {
		if !f.all && e.Class != transcript.Attachment && e.Class != transcript.Earlier && (e.Class == transcript.SubAgent || e.Aside()) {
			n++
		}
	}
	return n
}

// aside says how many sessions are listed only with --all.
func aside(n int, what string) string {
	return words.Count(n, what) + " (copies, sub-agents, or you said nothing): ccd ls --all"
}

// page sorts the families if that is wanted, and returns the first sessions, all if most is 0. more is how many are left out.
func (f lsFlags) page(families [][]status.Session, most int) (shown []status.Session, more int) {
	if by := orders[f.sort]; by != nil {
		slices.SortStableFunc(families, func(x, y []status.Session) int { return cmp.Compare(by(y[0]), by(x[0])) })
	}
	rows := status.Rows(families)
	if most == 0 || len(rows) <= most {
		return rows, 0
	}
	return rows[:most], len(rows) - most
}

// keep drops the sessions that the flags exclude.
func (f lsFlags) keep(l *reader.Library, which reader.Choice) {
	l.Sessions = slices.DeleteFunc(l.Sessions, func(e *reader.Entry) bool {
		labels := e.Kept.Labels
		return !which.Session(e) || !which.In(e.Last()) || f.pinned && !labels.Pinned || f.tag != "" && !slices.Contains(labels.Tags, strings.ToLower(f.tag))
	})
}

// lsEverywhere adds the sessions of other machines to those here, the newest first, each with its sub-agents.
func (a *app) lsEverywhere(ctx context.Context, l *reader.Library, families [][]status.Session, f lsFlags, which reader.Choice) [][]status.Session {
	for other := range a.LoadedOthers(ctx, l) {
		a.Incomplete(other)
		a.SayOld(other.Place)
		f.keep(other, which)
		families = append(families, status.Families(other.Sessions, f.all)...)
	}
	slices.SortStableFunc(families, func(x, y []status.Session) int { return y[0].LastAt().Compare(x[0].LastAt()) })
	return families
}

// machineColumn is the column of ls --everywhere.
func machineColumn() table.Column[status.Session] {
	return table.Column[status.Session]{Head: "MACHINE", Text: func(s status.Session) string {
		if s.Machine == "" {
			return "here"
		}
		return mark.Inline(s.Machine, 60)
	}}
}
