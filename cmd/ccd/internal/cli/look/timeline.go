package look

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/table"
	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

type timelineFlags struct {
	agent  string
	failed bool // only what failed
	limit  int  // 0: all
}

// turnOutput is a turn in --json output. Unknown times are null.
type turnOutput struct {
	reader.Turn
	Failures []failure  `json:"failures"`
	Time     *time.Time `json:"time"`
	End      *time.Time `json:"end"`
}

// failure is a call that failed.
type failure struct {
	Record int     `json:"record"`
	Tool   string  `json:"tool"`
	What   string  `json:"what"`  // it does; at most 200 characters
	Error  string  `json:"error"` // the first line of the result that reports one, else the last that has a word; at most 200 characters
	ID     mark.ID `json:"id"`    // of the result
}

func failures(src *session.Source, t reader.Turn) []failure {
	all := []failure{}
	for _, c := range t.Failures {
		why := ""
		for line := range strings.Lines(strings.TrimSpace(src.Outcome(c).Text)) {
			if why == "" || strings.ContainsFunc(line, unicode.IsLetter) {
				why = line
			}
			if lexicon.IsError(line, true) {
				break
			}
		}
		all = append(all, failure{c.At.N(), mark.Inline(c.Tool, 40), mark.Inline(c.What(), 200), mark.Inline(why, 200), c.Result.Sum.ID()})
	}
	return all
}

func (a *app) timelineCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "timeline [SESSION]", GroupID: cli.Everyday, Short: "show a session turn by turn, one line per turn",
		Long: `Each line shows the record, the time, the request, how many files changed, and
how many calls failed or were refused. What you sent while the agent worked,
your answers and reasons, and compactions have lines of their own. In a pipe,
lines also have IDs, tools, files and failed commands. --failed prints the
failed calls, each with its first error line and ID, below their turns. If the
agent rewrote its transcript, records from before have numbers below 0.

With --json: one array, an object per turn: record, last, time, end, asked (at
most 2000 characters), id, words [{record, how, text, id, time}] (said within
the turn; how: queued, refusal, answer or shell), taken_back, task, tools
[{name, calls}], files, more_files, commands [{record, command, exit, id}],
more_commands, failed (calls), refused, compactions, too_long (records over 16
MB), agents (calls to sub-agents), failures [{record, tool, what, error, id}]
(at most 200: the first error line of a failed call, and the ID of its result)

` + cli.SessionWords,
		Example: `  ccd timeline                   what happened in this directory's session
  ccd timeline 5d2f7a1e -n 5     its last five turns
  ccd timeline 5d2f7a1e --json   all details of each turn`,
	}
	var f timelineFlags
	c.Args = cli.OneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.timeline(c.Context(), cli.SessionOf(args), f)
	}
	c.Flags().BoolVar(&f.failed, "failed", false, "only turns with failed calls, and these")
	limitFlag(c.Flags(), &f.limit, 0, "show the last `N` turns")
	a.AgentFlag(c, &f.agent)
	a.MachineFlag(c)
	return c
}

func (a *app) timeline(ctx context.Context, arg string, f timelineFlags) error {
	l, e, err := a.Session(ctx, arg, f.agent)
	if err != nil && e != nil && a.JSON { // it has no turns
		return errors.Join(a.PrintJSON([]turnOutput{}), err)
	}
	if err != nil {
		return err
	}
	a.SayLag(l, e)
	g, err := l.Reading(e, 0)
	if err != nil {
		return err
	}
	all, lines := []turnOutput{}, timelineLines{width: a.Width()}
	done := a.Waiting()
	model, text, damage := g.Model(ctx, l.Options(e), math.MaxInt)
	done()
	src := session.NewSource(model.Session, text)
	turns := reader.Turns(model.Session, src.Said)
	shown := f.of(turns)
	for _, t := range shown {
		text := ""
		switch {
		case a.JSON:
			all = append(all, turnOutput{t, failures(src, t), words.Known(t.Time), words.Known(t.End)})
		case f.failed:
			text = lines.line(t)
			for _, one := range failures(src, t) {
				text += lines.failure(one)
			}
		default:
			text = lines.turn(t)
		}
		if err := a.Print(text); err != nil {
			return err
		}
	}
	if damage == nil {
		damage = src.Err
	}
	if damage != nil {
		return damage
	}
	a.sayNone(e, turns, shown)
	switch {
	case a.JSON:
		return a.PrintJSON(all)
	case len(shown) > 0:
		a.sayRecord(l.Argument(e))
	}
	return nil
}

// sayNone says what a session has none of.
func (a *app) sayNone(e *reader.Entry, turns, shown []reader.Turn) {
	switch {
	case !slices.ContainsFunc(turns, func(t reader.Turn) bool { return t.ID != "" }):
		a.Say("session %s has no turns: ccd finds no message of a person in it", e.Name())
	case len(shown) == 0:
		a.Say("session %s has no failed calls", e.Name())
	}
}

// of returns the turns that are wanted.
func (f timelineFlags) of(turns []reader.Turn) []reader.Turn {
	if f.failed {
		turns = slices.DeleteFunc(slices.Clone(turns), func(t reader.Turn) bool { return t.Failed == 0 })
	}
	if f.limit > 0 {
		turns = turns[max(0, len(turns)-f.limit):]
	}
	return turns
}

// timelineLines formats turns, on a terminal below the days on which they began.
type timelineLines struct {
	width int // of the terminal; 0: not a terminal
	day   string
}

// turn formats a turn in one line, and one for each message and each compaction within it, in their order.
func (l *timelineLines) turn(t reader.Turn) string {
	text := l.line(t)
	compacted := func(before int) {
		for len(t.Bounds) > 0 && t.Bounds[0].Record < before {
			b := t.Bounds[0]
			t.Bounds = t.Bounds[1:]
			text += l.begin(b.Time) + l.head(b.Record, b.Time) + " —— compacted by the agent"
			if b.Before > 0 {
				text += ", " + humanize.Comma(b.Before) + " tokens before"
			}
			text += "\n"
		}
	}
	for _, w := range t.Words {
		compacted(w.Record)
		text += l.line(reader.Turn{Record: w.Record, Time: w.Time, Asked: ways[w.How] + ": " + w.Text, Added: w.Added, ID: w.ID})
	}
	compacted(math.MaxInt)
	return text
}

// begin returns the heading of a day, on a terminal above the first record of it; else "".
func (l *timelineLines) begin(t time.Time) string {
	if date := t.Local().Format(time.DateOnly); l.width > 0 && !t.IsZero() && date != l.day {
		l.day = date
		return t.Local().Format("Monday, 2 January 2006") + "\n"
	}
	return ""
}

// head formats a record and its time: on a terminal without the date.
func (l *timelineLines) head(record int, t time.Time) string {
	at := words.Minute(t)
	if l.width > 0 && at != "" {
		at = t.Local().Format("15:04")
	}
	return strings.TrimSpace("#" + strconv.Itoa(record) + " " + at)
}

func (l *timelineLines) line(t reader.Turn) string {
	head := l.head(t.Record, t.Time)
	if l.width <= 0 {
		return head + turnLine(t) + "\n"
	}
	var counts []string
	if n := t.Edits(); n > 0 {
		counts = append(counts, words.Count(n, "file"))
	}
	tail := ""
	if counts = append(counts, wentWrong(t)...); len(counts) > 0 {
		tail = " · " + strings.Join(counts, ", ")
	}
	request := table.Cut(requestOf(t), max(1, l.width-table.CellsOf(head)-1-table.CellsOf(tail)))
	return l.begin(t.Time) + table.Cut(head+" "+request+tail, l.width) + "\n"
}

// failure formats a failed call: in one line, on a terminal in two.
func (l *timelineLines) failure(f failure) string {
	call, id := strings.TrimRight(fmt.Sprintf("  #%d %s %s", f.Record, f.Tool, f.What), " "), " "+mark.New(f.ID, "")
	if l.width <= 0 {
		return call + ": " + f.Error + id + "\n"
	}
	return table.Cut(call, max(1, l.width-table.CellsOf(id))) + id + "\n" + table.Cut("    "+f.Error, l.width) + "\n"
}

// ways says how a person spoke within a turn.
var ways = map[string]string{reader.Queued: "sent while the agent worked", reader.Refusal: "refused", reader.Answer: "answered", reader.Shell: "ran"}

// requestOf returns what a person asked, and how.
func requestOf(t reader.Turn) string {
	request := mark.Inline(t.Asked, 400) + mark.Added(t.Added)
	switch {
	case t.ID == "":
		request = "(no request)"
	case t.Back:
		request = "taken back: " + request
	case t.Task:
		request = "task given by the parent session: " + request
	}
	if t.Record < 0 {
		request = "before the rewrite at #1: " + request
	}
	return request
}

// turnLine formats what follows the head of a turn, with what a program may look for.
func turnLine(t reader.Turn) string {
	line := " · " + table.Cut(requestOf(t), 160)
	if t.ID != "" {
		line += " " + mark.New(t.ID, "")
	}
	for _, of := range append([]string{toolsOf(t), filesOf(t), exitsOf(t)}, wentWrong(t)...) {
		if of != "" {
			line += " · " + of
		}
	}
	return line
}

// wentWrong counts the calls that failed or were refused, and the records that are not shown.
func wentWrong(t reader.Turn) (all []string) {
	for _, c := range []struct {
		n    int
		what string
	}{{t.Failed, "failed"}, {t.Refused, "refused"}, {t.TooLong, "over 16 MB"}} {
		if c.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return all
}

func toolsOf(t reader.Turn) string {
	var all []string
	for _, tool := range t.Tools {
		name := mark.Inline(tool.Name, 40)
		if tool.Calls > 1 {
			name += fmt.Sprintf(" %dx", tool.Calls)
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

func filesOf(t reader.Turn) string {
	const show = 6
	var all []string
	for _, f := range t.Files[:min(show, len(t.Files))] {
		all = append(all, "`"+mark.Inline(transcript.Base(f), 60)+"`")
	}
	if more := len(t.Files) - len(all) + t.MoreFiles; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}

func exitsOf(t reader.Turn) string {
	const show = 4
	var all []string
	good := 0
	for _, c := range t.Commands {
		switch {
		case c.Exit == nil:
		case *c.Exit == 0:
			good++
		case len(all) < show:
			all = append(all, fmt.Sprintf("`%s` -> %d %s", mark.Inline(c.Line, 60), *c.Exit, mark.New(c.ID, "")))
		}
	}
	if good > 0 {
		all = append(all, words.Count(good, "command")+" with exit 0")
	}
	return strings.Join(all, ", ")
}
